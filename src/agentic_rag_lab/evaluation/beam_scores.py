"""Evaluation, BEAM's scores: from the messages found for each question to recall by kind, without a model.

The score of a kind is the mean over conversations of the mean over a conversation's questions of that kind (macro
average). A question without sources has no score; one without results has 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

from scipy.stats import kendalltau

from agentic_rag_lab.evaluation.beam import Question
from agentic_rag_lab.evaluation.metrics import recall
from agentic_rag_lab.sources.beam import EVENT_ORDERING, KINDS, SIX_KINDS

SHORT, LONG = 10, 20
"""Cut-offs in messages; ordering and summarisation have up to twenty sources."""
DIGITS = 6

Value = Callable[[Question, Sequence[str]], float | None]


def recall_at(question: Question, ranking: Sequence[str], k: int) -> float | None:
    """Share of the question's sources among the first k messages; None without sources."""
    return recall(ranking, dict.fromkeys(question.sources, 1), k) if question.sources else None


def both_found(question: Question, ranking: Sequence[str], k: int = SHORT) -> float | None:
    """1 if a message of each named set is among the first k, else 0; None for a question without two sets."""
    if not question.source_sets:
        return None
    first = set(ranking[:k])
    return float(all(not first.isdisjoint(ids) for ids in question.source_sets))


def newer_found(question: Question, ranking: Sequence[str], k: int = SHORT) -> float | None:
    """1 if a message of the newest named set is among the first k, else 0; None for a question without two sets."""
    if not question.source_sets:
        return None
    return float(not set(ranking[:k]).isdisjoint(question.source_sets[-1]))


def order(question: Question, ranking: Sequence[str], k: int = LONG) -> float | None:
    """Kendall's tau-b, in [-1, 1], between the order in which sources are found and that of the conversation.

    Over the sources among the first k messages of a question about the order of events; None for other questions,
    and if fewer than two sources are found.

    Source: Kendall, The Treatment of Ties in Ranking Problems, Biometrika 1945, as ``scipy.stats.kendalltau``.
    """
    if question.kind != EVENT_ORDERING:
        return None
    places = [question.sources.index(message) for message in ranking[:k] if message in question.sources]
    return float(kendalltau(range(len(places)), places).statistic) if len(places) > 1 else None


MEASURES: Mapping[str, Value] = {
    "recall@10": lambda question, ranking: recall_at(question, ranking, SHORT),
    "recall@20": lambda question, ranking: recall_at(question, ranking, LONG),
    "both@10": both_found,
    "newer@10": newer_found,
    "tau": order,
}
"""Function of a question and its ranking, by measure name; None if the measure does not apply."""


def score(
    questions: Sequence[Question],
    rankings: Sequence[Sequence[str]],
    abstentions: Sequence[bool] | None = None,
) -> dict[str, Any]:
    """All scores that need no model.

    Args:
        questions: of one or several conversations.
        rankings: message ids found for each question, best first; the first occurrence of an id counts.
        abstentions: whether each question was answered with "not mentioned"; None without answers.

    Returns:
        ``six_kinds``: each of ``MEASURES`` over ``SIX_KINDS``, averaged over a conversation's kinds (``both@10``
            and ``newer@10``: over its questions with two named sets), then over the conversations. ``by_kind``:
            each measure by kind. ``by_conversation``: ``six_kinds`` of each. ``abstention``: share of the
            unanswerable questions that were not answered (``abstained``) and of the answerable ones that were not
            (``refused``); None without ``abstentions``. A score is None if no question has it. Counts are
            ``questions``, ``with_sources``, and ``ordered`` for ``tau``.
    """
    asked = [
        (question, list(dict.fromkeys(ranking)))
        for question, ranking in zip(questions, rankings, strict=True)
    ]
    conversations = [
        [pair for pair in asked if pair[0].conversation == name]
        for name in dict.fromkeys(question.conversation for question in questions)
    ]
    kinds = [kind for kind in KINDS if any(question.kind == kind for question in questions)]
    by_conversation = {pairs[0][0].conversation: _six(pairs) for pairs in conversations}
    return {
        "conversations": len(conversations),
        "six_kinds": {name: _mean([of[name] for of in by_conversation.values()]) for name in _HEADLINE},
        "by_kind": {kind: _of_kind(kind, conversations) for kind in kinds},
        "by_conversation": by_conversation,
        "abstention": None if abstentions is None else _abstention(questions, abstentions),
    }


_RankedQuestions = Sequence[tuple[Question, Sequence[str]]]
_HEADLINE = ("recall@10", "recall@20", "both@10", "newer@10")
_BY_SETS = frozenset({"both@10", "newer@10"})


def _six(pairs: _RankedQuestions) -> dict[str, float | None]:
    """The scores of one conversation."""
    of_kinds = [[pair for pair in pairs if pair[0].kind == kind] for kind in SIX_KINDS]
    together = [pair for chosen in of_kinds for pair in chosen]
    return {
        name: _mean_of(name, together)
        if name in _BY_SETS
        else _mean([_mean_of(name, chosen) for chosen in of_kinds])
        for name in _HEADLINE
    }


def _of_kind(kind: str, conversations: Sequence[_RankedQuestions]) -> dict[str, Any]:
    chosen = [[pair for pair in pairs if pair[0].kind == kind] for pairs in conversations]
    found = {name: _mean([_mean_of(name, pairs) for pairs in chosen]) for name in MEASURES}
    every = [pair for pairs in chosen for pair in pairs]
    return {
        "questions": len(every),
        "with_sources": sum(bool(question.sources) for question, _ in every),
        **found,
        "ordered": sum(order(question, ranking) is not None for question, ranking in every),
    }


def _mean_of(measure: str, pairs: _RankedQuestions) -> float | None:
    return _mean([MEASURES[measure](question, ranking) for question, ranking in pairs])


def _abstention(questions: Sequence[Question], abstentions: Sequence[bool]) -> dict[str, Any]:
    pairs = list(zip(questions, abstentions, strict=True))
    unanswerable = [float(said) for question, said in pairs if not question.answerable]
    answerable = [float(said) for question, said in pairs if question.answerable]
    return {
        "unanswerable": len(unanswerable),
        "abstained": _mean(unanswerable),
        "answerable": len(answerable),
        "refused": _mean(answerable),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are not None."""
    there = [value for value in values if value is not None]
    return round(fmean(there), DIGITS) if there else None
