"""Effect and cost of each operation's fusion strategy, on three vaults and 2wiki.

    python evaluation/bench_strategies.py [--quick] [--data DIR] [--keep DIR] [--json FILE]

Every question is searched once; each strategy fuses the same hits, followed by the offline rerank, with the documented
weights and without adaptation unless a row says otherwise. Rows: for each operation, its own
strategy and the other three on its own questions; how often the final ten or the first result depend on the strategy,
over questions with names from the graph; the correlation of the whole graph's quality with that of the fused list;
under the cascade, the number of questions that end with the graph alone, their quality, and the time saved. 2wiki
(second half) needs data that are not part of this project (DIR, by default ../shared/data) and is left out without
them. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.progress import silent
from agentic_rag.fusion.strategy_selector import OPERATIONS
from agentic_rag.rerank.offline import ranked_ids
from agentic_rag.settings.parameters import FusionStrategy, Parameters
from agentic_rag_lab.evaluation.asking import ranking_of
from agentic_rag_lab.evaluation.datasets import load_dataset
from agentic_rag_lab.evaluation.run import dataset_of, ingest_documents
from agentic_rag_lab.evaluation.statistics import bootstrap_interval
from agentic_rag_lab.evaluation.systems import Systems, Task
from agentic_rag_lab.evaluation.tuning.run import collect
from agentic_rag_lab.evaluation.tuning.search import CollectedQuery, Replay, with_changes
from figures import Row, options, report, row
from judged_sets import CACHE, DATA, OWN, KeptEmbedding

VAULTS = ("vault_100", "vault_night_sky", "vault_pottery")
WIKI = "beir/multihop/2wiki_train500"
DIFFERING = 1 / 3
"""Minimum share of the questions with names whose final ten or first result depends on the strategy."""
REACH = ("rrf", "weighted_graphiti", "weighted_lancedb")
CONFIGURATIONS: list[dict[str, Any]] = [
    *({"fusion.strategy": "rrf", "fusion.k": k} for k in (1, 20, 60)),
    *(
        {
            "fusion.strategy": "weighted_graphiti",
            "fusion.graphiti_weight": weight,
            "fusion.lancedb_weight": round(1 - weight, 1),
            "fusion.normalization": normalization,
        }
        for weight in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
        for normalization in ("min_max", "z_score")
    ),
]
"""Configurations for the correlation of the whole graph's quality with that of the fused list."""
QUICK = 30
Floats = NDArray[np.float64]


