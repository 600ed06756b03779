"""The thresholds: below which relevance nothing is answered, and below which it is tried again."""

from __future__ import annotations

import math

import numpy as np

from agentic_rag.evaluation.abstention import MOST_REFUSED, refusal_threshold
from agentic_rag.evaluation.tuning.replay import Floats

STEPS = 10_000
"""A threshold is a whole number of these parts of 1."""
NEAR = 0.02
"""Shares of refused queries that differ by no more are the same."""


def abstention_threshold(answerable: Floats) -> float:
    """The threshold that refuses at most ``MOST_REFUSED`` of the answerable queries.

    Args:
        answerable: confidences of at least one query, in [0, 1].
    """
    return _down(refusal_threshold(answerable.tolist(), MOST_REFUSED))


def carried(threshold: float, before: Floats, after: Floats) -> float:
    """A threshold for new confidences that holds back as many queries as it did on the old ones.

    As it is where that is so already, up to ``NEAR``; scores of other settings have another scale.

    Args:
        threshold: on the old scale.
        before, after: confidences of the same queries; at least one.
    """
    held, would = float((before < threshold).mean()), float((after < threshold).mean())
    if abs(held - would) <= NEAR:
        return threshold
    return _down(refusal_threshold(after.tolist(), held))


def rightness(confidences: Floats, answerable: Floats, threshold: Floats | float) -> Floats:
    """Whether each query is rightly answered or abstained on, so weighted that both kinds count alike.

    The mean is the balanced accuracy: half the share of the answerable that is answered plus half the share
    of the unanswerable that is abstained on.

    Args:
        confidences: by query.
        answerable: 1 or 0 by query; both kinds occur.
        threshold: one, or one a query.
    """
    right = np.where(answerable > 0, confidences >= threshold, confidences < threshold).astype(np.float64)
    share = np.where(answerable > 0, answerable.mean(), 1.0 - answerable.mean())
    weighted: Floats = right / (2.0 * share)
    return weighted


def _down(threshold: float) -> float:
    """Rounded so that nothing more is refused."""
    return math.floor(threshold * STEPS) / STEPS
