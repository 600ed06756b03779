"""Decides whether the history answers at all: a matching sentence may be by, or about, somebody else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agentic_rag_lab.designs.reading.history import History
from agentic_rag_lab.designs.reading.questions import Kind, ParsedQuestion
from agentic_rag_lab.designs.reading.statements import Statement

FILE = Path(__file__).with_name("weights.json")
"""The learned weights, fitted by ``evaluation/fit_reader.py``."""
SURER: frozenset[Kind] = frozenset({"when", "year", "likely", "yes_no"})
"""Question kinds whose answers are right more often than a quoted sentence."""


@dataclass(frozen=True, slots=True)
class ReaderWeights:
    """Coefficients of the offline reader."""

    doubt: Mapping[str, float]
    """Weight of each feature (see ``signs``), in log-odds: positive is evidence for no answer."""
    abstain_from: float
    """Log-odds from which a sentence is withheld; low, because a sentence is seldom right."""
    abstain_surer_from: float
    """The same for times, and for yes or no, which are right more often."""
    fitted_on: tuple[str, ...]
    """Conversations of the fit; the reader's scores on them are not held out."""


@lru_cache(maxsize=1)
def shipped_weights() -> ReaderWeights:
    """The weights included in the package."""
    values = json.loads(FILE.read_text(encoding="utf-8"))
    return ReaderWeights(**{**values, "fitted_on": tuple(values["fitted_on"])})


def doubtful(question: ParsedQuestion, statements: Sequence[Statement], history: History) -> bool:
    """Whether to answer "not mentioned": no sentence shares the content words of the question, or another person
    said the matching sentence."""
    if not any(one.own + one.turn + one.before for one in statements):
        return True
    weights, found = shipped_weights(), signs(question, statements, history)
    doubt = sum(weights.doubt.get(name, 0.0) * value for name, value in found.items())
    return doubt > (weights.abstain_surer_from if question.kind in SURER else weights.abstain_from)


def signs(question: ParsedQuestion, statements: Sequence[Statement], history: History) -> dict[str, float]:
    """Features for and against an answer.

    A lead is the best match among the sentences of the person in the question minus the best match among the others';
    0 if the question names nobody or nobody else speaks. It means less if the question names several people, since
    either of them may report what happened between them.
    """
    theirs = [one for one in statements if one.about]
    others = [one for one in statements if not one.about]
    unknown = [name for name in question.names if not any(name in line.terms for line in history.lines)]
    return {
        "always": 1.0,
        "support": max((one.support for one in theirs), default=0.0) / 5,
        "covered": max((one.own + one.turn + one.before for one in theirs), default=0.0),
        "lead in turn": _lead(theirs, others, lambda one: one.own + one.turn),
        "lead in sentence": _lead(theirs, others, lambda one: one.own),
        "unknown names": len(unknown) / len(question.names) if question.names else 0.0,
        "nobody": float(not question.subject),
        "several": float(len(question.people) > 1),
    }


def _lead(
    theirs: Sequence[Statement], others: Sequence[Statement], value: Callable[[Statement], float]
) -> float:
    if not others:
        return 0.0
    return max(map(value, theirs), default=min(map(value, others))) - max(map(value, others))
