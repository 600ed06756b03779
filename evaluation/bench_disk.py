"""Size of a data folder relative to its notes, its growth by edits, and the storage per question.

    python evaluation/bench_disk.py [--vault FOLDER] [--generated N] [--edits N] [--quick] [--json FILE]

Ingests ``examples/vault``, a second vault (FOLDER, by default ../shared/data/vaults/obsidian-help-en) and a vault
generated from N passages of a judged set (by default 5,000; ../shared/data/beir/multihop/pool3), the last two left out
where their data do not exist, into fresh data folders, with token vectors and without, and measures them once they are
closed; then edits one note of the example vault after the other, N times (by default 1,000), each edit followed by an
ingest that opens the folder and closes it again, as a command does. Ten questions on the example vault, each on a
thread of its own, say what LangGraph's checkpoints take in SQLite, by ``rag.ask`` and after every node, and what the
stream of values carries. ``--quick`` is the example vault and 20 edits. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from agentic_rag import RagConfig, open_rag
from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.models.bundled import BundledEmbedding
from agentic_rag.state import CallerKeys, OperationName
from bench_ask import QUESTIONS
from figures import DATA, EXAMPLE, Row, options, report, row

OTHER = DATA / "vaults" / "obsidian-help-en"
WITH_TOKENS_FLOOR, WITHOUT_FLOOR, EDITED_FLOOR = 40.0, 24.0, 1.3
CHECKPOINT_FLOOR, EVERY_NODE_FLOOR, VALUES_FLOOR = 100.0, 300.0, 750.0
PASSAGES = DATA / "beir" / "multihop" / "pool3" / "corpus.jsonl"
NOTES = 5_000
EDITS, QUICK_EDITS = 1_000, 20
OPERATION: OperationName = "document_retrieval"
LARGE = 50_000
"""Minimum bytes of a table with its own row."""


class WithoutTokens:
    """The bundled model without token vectors."""

    def __init__(self) -> None:
        self._model = BundledEmbedding()
        self.name, self.dimension = self._model.name, self._model.dimension

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return await self._model.embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return await self._model.embed_passages(texts)


async def ingested(vault: Path, folder: Path, embedding: Embedding) -> int:
    """Bytes of the notes in the dataset after the ingest."""
    async with open_rag(RagConfig(data_dir=folder), embedding=embedding) as rag:
        report = await rag.ingest(vault, dataset="default")
    held = [file for file in report.files if file.action != "skipped"]
    return sum((vault / file.path).stat().st_size for file in held)


def bytes_of(folder: Path) -> dict[str, int]:
    """Bytes by table or file, and ``all``."""
    found: dict[str, int] = {}
    for file in (file for file in folder.rglob("*") if file.is_file()):
        parts = file.relative_to(folder).parts
        name = parts[1].removesuffix(".lance") if len(parts) > 2 else parts[0]
        found[name] = found.get(name, 0) + file.stat().st_size
    return {**found, "all": sum(found.values())}


async def fresh(vault: Path, folder: Path) -> list[Row]:
    """Sizes after an ingest, with and without token vectors."""
    rows = []
    variants: list[tuple[str, Embedding, float]] = [
        ("with token vectors", BundledEmbedding(), WITH_TOKENS_FLOOR),
        ("without", WithoutTokens(), WITHOUT_FLOOR),
    ]
    for name, embedding, floor in variants:
        began = time.perf_counter()
        notes = await ingested(vault, folder / name, embedding)
        seconds = time.perf_counter() - began
        held = bytes_of(folder / name)
        called = f"{vault.name}, {name}"
        rows.append(row(f"{called}: folder / notes", "×", held["all"] / notes, floor=floor))
        rows.append(row(f"{called}: ingest", "s", seconds))
        parts = sorted((part for part in held if held[part] >= LARGE), key=lambda part: -held[part])
        rows += [row(f"{called}: {part}", "MB", held[part] / 1e6) for part in parts]
    return rows


async def edited(vault: Path, folder: Path, edits: int) -> list[Row]:
    """Growth of the folder by edits of single notes, at most and at the end."""
    copy, data, embedding = folder / "vault", folder / "data", BundledEmbedding()
    shutil.copytree(vault, copy)
    await ingested(copy, data, embedding)
    before = bytes_of(data)["all"]
    notes = [(path, path.read_text(encoding="utf-8")) for path in sorted(copy.rglob("*.md"))]
    most, began = before, time.perf_counter()
    for number in range(edits):
        path, text = notes[number % len(notes)]
        path.write_text(f"{text}\n\nEdited for the {number}th time.\n", encoding="utf-8")
        await ingested(copy, data, embedding)
        most = max(most, bytes_of(data)["all"])
    seconds = time.perf_counter() - began
    after = bytes_of(data)["all"]
    called = f"{vault.name}, {edits:,} edits of one note"
    return [
        row(f"{called}: folder after / before", "×", after / before, floor=EDITED_FLOOR),
        row(f"{called}: largest meanwhile / before", "×", most / before, floor=EDITED_FLOOR),
        row(f"{called}: one edit with its ingest", "ms", seconds / edits * 1e3),
    ]


async def kept(folder: Path) -> list[Row]:
    """Mean bytes per question in a checkpointer's file and in a stream, over ``QUESTIONS``."""
    config = RagConfig(data_dir=folder / "data")
    async with open_rag(config) as rag:
        await rag.ingest(EXAMPLE, dataset="default")
        values = 0
        for question in QUESTIONS:
            async for state in rag.graph.astream(_asked(question), stream_mode="values"):
                values += len(json.dumps(state, ensure_ascii=False, default=str).encode())
    by_ask, every_node = folder / "by_ask.sqlite", folder / "every_node.sqlite"
    async with (
        AsyncSqliteSaver.from_conn_string(str(by_ask)) as saver,
        open_rag(config, checkpointer=saver) as rag,
    ):
        for question in QUESTIONS:
            await rag.ask(question, operation=OPERATION, thread_id=question)
    async with (
        AsyncSqliteSaver.from_conn_string(str(every_node)) as saver,
        open_rag(config, checkpointer=saver) as rag,
    ):
        for question in QUESTIONS:
            thread: Any = {"configurable": {"thread_id": question}}
            await rag.graph.ainvoke(_asked(question), thread)
    count = 1e3 * len(QUESTIONS)
    return [
        row("checkpoint a question", "kB", by_ask.stat().st_size / count, floor=CHECKPOINT_FLOOR),
        row(
            "checkpoints after every node, a question",
            "kB",
            every_node.stat().st_size / count,
            floor=EVERY_NODE_FLOOR,
        ),
        row("stream of values, a question", "kB", values / count, floor=VALUES_FLOOR),
    ]


