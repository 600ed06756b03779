"""Fuse what this pass's sources found, by the operation at hand; fail where no source could answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.channels import ShortenedList, shortened_results
from agentic_rag.domain import Hit
from agentic_rag.errors import AllSourcesFailed
from agentic_rag.fusion.hits import read_hits
from agentic_rag.fusion.strategy_selector import MEMORY, SOURCES, SourceHits, fuse_adapted
from agentic_rag.nodes.request import Request
from agentic_rag.state import CanvasRAGState

SKIPPED_STATUS = "skipped"
RESULT_KEYS = ("fused_results", "reranked_results")
"""Keys of the state that hold results of all sources together."""


def fuse_results(state: CanvasRAGState) -> CanvasRAGState:
    """Writes ``fused_results`` (see ``domain.results.Result``), ``fusion`` (the report) and ``outcomes``.

    Where a user's memories hold the very fact that is asked of the user, the notes' hits are left out.

    Raises:
        AllSourcesFailed: every source that was asked is degraded.
    """
    request = Request.of(state)
    names = (*SOURCES, *further_names(state), *([MEMORY] if request.asks_memory else []))
    found = {name: outcome_of(state, name) for name in names}
    asked = {name: outcome for name, outcome in found.items() if outcome is not None}
    if asked and all(outcome["status"] == "degraded" for outcome in asked.values()):
        raise AllSourcesFailed({name: str(outcome["reason"]) for name, outcome in asked.items()})
    settles = (found.get(MEMORY) or {}).get("question", {}).get("settles", False)
    graph, vector = ([] if settles else results_of(state, name) for name in SOURCES)
    fused = fuse_adapted(
        SourceHits(
            graph or [],
            vector,
            results_of(state, MEMORY) if found.get(MEMORY) is not None else None,
            {name: results_of(state, name) or [] for name in further_names(state) if found[name]},
        ),
        request.fusion,
        None if request.parameters.fusion.sets_weights else specificity_of(state),
    )
    return {
        "fused_results": shortened_results(fused.results, request.top_k),
        "fusion": {
            "operation": request.operation.value,
            "operation_reason": request.operation_reason,
            **fused.report,
        },
        "outcomes": {name: outcome or SKIPPED_STATUS for name, outcome in found.items()},
    }


def specificity_of(state: CanvasRAGState) -> float | None:
    """How much the graph knows of the question, in [0, 1]; None where it made no walk."""
    known = (outcome_of(state, "graphiti") or {}).get("question", {}).get("specificity")
    return None if known is None else float(known)


def further_names(state: CanvasRAGState) -> list[str]:
    """Names of the sources beside the graph, the vector store and the memories; see ``GraphParts.sources``."""
    own = {*SOURCES, MEMORY, *(key.removesuffix("_results") for key in RESULT_KEYS)}
    return [name for key in state if (name := key.removesuffix("_results")) != key and name not in own]


def outcome_of(state: CanvasRAGState, source: str) -> Any:
    """A source's outcome; None where it was not asked."""
    values: Mapping[str, Any] = state
    return values.get(f"{source}_outcome")


def results_of(state: CanvasRAGState, source: str) -> list[Hit] | None:
    """A source's hits; None where it was not asked. A state made by hand needs no outcome beside them."""
    values: Mapping[str, Any] = state
    unasked = outcome_of(state, source) is None and "request" in state
    hits = None if unasked else values.get(f"{source}_results")
    if isinstance(hits, ShortenedList):  # made by ``retrieve`` in this process
        return hits.whole
    return None if hits is None else read_hits(hits, source)
