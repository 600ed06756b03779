"""Search the vector store: the retrieval engine's results as hits."""

from __future__ import annotations

from typing import Any

from agentic_rag.domain import Findings, Hit
from agentic_rag.nodes.outcome import search_source
from agentic_rag.nodes.request import Request
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.retrieval.schemas import RetrievalResult
from agentic_rag.state import CanvasRAGState


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
        )
        hits = [as_hit(result, rank) for rank, result in enumerate(found.results, start=1)]
        known = {} if found.familiarity is None else {"familiarity": round(found.familiarity, 6)}
        return Findings(hits, known)

    async def why_empty() -> str | None:
        reason = await engine.why_nothing_passes(request.dataset, request.filters)
        least = parameters.score_threshold
        if reason is None and least > 0:
            reason = f"no hit has a relevance of at least retrieval.score_threshold {least:g}"
        return reason

    async def ready() -> None:
        await engine.ready(parameters.strategy)

    hits, outcome = await search_source(search, parameters.timeout_seconds, why_empty, ready)
    return {"lancedb_results": hits, "lancedb_outcome": outcome}


def as_hit(result: RetrievalResult, rank: int) -> Hit:
    """A result as the state holds it."""
    legs = {name: {"rank": leg.rank, "score": leg.score} for name, leg in result.legs.items()}
    tokens = {} if result.tokens is None else {"tokens": round(result.tokens, 6)}
    return {
        "id": result.id,
        "content": result.content,
        "type": "document",
        "rank": rank,
        "score": result.score,
        "metadata": result.metadata,
        "evidence": {"legs": legs, **tokens},
        "facts": [],
    }
