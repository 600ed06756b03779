"""Evaluation, the degenerate baselines: what one gets without searching at all, to be shown beside results."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from agentic_rag.evaluation.datasets import EvalQuery

Sessions = Mapping[str, Sequence[Sequence[str]]]


def degenerate_rankings(
    queries: Sequence[EvalQuery], sessions: Sessions, *, depth: int = 10, seed: int = 0
) -> dict[str, list[list[str]]]:
    """Rankings of a conversation's turns that do not look at the question.

    ``last_session``: the turns of the last session that has any, newest first. ``full_context``: all turns
    in the order they were said, as a model that is given the whole conversation reads them. ``random``:
    all turns in random order.

    Args:
        queries: each asks about the conversation ``dataset_key``.
        sessions: chunk ids of each conversation's turns, session by session.
        depth: how many of the first turns to give.
        seed: of the random order; each query has its own, whichever others there are.

    Returns:
        By baseline a ranking for each query, in the queries' order; nothing without sessions.
    """
    if not sessions:
        return {}
    flat = {key: [turn for turns in told for turn in turns] for key, told in sessions.items()}
    last = {key: next((turns for turns in reversed(told) if turns), []) for key, told in sessions.items()}
    return {
        "last_session": [list(last[query.dataset_key])[::-1][:depth] for query in queries],
        "full_context": [flat[query.dataset_key][:depth] for query in queries],
        "random": [_shuffled(flat[query.dataset_key], f"{seed} {query.id}", depth) for query in queries],
    }


def not_mentioned(answerable: int, unanswerable: int) -> dict[str, float]:
    """Shares of a system that answers every question with "not mentioned".

    ``right`` is the share of all questions for which that is the right thing to say.
    """
    return {
        "unanswerable_abstained": 1.0,
        "answerable_refused": 1.0,
        "right": round(unanswerable / (answerable + unanswerable), 6),
    }


def _shuffled(turns: Sequence[str], seed: str, depth: int) -> list[str]:
    return random.Random(seed).sample(turns, min(depth, len(turns)))
