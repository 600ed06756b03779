"""Evaluation, the systems: every source, fusion and reranking of the graph as something to be scored.

Names: ``graphiti``, ``lancedb`` (each source as the graph runs it), ``dense``, ``sparse``; ``rrf``,
``weighted_graphiti``, ``weighted_lancedb``, ``cascade`` (fused, not reranked), ``fused`` (by the
query's operation); any of these ``+rerank``; ``full`` (the whole compiled graph), ``full-graphiti`` and
``full-lancedb`` (the whole graph without what that source finds).
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agentic_rag.composition import Rag
from agentic_rag.domain import Hit
from agentic_rag.errors import InputError
from agentic_rag.evaluation.datasets import EvalQuery
from agentic_rag.filters import parse_filters
from agentic_rag.fusion.cascade_retrieval import decide_tier
from agentic_rag.fusion.strategy_selector import choose_strategy, execute_fusion, parse_operation
from agentic_rag.nodes.retrieve_lancedb import as_hit
from agentic_rag.parameters import FusionStrategy, Parameters
from agentic_rag.ports import Remembering
from agentic_rag.rerank import compared_by_tokens, rerank_results

DEFAULT_OPERATION = "document_retrieval"
RERANKED = "+rerank"
_WHOLE: Mapping[str, Mapping[str, Any]] = {
    "full": {},
    "full-graphiti": {
        "graphiti_weight": 0.0,
        "lancedb_weight": 1.0,
        # The cascade must not be content with the graph that is left out.
        "graphiti_threshold": 1_000_000,
        "use_lancedb_fallback": True,
    },
    "full-lancedb": {"graphiti_weight": 1.0, "lancedb_weight": 0.0, "use_lancedb_fallback": False},
}
"""What each whole graph fuses by."""
NO_CLOCK = {"quality": {"deadline_seconds": 86_400.0}, "retrieval": {"timeout_seconds": 86_400.0}}
"""Limits in seconds are lifted, so that what is found does not depend on how busy the machine is."""
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
    """What a system returned, and what it took."""

    results: Results
    """Best first."""
    milliseconds: float
    """From question to ranked results; of a whole graph to its answer."""
    model_calls: int = 0
    """Of a chat or rerank model, as the graph made them; tries that a client repeats by itself count once."""
    confidence: float | None = None
    """Of a whole graph: the best calibrated relevance in [0, 1], by which it answers or abstains."""
    abstained: bool | None = None
    """Of a whole graph: it said that the documents do not have it."""
    degraded: tuple[str, ...] = ()
    """Sources and models that failed, by name."""


class Systems:
    """Runs named systems on one open ``Rag``."""

    def __init__(self, rag: Rag) -> None:
        self._rag = rag
        self._known: dict[str, Callable[[Task], Awaitable[Results]]] = {
            "graphiti": self._graphiti,
            "lancedb": self._lancedb,
            "dense": partial(self._strategy, strategy="dense"),
            "sparse": partial(self._strategy, strategy="sparse"),
            "fused": lambda task: self._fused(task, choose_strategy(task.operation, rag.config.fusion)),
        }
        for strategy in FusionStrategy:
            self._known[strategy.value] = partial(self._fused, strategy=strategy)

    def check(self, names: Sequence[str]) -> None:
        """Raises ``InputError`` on an unknown system, or none at all."""
        known = ", ".join([*self._known, f"NAME{RERANKED}", *_WHOLE])
        if not names:
            raise InputError(f"no system is named; use some of: {known}")
        for name in names:
            if not is_whole(name) and name.removesuffix(RERANKED) not in self._known:
                raise InputError(f"unknown system {name!r}; use some of: {known}")

    def forget(self) -> None:
        """Let the next system embed a question that another has embedded: each is asked as a reader would ask it."""
        if isinstance(self._rag.embedding, Remembering):
            self._rag.embedding.forget()

    async def run(self, name: str, task: Task) -> Scored:
        """One system on one query, timed."""
        if is_whole(name):
            return await self._whole(name, task)
        started = time.perf_counter()
        results = await self._known[name.removesuffix(RERANKED)](task)
        calls = 0
        if name.endswith(RERANKED):
            text, parameters = task.query.text, self._rag.config
            results = await compared_by_tokens(
                text, results, task.dataset, parameters.rerank, self._rag.parts.late_interaction
            )
            results = await rerank_results(
                text,
                results,
                parameters.rerank,
                self._rag.parts.rerankers,
                operation=parse_operation(task.operation),
            )
            calls = _rerank_calls(parameters, len(results))
        return Scored(results, (time.perf_counter() - started) * 1000, calls)

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
            not parameters.use_lancedb_fallback
            or decide_tier(graph, parameters.graphiti_threshold, parameters.graphiti_min_score)["tier"] == 1
        )
        vector = None if enough else await self._chunk_hits(task, self._rag.config.retrieval.strategy)
        fused = execute_fusion(strategy, graph, vector, parameters)
        return [result.to_dict() for result in fused.results]

    async def _whole(self, name: str, task: Task) -> Scored:
        context = {**NO_CLOCK, "fusion": dict(_WHOLE[name])}
        parameters = self._rag.config.overridden(context)
        asked = {
            "query": task.query.text,
            "operation": task.operation,
            "dataset": task.dataset,
            "filters": task.filters,
        }
        state: dict[str, Any] = {}
        calls, degraded = 0, dict[str, None]()
        started = time.perf_counter()
        async for step in self._rag.graph.astream(asked, context=context, stream_mode="updates"):
            for node, written in step.items():
                calls += _model_calls(node, written, parameters)
                degraded.update(dict.fromkeys(_degraded(written)))
                state.update(written)
        milliseconds = (time.perf_counter() - started) * 1000
        return Scored(
            results=state["reranked_results"],
            milliseconds=milliseconds,
            model_calls=calls,
            confidence=state["quality"]["score"],
            abstained=state["abstained"],
            degraded=tuple(degraded),
        )

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


def is_whole(name: str) -> bool:
    """Whether the system is a whole graph, which can abstain."""
    return name in _WHOLE


def _alone(name: str, hits: Sequence[Hit]) -> Results:
    """One source's hits in the shape of fused results, in its own order."""
    graph, vector = (hits, []) if name == "graphiti" else ([], hits)
    return [result.to_dict() for result in execute_fusion(FusionStrategy.RRF, graph, vector).results]


def _model_calls(node: str, written: Mapping[str, Any], parameters: Parameters) -> int:
    """Calls of a chat or rerank model that a node made, by what it wrote."""
    if node == "rerank":
        if written["rerank_outcome"]["status"] == "degraded":
            return 1  # the call that failed; those beside it were given up
        return _rerank_calls(parameters, len(written["reranked_results"]))
    if node == "rewrite_query":
        return int(parameters.rewrite.method == "chat")
    if node == "answer":
        outcome = written["answer_outcome"]
        return int(outcome["method"] == "chat" or outcome["status"] == "degraded")
    return 0


def _rerank_calls(parameters: Parameters, results: int) -> int:
    """A chat model is called for each passage, a cross-encoder once for all of them."""
    passages = min(results, parameters.rerank.depth)
    calls = {"chat": passages, "cross_encoder": min(passages, 1)}
    return calls.get(parameters.rerank.method, 0)


def _degraded(written: Mapping[str, Any]) -> list[str]:
    return [
        key.removesuffix("_outcome")
        for key, outcome in written.items()
        if key.endswith("_outcome") and outcome["status"] == "degraded"
    ]