async def asked(rag: Rag, path: Path, half: str | None, limit: int | None) -> tuple[Replay, str]:
    """A set's questions, searched once, and the dataset."""
    loaded = load_dataset(path)
    dataset = dataset_of(loaded.source)
    await ingest_documents(rag, loaded, dataset, silent)
    chosen = loaded.select(half=half, limit=None)
    if limit is not None:  # sampled evenly, because a set's first questions are of one operation
        step = -(-len(chosen.queries) // limit)
        chosen = replace(chosen, queries=chosen.queries[::step])
    measure = "mrr@10" if path.parent == OWN else "recall@10"
    collected = await collect(rag, chosen, dataset, None, silent)
    collected = [replace(one, specificity=None) for one in collected]  # the documented weights, not adapted
    return Replay(collected, rag.config, loaded.unit, measure), dataset


def values_of(replay: Replay, settings: dict[str, Any]) -> Floats:
    """The measure of every question under settings; NaN without relevant items."""
    found: Floats = replay.outcome(with_changes((), settings)).values
    return found


def operation_rows(replays: Sequence[Replay]) -> list[Row]:
    """Each operation's strategy and the others on the operation's questions, over all vaults."""
    rows = []
    for operation, profile in OPERATIONS.items():
        own = of_operation(replays, operation, {})
        for strategy in FusionStrategy:
            if strategy is profile.strategy:
                continue
            other = of_operation(replays, operation, {"fusion.strategy": strategy.value})
            gain = bootstrap_interval((own - other).tolist())
            told = f"{operation}, {len(own)} questions: {profile.strategy} less {strategy}"
            told += f" {gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}), MRR@10"
            rows.append(row(told, "", own.mean(), bound="min", peer=strategy.value, theirs=other.mean()))
    return rows


def of_operation(replays: Sequence[Replay], operation: str, settings: dict[str, Any]) -> Floats:
    """The measure of the operation's questions."""
    parts = []
    for replay in replays:
        wanted = [
            n for n in replay.ranked_places.tolist() if replay.collected_queries[n].operation == operation
        ]
        parts.append(values_of(replay, settings)[wanted])
    return np.concatenate(parts)


def final_ids(one: CollectedQuery, strategy: str, parameters: Parameters) -> list[str]:
    """The ids of the final ten, by the strategy's own weights without the rule."""
    ids = ranked_ids(
        one.text,
        (one.graph, one.vector),
        FusionStrategy(strategy),
        operation=one.operation,
        parameters=parameters,
        specificity=None,
    )
    return ids[:10]


def reach_rows(replays: Sequence[Replay]) -> list[Row]:
    """How often the strategy changes the final ten, over questions with names from the graph."""
    differing, first = [], []
    for replay in replays:
        for one in replay.collected_queries:
            if one.specificity is None or not one.names:
                continue
            finals = [final_ids(one, strategy, replay.base) for strategy in REACH]
            first.append(len({ids[0] for ids in finals if ids}) > 1)
            differing.append(first[-1] or len({frozenset(ids) for ids in finals}) > 1)
    told = f"{len(differing)} questions that name something"
    return [
        row(
            f"{told}: final ten or first differ by strategy",
            "share",
            float(np.mean(differing)),
            bound="min",
            floor=DIFFERING,
        ),
        row(f"{told}: first differs", "share", float(np.mean(first))),
    ]


def follow_row(names: Sequence[str], replays: Sequence[Replay]) -> list[Row]:
    """Rank correlation, over configurations, of the fused list's and the whole graph's quality."""
    rows = []
    for name, replay in zip(names, replays, strict=True):
        fused, whole = [], []
        for settings in CONFIGURATIONS:
            fused.append(
                values_of(replay, {**settings, "rerank.method": "none"})[replay.ranked_places].mean()
            )
            whole.append(values_of(replay, settings)[replay.ranked_places].mean())
        correlation = float(spearmanr(fused, whole).statistic)
        told = f"{name}: rank correlation of fused and final {replay.measure}, {len(fused)} configurations"
        rows.append(row(told, "", correlation, bound="min"))
    return rows


async def cascade_rows(rag: Rag, name: str, replay: Replay, dataset: str, unit: str) -> list[Row]:
    """Under ``concept_relation``: questions that end in the first tier, their quality, and the time saved."""
    systems = Systems(rag)
    alone: list[float] = []
    both: list[float] = []
    saved: list[float] = []
    ended = 0
    for number in replay.ranked_places.tolist():
        one = replay.collected_queries[number]
        task = Task(one.query, dataset, None, "concept_relation")
        lazily, seconds = await _timed(systems, "cascade", task)
        if not lazily or any("lancedb" in result["sources"] for result in lazily):
            continue
        ended += 1
        fully, full_seconds = await _timed(systems, "rrf", task)
        for values, results in ((alone, lazily), (both, fully)):
            values.append(replay.value(number, ranking_of(results, unit)))
        saved.append(1 - seconds / full_seconds)
    rows = [
        row(f"{name}: cascade ends in the first tier", "share", ended / max(len(replay.ranked_places), 1))
    ]
    if ended:
        told = f"{name}: {ended} questions that end there"
        rows += [
            row(f"{told}: fused {replay.measure}, the graph alone", "", float(np.mean(alone)), bound="min",
                peer="both sources", theirs=float(np.mean(both))),
            row(f"{told}: time saved, median", "share", float(np.median(saved))),
        ]  # fmt: skip
    return rows


async def _timed(systems: Systems, name: str, task: Task) -> tuple[Any, float]:
    systems.clear_cache()
    started = time.perf_counter()
    results = (await systems.run(name, task)).results
    return results, time.perf_counter() - started


async def run(data: Path, folder: Path, limit: int | None) -> list[Row]:
    rows: list[Row] = []
    places: dict[str, tuple[Path, str | None]] = {name: (OWN / name, None) for name in VAULTS}
    if (data / WIKI).is_dir():
        places["2wiki_train500, second half"] = (data / WIKI, "second")
    else:
        print(f"2wiki is left out: {data} lacks {WIKI}", file=sys.stderr)
    async with open_rag(RagConfig(data_dir=folder), embedding=KeptEmbedding(CACHE)) as rag:
        found = {name: await asked(rag, path, half, limit) for name, (path, half) in places.items()}
        vaults = [found[name][0] for name in VAULTS]
        rows += operation_rows(vaults)
        rows += reach_rows([replay for replay, _ in found.values()])
        rows += follow_row(list(found), [replay for replay, _ in found.values()])
        for name, (replay, dataset) in found.items():
            rows += await cascade_rows(rag, name, replay, dataset, "document")
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, f"some {QUICK} questions of each set", DATA)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep what is ingested there, and use it")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        rows = asyncio.run(run(given.data, folder, QUICK if given.quick else None))
    return report("what the fusion's strategy decides", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
