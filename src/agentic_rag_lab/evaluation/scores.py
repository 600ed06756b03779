"""Evaluation, the scores: from answers to means, intervals, comparisons and abstention, and baselines without a
search."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agentic_rag_lab.evaluation.datasets import EvalQuery
from agentic_rag_lab.evaluation.metrics import DEFAULT_MEASURES, measure
from agentic_rag_lab.evaluation.records import Record
from agentic_rag_lab.evaluation.statistics import Interval, bootstrap_interval, paired_tests, roc_area

MEASURES = DEFAULT_MEASURES
NO_CATEGORY = "uncategorised"

Values = dict[str, list[float]]
"""By measure, one value for each query."""


def measure_all(queries: Sequence[EvalQuery], rankings: Sequence[Sequence[str]]) -> Values:
    """Every measure of every query; one ranking per query, in the queries' order."""
    pairs = list(zip(queries, rankings, strict=True))
    return {name: [measure(name, ranking, query.relevant) for query, ranking in pairs] for name in MEASURES}


def mean_figures(values: Values) -> dict[str, Any]:
    """By measure ``value``, ``low``, ``high``: the mean with its 95 % bootstrap interval."""
    return {name: as_figure(bootstrap_interval(of_queries)) for name, of_queries in values.items()}


def system_figures(
    queries: Sequence[EvalQuery], answers: Mapping[str, Sequence[Record]], baseline: str
) -> dict[str, dict[str, Any]]:
    """All scores of each system's ranking in the report.

    Args:
        queries: answerable, judged; at least one.
        answers: by system, a record for each query, in the queries' order.
        baseline: system for comparisons.

    Returns:
        By system: each measure, ``latency_ms`` (``p50``, ``p95``), ``model_calls`` (``mean`` a query,
        ``total``), ``degraded`` (queries on which a source or model failed), ``by_category`` and
        ``against_baseline``.
    """
    values = {
        name: measure_all(queries, [record.ranking for record in records])
        for name, records in answers.items()
    }
    compared = comparisons(values, baseline)
    return {
        name: {
            **mean_figures(values[name]),
            "latency_ms": _latency([record.milliseconds for record in records]),
            "model_calls": _calls([record.model_calls for record in records]),
            "degraded": sum(bool(record.degraded) for record in records),
            "by_category": _by_category(queries, values[name]),
            "against_baseline": compared[name],
        }
        for name, records in answers.items()
    }


def comparisons(values: Mapping[str, Values], baseline: str) -> dict[str, dict[str, dict[str, float]]]:
    """By system and measure: mean paired difference from the baseline with its interval, ``p``, ``p_holm``.

    The family of Holm's correction consists of every other system times every measure, over all queries together;
    categories are not tested.
    """
    pairs = {
        (name, measure_name): (of_queries, values[baseline][measure_name])
        for name, own in values.items()
        for measure_name, of_queries in own.items()
        if name != baseline
    }
    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in values}
    for (name, measure_name), test in paired_tests(pairs).items():
        own, base = pairs[name, measure_name]
        interval = bootstrap_interval([a - b for a, b in zip(own, base, strict=True)])
        figures = {"difference": interval.value, "low": interval.low, "high": interval.high, **test._asdict()}
        found[name][measure_name] = {key: round(value, 6) for key, value in figures.items()}
    return found


def _by_category(queries: Sequence[EvalQuery], values: Values) -> dict[str, Any]:
    """Scores by category, sorted by name; empty if no query has one."""
    names = [query.category or NO_CATEGORY for query in queries]
    if all(query.category is None for query in queries):
        return {}
    figures = {}
    for category in sorted(set(names)):
        places = [place for place, name in enumerate(names) if name == category]
        chosen = {name: [of_queries[place] for place in places] for name, of_queries in values.items()}
        figures[category] = {"queries": len(places), **mean_figures(chosen)}
    return figures


def _latency(milliseconds: Sequence[float]) -> dict[str, float]:
    p50, p95 = np.percentile(milliseconds, [50, 95])
    return {"p50": round(float(p50), 2), "p95": round(float(p95), 2)}


def _calls(calls: Sequence[int]) -> dict[str, float]:
    return {"mean": round(sum(calls) / len(calls), 6), "total": sum(calls)}


