"""Marks an answer by its share of the expected answer, minus a deduction for other words in its place. No model, no
network.

Vectors do not separate right from wrong: a wrong answer about tea has the same cosine with the right answer as a
right answer in another language (.82 to .99 for both). So words and numbers decide, with synonyms from the notes: if
杀青 has the alias "kill-green", both are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import regex
from rapidfuzz import fuzz

from agentic_rag.domain.identity import entity_key
from agentic_rag.text import HAN, STOPWORDS, content_tokens, simplified
from agentic_rag.text.numbers import numbers, without_numbers

Mark = Literal["right", "partly", "wrong", "empty"]
RIGHT, PARTLY = 0.55, 0.45
"""Minimum closeness of a single answer for each mark; chosen on the choosing half of the judged answers."""
ROW_RIGHT, ROW_PARTLY = 0.75, 0.25
"""Minimum share of the cells of a table row for each mark."""
ALIKE = 85
"""Minimum similarity in percent of letters at which two words count as one, misspelt."""
LONG = 6
"""Number of words from which half of them are enough: nobody repeats a long sentence in full."""
NEAR = 0.1
"""Tolerance of a number that is called approximate, relative to it; such a number counts half."""
_ABOUT = re.compile(r"\b(?:about|around|roughly|approximately|some)\b|~|约|左右|大概|大致")
_NOT = re.compile(r"\b(?:not|no|never|without|isn't|wasn't|don't|doesn't|didn't)\b|不|没有|并非|非(?!常)")
_HAN_CHARACTER = regex.compile(rf"[{HAN}]")
_GAP = "____"
_FIELD = " · "


@dataclass(frozen=True, slots=True)
class Judgement:
    """The mark of an answer and its reasons."""

    mark: Mark
    closeness: float
    """In [0, 1]; 1 is the expected answer."""
    missing: tuple[str, ...]
    """Parts of the expected answer that were not given."""


@dataclass(frozen=True, slots=True)
class Names:
    """Synonyms from the notes: all names of a note by each of its names."""

    groups: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, named: Iterable[Sequence[str]]) -> Names:
        """From the list of names of each note."""
        groups: dict[str, set[str]] = {}
        for names in named:
            for name in names:
                groups.setdefault(entity_key(name), set()).update(names)
        return cls({key: frozenset(names) for key, names in groups.items()})

    def others(self, text: str) -> list[str]:
        """The text, and the other names of the same thing in the notes."""
        return [text, *sorted(self.groups.get(entity_key(text), frozenset()) - {text})]


def judged(asks: str, expected: Sequence[str], given: str, names: Names) -> Judgement:
    """Mark one answer.

    Args:
        asks: the question, with or without a gap.
        expected: the note's answer: a word for a gap, a row as ``name: cell · name: cell``, or a sentence.
        given: the person's answer.
        names: synonyms from the notes.
    """
    if not given.strip():
        return Judgement("empty", 0.0, tuple(expected))
    cells = [cell for text in expected for cell in _cells(asks, text)]
    scores = [
        max(_closeness(asks, form, given, alone=len(cells) == 1) for form in names.others(c)) for c in cells
    ]
    closeness = sum(scores) / len(scores)
    right, partly = (RIGHT, PARTLY) if len(cells) == 1 else (ROW_RIGHT, ROW_PARTLY)
    mark: Mark = "right" if closeness >= right else "partly" if closeness >= partly else "wrong"
    missing = tuple(cell for cell, score in zip(cells, scores, strict=True) if score < RIGHT)
    return Judgement(mark, round(closeness, 3), missing)


def _cells(asks: str, expected: str) -> list[str]:
    """The cells of a row that are not in the question; any other text as a whole."""
    if _FIELD not in expected:
        return [expected]
    cells = [part.split(": ", 1)[-1].strip() for part in expected.split(_FIELD)]
    return [cell for cell in cells if entity_key(cell) not in entity_key(asks)] or cells


def _closeness(asks: str, wanted: str, given: str, *, alone: bool) -> float:
    """In [0, 1]: share of the expected answer that was given, less for other words or numbers in its place."""
    if _joined(wanted) == _joined(given) or (not numbers(wanted) and _same(_joined(wanted), _joined(given))):
        return 1.0
    wanted_words, given_words = _words(wanted, asks), _words(given, asks)
    by_words = _words_score(wanted_words, given_words, alone=alone)
    figures = numbers(wanted)
    if figures:
        by_figures = _figures_score(figures, given, asks if alone else None)
        telling = [word for word in wanted_words if len(word) > 1 or len(wanted_words) > 2]
        return by_figures if len(telling) < 2 else (by_figures + by_words) / 2
    if alone and bool(_NOT.search(given)) != bool(_NOT.search(wanted)):
        return 0.0
    return by_words


def _joined(text: str) -> str:
    return re.sub(r"[\W_]+", "", entity_key(simplified(text)))


def _words(text: str, asks: str) -> list[str]:
    """Stems of words, and single Han characters, without numbers, stop words and the words of the question."""
    plain = simplified(without_numbers(text))
    latin = [word for word in content_tokens(_HAN_CHARACTER.sub(" ", plain)) if word not in STOPWORDS]
    own = list(dict.fromkeys([*latin, *_HAN_CHARACTER.findall(plain)]))
    known = set(content_tokens(_HAN_CHARACTER.sub(" ", asks.replace(_GAP, " "))))
    told = [word for word in own if word not in known and word not in STOPWORDS]
    return told or own


def _words_score(wanted: Sequence[str], given: Sequence[str], *, alone: bool) -> float:
    if not wanted or not given:
        return 0.0
    if _same("".join(wanted), "".join(given)):
        return 1.0
    found = [word for word in wanted if any(_same(word, other) for other in given)]
    covered = len(found) / len(wanted)
    if covered == 1.0 or not alone:
        return covered
    if len(wanted) >= LONG:
        covered = min(1.0, covered * 2)
    fitting = [word for word in given if any(_same(word, other) for other in wanted)]
    return covered * len(fitting) / len(given)


def _same(one: str, other: str) -> bool:
    """Whether two words are equal or one is a misspelling; with a prefix ("unoxidised") a word is another word."""
    misspelt = min(len(one), len(other)) > 4 and fuzz.ratio(one, other) >= ALIKE
    return one == other or (misspelt and not one.endswith(other) and not other.endswith(one))


def _figures_score(wanted: Sequence[float], given: str, asks: str | None) -> float:
    """Share of the numbers that were given; half if other numbers are given too, or the number is called
    approximate."""
    found = numbers(given)
    hits = [figure for figure in wanted if figure in found]
    if len(hits) == len(wanted):
        others = (
            [] if asks is None else [one for one in found if one not in wanted and one not in numbers(asks)]
        )
        return 0.5 if others else 1.0
    if _ABOUT.search(given):
        near = [w for w in wanted if any(abs(one - w) <= NEAR * w for one in found)]
        return (len(hits) + 0.5 * len(set(near) - set(hits))) / len(wanted)
    return len(hits) / len(wanted)
