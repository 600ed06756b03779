"""Evaluation, the systems: every source, fusion and reranking of the graph as something to be scored.

Names: ``graphiti``, ``lancedb`` (each source as the graph runs it), ``dense``, ``sparse``; ``rrf``,
``weighted_graphiti``, ``weighted_lancedb``, ``cascade`` (fused, not reranked), ``fused`` (by the
query's operation); any of these ``+rerank``; ``full`` (the whole compiled graph).
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agentic_rag.composition import Rag
from agentic_rag.domain import Hit
from agentic_rag.errors import InputError
from agentic_rag.evaluation.datasets import EvalQuery
from agentic_rag.filters import parse_filters
from agentic_rag.fusion.cascade_retrieval import decide_tier
from agentic_rag.fusion.strategy_selector import choose_strategy, execute_fusion
from agentic_rag.nodes.retrieve_lancedb import as_hit
from agentic_rag.parameters import FusionStrategy
from agentic_rag.rerank import rerank_results

DEFAULT_OPERATION = "document_retrieval"
RERANKED = "+rerank"
Results = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """A query as a system gets it."""

    query: EvalQuery
    dataset: str
    filters: dict[str, Any] | None
    operation: str


@dataclass(frozen=True, slots=True)
class Scored:
    """What a system returned: results best first, and the milliseconds it took."""

    results: Results
    milliseconds: float


class Systems:
    """Runs named systems on one open ``Rag``."""

    def __init__(self, rag: Rag) -> None:
        self._rag = rag
        self._known: dict[str, Callable[[Task], Awaitable[Results]]] = {
            "graphiti": self._graphiti,
            "lancedb": self._lancedb,
            "dense": lambda task: self._strategy(task, "dense"),
            "sparse": lambda task: self._strategy(task, "sparse"),
            "fused": lambda task: self._fused(task, choose_strategy(task.operation, rag.config.fusion)),
            "full": self._full,
        }
        for strategy in FusionStrategy:
            self._known[strategy.value] = partial(self._fused, strategy=strategy)

    def check(self, names: Sequence[str]) -> None:
        """Raises ``InputError`` on an unknown system, or none at all."""
        if not names:
            raise InputError(f"no system is named; use some of: {', '.join(self._known)}, NAME{RERANKED}")
        for name in names:
            base = name.removesuffix(RERANKED)
            if base not in self._known or (base == "full" and name != base):
                raise InputError(
                    f"unknown system {name!r}; use some of: {', '.join(self._known)}, NAME{RERANKED}"
                )

    async def run(self, name: str, task: Task) -> Scored:
        """One system on one query, timed from question to ranked results."""
        started = time.perf_counter()
        results = await self._known[name.removesuffix(RERANKED)](task)
        if name.endswith(RERANKED):
            results = await rerank_results(task.query.text, results, self._rag.config.rerank, None)
        return Scored(results, (time.perf_counter() - started) * 1000)

    async def _graphiti(self, task: Task) -> Results:
        return _alone("graphiti", await self._graph_hits(task))

    async def _lancedb(self, task: Task) -> Results:
        return _alone("lancedb", await self._chunk_hits(task, self._rag.config.retrieval.strategy))

    async def _strategy(self, task: Task, strategy: str) -> Results:
        return _alone("lancedb", await self._chunk_hits(task, strategy))

    async def _fused(self, task: Task, strategy: FusionStrategy) -> Results:
        parameters = self._rag.config.fusion
        graph = await self._graph_hits(task)
        enough = strategy is FusionStrategy.CASCADE and (
            decide_tier(graph, parameters.graphiti_threshold, parameters.graphiti_min_score)["tier"] == 1
        )
        vector = None if enough else await self._chunk_hits(task, self._rag.config.retrieval.strategy)
        fused = execute_fusion(strategy, graph, vector, parameters)
        return [result.to_dict() for result in fused.results]

    async def _full(self, task: Task) -> Results:
        state = await self._rag.graph.ainvoke(
            {
                "query": task.query.text,
                "operation": task.operation,
                "dataset": task.dataset,
                "filters": task.filters,
            }
        )
        found: Results = state["reranked_results"]
        return found

    async def _graph_hits(self, task: Task) -> list[Hit]:
        return await self._rag.graph_engine.search(
            task.dataset,
            task.query.text,
            limit=self._rag.config.retrieval.candidates,
            filters=parse_filters(task.filters),
        )

    async def _chunk_hits(self, task: Task, strategy: str) -> list[Hit]:
        found = await self._rag.retrieval.search(
            task.dataset,
            task.query.text,
            self._rag.config.retrieval.candidates,
            filters=task.filters,
            strategy=strategy,  # type: ignore[arg-type]
        )
        return [as_hit(result, rank) for rank, result in enumerate(found, start=1)]


def _alone(name: str, hits: Sequence[Hit]) -> Results:
    """One source's hits in the shape of fused results, in its own order."""
    graph, vector = (hits, []) if name == "graphiti" else ([], hits)
    return [result.to_dict() for result in execute_fusion(FusionStrategy.RRF, graph, vector).results]
