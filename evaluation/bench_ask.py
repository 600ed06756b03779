"""Latency of a question on the example vault: warm asks, the cascade's tiers, parallelism, cold start.

    python evaluation/bench_ask.py [--quick] [--json FILE] [--beside CHECKOUT [--corpus DIR] [--keep DIR]]

All operations are measured in one process tree, in turns. Exits 1 when a floor is missed. With ``--beside`` another
checkout is asked in turns instead, on a vault or a labelled set.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

from agentic_rag import GraphParts, Rag, RagConfig, build_rag_graph, open_rag
from agentic_rag.models.bundled import BundledEmbedding
from agentic_rag.state import OperationName
from beside import WARMED_BY, beside_rows
from figures import COMMAND, EXAMPLE, Row, data_folder, options, percentiles, report, row, seconds_of

OPERATIONS: tuple[OperationName, ...] = (
    "verification_canvas",
    "weak_point_clustering",
    "concept_relation",
    "document_retrieval",
)
QUESTIONS = (
    "What does shading do to theanine?",
    "How does oxidation relate to polyphenol oxidase?",
    "Which water is best for tea?",
    "Who leads the study group?",
    "What did I get wrong about dark tea?",
    "Where does Rou Gui grow?",
    "渥堆和氧化有什么不同?",
    "谁写了《茶经》?",
    "审评用多少克茶?",
    "武夷岩茶怎么焙火?",
)
SLEEP = 0.2
ASKED_BESIDE = 60


async def warm_rows(rag: Rag, rounds: int) -> list[Row]:
    """Whole asks, the operations in turns."""
    taken: dict[OperationName, list[float]] = {name: [] for name in OPERATIONS}
    for number in range(-1, rounds):
        for question in QUESTIONS:
            for name in OPERATIONS:
                _, milliseconds = await _asked(rag, question, name)
                if number >= 0:  # the first round opens tables and fills caches
                    taken[name].append(milliseconds)
    rows = []
    for name, values in taken.items():
        p50, p95 = percentiles(values)
        rows += [
            row(f"ask, warm, {name}: p50", "ms", p50),
            row(f"ask, warm, {name}: p95", "ms", p95, floor=150),
        ]
    return rows


async def cascade_rows(rag: Rag, rounds: int) -> list[Row]:
    """Questions by the tier of the cascade that they end in; a tier without questions is forced by the score floor."""
    ending: dict[int, list[str]] = {1: [], 2: []}
    for question in QUESTIONS:
        state, _ = await _asked(rag, question, "concept_relation")
        ending[state["fusion"]["tier"]].append(question)
    rows = []
    for tier, floor, forced in ((1, 100, 0.0), (2, 200, 1.0)):
        context = None if ending[tier] else {"fusion": {"graphiti_min_score": forced}}
        chosen = ending[tier] or list(QUESTIONS)
        how = (
            f"{len(chosen)} questions, defaults"
            if context is None
            else f"by fusion.graphiti_min_score={forced:g}"
        )
        values = []
        for _ in range(rounds):
            for question in chosen:
                state, milliseconds = await _asked(rag, question, "concept_relation", context)
                if state["fusion"]["tier"] != tier:
                    raise RuntimeError(f"{question!r} ended in tier {state['fusion']['tier']}, not {tier}")
                values.append(milliseconds)
        p50, p95 = percentiles(values)
        rows += [row(f"cascade ending in tier {tier} ({how}): p50", "ms", p50)]
        rows += [row(f"cascade ending in tier {tier} ({how}): p95", "ms", p95, floor=floor)]
    return rows


async def _asked(
    rag: Rag, question: str, operation: OperationName, context: dict[str, Any] | None = None
) -> tuple[dict[str, Any], float]:
    if isinstance(rag.embedding, Forgetful):
        rag.embedding.clear_cache()
        rag.parts.unit_vectors.clear()
    started = time.perf_counter()
    state = await rag.graph.ainvoke({"query": question, "operation": operation}, context=context)
    return state, (time.perf_counter() - started) * 1e3


class Forgetful(BundledEmbedding):
    """The bundled model without its question cache, so that every ask embeds its question."""

    def clear_cache(self) -> None:
        self._queries.clear()
        self._questions.clear()


class Slowed:
    """An engine with a delay before each search."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    async def ready(self, *arguments: Any) -> None:
        await self._engine.ready(*arguments)

    async def find(self, *arguments: Any, **options: Any) -> Any:
        await asyncio.sleep(SLEEP)
        return await self._engine.find(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


async def parallel_rows(rag: Rag, rounds: int) -> list[Row]:
    """From the end of ``prepare_query`` to the end of both retrievals, against the slower of them alone."""
    parts = GraphParts(Slowed(rag.graph_engine), Slowed(rag.retrieval), rag.embedding)
    graph = build_rag_graph(parts, rag.config).compile()
    ratios = []
    for question in QUESTIONS[:rounds]:
        begun, slower, done = 0.0, 0.0, 0.0
        async for update in graph.astream(
            {"query": question}, context={"answer": {"abstain_below": 0}}, stream_mode="updates"
        ):
            for name, values in update.items():
                if name == "prepare_query":
                    begun = time.perf_counter()
                elif name.startswith("retrieve_"):
                    done = time.perf_counter()
                    slower = max(slower, values[f"{name.removeprefix('retrieve_')}_outcome"]["ms"] / 1e3)
        ratios.append((done - begun) / slower)
    what = f"two retrievals slowed by {SLEEP * 1e3:g} ms: both / the slower one"
    return [
        row(f"{what}, median", "×", statistics.median(ratios)),
        row(f"{what}, worst", "×", max(ratios), floor=1.2),
    ]


def cold_rows(data: Path, rounds: int) -> list[Row]:
    """Whole processes."""
    ask = [
        *COMMAND,
        "ask",
        QUESTIONS[0],
        "--data-dir",
        str(data),
        "--operation",
        "document_retrieval",
        "--json",
    ]
    asks, helps, imports = [], [], []
    for _ in range(rounds):
        asks.append(seconds_of(ask))
        helps.append(seconds_of([*COMMAND, "--help"]))
        imports.append(seconds_of([sys.executable, "-c", "import agentic_rag"]))
    return [
        row(f"cold `agentic-rag ask`, median of {rounds}", "s", statistics.median(asks), floor=4),
        row("`import agentic_rag`, with Python's start", "s", statistics.median(imports), floor=0.3),
        row("`agentic-rag --help`", "s", statistics.median(helps), floor=0.7),
    ]


async def measured(data: Path, *, quick: bool) -> list[Row]:
    """All rows except the cold ones."""
    async with open_rag(RagConfig(data_dir=data), embedding=Forgetful()) as rag:
        await rag.ingest(EXAMPLE)
        # As a server does after opening (``SharedRag``), so that no ask includes the collection of imported objects.
        gc.collect()
        gc.freeze()
        return [
            *await warm_rows(rag, 3 if quick else 15),
            *await cascade_rows(rag, 3 if quick else 15),
            *await parallel_rows(rag, 5 if quick else 10),
        ]


def questions_of(corpus: Path) -> list[str]:
    """The first questions of a labelled set; of a vault those of the example."""
    labelled = corpus / "queries.jsonl"
    if not labelled.is_file():
        return list(QUESTIONS)
    with labelled.open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in islice(lines, WARMED_BY + ASKED_BESIDE)]


def main() -> int:
    parser = options(__doc__, "fewer rounds, the same rows")
    parser.add_argument(
        "--beside", type=Path, metavar="CHECKOUT", help="ask this other checkout in turns instead"
    )
    parser.add_argument("--corpus", type=Path, default=EXAMPLE, metavar="DIR", help="what --beside asks")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep the stores of --beside there, and use them"
    )
    arguments = parser.parse_args()
    os.environ.setdefault("LANGSMITH_TRACING", "false")
    colds = 3 if arguments.quick else 7
    if arguments.beside is not None:
        asked = questions_of(arguments.corpus)
        with data_folder(arguments.keep) as data:
            rows = beside_rows(arguments.beside, data, arguments.corpus.resolve(), asked, colds)
        return report(f"asking {arguments.corpus.name}, beside {arguments.beside}", rows, arguments.json)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        rows = asyncio.run(measured(data, quick=arguments.quick))
        rows += cold_rows(data, colds)
    return report("asking the example vault", rows, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
