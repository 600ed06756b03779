"""Fuse what this pass's sources found, by the operation at hand; fail where no source could answer.

The state has the first ``top_k`` hits and results whole. The nodes read all of them whole here: from memory, or, in a
run that goes on from a checkpoint, from the chunk store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentic_rag.domain import Hit
from agentic_rag.errors import AllSourcesFailed, InputError
from agentic_rag.fusion.strategy_selector import SOURCES, FusionOutcome, fuse_for_operation
from agentic_rag.nodes.request import Request
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.retrieval.schemas import chunk_metadata
from agentic_rag.state import CanvasRAGState, shortened_results, whole

SKIPPED = "skipped"


async def fuse_results(state: CanvasRAGState, *, engine: VectorSearch | None = None) -> dict[str, Any]:
    """Writes ``fused_results`` (``UnifiedResult`` dicts), ``fusion`` (the report) and ``outcomes``.

    Args:
        state: with what the sources found.
        engine: reads again what a resumed run lacks.

    Raises:
        AllSourcesFailed: every source that was asked is degraded.
        StoreError: what is lacking cannot be read again.
    """
    request = Request.of(state)
    found = {name: outcome_of(state, name) for name in SOURCES}
    asked = {name: outcome for name, outcome in found.items() if outcome is not None}
    if asked and all(outcome["status"] == "degraded" for outcome in asked.values()):
        raise AllSourcesFailed({name: str(outcome["reason"]) for name, outcome in asked.items()})
    fused = await _fused(state, engine)
    chosen = {"operation": request.operation.value, "operation_reason": request.operation_reason}
    return {
        "fused_results": shortened_results([result.to_dict() for result in fused.results], request.top_k),
        "fusion": {**chosen, **fused.report},
        "outcomes": {name: outcome or SKIPPED for name, outcome in found.items()},
    }


async def whole_fused(state: CanvasRAGState, engine: VectorSearch | None) -> list[dict[str, Any]]:
    """The fused results, all of them whole: a resumed run fuses anew."""
    held = whole(state["fused_results"])
    if _are_whole(held):
        return held
    return [result.to_dict() for result in (await _fused(state, engine)).results]


async def whole_reranked(state: CanvasRAGState, engine: VectorSearch | None) -> list[dict[str, Any]]:
    """The reranked results, all of them whole, without those whose chunk is gone since."""
    held = whole(state["reranked_results"])
    if _are_whole(held):
        return held
    fused = {result["id"]: result for result in await whole_fused(state, engine)}
    joined = [{**fused.get(result["id"], {}), **result} for result in held]
    return [result for result in joined if "content" in result]


async def _fused(state: CanvasRAGState, engine: VectorSearch | None) -> FusionOutcome:
    request = Request.of(state)
    graph, vector = [await _whole_hits(results_of(state, name), request, engine) for name in SOURCES]
    return fuse_for_operation(
        request.operation, graph or [], vector, request.parameters.fusion, telling=telling_of(state)
    )


async def _whole_hits(
    hits: list[Hit] | None, request: Request, engine: VectorSearch | None
) -> list[Hit] | None:
    """A source's hits, all of them whole, without those whose chunk is gone since."""
    if hits is None or _are_whole(hits):
        return hits
    if engine is None:
        raise InputError("the hits beyond top_k are short; give the node its engine, which reads them again")
    lacking = [hit["id"] for hit in hits if "content" not in hit]
    chunks = await engine.chunks(request.dataset, lacking)
    read: dict[str, Any] = {
        name: {"content": chunk.text, "metadata": chunk_metadata(chunk)} for name, chunk in chunks.items()
    }
    return [{**hit, **read.get(hit["id"], {})} for hit in hits if "content" in hit or hit["id"] in read]


def _are_whole(entries: Sequence[Mapping[str, Any]]) -> bool:
    return all("content" in entry for entry in entries)


def telling_of(state: CanvasRAGState) -> float | None:
    """How much the graph knows of the question, in [0, 1]; None where it made no walk."""
    known = (outcome_of(state, "graphiti") or {}).get("question", {}).get("telling")
    return None if known is None else float(known)


def outcome_of(state: CanvasRAGState, source: str) -> Any:
    """A source's outcome; None where it was not asked."""
    values: Mapping[str, Any] = state
    return values.get(f"{source}_outcome")


def results_of(state: CanvasRAGState, source: str) -> list[Hit] | None:
    """A source's hits; None where it was not asked. A state made by hand needs no outcome beside them."""
    values: Mapping[str, Any] = state
    unasked = outcome_of(state, source) is None and "request" in state
    held = None if unasked else values.get(f"{source}_results")
    return None if held is None else whole(held)
