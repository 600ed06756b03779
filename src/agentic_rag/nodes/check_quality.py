"""Judge what was found, and decide: answer, try once more in other words, or admit that nothing was found."""

from __future__ import annotations

import time
from typing import Any, Literal

from agentic_rag.nodes.request import Request
from agentic_rag.rerank.features import judged
from agentic_rag.state import CanvasRAGState, in_full

Decision = Literal["answer", "rewrite", "abstain"]


def check_quality(state: CanvasRAGState) -> dict[str, Any]:
    """Writes ``quality``: grade, best relevance, reasons and decision.

    The grade reads calibrated relevance in [0, 1] (the rerank score, else the sources'), never a fused
    score. A weak result is tried again while tries and time are left; the reasons say why it stopped.
    """
    request = Request.of(state)
    parameters = request.parameters
    results = in_full(state["reranked_results"])
    best = max(judged(results), default=0.0)
    floor, weak = parameters.answer.abstain_below, parameters.quality.weak_below
    grade = "none" if best < floor else "weak" if best < max(weak, floor) else "strong"
    reasons = [_found(state, best, grade)]
    decision: Decision = "answer" if grade != "none" else "abstain"
    if grade != "strong":
        refusal = _why_stop(state, request, grade)
        if refusal is None:
            decision = "rewrite"
            reasons.append("trying other words")
        else:
            reasons.append(refusal)
    return {
        "quality": {
            "grade": grade,
            "score": round(best, 6),
            "reasons": reasons,
            "decision": decision,
        }
    }


def _found(state: CanvasRAGState, best: float, grade: str) -> str:
    count = len(state["reranked_results"])
    if count == 0:
        return "no source found anything"
    return f"the best of {count} results has relevance {best:.2f}: {grade}"


def _why_stop(state: CanvasRAGState, request: Request, grade: str) -> str | None:
    """Why no further pass is made, or None where one may be."""
    quality, tried = request.parameters.quality, len(state["rewrites"])
    if tried >= quality.max_rewrites:
        return f"stopped: {tried} of {quality.max_rewrites} rewrites tried"
    seconds = time.time() - request.started
    if seconds >= quality.deadline_seconds:
        return f"stopped: {seconds:.1f} s of {quality.deadline_seconds:g} s are used"
    if not state["search_query"].strip():
        return "stopped: the question is empty"
    if request.parameters.rewrite.method == "expansion":
        if grade == "none":
            return "stopped: there is no relevant result to take other words from"
        # Measured on six sets: the words of results that are enough already find no better ones.
        if len(state["reranked_results"]) >= request.top_k:
            return f"stopped: {len(state['reranked_results'])} results are enough to choose from"
    return None
