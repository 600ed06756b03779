"""Whether passages say the opposite of a clause: by a denial, an opposite word, or another thing in its place."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher

from agentic_rag.answering.grounding.clauses import Clause, Word
from agentic_rag.answering.grounding.comparison import Comparison
from agentic_rag.answering.grounding.exclusive_values import has_other_value, values_of
from agentic_rag.answering.grounding.opposites import is_opposite

MIN_KNOWN = 2
"""Known words of a clause that denies, from which a passage can affirm it in other letters."""
MIN_COVERAGE = 0.75
"""Share of a clause's known words from which another clause speaks of the same."""
MAX_EXCHANGED, AROUND = 2, 2
"""Units that stand for others at most, and units beside them that are the same at least."""
_THAN = re.compile(r"\bthan\b|比")
_LESS = re.compile(r"\bless\b|没有|不如|不及")
"""Turns a comparison round: *less deep than* is *shallower than*."""
Near = tuple[Clause, Comparison]
"""A passage's clause, and the comparison with that passage."""


def is_contradicted(clause: Clause, beside: Sequence[Comparison]) -> bool:
    """Whether the passages say the opposite of a statement's clause.

    Args:
        clause: of the statement.
        beside: the statement beside each passage.
    """
    nearest = _nearest(clause, beside)
    signs = [(word, frozenset().union(*(one.signs(word) for one in beside))) for word in clause.words]
    known = [(word, of) for word, of in signs if of]
    last = [one.passage.clauses[n] for one in beside for n in one.clauses(known[-1][0])] if known else []
    return (
        _has_other_value(clause, beside)
        or any(is_opposite(near.text, clause.text) for near in [*(near for near, _ in nearest), *last])
        or _is_denied(clause, known, nearest, beside)
        or (
            bool(nearest)
            and all(
                _has_other_subject(clause, near, one) or _is_turned(clause, near) for near, one in nearest
            )
        )
    )


def _has_other_value(clause: Clause, beside: Sequence[Comparison]) -> bool:
    """Whether the passages name another weekday, colour, … instead; not across scripts, where colours name other things."""
    given = [one.passage.values for one in beside if not one.is_across]
    return not clause.is_negated and has_other_value(values_of(clause.text), given)


def _is_denied(
    clause: Clause,
    known_words: Sequence[tuple[Word, frozenset[bool]]],
    nearest: Sequence[Near],
    beside: Sequence[Comparison],
) -> bool:
    """Whether the passages say a clause under the other sign.

    Words of a title count for neither sign. A clause that affirms is denied where its last word, or all of its words,
    are said under a denial alone; one that denies may take its subject from a clause that affirms, so all of its words
    must be affirmed.
    """
    own = [(word, of) for word, of in known_words if not any(0 in one.clauses(word) for one in beside)]
    other = [one for one in own if clause.is_negated not in one[1]]
    if not other:
        return False
    is_literal = any(one.level(own[0][0]) == 1.0 for one in beside)
    if clause.is_negated and len(own) < MIN_KNOWN and not is_literal:
        return False
    is_last = own[-1] == other[-1]
    if all(of != {clause.is_negated} for _, of in own) or (is_last and not clause.is_negated):
        return True
    if any(near.is_negated == clause.is_negated for near, _ in nearest):
        return False
    covered = max(sum(near in _saying(word, one) for word, _ in known_words) for near, one in nearest)
    return covered >= MIN_COVERAGE * len(known_words) and (is_last or not clause.is_negated)


def _saying(word: Word, beside: Comparison) -> list[Clause]:
    return [beside.passage.clauses[n] for n in beside.clauses(word)]


def _nearest(clause: Clause, beside: Sequence[Comparison]) -> list[Near]:
    """The passages' clauses that say most words of a clause, a word counting by how few say it."""
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for word in clause.words:
        places = [(k, n) for k, one in enumerate(beside) for n in one.clauses(word)]
        for place in places:
            weights[place] += 1.0 / len(places)
    least = max(weights.values(), default=0.0) - 1e-9
    return [(beside[k].passage.clauses[n], beside[k]) for (k, n), weight in weights.items() if weight > least]


def _has_other_subject(clause: Clause, near: Clause, beside: Comparison) -> bool:
    """Whether one word stands in the place of another, and the passage says it of something else."""
    own, given = clause.units(), near.units()
    for tag, a, b, c, d in SequenceMatcher(None, own, given, autojunk=False).get_opcodes():
        if tag != "replace" or max(b - a, d - c) > MAX_EXCHANGED:
            continue
        around = _same(own[:a][::-1], given[:c][::-1]) + _same(own[b:], given[d:])
        if around >= AROUND and beside.passage.says_elsewhere(own[a:b], near):
            return True
    return False


def _same(own: Sequence[str], given_units: Sequence[str]) -> int:
    """How many units are the same from the first one on."""
    pairs = enumerate(zip(own, given_units, strict=False))
    return next((n for n, (one, other) in pairs if one != other), min(len(own), len(given_units)))


def _is_turned(clause: Clause, near: Clause) -> bool:
    """Whether the two sides of a comparison have changed places."""
    own, given = _sides(clause), _sides(near)
    if own is None or given is None:
        return False
    (before, after), (first, second) = own, given
    crossed = (before & second - first) and (after & first - second)
    is_less = bool(_LESS.search(clause.text)) != bool(_LESS.search(near.text))
    return bool(crossed) and not is_less and not is_opposite(clause.text, near.text)


def _sides(clause: Clause) -> tuple[set[str], set[str]] | None:
    """The words before and behind ``than``."""
    match = _THAN.search(clause.text)
    if match is None:
        return None
    place = clause.start + match.start()
    before = {word.token for word in clause.words if word.start < place}
    return before, {word.token for word in clause.words if word.start > place}
