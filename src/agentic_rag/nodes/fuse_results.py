"""Fuse what this pass's sources found, by the operation at hand; fail where no source could answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from agentic_rag.domain import Hit
from agentic_rag.errors import AllSourcesFailed
from agentic_rag.fusion.strategy_selector import SOURCES, fuse_for_operation, parse_operation
from agentic_rag.nodes.prepare_query import DEFAULT_OPERATION
from agentic_rag.parameters import Parameters
from agentic_rag.state import CanvasRAGState

SKIPPED = "skipped"


def fuse_results(
    state: CanvasRAGState, runtime: Runtime[Any] | None = None, *, defaults: Parameters | None = None
) -> dict[str, Any]:
    """Writes ``fused_results`` (``UnifiedResult`` dicts), ``fusion`` (the report) and ``outcomes``.

    Results whose outcome belongs to another pass are not fused: their source counts as skipped.

    Raises:
        AllSourcesFailed: every source that was asked is degraded.
    """
    given = (defaults or Parameters()).overridden(runtime.context if runtime else None).fusion
    operation = parse_operation(state.get("operation") or DEFAULT_OPERATION)
    outcomes = {name: current_outcome(state, name) for name in SOURCES}
    asked = {name: outcome for name, outcome in outcomes.items() if outcome != SKIPPED}
    if asked and all(outcome["status"] == "degraded" for outcome in asked.values()):
        raise AllSourcesFailed({name: str(outcome["reason"]) for name, outcome in asked.items()})
    fused = fuse_for_operation(
        operation,
        current_results(state, "graphiti") or [],
        current_results(state, "lancedb"),
        given,
        telling=telling_of(state),
    )
    return {
        "fused_results": [result.to_dict() for result in fused.results],
        "fusion": {"operation": operation.value, **fused.report},
        "outcomes": outcomes,
    }


def telling_of(state: CanvasRAGState) -> float | None:
    """How much the graph knows of the question, in [0, 1]; None where it made no walk in this pass."""
    outcome = current_outcome(state, "graphiti")
    known = None if outcome == SKIPPED else outcome.get("question", {}).get("telling")
    return None if known is None else float(known)


def current_outcome(state: CanvasRAGState, source: str) -> Any:
    """A source's outcome in this pass, or ``skipped``."""
    values: Mapping[str, Any] = state
    outcome = values.get(f"{source}_outcome")
    return SKIPPED if outcome is None or outcome["pass"] != state.get("pass", outcome["pass"]) else outcome


def current_results(state: CanvasRAGState, source: str) -> list[Hit] | None:
    """A source's hits of this pass; None where it was not asked in it."""
    values: Mapping[str, Any] = state
    if values.get(f"{source}_outcome") is None:
        # Called as a plain function on hand-made state: what is there is current.
        return values.get(f"{source}_results")
    return None if current_outcome(state, source) == SKIPPED else values.get(f"{source}_results")
