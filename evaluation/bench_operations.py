"""Accuracy of the operation that is chosen from a question's words.

    python evaluation/bench_operations.py [--quick] [--data DIR] [--verbose] [--json FILE]

``choose_operation`` gets every question of ``datasets/operations``; the labels are older than the rules. The
rules were written on the half ``choosing``; the half ``reported`` is only measured. Without a floor: the labelled
questions of the three vaults, and the share of plain questions classified as passage search: those of LoCoMo and
of the BEIR sets in DIR, by default ../shared/data, if they exist. The quick form is the same. Exits 1 when a
floor is missed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from agentic_rag.fusion import CanvasOperation, choose_operation
from figures import options, report, row

DATASETS = Path(__file__).parent / "datasets"
DATA = Path(__file__).parents[2] / "shared" / "data"
HALVES = ("choosing", "reported")
VAULTS = ("vault_100", "vault_night_sky", "vault_pottery")
LEAST_RIGHT = 0.90
"""Minimum accuracy on a reported half."""

Labelled = tuple[str, str]
"""A question and its operation."""


def labelled(file: Path, half: str | None = None) -> list[Labelled]:
    """The questions of a file, all or those of one half."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [(line["text"], line["operation"]) for line in lines if half is None or line["half"] == half]


def right(questions: Sequence[Labelled]) -> float:
    """Share of the questions whose operation is chosen correctly."""
    return sum(choose_operation(text).operation == operation for text, operation in questions) / len(
        questions
    )


def confusion(questions: Iterable[Labelled]) -> Table:
    """Rows are the labels, columns the chosen operations."""
    counts = Counter((operation, choose_operation(text).operation.value) for text, operation in questions)
    table = Table(title="reported half: label by row, choice by column", title_justify="left")
    table.add_column("label")
    for chosen in CanvasOperation:
        table.add_column(chosen.value, justify="right", overflow="fold")
    for label in CanvasOperation:
        table.add_row(label.value, *(str(counts[label.value, chosen.value]) for chosen in CanvasOperation))
    return table


def plain_questions(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Name and questions of each set in the folder with factual questions only."""
    for file in sorted((data / "locomo").glob("*.json")):
        conversations: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))
        yield "LoCoMo", [str(asked["question"]) for one in conversations for asked in one["qa"]]
    for file in sorted((data / "beir").rglob("queries.jsonl")):
        lines = file.read_text("utf-8").splitlines()
        yield str(file.parent.relative_to(data / "beir")), [json.loads(line)["text"] for line in lines]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, "the same: all of it takes seconds", DATA)
    parser.add_argument("--verbose", action="store_true", help="print every miss of the labelled questions")
    given = parser.parse_args(arguments)
    files = {"": DATASETS / "operations" / "queries.jsonl", ", later": DATASETS / "operations" / "more.jsonl"}
    sets = {(half, name): labelled(file, half) for name, file in files.items() for half in HALVES}
    vaults = {name: labelled(DATASETS / name / "queries.jsonl") for name in VAULTS}
    Console(highlight=False).print(confusion(sets["reported", ""]))
    if given.verbose:
        for text, operation in (one for questions in (*sets.values(), *vaults.values()) for one in questions):
            choice = choose_operation(text)
            if choice.operation != operation:
                print(f"{operation} → {choice.operation.value}: {text} ({choice.reason})")
    rows = [
        row(f"right of {len(questions)} ({half}{name})", "share", right(questions), bound="min",
            floor=LEAST_RIGHT if half == "reported" else None)
        for (half, name), questions in sets.items()
    ]  # fmt: skip
    rows += [
        row(f"right of {len(own)} ({name})", "share", right(own), bound="min") for name, own in vaults.items()
    ]
    passages = CanvasOperation.DOCUMENT_RETRIEVAL.value
    rows += [
        row(f"passages searched for, of {len(own)} ({name})", "share", right([(text, passages) for text in own]),
            bound="min")
        for name, own in plain_questions(given.data)
    ]  # fmt: skip
    return report("the operation that a question asks for", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
