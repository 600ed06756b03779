"""Judge what was found, and decide: answer, try once more in other words, or admit that nothing was found."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Literal

import numpy as np

from agentic_rag.answering.answers import (
    PAGE,
    Evidence,
    PassageReading,
    from_days,
    from_reading,
    from_selection,
    read_passages,
)
from agentic_rag.answering.meaning import unit_text, units_to_compare, with_nearness
from agentic_rag.dates.spans import Span
from agentic_rag.domain import Chunk
from agentic_rag.domain.ports import Embedding
from agentic_rag.domain.results import Result
from agentic_rag.errors import ModelError, StoreError
from agentic_rag.fusion.strategy_selector import NOTE_SOURCES, CanvasOperation
from agentic_rag.nodes.request import Request
from agentic_rag.questions.note_queries.query import is_span
from agentic_rag.questions.question import Question
from agentic_rag.questions.terms import DAYS
from agentic_rag.rerank.features import judge
from agentic_rag.retrieval.calibration import script_pair
from agentic_rag.retrieval.late_interaction import USUAL
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.retrieval.term_likeness import TermLikeness
from agentic_rag.state import CanvasRAGState, in_full
from agentic_rag.text import script, script_beside

Decision = Literal["answer", "rewrite", "abstain"]
MAX_REWRITES = 1
"""Further passes after the first."""
RESULTS_READ = 10
"""Results whose notes are read for units."""
NEAR = 0.05
"""Share of the best relevance from which a result is read: one near 0 is never quoted beside one near 1."""
WEAK_ODDS = 1.5
"""Times the odds of ``answer.abstain_below``: a best relevance of lower odds is weak; 0.6 for 0.5."""
UNSURE = 0.3
"""Share of ``answer.abstain_below`` from which a unit that says all that is asked is an answer, however its passage was
judged: a misspelled word lowers the judgement of passages."""
ACROSS = 0.6
"""Relevance from which a passage in another script than the question is quoted although no unit has the question's words,
which it cannot have. Chosen on the first halves of the sets across Chinese and English (see ``late_interaction``)."""
KEY_RANGE = 0.05
MAX_KEYS = 64
MAX_COMPARED = 40
"""Passages of a note whose tokens are compared with the question's."""
logger = logging.getLogger(__name__)


