"""Checks that boards are valid, stable and no source of answers, and compares marks with a teacher's.

    python evaluation/bench_boards.py [--quick] [--data DIR] [--json FILE]

BOARDS questions on the example vault and the vaults of DIR, by default ../shared/data, are each drawn as a board. A
board must match the specification, have no overlaps, and be equal byte for byte when asked and drawn again. The boards
of FEEDBACK further questions are written into a copy of each vault, which is ingested again: the same questions must
rank the same notes. Then the judged answers of ``datasets/checks`` are marked, those about anything and those with
amounts; their halves ``reported`` chose nothing.
The quick form asks a tenth. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from agentic_rag import Answer, Rag, RagConfig, open_rag
from agentic_rag.boards.canvas import board_text
from agentic_rag.boards.drawing import draw_board
from agentic_rag.boards.marking import Names, judge
from agentic_rag.boards.vault import Vault
from agentic_rag.fusion import CanvasOperation
from agentic_rag.state import OperationName
from agentic_rag_lab.evaluation.boards import overlaps, violations
from figures import DATA, EXAMPLE, OWN, Row, options, report, row

BOARDS, FEEDBACK = 1000, 200
MIN_AGREEMENT = {"answers": 0.80, "amounts": 0.90}
"""By set of ``datasets/checks``."""
FORMS = ("What is {}?", "What do I know about {}?", "How does {} hang together with the rest?", "{} 是什么？")


def vaults(data: Path) -> list[Path]:
    """The example vault, and the existing vaults of the folder."""
    folder = data / "vaults"
    return [EXAMPLE, *(sorted(one for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else [])]


async def questions(rag: Rag, dataset: str, number: int, seed: int) -> list[tuple[str, str]]:
    """Questions about notes by name, each with an operation; in an order seeded by ``seed``."""
    names = sorted(
        {record.names[0] for record in (await rag.ledger.records(dataset)).values() if record.names}
    )
    made = [
        (form.format(name), operation.value)
        for name in names
        for form in FORMS
        for operation in CanvasOperation
    ]
    random.Random(seed).shuffle(made)
    return made[:number]


async def ask(rag: Rag, dataset: str, question: tuple[str, str]) -> Answer:
    return await rag.ask(question[0], operation=cast(OperationName, question[1]), dataset=dataset)


async def drawn_boards(rag: Rag, datasets: Sequence[str], number: int) -> list[Row]:
    """Ask and draw twice."""
    counts: Counter[str] = Counter()
    asked = [(dataset, one) for dataset in datasets for one in await questions(rag, dataset, number, 1)]
    random.Random(2).shuffle(asked)
    for dataset, question in asked:
        if counts["boards"] == number:
            break
        answer = await ask(rag, dataset, question)
        if answer.abstained:
            continue
        counts["boards"] += 1
        board = draw_board(answer.to_dict(), Vault(None)).board
        again = await ask(rag, dataset, question)
        counts["invalid"] += bool(violations(board))
        counts["overlapping"] += bool(overlaps(board))
        counts["different"] += board_text(board) != board_text(draw_board(again.to_dict(), Vault(None)).board)
    return [
        row("boards drawn", "boards", counts["boards"], bound="min"),
        row("against the specification", "boards", counts["invalid"], floor=0),
        row("with overlaps", "boards", counts["overlapping"], floor=0),
        row("different on a second run", "boards", counts["different"], floor=0),
    ]


async def fed_back(rag: Rag, copies: dict[str, Path], number: int) -> list[Row]:
    """Ask, write the boards into the vaults, ingest, ask again."""
    counts: Counter[str] = Counter()
    for dataset, folder in copies.items():
        asked = await questions(rag, dataset, -(-number // len(copies)), 2)
        before = [await ask(rag, dataset, question) for question in asked]
        for place, answer in enumerate(before):
            if not answer.abstained:
                rag.write_board(answer, folder / "ours" / f"{place}.canvas")
                counts["written"] += 1
        report_ = await rag.ingest(folder, dataset=dataset)
        counts["read"] += sum(file.action == "added" for file in report_.files)
        for question, first in zip(asked, before, strict=True):
            second = await ask(rag, dataset, question)
            counts["asked"] += 1
            counts["moved"] += [one["id"] for one in first.results] != [one["id"] for one in second.results]
            counts["cited"] += any("ours/" in str(one["path"]) for one in second.citations)
    return [
        row("feedback: questions asked again", "questions", counts["asked"], bound="min"),
        row("feedback: boards written", "boards", counts["written"], bound="min"),
        row("feedback: boards read as notes", "boards", counts["read"], floor=0),
        row("feedback: rankings changed", "questions", counts["moved"], floor=0),
        row("feedback: answers that cite a board", "questions", counts["cited"], floor=0),
    ]


async def marks(rag: Rag) -> list[Row]:
    """Share of the judged answers with the teacher's mark."""
    names = Names.of(record.names for record in (await rag.ledger.records(EXAMPLE.name)).values())
    rows = []
    for name, least in MIN_AGREEMENT.items():
        judgements: list[dict[str, Any]] = json.loads((OWN / f"checks/{name}.json").read_text("utf-8"))
        for half, floor in (("choosing", None), ("reported", least)):
            of_half = [one for one in judgements if one["half"] == half]
            agreed = sum(
                judge(one["asks"], one["expected"], one["response"], names).mark == one["mark"]
                for one in of_half
            )
            share = agreed / len(of_half)
            rows.append(
                row(f"marks as a teacher's, {name}, {half}", "share", share, bound="min", floor=floor)
            )
    return rows


async def measured(data: Path, *, quick: bool) -> list[Row]:
    """All rows."""
    share = 10 if quick else 1
    with tempfile.TemporaryDirectory() as scratch:
        copies = {}
        for vault in vaults(data):
            copies[vault.name] = Path(shutil.copytree(vault, Path(scratch) / vault.name))
        async with open_rag(RagConfig(data_dir=Path(scratch) / "data")) as rag:
            for dataset, folder in list(copies.items()):
                if (await rag.ingest(folder, dataset=dataset)).documents == 0:
                    del copies[dataset]
            rows = await drawn_boards(rag, list(copies), BOARDS // share)
            return [*rows, *await fed_back(rag, copies, FEEDBACK // share), *await marks(rag)]


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, "a tenth of the boards and questions", DATA).parse_args(arguments)
    return report("boards", asyncio.run(measured(given.data, quick=given.quick)), given.json)


if __name__ == "__main__":
    sys.exit(main())
