"""Whether the history answers at all: what matches a question may have been said by, and of, somebody else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from agentic_rag.memory.reading.history import History
from agentic_rag.memory.reading.questions import Kind, Question
from agentic_rag.memory.reading.statements import Statement

ABSTAIN_FROM = -1.25
"""Log-odds from which an answer is withheld: a span is right so seldom that little doubt outweighs it."""
ABSTAIN_SURER_FROM = 0.0
"""The same for times and for one of a few offered answers, which are right more often."""
SURER: frozenset[Kind] = frozenset({"when", "year", "choice", "likely", "yes_no"})
WEIGHTS: Mapping[str, float] = {
    "always": 1.81,
    "covered": 0.93,
    "lead in meaning": 0.79,
    "lead in sentence": -1.6,
    "lead in turn": -2.2,
    "nobody": -1.5,
    "several": -2.69,
    "support": -3.99,
    "unknown names": 1.6,
}
"""Of the signs, in log-odds: a logistic regression on the questions of LoCoMo's conv-30 and conv-49."""


def doubtful(question: Question, statements: Sequence[Statement], history: History) -> bool:
    """Whether it is better to say that it is not mentioned: nothing shares the question's telling words, or
    somebody else than it asks about said what matches."""
    if not any(one.own + one.turn + one.before for one in statements):
        return True
    bar = ABSTAIN_SURER_FROM if question.kind in SURER else ABSTAIN_FROM
    return doubt(question, statements, history) > bar


def doubt(question: Question, statements: Sequence[Statement], history: History) -> float:
    """Log-odds that nothing in the history answers; higher is more doubtful."""
    return sum(WEIGHTS.get(name, 0.0) * value for name, value in signs(question, statements, history).items())


def signs(question: Question, statements: Sequence[Statement], history: History) -> dict[str, float]:
    """What speaks for and against an answer.

    A lead is how much better the best of what the person asked about says matches than the best of what others
    say; 0 where nobody is asked about or nobody else speaks. It tells less of a question that names several people:
    what one of them offers the other is told by either.
    """
    theirs = [one for one in statements if one.about]
    others = [one for one in statements if not one.about]
    return {
        "always": 1.0,
        "support": max((one.support for one in theirs), default=0.0) / 5,
        "covered": max((one.own + one.turn + one.before for one in theirs), default=0.0),
        "lead in turn": _lead(theirs, others, lambda one: one.own + one.turn),
        "lead in sentence": _lead(theirs, others, lambda one: one.own),
        "lead in meaning": _lead(theirs, others, lambda one: max(-0.2, one.cosine) * 10),
        "unknown names": _unknown(question.names, history),
        "nobody": float(not question.subject),
        "several": float(len(question.people) > 1),
    }


def _lead(
    theirs: Sequence[Statement], others: Sequence[Statement], value: Callable[[Statement], float]
) -> float:
    if not others:
        return 0.0
    return max(map(value, theirs), default=min(map(value, others))) - max(map(value, others))


def _unknown(terms: frozenset[str], history: History) -> float:
    """Share of some terms that stand nowhere in the history."""
    missing = [term for term in terms if not any(term in line.terms for line in history.lines)]
    return len(missing) / len(terms) if terms else 0.0
