"""Between rerank and check_quality: the memory graphs' post-retrieval steps on the reranked results.

Only steps that choose, order or fetch: what shapes a reader's text (augment, compress, format) has nothing to
do where the answer quotes its sources verbatim. Relevance is not touched: a step may put a recent result
first, but ``rerank_score`` still says how relevant it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agentic_rag.errors import ConfigError
from agentic_rag.fusion.rrf_fusion import reciprocal_rank_fusion
from agentic_rag.memory.operators.post_retrieval import PostRetrieval, PostRetrievalTools, Step, parse_steps
from agentic_rag.memory.operators.post_retrieval.tools import check_tools
from agentic_rag.memory.service import Memory
from agentic_rag.nodes.request import DEFAULT_DATASET, Request
from agentic_rag.nodes.rerank_tools import RerankTools
from agentic_rag.nodes.retrieve_lancedb import as_hit
from agentic_rag.parameters import Parameters, RerankParameters
from agentic_rag.ports import Chat, FloatArray, Reranker
from agentic_rag.rerank.model import BY_MODEL, Rerankers
from agentic_rag.rerank.relevance import judged
from agentic_rag.retrieval.ports import VectorSearch

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


def check_steps(parameters: Parameters, chat: Chat | None, rerankers: Rerankers | None) -> None:
    """That the configured steps can run in a graph with these models; nothing is loaded or asked.

    Raises:
        ConfigError: as ``steps_of``, or a step needs what is not there.
    """
    named = _named(parameters.rerank, rerankers)
    if named is not None and rerankers is not None:
        rerankers.check(named)
    # Only whether they are there is looked at: an engine always is, and a model where one is named.
    there: Any = object()
    service = EngineMemory(there, DEFAULT_DATASET, None, None, {})
    tools = PostRetrievalTools(service, None if named is None else there, chat, _no_tokens)
    check_tools(steps_of(parameters.post_retrieval.steps), tools, WHERE)


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
    service = None
    if tools.engine is not None:
        service = EngineMemory(tools.engine, request.dataset, request.filters, now, {})
    steps = steps_of(parameters.post_retrieval.steps)
    reranker = None
    # Loading it takes seconds, so it is loaded only where a step asks it.
    if any((step.action, step.kind) == ("rerank", "cross_encoder") for step in steps):
        reranker = await asyncio.to_thread(_reranker, parameters.rerank, tools.rerankers)
    asked = PostRetrievalTools(service, reranker, tools.chat, tools.count_tokens or _no_tokens)
    written = await PostRetrieval(steps, asked, where=WHERE).execute(
        {
            "question": request.question,
            "memory_data": [
                _memory(result, score) for result, score in zip(results, judged(results), strict=True)
            ],
            "reference_time": now.isoformat() if now is not None else None,
        }
    )
    known = {**(service.found if service is not None else {}), **{result["id"]: result for result in results}}
    kept = [_result(known[memory["entry_id"]], memory) for memory in written["memory_data"]]
    return kept, list(written["post_retrieval"])


@dataclass(frozen=True, slots=True)
class EngineMemory:
    """A dataset of the vector store as a memory that can be asked again (``merge`` ``multi_query``)."""

    engine: VectorSearch
    dataset: str
    filters: Any
    as_of: datetime | None
    found: dict[str, dict[str, Any]]
    """By id: every result it gave, in the shape of reranked results."""

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
        found = await self.engine.search(
            self.dataset, query or "", top_k or 10, filters=self.filters, as_of=self.as_of
        )
        hits = [as_hit(result, rank) for rank, result in enumerate(found, start=1)]
        scores = {result.id: result.score for result in found}
        for fused in reciprocal_rank_fusion([], hits):
            result = {**fused.to_dict(), "rerank_score": scores[fused.id]}
            self.found.setdefault(fused.id, result)
        return [_memory(self.found[hit["id"]], scores[hit["id"]]) for hit in hits]


def _reranker(parameters: RerankParameters, rerankers: Rerankers | None) -> Reranker | None:
    """The model of ``rerank.method``, else the cross-encoder that ``rerank.model`` names, where there is one."""
    named = _named(parameters, rerankers)
    return None if named is None or rerankers is None else rerankers.model(named)


def _named(parameters: RerankParameters, rerankers: Rerankers | None) -> RerankParameters | None:
    """The parameters that name that model; None where there is none."""
    if rerankers is None or (parameters.method not in BY_MODEL and parameters.model is None):
        return None
    if parameters.method not in BY_MODEL:
        return parameters.model_copy(update={"method": "cross_encoder"})
    return parameters


def _memory(result: Mapping[str, Any], score: float) -> Memory:
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
    raise ConfigError("tokens are to be counted and there is no counter; give GraphParts its count_tokens")
