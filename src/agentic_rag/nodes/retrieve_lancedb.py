"""Search the vector store: the retrieval engine's results as hits."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from agentic_rag.domain import Findings, Hit
from agentic_rag.instants import parse_as_of
from agentic_rag.nodes.node import Node
from agentic_rag.nodes.outcome import asked
from agentic_rag.nodes.prepare_query import DEFAULT_DATASET, whole_question
from agentic_rag.parameters import Parameters
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.retrieval.schemas import RetrievalResult
from agentic_rag.state import CanvasRAGState


def retrieve_lancedb(engine: RetrievalEngine, defaults: Parameters) -> Node:
    """The node over an engine; writes ``lancedb_results`` and ``lancedb_outcome``."""

    async def node(state: CanvasRAGState, *, runtime: Runtime[Any]) -> dict[str, Any]:
        parameters = defaults.overridden(runtime.context).retrieval
        dataset = state.get("dataset") or DEFAULT_DATASET

        async def search() -> Findings:
            found = await engine.find(
                dataset,
                state["search_query"],
                top_k=parameters.vector_hits,
                score_threshold=parameters.score_threshold,
                # Words a rewrite added help to find, but what is found is judged by the question itself.
                judged_as=whole_question(state),
                filters=state.get("filters"),
                as_of=parse_as_of(state.get("as_of")),
                strategy=parameters.strategy,
            )
            hits = [as_hit(result, rank) for rank, result in enumerate(found.results, start=1)]
            known = {} if found.familiarity is None else {"familiarity": round(found.familiarity, 6)}
            return Findings(hits, known)

        async def why_empty() -> str | None:
            reason = await engine.why_nothing_passes(dataset, state.get("filters"))
            least = parameters.score_threshold
            if reason is None and least > 0:
                reason = f"no hit has a relevance of at least retrieval.score_threshold {least:g}"
            return reason

        async def ready() -> None:
            await engine.ready(parameters.strategy)

        hits, outcome = await asked(search, state, parameters.timeout_seconds, why_empty, ready)
        return {"lancedb_results": hits, "lancedb_outcome": outcome}

    return node


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
