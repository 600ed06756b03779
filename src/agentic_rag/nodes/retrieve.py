"""Search the sources: the knowledge graph's hits, the vector store's results as hits, and a user's memories.

Each source gives its hits and an honest outcome, whatever happens.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from agentic_rag.domain import Findings, Hit, new_hit
from agentic_rag.errors import InputError, ManifestMismatch, RunError
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.nodes.request import Request
from agentic_rag.retrieval.ports import GraphSearch, MemorySearch, VectorSearch
from agentic_rag.retrieval.schemas import RetrievalResult
from agentic_rag.state import CanvasRAGState, Outcome, shortened_hits

READY_SECONDS = 60.0
"""Time that a source may take once, before its first search. A model without a fitted calibration embeds its
reference pairs then, which takes a slow model longer than a search."""

logger = logging.getLogger(__name__)


async def retrieve_graphiti(state: CanvasRAGState, *, engine: GraphSearch) -> dict[str, Any]:
    """Writes ``graphiti_results`` and ``graphiti_outcome``."""
    request = Request.of(state)
    parameters = request.parameters.retrieval

    async def search() -> Findings:
        return await engine.find(
            request.dataset,
            state["search_query"],
            limit=parameters.candidates,
            # Words a rewrite added help to find, but what is found is judged by the question itself.
            judged_as=request.question,
            filters=request.filters,
            as_of=request.as_of,
            own_notes=_reads_own_notes(request),
        )

    hits, outcome = await search_source(search, parameters.timeout_seconds, ready=engine.ready)
    return {"graphiti_results": shortened_hits(hits, request.top_k), "graphiti_outcome": outcome}


async def retrieve_lancedb(state: CanvasRAGState, *, engine: VectorSearch) -> dict[str, Any]:
    """Writes ``lancedb_results`` and ``lancedb_outcome``."""
    request = Request.of(state)
    parameters = request.parameters.retrieval

    async def search() -> Findings:
        found = await engine.find(
            request.dataset,
            state["search_query"],
            top_k=parameters.vector_hits,
            score_threshold=parameters.score_threshold,
            # Words a rewrite added help to find, but what is found is judged by the question itself.
            judged_as=request.question,
            filters=request.filters,
            as_of=request.as_of,
            strategy=parameters.strategy,
            own_notes=_reads_own_notes(request),
        )
        hits = [as_hit(result, rank) for rank, result in enumerate(found.results, start=1)]
        known = {} if found.familiarity is None else {"familiarity": round(found.familiarity, 6)}
        return Findings(hits, known)

    async def why_empty() -> str | None:
        reason = await engine.why_nothing_passes(request.dataset, request.filters, request.as_of)
        least = parameters.score_threshold
        if reason is None and least > 0:
            reason = f"no hit has a relevance of at least retrieval.score_threshold {least:g}"
        return reason

    async def ready() -> None:
        await engine.ready(parameters.strategy)

    hits, outcome = await search_source(search, parameters.timeout_seconds, why_empty, ready)
    return {"lancedb_results": shortened_hits(hits, request.top_k), "lancedb_outcome": outcome}


async def retrieve_memory(state: CanvasRAGState, *, memory: MemorySearch | None) -> dict[str, Any]:
    """Writes ``memory_results`` and ``memory_outcome``; where there is no memory to ask, that it was not asked.

    Agents that fail while others answer are named in the outcome's reason.
    """
    request = Request.of(state)
    user_id, parameters = request.user_id, request.parameters.retrieval
    if memory is None or user_id is None:
        return {"memory_results": [], "memory_outcome": None}

    async def search() -> Findings:
        return await memory.find(
            user_id,
            state["search_query"],
            limit=parameters.candidates,
            as_of=request.as_of,
            judged_as=request.question,
        )

    hits, outcome = await search_source(search, parameters.timeout_seconds)
    if failed := outcome["question"].get("degraded"):
        outcome["reason"] = f"without {', '.join(failed)}, which failed"
    # Never shortened: no chunk store of notes has them, by which they could be read again.
    return {"memory_results": hits, "memory_outcome": outcome}


def _reads_own_notes(request: Request) -> bool:
    """Whether the operation reads the mistake notes that ``check`` wrote: only weak-point clustering does."""
    return request.operation is CanvasOperation.WEAK_POINT_CLUSTERING


def as_hit(result: RetrievalResult, rank: int) -> Hit:
    """A result as the state holds it."""
    legs = {name: {"rank": leg.rank, "score": leg.score} for name, leg in result.legs.items()}
    tokens = {} if result.tokens is None else {"tokens": round(result.tokens, 6)}
    return new_hit(
        result.id,
        result.content,
        "document",
        rank=rank,
        score=result.score,
        metadata=result.metadata,
        evidence={"legs": legs, **tokens},
    )


async def search_source(
    search: Callable[[], Awaitable[Findings]],
    timeout_seconds: float,
    why_empty: Callable[[], Awaitable[str | None]] | None = None,
    ready: Callable[[], Awaitable[None]] | None = None,
) -> tuple[list[Hit], Outcome]:
    """Run one source's search within its time; where it finds nothing, the reason is its own or ``why_empty``'s.

    A failure or time-out gives no hits and a ``degraded`` outcome with the reason; input errors are
    the caller's and pass through. What ``ready`` takes, up to READY_SECONDS, is not the search's time.
    """
    started = time.perf_counter()
    found = Findings([], {})
    status: str = "ok"
    reason: str | None = None
    allowed = max(timeout_seconds, READY_SECONDS)
    try:
        async with asyncio.timeout(allowed) as limit:
            if ready is not None:
                await ready()
        allowed = timeout_seconds
        async with asyncio.timeout(allowed) as limit:
            found = await search()
            reason = found.reason
            if not found.hits and reason is None and why_empty is not None:
                reason = await why_empty()
    except (InputError, ManifestMismatch):
        raise
    except (RunError, OSError, RuntimeError) as error:
        late = isinstance(error, TimeoutError) and limit.expired()
        reason = f"no answer within {allowed:g} s" if late else f"{type(error).__name__}: {error}"
        status = "degraded"
    if status == "ok" and not found.hits:
        status = "empty"
    if status == "degraded":
        logger.warning("a source is degraded: %s", reason)
    milliseconds = round((time.perf_counter() - started) * 1000, 3)
    outcome: Outcome = {
        "status": status,
        "reason": reason,
        "count": len(found.hits),
        "ms": milliseconds,
        "question": found.question,
    }
    return found.hits, outcome
