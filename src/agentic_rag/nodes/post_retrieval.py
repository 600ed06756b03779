"""Between rerank and check_quality: the memory graphs' post-retrieval steps on the reranked results.

Only steps that choose, order or fetch: what shapes a reader's text (augment, compress, format) has nothing to
do where the answer quotes its sources verbatim. Relevance is not touched: a step may put a recent result
first, but ``rerank_score`` still says how relevant it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agentic_rag.domain.filters import Expression
from agentic_rag.domain.memory import Memory, MemoryService
from agentic_rag.domain.ports import Chat, FloatArray, Reranker, TokenCounter
from agentic_rag.errors import ConfigError
from agentic_rag.fusion.rrf_fusion import reciprocal_rank_fusion
from agentic_rag.fusion.unified_result import UnifiedResult
from agentic_rag.nodes.request import DEFAULT_DATASET, Request
from agentic_rag.nodes.requirements import RerankTools
from agentic_rag.nodes.retrieve import as_hit
from agentic_rag.post_retrieval import PostRetrieval, PostRetrievalTools, Step, parse_steps
from agentic_rag.post_retrieval.tools import check_tools
from agentic_rag.rerank import BY_MODEL, Rerankers
from agentic_rag.rerank.features import judged
from agentic_rag.retrieval.ports import GraphSearch, VectorSearch
from agentic_rag.retrieval.schemas import linked_hits
from agentic_rag.settings.parameters import Parameters, RerankParameters

ACTIONS = ("none", "rerank", "filter", "merge")
WHERE = "post_retrieval.steps"


def steps_of(given: Sequence[Mapping[str, Any]]) -> tuple[Step, ...]:
    """The configured steps.

    Raises:
        ConfigError: an unknown action, type or key, or an action that shapes a reader's text.
    """
    steps = parse_steps(list(given), where=WHERE)
    for n, step in enumerate(steps):
        if step.action not in ACTIONS:
            raise ConfigError(
                f"{WHERE}[{n}].action: {step.action} shapes a reader's text, and answers quote their sources; "
                f"use one of: {', '.join(ACTIONS)}"
            )
    return steps


def check_steps(parameters: Parameters, tools: RerankTools) -> None:
    """That the configured steps can run in a graph with these models; nothing is loaded or asked.

    Raises:
        ConfigError: as ``steps_of``, or a step needs what is not there.
    """
    named = _named(parameters.rerank, tools.rerankers)
    if named is not None and tools.rerankers is not None:
        tools.rerankers.check(named)
    # Only presence is checked: both engines are always there, a model if one is named.
    there: Any = object()
    asked = GraphStepTools(
        DatasetMemory(there, there, "", DEFAULT_DATASET),
        None if named is None else there,
        tools.chat,
        tools.count_tokens or _no_tokens,
    )
    check_tools(steps_of(parameters.post_retrieval.steps), asked, WHERE)


class GraphStepTools(PostRetrievalTools):
    """Tools for steps in the main graph; errors name what is missing by this graph's settings."""

    def secondary_service(self, name: str) -> MemoryService:
        raise ConfigError(
            f"names the service {name!r}, but only the vector store is searched here; leave service out"
        )

    def needed_counter(self) -> TokenCounter:
        if self.count_tokens is _no_tokens:
            raise ConfigError("needs a token counter; pass count_tokens to GraphParts")
        return self.count_tokens

    def needed_reranker(self) -> Reranker:
        if self.reranker is None:
            raise ConfigError(
                "needs a rerank model, and none is configured; set rerank.model (with the extra 'rerank'), "
                "or use another rerank_type"
            )
        return self.reranker

    def needed_chat(self) -> Chat:
        if self.chat is None:
            raise ConfigError("needs a chat model, and none is configured; set chat.base_url")
        return self.chat