async def check_quality(
    state: CanvasRAGState, *, engine: VectorSearch | None = None, embedding: Embedding | None = None
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
        passages = partial(
            _from_passages,
            request,
            question,
            results[:RESULTS_READ],
            relevance[:RESULTS_READ],
            engine,
            embedding,
        )
        selected = await _from_selection(state, request, question, passages, engine)
        if selected is not None:
            evidence, decision = selected, "answer" if selected.lines else "abstain"
            reasons = [selected.reason or f"a question about many notes: {state['selection']['reading']}"]
        elif decision == "answer" or best >= floor * UNSURE:
            evidence = await passages()
            if decision != "answer" and evidence.lines and evidence.is_full:
                decision, reasons = "answer", [*reasons[:1], "a unit says all that is asked"]
            elif decision != "answer":
                evidence = replace(evidence, lines=())
            elif not _is_passage(request, question) and not evidence.is_full:
                evidence = Evidence()  # mistakes or relations are shown in their own form
            elif not evidence.lines and _is_passage(request, question):
                reasons.append(evidence.reason or "no unit of the notes answers")
                across = best >= ACROSS and _is_across(request.asked, results)
                across = across and not evidence.is_of_another
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


YEAR_DAYS = 300
"""Days from which a span is about as long as a year."""


def _asks_for_fact_of_year(question: Question) -> bool:
    """Whether one thing is asked for, of a year or a longer time."""
    if question.days is None or question.days.start is None or question.days.end is None:
        return False
    is_long = (question.days.end - question.days.start).days >= YEAR_DAYS
    has_subject = any(not term.is_generic and term.token != DAYS for term in question.terms)
    return is_long and has_subject and question.asks_one


async def _from_selection(
    state: CanvasRAGState,
    request: Request,
    question: Question,
    passages: Callable[[], Awaitable[Evidence]],
    engine: VectorSearch | None,
) -> Evidence | None:
    """The answer to a question about many notes; None where it is none.

    A fact of a year stands in notes of other days as well ("the price rose to 70 in 2024"): where ``passages`` say all
    that is asked, they answer. So does the definition of a word that names a kind of notes too ("what are bonds?").
    """
    selection = state.get("selection") or {}
    if selection.get("status") not in ("ok", "none"):
        return None
    if selection["status"] == "none":
        nearest = f"; nearest: {selection['nearest']}" if selection["nearest"] else ""
        return Evidence(reason=f"no note fits {selection['reading']}{nearest}")
    of_span = is_span(selection["query"])
    is_fact = of_span and _asks_for_fact_of_year(question)
    if is_fact or (question.form == "definition" and selection["query"]["ask"] == "list"):
        stated = await passages()
        if stated.lines and (stated.is_full if is_fact else stated.is_definition):
            return stated
    ids = list(dict.fromkeys(entry["document_id"] for entry in selection["entries"]))[:PAGE]
    documents = await _documents(request, ids, engine)
    question = Question.of(request.asked, request.carried.get("thing", ""))
    if of_span:
        likeness = await _likeness(request, question, documents, engine)
        return await asyncio.to_thread(from_days, question, selection, documents, likeness)
    return await asyncio.to_thread(from_selection, question, selection, documents)


def _question(request: Request, state: CanvasRAGState) -> Question:
    """The question as units are read for it, with the span of days that it names."""
    question = Question.of(request.asked, request.carried.get("thing", ""))
    days = (state.get("selection") or {}).get("days")
    if days is None:
        return question
    first, last = (None if day is None else date.fromisoformat(day) for day in days[:2])
    return question.of_days(Span(first, last), *days[2:])


async def _from_passages(
    request: Request,
    question: Question,
    results: Sequence[Result],
    relevance: Sequence[float],
    engine: VectorSearch | None,
    embedding: Embedding | None,
) -> Evidence:
    """The answer from the units of the notes that were found."""
    # Of a log in several notes each part counts, however near it is.
    least = 0.0 if question.computation is not None else NEAR * max(relevance, default=0.0)
    near = [n for n, known in enumerate(relevance) if known >= least]
    results, relevance = [results[n] for n in near], [relevance[n] for n in near]
    ids = {
        result["metadata"].get("document_id")
        for result in results
        if not NOTE_SOURCES.isdisjoint(result["sources"])
    }
    documents = await _documents(request, sorted(str(one) for one in ids if one is not None), engine)
    likeness = await _likeness(request, question, documents, engine)
    keys = await _keys(question, documents, embedding)
    reading = await asyncio.to_thread(read_passages, question, results, relevance, documents, likeness, keys)
    return await asyncio.to_thread(from_reading, await _by_meaning(reading, embedding))


async def _by_meaning(reading: PassageReading, embedding: Embedding | None) -> PassageReading:
    """The reading with the units by what they mean, where none says all that is asked."""
    if embedding is None or not reading.is_open:
        return reading
    texts = [unit_text(one) for one in units_to_compare(reading.candidates)]
    if len(texts) == 1:
        return replace(reading, candidates=with_nearness(reading.candidates, np.ones(1, np.float32)))
    try:
        vectors, question = await asyncio.gather(
            embedding.embed_passages(texts), embedding.embed_queries([reading.question.text])
        )
    except ModelError as error:
        logger.warning("units are compared by their words alone: %s", error)
        return reading
    return replace(reading, candidates=with_nearness(reading.candidates, vectors @ question[0]))


async def _keys(
    question: Question, documents: Mapping[str, Sequence[Chunk]], embedding: Embedding | None
) -> dict[str, float]:
    """How likely each property name of the notes is what is asked for, in [0, 1]: its cosine with the question above the
    median of all, in units of KEY_RANGE."""
    names = sorted({str(key) for its in documents.values() for key in its[0].metadata})[:MAX_KEYS]
    if embedding is None or len(names) < 2:
        return {}
    try:
        vectors = await embedding.embed_queries([question.text, *names])
    except ModelError as error:
        logger.warning("properties are compared by their letters alone: %s", error)
        return {}
    cosines = vectors[1:] @ vectors[0]
    above = ((cosines - np.median(cosines)) / KEY_RANGE).clip(0.0, 1.0)
    return dict(zip(names, map(float, above), strict=True))


async def _likeness(
    request: Request,
    question: Question,
    documents: Mapping[str, Sequence[Chunk]],
    engine: VectorSearch | None,
) -> TermLikeness | None:
    chunks = [chunk for its in documents.values() for chunk in its[:MAX_COMPARED]]
    if engine is None or not chunks:
        return None
    try:
        return await engine.likeness(request.dataset, question.text, chunks)
    except (StoreError, ModelError) as error:
        logger.warning("units are compared by their letters alone: %s", error)
        return None


async def _documents(
    request: Request, ids: Sequence[str], engine: VectorSearch | None
) -> Mapping[str, Sequence[Chunk]]:
    if engine is None or not ids:
        return {}
    try:
        return await engine.documents(request.dataset, ids)
    except StoreError as error:
        logger.warning("notes cannot be read whole, so their passages alone are quoted: %s", error)
        return {}


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
