"""The memory benchmark, the scores: of a run by category, and of several runs in comparison."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from agentic_rag.errors import InputError
from agentic_rag_lab.designs.conversation import UNANSWERABLE
from agentic_rag_lab.designs.reading import NOT_MENTIONED
from agentic_rag_lab.designs.scoring import abstains, score
from agentic_rag_lab.evaluation.beam import Question
from agentic_rag_lab.evaluation.beam_scores import score as beam_score
from agentic_rag_lab.evaluation.bench.records import (
    QuestionRecord,
    ranking_of,
)
from agentic_rag_lab.evaluation.locomo import CATEGORIES
from agentic_rag_lab.evaluation.statistics import bootstrap_interval
from agentic_rag_lab.sources.beam import KINDS

DIGITS = 4
SUMMARY = "summary.json"
"""File in the folder of a finished run."""
ANSWERABLE = "f1_answerable"
RECALL = "evidence_recall@10"
_REPORT_KEYS = frozenset(
    "task config service reader questions tested failed overall intervals by_category baselines cost inserts".split()
)
"""Keys that a comparison and a resumed run read."""
SAMPLES = 2_000


def latest(records: Sequence[QuestionRecord]) -> list[QuestionRecord]:
    """The last record of each question, in the order of tasks and questions; the scores use these."""
    last: dict[tuple[str, int], QuestionRecord] = {}
    for record in records:
        key = record.task, record.question_id
        if key not in last or last[key].tested_after <= record.tested_after:
            last[key] = record
    return [last[key] for key in sorted(last)]


def figures(records: Sequence[QuestionRecord]) -> dict[str, Any]:
    """Means over questions, each with its number of questions; a failed question counts 0.

    Returns:
        ``f1``, ``exact_match`` and ``correct`` over all ``questions``; ``f1_answerable`` over the answerable ones, and
        ``evidence_recall@10`` over those with searchable evidence (``evidence_questions``); each None without
        questions.
    """
    answerable = [record.f1 for record in records if record.category not in UNANSWERABLE]
    recalls = [record.recall for record in records if record.recall is not None]
    return {
        "questions": len(records),
        "f1": _mean([record.f1 for record in records]),
        ANSWERABLE: _mean(answerable) if answerable else None,
        "exact_match": _mean([record.exact_match for record in records]),
        "correct": _mean([float(record.is_correct) for record in records]),
        RECALL: _mean(recalls) if recalls else None,
        "evidence_questions": len(recalls),
    }


def summary(records: Sequence[QuestionRecord], milliseconds: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """All scores of a run.

    Args:
        records: at least one; the last one of each question counts.
        milliseconds: of each question, by operator.
    """
    judged = latest(records)
    answered = [record for record in judged if record.status == "ok"]
    overall = figures(judged)
    recalls = [record.recall for record in judged if record.recall is not None]
    beam = beam_figures(judged)
    return {
        **({} if beam is None else {"beam": beam}),
        "questions": len(judged),
        "tested": len(answered),
        "failed": len(judged) - len(answered),
        "overall": overall,
        "intervals": {
            "f1": _interval([record.f1 for record in judged]),
            ANSWERABLE: _interval([r.f1 for r in judged if r.category not in UNANSWERABLE]),
            RECALL: _interval(recalls),
        },
        "by_category": {
            name: figures([record for record in judged if record.category == name])
            for name in dict.fromkeys(_category_order(judged))
        },
        "baselines": {
            name: figures([_answering(record, answer(record)) for record in judged])
            for name, answer in BASELINES.items()
        },
        "cost": {
            "history_tokens": _mean([float(record.history_tokens) for record in answered]),
            "memories": _mean([float(len(record.memories)) for record in answered]),
            "milliseconds": _percentiles([sum(times.values()) for times in milliseconds]),
            "by_operator": _by_operator(milliseconds),
        },
        "degraded": sum(bool(record.degraded) for record in judged),
        "reasons": _reasons(judged),
    }


def beam_figures(records: Sequence[QuestionRecord]) -> dict[str, Any] | None:
    """BEAM's scores that need no model (``beam_scores.score``); None for other data.

    ``rubric``: share of the published rubric that is met, by kind and ``overall``, mean over the questions judged by a
    chat model; None if it judged none.
    """
    if not records or any(record.category not in KINDS for record in records):
        return None
    found = beam_score(
        [_beam_question(record) for record in records],
        [ranking_of(record.memories) for record in records],
        [abstains(record.predicted_answer or "") for record in records],
    )
    judged = [record for record in records if record.rubric_met is not None]
    groups = {"overall": judged, **{kind: [r for r in judged if r.category == kind] for kind in KINDS}}
    rubric = {
        name: _mean([r.rubric_met for r in chosen if r.rubric_met is not None])
        for name, chosen in groups.items()
        if chosen
    }
    return {**found, "rubric": rubric or None}


def _beam_question(record: QuestionRecord) -> Question:
    return Question(
        id=f"{record.task}/{record.question_id}",
        conversation=record.task,
        kind=record.category,
        text=record.question,
        answer=record.answer,
        sources=record.evidence,
        source_sets=record.evidence_sets,
    )


def read_summary(file: Path) -> dict[str, Any] | None:
    """The summary of a finished run; None if it is missing or truncated.

    Raises:
        InputError: the file has other contents.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or not found.keys() >= _REPORT_KEYS:
        raise InputError(
            f"{file} is no summary of a memory benchmark; give another folder: one that bench has named, or a new one"
        )
    return found


