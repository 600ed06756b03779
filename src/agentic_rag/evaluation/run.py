"""Evaluation, the run: ingest what the queries are about, ask every system, score with intervals."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agentic_rag.composition import Rag
from agentic_rag.errors import InputError
from agentic_rag.evaluation.datasets import EvalDataset, EvalQuery, load_dataset
from agentic_rag.evaluation.metrics import document_ranking, measure
from agentic_rag.evaluation.statistics import bootstrap_interval
from agentic_rag.evaluation.systems import DEFAULT_OPERATION, Systems, Task
from agentic_rag.fusion.strategy_selector import parse_operation
from agentic_rag.identity import digest

MEASURES = ("mrr@10", "recall@10", "ndcg@10")
Told = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class EvalReport:
    """Figures of every system on the same queries."""

    dataset: str
    queries: int
    systems: dict[str, dict[str, Any]]
    """By system and measure: ``value``, ``low``, ``high`` (95 % bootstrap); ``latency_ms``: p50, p95."""
    repairs: int
    """Labels that could not be taken as they stood."""

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON."""
        return {"dataset": self.dataset, "queries": self.queries, "systems": self.systems}

    def write(self, path: Path) -> None:
        """The contract's JSON in a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


async def evaluate(
    rag: Rag,
    source: Path,
    names: Sequence[str],
    *,
    operation: str | None = None,
    limit: int | None = None,
    told: Told | None = None,
) -> EvalReport:
    """Score systems on a BEIR directory or LoCoMo file; what it holds is ingested (incrementally) first.

    Args:
        rag: open; the data go to a dataset of their own, named after the source's path.
        names: see ``systems``.
        operation: for every query; None: the query's own, else ``document_retrieval``.
        limit: only the first queries.
        told: called with stage, done, total.

    Raises:
        InputError: an unknown system or operation, or a source without judged queries.
    """
    told = told or (lambda stage, done, total: None)
    systems = Systems(rag)
    systems.check(names)
    if operation is not None:
        parse_operation(operation)
    loaded = load_dataset(source)
    queries = loaded.ranked_queries[:limit]
    if not queries:
        raise InputError(f"{source} has no query with a relevant document")
    dataset = await asyncio.to_thread(_dataset_name, source)
    await rag.ingest(source, dataset=dataset, progress=told)
    scores: dict[str, list[list[float]]] = {name: [] for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    for number, query in enumerate(queries, start=1):
        for name in names:
            scored = await systems.run(name, _task(loaded, query, dataset, operation))
            scores[name].append(_measured(loaded, query, scored.results))
            times[name].append(scored.milliseconds)
        told("ask", number, len(queries))
    figures = {name: _figures(scores[name], times[name]) for name in names}
    return EvalReport(loaded.name, len(queries), figures, len(loaded.repairs))


def _dataset_name(source: Path) -> str:
    """One dataset per source, so that the next evaluation of it need not ingest it again."""
    return f"eval-{digest(str(source.resolve()), size=6)}"


def _task(loaded: EvalDataset, query: EvalQuery, dataset: str, operation: str | None) -> Task:
    filters = {"conversation": query.dataset_key} if loaded.unit == "chunk" else None
    return Task(query, dataset, filters, operation or query.operation or DEFAULT_OPERATION)


def _measured(loaded: EvalDataset, query: EvalQuery, results: Sequence[dict[str, Any]]) -> list[float]:
    if loaded.unit == "document":
        ranking = document_ranking(results)
    else:
        ranking = list(dict.fromkeys(str(result["id"]) for result in results))
    return [measure(name, ranking, query.relevant) for name in MEASURES]


def _figures(scores: Sequence[Sequence[float]], times: Sequence[float]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for column, name in enumerate(MEASURES):
        interval = bootstrap_interval([row[column] for row in scores])
        figures[name] = {"value": interval.value, "low": interval.low, "high": interval.high}
    p50, p95 = np.percentile(times, [50, 95])
    figures["latency_ms"] = {"p50": round(float(p50), 2), "p95": round(float(p95), 2)}
    return figures
