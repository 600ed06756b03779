"""Search the knowledge graph: facts, entities and episodes, projected to the chunks they came from."""

from __future__ import annotations

from typing import Any

from agentic_rag.domain import Findings
from agentic_rag.nodes.outcome import search_source
from agentic_rag.nodes.request import Request
from agentic_rag.retrieval.ports import GraphSearch
from agentic_rag.state import CanvasRAGState


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
        )

    hits, outcome = await search_source(search, parameters.timeout_seconds, ready=engine.ready)
    return {"graphiti_results": hits, "graphiti_outcome": outcome}