def progress_curve(records: Sequence[QuestionRecord]) -> list[dict[str, Any]]:
    """Scores at each test, in the order of packets: quality as the conversation grows."""
    points = sorted({(record.task, record.tested_after) for record in records})
    return [
        {
            "task": task,
            "packet": packet,
            **figures([r for r in records if (r.task, r.tested_after) == (task, packet)]),
        }
        for task, packet in points
    ]


def _first_memory(record: QuestionRecord) -> str:
    return str(record.memories[0]["text"]) if record.memories else NOT_MENTIONED


BASELINES: Mapping[str, Callable[[QuestionRecord], str]] = {
    "not_mentioned": lambda record: NOT_MENTIONED,
    "first_memory": _first_memory,
}
"""Baseline answers: always "not mentioned"; the first retrieved memory, unchanged."""


def _answering(record: QuestionRecord, prediction: str) -> QuestionRecord:
    found = score(record.category, prediction, NOT_MENTIONED if record.answer is None else record.answer)
    return replace(
        record,
        f1=found.f1,
        exact_match=found.exact_match,
        is_correct=found.is_correct,
        predicted_answer=prediction,
    )


def _category_order(records: Sequence[QuestionRecord]) -> list[str]:
    """Categories in the order of LoCoMo, or of BEAM."""
    known = [*CATEGORIES.values(), *KINDS]
    return sorted({record.category for record in records}, key=known.index)


def _reasons(records: Sequence[QuestionRecord]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for record in records:
        for reason in (*([record.reason] if record.reason is not None else ()), *record.degraded):
            counts[reason] = counts.get(reason, 0) + 1
    return counts


def _mean(values: Sequence[float]) -> float:
    return round(fmean(values), DIGITS) if values else 0.0


def _interval(values: Sequence[float]) -> list[float] | None:
    if not values:
        return None
    found = bootstrap_interval(values, samples=SAMPLES)
    return [round(found.low, DIGITS), round(found.high, DIGITS)]


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {"p50": 0.0, "p95": 0.0}
    return {"p50": round(median(values), 1), "p95": round(float(np.quantile(values, 0.95)), 1)}


def _by_operator(milliseconds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for times in milliseconds for name in times)
    return {name: round(median([times.get(name, 0.0) for times in milliseconds]), 1) for name in names}
