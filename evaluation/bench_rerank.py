"""Effect of the offline rerank on MRR@10, on LoCoMo and two BEIR sets, with intervals.

    python evaluation/bench_rerank.py [--quick] [--data DIR] [--json FILE]

Before is what the operation ``document_retrieval`` fuses, after is the same list reranked. The interval is a
paired bootstrap over the queries' differences. Needs data that are not part of this project: DIR holds
``locomo/*.json`` and ``beir/cranfield``, ``beir/rgb/zh_fact`` (by default ../shared/data).
Exits 1 when the rerank does not help on LoCoMo or harms elsewhere, 2 without the data.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.evaluation.datasets import load_dataset
from agentic_rag.evaluation.metrics import document_ranking, reciprocal_rank
from agentic_rag.evaluation.statistics import bootstrap_interval
from agentic_rag.evaluation.systems import Systems, Task
from figures import Row, options, report, row

DATA = Path(__file__).parents[1].parent / "shared" / "data"
SETS = ("locomo", "beir/cranfield", "beir/rgb/zh_fact")
BEFORE, AFTER = "weighted_lancedb", "weighted_lancedb+rerank"
QUICK = 60


def sources(data: Path) -> dict[str, Path]:
    """The existing sets, by name."""
    locomo = sorted((data / "locomo").glob("*.json"))
    found = {"LoCoMo": locomo[0]} if locomo else {}
    return found | {name: data / name for name in SETS[1:] if (data / name / "corpus.jsonl").is_file()}


async def compared(rag: Rag, name: str, source: Path, limit: int | None) -> list[Row]:
    """Rows of one set: before, after, and the difference with the bounds of its interval."""
    loaded = load_dataset(source)
    systems = Systems(rag)
    values: dict[str, list[float]] = {BEFORE: [], AFTER: []}
    await rag.ingest(source, dataset=name)
    for query in loaded.ranked_queries[:limit]:
        task = Task(query, name, loaded.filters(query), "document_retrieval")
        for system in values:
            found = (await systems.run(system, task)).results
            ranking = document_ranking(found) if loaded.unit == "document" else [str(r["id"]) for r in found]
            values[system].append(reciprocal_rank(ranking, query.relevant))
    before, after = (sum(v) / len(v) for v in (values[BEFORE], values[AFTER]))
    difference = bootstrap_interval([b - a for a, b in zip(values[BEFORE], values[AFTER], strict=True)])
    told = f"{name}, {len(values[BEFORE])} queries"
    gain = f"{told}: difference, 95 % interval"
    # On LoCoMo it must help; elsewhere there may be no significant harm.
    help_floor, harm_floor = (0.0, None) if name == "LoCoMo" else (None, 0.0)
    return [
        row(f"{told}: MRR@10 reranked", "", after, bound="min", peer="as fused", theirs=before),
        row(f"{gain}: low", "", difference.low, bound="min", floor=help_floor),
        row(f"{gain}: high", "", difference.high, bound="min", floor=harm_floor),
    ]


async def measured(folder: Path, chosen: dict[str, Path], limit: int | None) -> list[Row]:
    async with open_rag(RagConfig(data_dir=folder)) as rag:
        rows: list[Row] = []
        for name, source in chosen.items():
            rows += await compared(rag, name, source, limit)
        return rows


def main(arguments: Sequence[str] | None = None) -> int:
    given = options(__doc__, f"the first {QUICK} queries of each set", DATA).parse_args(arguments)
    chosen = sources(given.data)
    if len(chosen) < len(SETS):
        print(
            f"error: {given.data} lacks data; needed are locomo/*.json, {', '.join(SETS[1:])} in the BEIR layout; "
            "name a folder that has them with --data DIR",
            file=sys.stderr,
        )
        return 2
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(measured(Path(folder), chosen, QUICK if given.quick else None))
    return report("rerank without a model", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
