"""Fuse what this pass's sources found, by the operation at hand; fail where no source could answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.domain import Hit
from agentic_rag.errors import AllSourcesFailed
from agentic_rag.fusion.strategy_selector import SOURCES, fuse_for_operation
from agentic_rag.nodes.request import Request
from agentic_rag.state import CanvasRAGState

SKIPPED = "skipped"


def fuse_results(state: CanvasRAGState) -> dict[str, Any]:
    """Writes ``fused_results`` (``UnifiedResult`` dicts), ``fusion`` (the report) and ``outcomes``.

    Raises:
        AllSourcesFailed: every source that was asked is degraded.
    """
    request = Request.of(state)
    found = {name: outcome_of(state, name) for name in SOURCES}
    asked = {name: outcome for name, outcome in found.items() if outcome is not None}
    if asked and all(outcome["status"] == "degraded" for outcome in asked.values()):
        raise AllSourcesFailed({name: str(outcome["reason"]) for name, outcome in asked.items()})
    fused = fuse_for_operation(
        request.operation,
        results_of(state, "graphiti") or [],
        results_of(state, "lancedb"),
        request.parameters.fusion,
        telling=telling_of(state),
    )
    chosen = {"operation": request.operation.value, "operation_reason": request.operation_reason}
    return {
        "fused_results": [result.to_dict() for result in fused.results],
        "fusion": {**chosen, **fused.report},
        "outcomes": {name: outcome or SKIPPED for name, outcome in found.items()},
    }


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
    return None if unasked else values.get(f"{source}_results")
