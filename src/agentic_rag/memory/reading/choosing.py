"""Which span answers: the one whose words agree best with all that may be the answer.

A single score is often wrong by a word or a sentence. The span with the highest expected token F1, where each
span is the answer with a probability that its score gives, is right more often than the one with the best score
(minimum Bayes risk).

Source: Kumar and Byrne, Minimum Bayes-Risk Decoding for Statistical Machine Translation, HLT-NAACL 2004.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from agentic_rag.memory.reading.questions import Kind, Question
from agentic_rag.memory.reading.spans import Span, spans_of
from agentic_rag.memory.reading.statements import Statement
from agentic_rag.memory.reading.traits import traits
from agentic_rag.memory.reading.weights import ReaderWeights
from agentic_rag.memory.scoring import normalised, token_f1

READ = 14
"""Sentences whose spans are considered."""
COMPARED = 150
"""Spans that are compared with each other."""
TEMPERATURE = 0.7
"""Of the probabilities; lower trusts the scores more."""
MOST = 3
"""Things of a list."""
MARGIN = 1.0
"""How far below the best score another thing of a list may lie."""

_GROUPS: Mapping[Kind, str] = {
    "why": "why", "how": "how", "who": "who", "where": "where", "which": "which",
    "duration": "count", "number": "count", "often": "count",
}  # fmt: skip


def chosen_spans(question: Question, statements: Sequence[Statement], weights: ReaderWeights) -> list[Span]:
    """The span that answers; where several things are asked for, up to ``MOST`` of different lines.

    Args:
        question: of any kind.
        statements: best first.
        weights: what each trait of a span counts.

    Returns:
        Best first; [] where no sentence has a span.
    """
    scored = ranked_spans(question, statements, weights)[:COMPARED]
    if not scored:
        return []
    expected = _expected([span.text for span, _ in scored], [score for _, score in scored])
    # Rounded, so that what is equal but for the last bit stays in the order of the scores.
    best = scored[int(np.argmax(np.round(expected, 9)))][0]
    return _with_others(best, scored) if question.many else [best]


def _with_others(best: Span, scored: Sequence[tuple[Span, float]]) -> list[Span]:
    """What else answers nearly as well, says it in another line and shares no word."""
    found = [best]
    for span, score in scored:
        if len(found) == MOST or score < scored[0][1] - MARGIN:
            break
        if all(
            one.statement.sentence.line != span.statement.sentence.line and not token_f1(one.text, span.text)
            for one in found
        ):
            found.append(span)
    return found


def ranked_spans(
    question: Question, statements: Sequence[Statement], weights: ReaderWeights
) -> list[tuple[Span, float]]:
    """Every span with its score, highest first, then in the order of the sentences."""
    group = group_of(question)
    scored = [
        (
            span,
            math.fsum(
                weights.spans.get(name, 0.0) * value for name, value in traits(span, question, group).items()
            ),
        )
        for statement in statements[:READ]
        for span in spans_of(statement, question)
    ]
    return sorted(scored, key=lambda one: -round(one[1], 9))


def group_of(question: Question) -> str:
    """Which weights count for a question."""
    return _GROUPS.get(question.kind, "what")


def _expected(texts: Sequence[str], scores: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Expected token F1 of each text, shape (len(texts),)."""
    weights = np.exp((np.asarray(scores) - scores[0]) / TEMPERATURE)
    words = [normalised(text) for text in texts]
    places: dict[str, int] = {}
    for text in words:
        for word in text:
            places.setdefault(word, len(places))
    counts = np.zeros((len(texts), max(1, len(places))))
    for row, text in enumerate(words):
        for word in text:
            counts[row, places[word]] += 1
    shared = np.minimum(counts[:, None, :], counts[None, :, :]).sum(axis=2)
    lengths = counts.sum(axis=1)
    f1 = 2 * shared / np.maximum(lengths[:, None] + lengths[None, :], 1)
    expected: np.ndarray[tuple[int], np.dtype[np.float64]] = f1 @ (weights / weights.sum())
    return expected
