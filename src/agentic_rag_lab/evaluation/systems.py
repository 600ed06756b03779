"""Evaluation, the systems: every source, fusion and rerank of the graph, as systems to be scored.

Names: ``graphiti``, ``lancedb`` (each source as the graph runs it), ``dense``, ``sparse``; ``rrf``,
``weighted_graphiti``, ``weighted_lancedb``, ``cascade`` (fused, not reranked), ``fused`` (by the
query's operation); any of these ``+rerank``; ``full`` (the whole compiled graph), ``full-graphiti`` and
``full-lancedb`` (the whole graph without what that source finds).
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langgraph.runtime import Runtime

from agentic_rag.channels import in_full
from agentic_rag.domain.ports import CachedEmbedding
from agentic_rag.errors import InputError
from agentic_rag.graph import rag_nodes, to_second_tier, to_sources
from agentic_rag.models.rerankers import BATCH
from agentic_rag.nodes.retrieve import retrieve
from agentic_rag.rag import Rag
from agentic_rag.rerank import DEPTH
from agentic_rag.retrieval.config import Strategy
from agentic_rag.retrieval.sources import VectorSource
from agentic_rag.settings.parameters import FusionStrategy, Parameters
from agentic_rag.state import CallerKeys, CanvasRAGState
from agentic_rag_lab.evaluation.datasets import EvalQuery

DEFAULT_OPERATION = "document_retrieval"
RERANK_SUFFIX = "+rerank"
_WHOLE: Mapping[str, Mapping[str, Any]] = {
    "full": {},
    "full-graphiti": {
        "graphiti_weight": 0.0,
        "lancedb_weight": 1.0,
        # The cascade must not stop at the graph source, which is left out.
        "graphiti_threshold": 1_000_000,
    },
    "full-lancedb": {"graphiti_weight": 1.0, "lancedb_weight": 0.0},
}
"""Parameters of each whole graph's fusion."""
NO_CLOCK = {"retrieval": {"timeout_seconds": 86_400.0}}
"""The time limit is lifted, so that the results do not depend on the load of the machine."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the graph, up to the fusion, as a system."""

    source: str | None = None
    """The only source that is searched; None: those that the graph would search."""
    strategy: Strategy | None = None
    """Of the vector store, where it is that source; None: as the graph searches it."""
    fusion: Mapping[str, Any] = field(default_factory=dict)

    @property
    def runtime(self) -> Runtime[Any]:
        """The runtime that LangGraph would pass to its nodes."""
        context: Any = {**NO_CLOCK, "fusion": dict(self.fusion)}
        return Runtime(context=context)


_GRAPHITI_ALONE = {"strategy": "rrf", "graphiti_weight": 1.0, "lancedb_weight": 0.0}
_LANCEDB_ALONE = {"strategy": "rrf", "graphiti_weight": 0.0, "lancedb_weight": 1.0}
_PARTS: Mapping[str, _Part] = {
    "graphiti": _Part("retrieve_graphiti", fusion=_GRAPHITI_ALONE),
    "lancedb": _Part("retrieve_lancedb", fusion=_LANCEDB_ALONE),
    "dense": _Part("retrieve_lancedb", "dense", _LANCEDB_ALONE),
    "sparse": _Part("retrieve_lancedb", "sparse", _LANCEDB_ALONE),
    "fused": _Part(),
    **{strategy.value: _Part(fusion={"strategy": strategy}) for strategy in FusionStrategy},
}
Results = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """A query as input of a system."""

    query: EvalQuery
    dataset: str
    filters: dict[str, Any] | None
    operation: str


@dataclass(frozen=True, slots=True)
class SystemOutput:
    """The output of a system, and its cost."""

    results: Results
    """Best first."""
    milliseconds: float
    """From question to ranked results; for a whole graph to its answer."""
    model_calls: int = 0
    """Calls of a chat or rerank model by the graph; a client's own retries are not counted."""
    confidence: float | None = None
    """For a whole graph: the best calibrated relevance in [0, 1], which decides whether it answers."""
    is_abstention: bool | None = None
    """For a whole graph: it answered that the documents do not contain it."""
    degraded_sources: tuple[str, ...] = ()
    """Sources and models that failed, by name."""