def _asked(question: str) -> CallerKeys:
    return {"query": question, "operation": OPERATION}


def generated(folder: Path, count: int) -> Path:
    """A vault of real text: one note per passage, with a link to each note whose title it names."""
    records = map(json.loads, PASSAGES.open(encoding="utf-8"))
    titled = {_file_name(record["title"]): record["text"] for record in records}
    texts = dict(sorted((name, text) for name, text in titled.items() if name)[:count])
    titles = re.compile(r"\b(" + "|".join(map(re.escape, sorted(texts, key=len, reverse=True))) + r")\b")
    folder.mkdir(parents=True)
    for name, text in texts.items():
        linked = titles.sub(r"[[\1]]", text).replace(f"[[{name}]]", name)
        (folder / f"{name}.md").write_text(f"# {name}\n\n{linked}\n", encoding="utf-8")
    return folder


def _file_name(title: str) -> str:
    return re.sub(r"[^\w ,.()'-]", " ", title)[:80].strip(" .")


async def measured(vaults: Sequence[Path], edits: int, folder: Path) -> list[Row]:
    rows = []
    for vault in vaults:
        rows += await fresh(vault, folder / f"data of {vault.name}")
    return rows + await kept(folder / "kept") + await edited(EXAMPLE, folder / "edited", edits)


def main() -> int:
    parser = options(__doc__, "the example vault, and fewer edits")
    parser.add_argument("--vault", type=Path, default=OTHER, metavar="FOLDER")
    parser.add_argument("--generated", type=int, default=NOTES, metavar="N")
    parser.add_argument("--edits", type=int, metavar="N")
    arguments = parser.parse_args()
    vaults = [EXAMPLE]
    if not arguments.quick and arguments.vault.is_dir():
        vaults.append(arguments.vault)
    elif not arguments.quick:
        print(f"{arguments.vault} is no folder, and is left out", file=sys.stderr)
    edits = arguments.edits or (QUICK_EDITS if arguments.quick else EDITS)
    with tempfile.TemporaryDirectory() as folder:
        if not arguments.quick and PASSAGES.is_file():
            vaults.append(
                generated(Path(folder) / f"{arguments.generated:,} generated notes", arguments.generated)
            )
        rows = asyncio.run(measured(vaults, edits, Path(folder)))
    return report("disk", rows, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
