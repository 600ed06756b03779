"""Latency of a question on the example vault: fusion, warm asks, the cascade's tiers, parallelism, cold start.

    python evaluation/bench_ask.py [--quick] [--json FILE]

All operations are measured in one process tree, in turns. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentic_rag import GraphParts, Rag, RagConfig, build_rag_graph, open_rag
from agentic_rag.domain import Hit
from agentic_rag.fusion import reciprocal_rank_fusion, weighted_fusion
from agentic_rag.models.bundled import BundledEmbedding
from agentic_rag.state import OperationName
from figures import EXAMPLE, Row, options, percentiles, report, row

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
HITS = 100
SLEEP = 0.2
COLD = """
import json, sys, time
laps, last = {}, time.perf_counter()
def lap(name):
    global last
    now = time.perf_counter()
    laps[name], last = now - last, now
print("started", flush=True)
import gc
gc.disable()
import asyncio, pathlib
import agentic_rag.cli.app
from agentic_rag.settings.environment import load_config
config = load_config(pathlib.Path(sys.argv[1]))
lap("imports")
from agentic_rag.cli.options import require_data, warm
require_data(config, "default")
warm(config)
import agentic_rag.cli.ask
lap("imports2")
from agentic_rag.models import bundled
bundled._load()
lap("model")
async def main():
    from agentic_rag.rag import open_rag
    async with open_rag(config) as rag:
        lap("stores")
        await rag.ask(sys.argv[2], operation="document_retrieval")
        lap("graph")
    lap("closing")
asyncio.run(main())
laps["imports"] += laps.pop("imports2")
print(json.dumps(laps))
"""


def fusion_rows(rounds: int) -> list[Row]:
    """Two lists of 100 hits, half of them common to both."""
    chance = random.Random(3)
    graph, vector = _hits(chance, 0), _hits(chance, HITS // 2)
    fusions: dict[str, Callable[[], object]] = {
        "RRF": lambda: reciprocal_rank_fusion(graph, vector),
        "weighted, min-max": lambda: weighted_fusion(graph, vector),
        "weighted, z-score": lambda: weighted_fusion(graph, vector, normalization="z_score"),
    }
    taken: dict[str, list[float]] = {name: [] for name in fusions}
    for _ in range(rounds):
        for name, fuse in fusions.items():
            started = time.perf_counter()
            fuse()
            taken[name].append((time.perf_counter() - started) * 1e3)
    rows = []
    for name, values in taken.items():
        p50, p95 = percentiles(values)
        rows += [row(f"fuse 2 × {HITS} hits, {name}: p50", "ms", p50)]
        rows += [row(f"fuse 2 × {HITS} hits, {name}: p95", "ms", p95, floor=1.0)]
    return rows


def _hits(chance: random.Random, first: int) -> list[Hit]:
    ids = [f"note-{number}.md#{number}" for number in range(first, first + HITS)]
    chance.shuffle(ids)
    return [
        {
            "id": name, "content": "Steam and stone. " * 20, "type": "document", "rank": rank,
            "score": 1.0 - rank / 200, "metadata": {"document_id": name, "title": "note"}, "evidence": {}, "facts": [],
        }
        for rank, name in enumerate(ids, start=1)
    ]  # fmt: skip


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
    """Whole processes, and the parts of an instrumented process."""
    command = str(Path(sys.executable).with_name("agentic-rag"))
    ask = [
        command,
        "ask",
        QUESTIONS[0],
        "--data-dir",
        str(data),
        "--operation",
        "document_retrieval",
        "--json",
    ]
    asks, helps, imports, parts = [], [], [], []
    for _ in range(rounds):
        asks.append(_timed(ask))
        helps.append(_timed([command, "--help"]))
        imports.append(_timed([sys.executable, "-c", "import agentic_rag"]))
        parts.append(_parts(data))
    rows = [row(f"cold `agentic-rag ask`, median of {rounds}", "s", statistics.median(asks), floor=4)]
    for name, told in (
        ("python", "Python starts"),
        ("imports", "imports (the model loads beside them)"),
        ("model", "waiting for the model still"),
        ("stores", "opening the stores"),
        ("graph", "the graph's run"),
        ("closing", "closing"),
    ):
        rows.append(row(f"  of it: {told}", "s", statistics.median(part[name] for part in parts)))
    rows.append(row("`import agentic_rag`, with Python's start", "s", statistics.median(imports), floor=0.3))
    rows.append(row("`agentic-rag --help`", "s", statistics.median(helps), floor=0.7))
    return rows


def _timed(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def _parts(data: Path) -> dict[str, float]:
    started = time.perf_counter()
    command = [sys.executable, "-c", COLD, str(data), QUESTIONS[0]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None or process.stdout.readline().strip() != "started":
            raise RuntimeError("the timed process did not start")
        python = time.perf_counter() - started
        laps: dict[str, float] = json.loads(process.stdout.read())
    return {"python": python, **laps}


async def measured(data: Path, *, quick: bool) -> list[Row]:
    """All rows except the cold ones."""
    async with open_rag(RagConfig(data_dir=data), embedding=Forgetful()) as rag:
        await rag.ingest(EXAMPLE)
        # As a server does after opening (``SharedRag``), so that no ask includes the collection of imported objects.
        gc.collect()
        gc.freeze()
        return [
            *fusion_rows(300 if quick else 2000),
            *await warm_rows(rag, 3 if quick else 15),
            *await cascade_rows(rag, 3 if quick else 15),
            *await parallel_rows(rag, 5 if quick else 10),
        ]


def main() -> int:
    arguments = options(__doc__, "fewer rounds, the same rows").parse_args()
    os.environ.setdefault("LANGSMITH_TRACING", "false")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        rows = asyncio.run(measured(data, quick=arguments.quick))
        rows += cold_rows(data, 3 if arguments.quick else 7)
    return report("asking the example vault", rows, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