MAX_REFUSED = 0.10
"""Maximum share of refused answerable questions for the choice of a threshold."""


def abstention_figures(answerable: Sequence[Record], unanswerable: Sequence[Record]) -> dict[str, Any]:
    """Abstention scores of one whole graph.

    ``as_run``: share of the unanswerable questions on which it abstained, and of the answerable ones it refused.
    ``at_refused_10``: the same at the confidence threshold that refuses at most a tenth of the answerable ones.
    The threshold is chosen on these questions, so this measures how well the confidence separates them, not the
    quality of a threshold chosen beforehand. ``roc_area``: probability that an answerable question has a higher
    confidence than an unanswerable one.

    Args:
        answerable, unanswerable: records of a system that abstains; at least one each.

    Returns:
        Each share and the area as ``value``, ``low``, ``high`` (95 % bootstrap).
    """
    threshold = refusal_threshold([_confidence(record) for record in answerable])
    return {
        "as_run": {
            "unanswerable_abstained": _share([bool(record.abstained) for record in unanswerable]),
            "answerable_refused": _share([bool(record.abstained) for record in answerable]),
        },
        "at_refused_10": {
            "threshold": threshold,
            "unanswerable_abstained": _share([_confidence(record) < threshold for record in unanswerable]),
            "answerable_refused": _share([_confidence(record) < threshold for record in answerable]),
        },
        "roc_area": as_figure(
            roc_area(
                [_confidence(record) for record in answerable],
                [_confidence(record) for record in unanswerable],
            )
        ),
    }


def refusal_threshold(confidences: Sequence[float], most_refused: float = MAX_REFUSED) -> float:
    """The highest threshold with at most this share of the confidences below it.

    >>> refusal_threshold([0.1, 0.5, 0.6, 0.9], 0.25)
    0.5
    """
    refused = math.floor(most_refused * len(confidences) + 1e-9)
    return sorted(confidences)[min(refused, len(confidences) - 1)]


def as_figure(interval: Interval) -> dict[str, float]:
    """An interval in the form of reports, rounded to six decimals."""
    return {name: round(value, 6) for name, value in interval._asdict().items()}


def _share(refusals: Sequence[bool]) -> dict[str, float]:
    return as_figure(bootstrap_interval([float(value) for value in refusals]))


def _confidence(record: Record) -> float:
    return 0.0 if record.confidence is None else record.confidence


Sessions = Mapping[str, Sequence[Sequence[str]]]


def degenerate_rankings(
    queries: Sequence[EvalQuery], sessions: Sessions, *, depth: int = 10
) -> dict[str, list[list[str]]]:
    """Rankings of a conversation's turns that ignore the question.

    ``last_session``: the turns of the last non-empty session, newest first. ``full_context``: all turns in order,
    as in a model's full context. ``random``: all turns in a random order seeded by the query's id.

    Args:
        queries: each asks about the conversation ``dataset_key``.
        sessions: chunk ids of each conversation's turns, session by session.
        depth: number of turns per ranking.

    Returns:
        By baseline a ranking for each query, in the queries' order; empty without sessions.
    """
    if not sessions:
        return {}
    flat = {key: [turn for turns in told for turn in turns] for key, told in sessions.items()}
    last = {key: next((turns for turns in reversed(told) if turns), []) for key, told in sessions.items()}
    return {
        "last_session": [list(last[query.dataset_key])[::-1][:depth] for query in queries],
        "full_context": [flat[query.dataset_key][:depth] for query in queries],
        "random": [_shuffle(flat[query.dataset_key], f"0 {query.id}", depth) for query in queries],
    }


def not_mentioned(answerable: int, unanswerable: int) -> dict[str, float]:
    """Scores of a system that answers every question with "not mentioned".

    ``right`` is the share of all questions for which this is the right answer.
    """
    return {
        "unanswerable_abstained": 1.0,
        "answerable_refused": 1.0,
        "right": round(unanswerable / (answerable + unanswerable), 6),
    }


def _shuffle(turns: Sequence[str], seed: str, depth: int) -> list[str]:
    return random.Random(seed).sample(turns, min(depth, len(turns)))