class Systems:
    """Runs named systems on one open ``Rag``."""

    def __init__(self, rag: Rag) -> None:
        self._rag = rag
        self._nodes = rag_nodes(rag.parts, rag.config)
        # A checkpointer would require a thread for every question, and would store all of them.
        self._graph = rag.graph.copy({"checkpointer": None})

    def check(self, names: Sequence[str]) -> None:
        """Raises ``InputError`` on an unknown system, or none at all."""
        known = ", ".join([*_PARTS, f"NAME{RERANK_SUFFIX}", *_WHOLE])
        if not names:
            raise InputError(f"no system is named; use some of: {known}")
        for name in names:
            if not is_whole(name) and name.removesuffix(RERANK_SUFFIX) not in _PARTS:
                raise InputError(f"unknown system {name!r}; use some of: {known}")

    def clear_cache(self) -> None:
        """Clear the caches of the vectors of questions and lines, so that each system embeds them itself, as for a reader."""
        self._rag.parts.unit_vectors.clear()
        if isinstance(self._rag.embedding, CachedEmbedding):
            self._rag.embedding.clear_cache()

    async def run(self, name: str, task: Task) -> SystemOutput:
        """One system on one query, timed."""
        if is_whole(name):
            return await self._whole(name, task)
        started = time.perf_counter()
        part = _PARTS[name.removesuffix(RERANK_SUFFIX)]
        state = await self._fusion_state(part, task)
        results, calls = in_full(state["fused_results"]), 0
        if name.endswith(RERANK_SUFFIX):
            state |= await self._nodes["rerank"](state)
            results = in_full(state["reranked_results"])
            calls = _model_calls("rerank", state, self._rag.config)
        milliseconds = (time.perf_counter() - started) * 1000
        return SystemOutput(results, milliseconds, calls, degraded_sources=tuple(_degraded_sources(state)))

    async def _fusion_state(self, part: _Part, task: Task) -> dict[str, Any]:
        """The graph's state after its fusion node, by the graph's own nodes and edges."""
        state = _initial_state(task)
        typed = cast(CanvasRAGState, state)  # the same dict, which the nodes read
        state |= await self._nodes["prepare_query"](state, part.runtime)
        if part.strategy is not None:
            source = VectorSource(self._rag.parts.lancedb, part.strategy)
            state |= await retrieve(typed, name="lancedb", source=source)
            state |= await self._nodes["fuse_results"](state)
            return state
        sources = (
            [part.source] if part.source else [one for one in to_sources(typed) if one != "select_notes"]
        )
        for written in await asyncio.gather(*(self._nodes[name](state) for name in sources)):
            state |= written
        if part.source is None and "retrieve_lancedb" in to_second_tier(typed):
            state |= await self._nodes["retrieve_lancedb"](state)
        state |= await self._nodes["fuse_results"](state)
        return state

    async def _whole(self, name: str, task: Task) -> SystemOutput:
        context = {**NO_CLOCK, "fusion": dict(_WHOLE[name])}
        parameters = self._rag.config.override(context)
        state: dict[str, Any] = {}
        calls, degraded = 0, dict[str, None]()
        started = time.perf_counter()
        async for step in self._graph.astream(
            cast(CallerKeys, _initial_state(task)), context=context, stream_mode="updates"
        ):
            for node, written in step.items():
                degraded.update(dict.fromkeys(_degraded_sources(written)))
                state.update(written)
                calls += _model_calls(node, state, parameters)
        milliseconds = (time.perf_counter() - started) * 1000
        return SystemOutput(
            results=in_full(state["reranked_results"]),
            milliseconds=milliseconds,
            model_calls=calls,
            confidence=state["quality"]["score"],
            is_abstention=state["abstained"],
            degraded_sources=tuple(degraded),
        )


def is_whole(name: str) -> bool:
    """Whether the system is a whole graph, which can abstain."""
    return name in _WHOLE


def _initial_state(task: Task) -> dict[str, Any]:
    return {
        "query": task.query.text,
        "operation": task.operation,
        "dataset": task.dataset,
        "filters": task.filters,
    }


def _model_calls(node: str, state: Mapping[str, Any], parameters: Parameters) -> int:
    """Number of calls of a chat or rerank model by a node, from the state it left."""
    if node == "rerank":
        if state["rerank_outcome"]["method"] != parameters.rerank.method:
            return 1  # the failed call; the concurrent ones were cancelled
        # By the fused results: post-retrieval steps may have removed some of the reranked ones.
        return _rerank_calls(parameters, len(state["fused_results"]))
    if node == "rewrite_query":
        return int(parameters.rewrite.method == "chat")
    if node == "answer":
        outcome = state["answer_outcome"]
        return int(outcome["method"] == "chat" or outcome["status"] == "degraded")
    return 0


def _rerank_calls(parameters: Parameters, results: int) -> int:
    """One call per batch of passages for a chat model, one call for all of them for a cross-encoder."""
    passages = min(results, DEPTH)
    calls = {"chat": math.ceil(passages / BATCH), "cross_encoder": min(passages, 1)}
    return calls.get(parameters.rerank.method, 0)


def _degraded_sources(state: Mapping[str, Any]) -> list[str]:
    return [
        key.removesuffix("_outcome")
        for key, outcome in state.items()
        if key.endswith("_outcome") and outcome and outcome["status"] == "degraded"
    ]