async def post_retrieved(
    request: Request, results: Sequence[dict[str, Any]], tools: RerankTools
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The results after all steps, and a record of each step.

    Args:
        request: its parameters have the steps, and name the model that they may ask; its ``as_of`` is the question's
            time, else that of the newest result; a step that searches again keeps to its dataset and filters.
        results: reranked, as plain values.
        tools: what they may ask.

    Raises:
        ConfigError: a step is wrong, or needs what is not there.
        ModelError, StoreError: what a step asked failed.
    """
    now, parameters = request.as_of, request.parameters
    steps = steps_of(parameters.post_retrieval.steps)
    kinds = {(step.action, step.kind) for step in steps}
    memories = [_memory(result, score) for result, score in zip(results, judged(results), strict=True)]
    vector, service = None, None
    known: dict[str, dict[str, Any]] = {result["id"]: result for result in results}
    if tools.engine is not None and tools.graph is not None:
        service = DatasetMemory(
            tools.engine,
            tools.graph,
            request.question,
            request.dataset,
            request.filters,
            now,
            known,
            with_vectors=("rerank", "semantic") in kinds,
        )
        vector, memories = await service.embedded(memories)
    reranker = None
    # Loading it takes seconds, so it is loaded only where a step asks it.
    if ("rerank", "cross_encoder") in kinds:
        reranker = await asyncio.to_thread(_reranker, parameters.rerank, tools.rerankers)
    asked = GraphStepTools(service, reranker, tools.chat, tools.count_tokens or _no_tokens)
    written = await PostRetrieval(steps, asked, where=WHERE).execute(
        {
            "question": request.question,
            "query_embedding": vector,
            "memory_data": memories,
            "reference_time": now.isoformat() if now is not None else None,
        }
    )
    kept = [_result(known[memory["entry_id"]], memory) for memory in written["memory_data"]]
    return kept, list(written["post_retrieval"])


@dataclass(frozen=True, slots=True)
class DatasetMemory:
    """A dataset as a memory that can be asked again: its vector store, and the links of its graph."""

    engine: VectorSearch
    graph: GraphSearch
    question: str
    dataset: str
    filters: Expression | None = None
    as_of: datetime | None = None
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    """All known results by id, in the form of reranked results; searches add to them."""
    with_vectors: bool = False
    """Memories come with their vectors."""

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str | None:
        """Nothing: documents come in by ingest."""
        raise ConfigError("a dataset is filled by ingest, not by an operator")

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """See ``MemoryService.retrieve``; scores are calibrated relevance in [0, 1]."""
        judged = await self.engine.find(
            self.dataset, query or "", top_k or 10, filters=self.filters, as_of=self.as_of
        )
        found = judged.results
        hits = [as_hit(result, rank) for rank, result in enumerate(found, start=1)]
        self._join(reciprocal_rank_fusion([], hits), {result.id: result.score for result in found})
        _, memories = await self.embedded([_memory(self.found[result.id], result.score) for result in found])
        return memories

    async def neighbours(self, entry_id: str, *, top_k: int | None = None) -> list[Memory]:
        """Chunks that mention the same entities; see ``Neighbours`` and ``PassageGraph.linked``."""
        return (await self.neighbours_of([entry_id], top_k=top_k or 10))[entry_id]

    async def neighbours_of(self, entry_ids: Sequence[str], *, top_k: int) -> dict[str, list[Memory]]:
        """``neighbours`` of each id; new results get the relevance of their own cosine."""
        linked = await self.graph.linked(
            self.dataset, self.question, entry_ids, limit=top_k, filters=self.filters, as_of=self.as_of
        )
        reached = {one.chunk.id: one for found in linked.values() for one in found}
        hits = linked_hits(
            [(one.chunk, one.relevance) for one in reached.values() if one.chunk.id not in self.found]
        )
        self._join(reciprocal_rank_fusion(hits, []), {i: one.relevance for i, one in reached.items()})
        _, embedded = await self.embedded([_memory(self.found[i], None) for i in reached])
        memories = {memory["entry_id"]: memory for memory in embedded}
        return {
            entry_id: [{**memories[one.chunk.id], "score": one.strength} for one in found]
            for entry_id, found in linked.items()
        }

    async def embedded(self, memories: list[Memory]) -> tuple[list[float] | None, list[Memory]]:
        """The question's vector and the memories with vectors; None and unchanged memories if no vectors are
        needed."""
        if not self.with_vectors:
            return None, memories
        ids = [memory["entry_id"] for memory in memories]
        asked, vectors = await self.engine.vectors(self.dataset, self.question, ids)
        for memory in memories:
            if memory["entry_id"] in vectors:
                memory["embedding"] = vectors[memory["entry_id"]].tolist()
        return asked.tolist(), memories

    def _join(self, fused: Sequence[UnifiedResult], relevance: Mapping[str, float]) -> None:
        for one in fused:
            self.found.setdefault(one.id, {**one.to_dict(), "rerank_score": relevance[one.id]})


def _reranker(parameters: RerankParameters, rerankers: Rerankers | None) -> Reranker | None:
    """The model of ``rerank.method``, else the cross-encoder that ``rerank.model`` names, where there is one."""
    named = _named(parameters, rerankers)
    return None if named is None or rerankers is None else rerankers.model(named)


def _named(parameters: RerankParameters, rerankers: Rerankers | None) -> RerankParameters | None:
    """The rerank parameters with the method of that model; None without a model."""
    if rerankers is None or (parameters.method not in BY_MODEL and parameters.model is None):
        return None
    if parameters.method not in BY_MODEL:
        return parameters.model_copy(update={"method": "cross_encoder"})
    return parameters


def _memory(result: Mapping[str, Any], score: float | None) -> Memory:
    metadata = dict(result["metadata"])
    return Memory(
        text=result["content"],
        metadata={**metadata, "timestamp": metadata.get("date")},
        entry_id=result["id"],
        score=score,
    )


def _result(result: dict[str, Any], memory: Memory) -> dict[str, Any]:
    """The result with the step's score beside its own."""
    if memory["score"] is None:
        return result
    return {**result, "metadata": {**result["metadata"], "post_retrieval_score": memory["score"]}}


def _no_tokens(texts: Sequence[str]) -> list[int]:
    raise ConfigError("a token counter is needed; pass count_tokens to GraphParts")
