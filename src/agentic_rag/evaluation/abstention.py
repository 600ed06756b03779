"""Evaluation, the silence: does a system say "not found" where nothing answers, and only there?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agentic_rag.evaluation.records import Record
from agentic_rag.evaluation.statistics import Interval, bootstrap_interval, roc_area

MOST_REFUSED = 0.10
"""Share of the answerable questions that may be refused when a threshold is chosen."""


def abstention_figures(answerable: Sequence[Record], unanswerable: Sequence[Record]) -> dict[str, Any]:
    """How one whole graph abstained.

    ``as_run``: shares of the unanswerable questions it abstained on and of the answerable ones it refused.
    ``at_refused_10``: the same at the threshold of its confidence that refuses at most a tenth of the
    answerable ones. The threshold is chosen on these very questions, so this tells how well the confidence
    orders them, not how well a threshold fixed beforehand would do. ``roc_area``: how often an answerable
    question has more confidence than an unanswerable one.

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


def refusal_threshold(confidences: Sequence[float], most_refused: float = MOST_REFUSED) -> float:
    """The highest threshold below which no more than that share of the confidences lies.

    >>> refusal_threshold([0.1, 0.5, 0.6, 0.9], 0.25)
    0.5
    """
    refused = math.floor(most_refused * len(confidences) + 1e-9)
    return sorted(confidences)[min(refused, len(confidences) - 1)]


def as_figure(interval: Interval) -> dict[str, float]:
    """An interval as reports have it: six decimals."""
    return {name: round(value, 6) for name, value in interval._asdict().items()}


def _share(refused: Sequence[bool]) -> dict[str, float]:
    return as_figure(bootstrap_interval([float(value) for value in refused]))


def _confidence(record: Record) -> float:
    return 0.0 if record.confidence is None else record.confidence
