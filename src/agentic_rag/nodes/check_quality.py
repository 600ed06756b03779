"""Judge what was found, and decide: answer, try once more in other words, or admit that nothing was found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Literal

from agentic_rag.answering.answers import Evidence
from agentic_rag.channels import in_full
from agentic_rag.dates.spans import Span
from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.domain.results import Result
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.nodes.evidence import EvidenceReader
from agentic_rag.nodes.request import Request
from agentic_rag.questions.question import Question
from agentic_rag.rerank.features import judge
from agentic_rag.retrieval.calibration import script_pair
from agentic_rag.retrieval.late_interaction import USUAL
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.state import CanvasRAGState
from agentic_rag.text import script, script_beside
from agentic_rag.text.cache import TextCache

Decision = Literal["answer", "rewrite", "abstain"]
MAX_REWRITES = 1
"""Further passes after the first."""
WEAK_ODDS = 1.5
"""Times the odds of ``answer.abstain_below``: a best relevance of lower odds is weak; 0.6 for 0.5."""
UNSURE = 0.3
"""Share of ``answer.abstain_below`` from which a unit that says all that is asked is an answer, however its passage was
judged: a misspelled word lowers the judgement of passages."""


async def check_quality(
    state: CanvasRAGState,
    *,
    engine: VectorSearch | None = None,
    embedding: Embedding | None = None,
    unit_vectors: TextCache[FloatArray] | None = None,
) -> CanvasRAGState:
    """Writes ``quality``: grade, best relevance, reasons and decision; and ``units``: the lines that answer.

    The grade reads calibrated relevance in [0, 1] (the rerank score, else the sources'), never a fused
    score. A weak result is tried again while tries and time are left; the reasons say why it stopped.
    """
    request = Request.of(state)
    parameters = request.parameters
    results = in_full(state["reranked_results"])
    relevance = judge(results)
    best = max(relevance, default=0.0)
    floor = parameters.answer.abstain_below
    grade = "none" if best < floor else "weak" if best < _weak_below(floor) else "strong"
    reasons = [_grade_reason(state, best, grade)]
    decision: Decision = "answer" if grade != "none" else "abstain"
    if grade != "strong":
        refusal = _why_stop(state, request, grade)
        if refusal is None:
            decision = "rewrite"
            reasons.append("trying other words")
        else:
            reasons.append(refusal)
    evidence = Evidence()
    if _is_read_as_units(request):
        question = _question(request, state)
        reader = EvidenceReader(request, question, results, relevance, engine, embedding, unit_vectors)
        selected = await reader.of_selection(state.get("selection"))
        if selected is not None:
            evidence, decision = selected, "answer" if selected.lines else "abstain"
            reasons = [selected.reason or f"a question about many notes: {state['selection']['reading']}"]
        elif decision == "answer" or best >= floor * UNSURE:
            evidence = await reader.of_passages()
            if decision != "answer" and evidence.lines and evidence.is_full:
                decision, reasons = "answer", [*reasons[:1], "a unit says all that is asked"]
            elif decision != "answer":
                evidence = replace(evidence, lines=())
            elif not _is_passage(request, question) and not evidence.is_full:
                evidence = Evidence()  # mistakes or relations are shown in their own form
            elif not evidence.lines and _is_passage(request, question):
                reasons.append(evidence.reason or "no unit of the notes answers")
                # A passage in another script cannot have the question's words.
                across = _is_across(request.asked, results) and not evidence.is_of_another
                # A chat model reads the passages, and says itself what they lack; who names the operation asks for
                # passages.
                if parameters.answer.method != "chat" and not across and not request.is_operation_named:
                    decision = "abstain"
    return {
        "quality": {
            "grade": grade,
            "score": round(best, 6),
            "reasons": reasons,
            "decision": decision,
        },
        "units": list(evidence.lines if decision == "answer" else evidence.nearest),
    }


def _weak_below(floor: float) -> float:
    """The relevance whose odds are WEAK_ODDS times those of ``floor``.

    >>> _weak_below(0.0), _weak_below(0.5), _weak_below(1.0)
    (0.0, 0.6, 1.0)
    """
    odds = WEAK_ODDS * floor
    return odds / (1.0 - floor + odds)


def _is_across(question: str, results: Sequence[Result]) -> bool:
    """Whether the note of the first result is in another script than the question, in all its passages that were found:
    the properties of a Chinese note have English names."""
    if not results:
        return False
    asked_in, first = script(question), results[0]["metadata"].get("document_id")
    return all(
        script_pair((asked_in, script_beside(asked_in, one["content"]))) in USUAL
        for one in results
        if one["metadata"].get("document_id") == first
    )


def _is_read_as_units(request: Request) -> bool:
    """Whether units may answer: where a passage is asked for, and where nobody named the operation and the question wants
    no test."""
    return request.operation is CanvasOperation.DOCUMENT_RETRIEVAL or (
        not request.is_operation_named and request.operation is not CanvasOperation.VERIFICATION_CANVAS
    )


def _is_passage(request: Request, question: Question) -> bool:
    """Whether a passage is asked for; a question for a reason or a difference is, where nobody named the operation."""
    if request.operation is CanvasOperation.DOCUMENT_RETRIEVAL:
        return True
    return not request.is_operation_named and (question.form == "compare" or question.asks_reason)


def _question(request: Request, state: CanvasRAGState) -> Question:
    """The question as units are read for it, with the span of days that it names."""
    question = request.read()
    days = (state.get("selection") or {}).get("days")
    if days is None:
        return question
    first, last = (None if day is None else date.fromisoformat(day) for day in days[:2])
    return question.of_days(Span(first, last), *days[2:])


def _grade_reason(state: CanvasRAGState, best: float, grade: str) -> str:
    count = len(state["reranked_results"])
    if count == 0:
        return "no source found anything"
    return f"the best of {count} results has relevance {best:.2f}: {grade}"


def _why_stop(state: CanvasRAGState, request: Request, grade: str) -> str | None:
    """Why no further pass is made, or None where one may be."""
    most_seconds, tried = request.parameters.retrieval.timeout_seconds, len(state["rewrites"])
    if tried >= MAX_REWRITES:
        return f"stopped: {tried} of {MAX_REWRITES} rewrites tried"
    seconds = time.time() - request.started
    if seconds >= most_seconds:
        return f"stopped: {seconds:.1f} s of {most_seconds:g} s are used"
    if not state["search_query"].strip():
        return "stopped: the question is empty"
    if request.parameters.rewrite.method == "expansion":
        if grade == "none":
            return "stopped: there is no relevant result to take other words from"
        # Measured on six sets: the words of results that are enough already find no better ones.
        if len(state["reranked_results"]) >= request.top_k:
            return f"stopped: {len(state['reranked_results'])} results are enough to choose from"
    return None
