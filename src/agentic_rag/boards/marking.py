"""Marks an answer by its share of the expected answer, minus a deduction for other words in its place. No model, no
network.

Vectors do not separate right from wrong: a wrong answer about tea has the same cosine with the right answer as a
right answer in another language (.82 to .99 for both). So words and amounts decide, with synonyms from the notes: if
杀青 has the alias "kill-green", both are accepted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import regex
from rapidfuzz import fuzz

from agentic_rag.answering.amounts import Amount, amounts, likeness, plain, without_amounts
from agentic_rag.answering.grounding.opposites import is_negated, is_opposite
from agentic_rag.domain.identity import entity_key
from agentic_rag.text import HAN, STOPWORDS, content_tokens, simplify

Mark = Literal["right", "partly", "wrong", "empty"]
RIGHT, PARTLY = 0.55, 0.45
"""Minimum closeness of a single answer for each mark; chosen on the choosing half of the judged answers."""
ROW_RIGHT, ROW_PARTLY = 0.75, 0.25
"""Minimum share of the cells of a table row for each mark."""
ALIKE = 85
"""Minimum similarity in percent of letters at which two words count as one, misspelt."""
LONG = 6
"""Number of words from which half of them are enough: nobody repeats a long sentence in full."""
_ABOUT = re.compile(r"\b(?:about|around|roughly|approximately|some)\b|~|约|左右|大概|大致")
_HAN_CHARACTER = regex.compile(rf"[{HAN}]")
_GAP = "____"
_FIELD = " · "


@dataclass(frozen=True, slots=True)
class Judgement:
    """The mark of an answer and its reasons."""

    mark: Mark
    missing: tuple[str, ...]
    """Parts of the expected answer that were not given."""


@dataclass(frozen=True, slots=True)
class Names:
    """Synonyms from the notes: all names of a note by each of its names."""

    groups: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, names_by_note: Iterable[Sequence[str]]) -> Names:
        """The names of the notes, from the list of names of each note."""
        groups: dict[str, set[str]] = {}
        for names in names_by_note:
            for name in names:
                groups.setdefault(entity_key(name), set()).update(names)
        return cls({key: frozenset(names) for key, names in groups.items()})

    def others(self, text: str) -> list[str]:
        """The text, and the other names of the same thing in the notes."""
        return [text, *sorted(self.groups.get(entity_key(text), frozenset()) - {text})]


def judge(asks: str, expected_answers: Sequence[str], given_answer: str, names: Names) -> Judgement:
    """The mark of one given answer, by the expected ones.

    Args:
        asks: the question, with or without a gap.
        expected_answers: the note's answer: a word for a gap, a row as ``name: cell · name: cell``, or a sentence.
        given_answer: the person's answer.
        names: synonyms from the notes.
    """
    if not given_answer.strip():
        return Judgement("empty", tuple(expected_answers))
    cells = [cell for text in expected_answers for cell in _cells(asks, text)]
    scores = [
        max(
            _closeness(asks, f"{form}{unit}", given_answer, alone=len(cells) == 1)
            for form in names.others(cell)
        )
        for cell, unit in cells
    ]
    closeness = sum(scores) / len(scores)
    right, partly = (RIGHT, PARTLY) if len(cells) == 1 else (ROW_RIGHT, ROW_PARTLY)
    mark: Mark = "right" if closeness >= right else "partly" if closeness >= partly else "wrong"
    missing = tuple(cell for (cell, _), score in zip(cells, scores, strict=True) if score < RIGHT)
    return Judgement(mark, missing)


def _cells(asks: str, expected_answer: str) -> list[tuple[str, str]]:
    """The cells of a row that are not in the question, each with the unit that its column has in brackets; any other
    text as a whole."""
    if _FIELD not in expected_answer:
        return [(expected_answer, "")]
    named = [part.rpartition(": ")[::2] for part in expected_answer.split(_FIELD)]
    cells = [(cell.strip(), _UNIT.search(name)) for name, cell in named]
    read = [(cell, f" {unit[1]}" if unit and _BARE.fullmatch(cell) else "") for cell, unit in cells]
    return [(cell, unit) for cell, unit in read if entity_key(cell) not in entity_key(asks)] or read


_UNIT = re.compile(r"[(（]([^()（）]+)[)）]\s*\Z")
_BARE = re.compile(r"[\d.,–-]+")


def _closeness(asks: str, wanted_answer: str, given_answer: str, *, alone: bool) -> float:
    """In [0, 1]: share of the expected answer that was given, less for other words or amounts in its place."""
    stated = _amounts_in(asks, wanted_answer)
    if wanted_answer.strip() == given_answer.strip():
        return 1.0
    if alone and is_opposite(wanted_answer, given_answer):
        return 0.0
    if not stated and any(
        _is_written_alike(fold(wanted_answer), fold(given_answer)) for fold in (str, _umlauts)
    ):
        return 1.0
    wanted_words, given_words = _words(wanted_answer, asks), _words(given_answer, asks)
    telling = [word for word in wanted_words if len(word) > 1 or len(wanted_words) > 2]
    if (
        alone
        and len(telling) < (2 if stated else math.inf)
        and is_negated(given_answer) != is_negated(wanted_answer)
    ):
        return 0.0
    by_words = _words_score(wanted_words, given_words, alone=alone)
    if alone and _is_other_term(_join_letters(wanted_answer), _join_letters(given_answer)):
        by_words = min(by_words, PARTLY)
    if not stated:
        return by_words
    by_amounts = _amounts_score(stated, given_answer, asks, alone=alone)
    return by_amounts if len(telling) < 2 else (by_amounts + by_words) / 2


MAX_TERM = 8
"""Han characters up to which an answer is a term, in which one other character makes another thing."""


def _is_other_term(wanted_answer: str, given_answer: str) -> bool:
    """Whether two Chinese terms differ in a character: 普洱生茶 is not 普洱熟茶."""
    if (
        len(wanted_answer) != len(given_answer)
        or len(wanted_answer) > MAX_TERM
        or not _HAN_CHARACTER.match(wanted_answer)
    ):
        return False
    return sum(one != other for one, other in zip(wanted_answer, given_answer, strict=True)) == 1


def _is_written_alike(wanted_answer: str, given_answer: str) -> bool:
    """Whether two answers are the same but for spaces, or word by word but for slips of the pen."""
    if _join_letters(wanted_answer) == _join_letters(given_answer):
        return True
    pairs = (wanted_answer.split(), given_answer.split())
    return len(pairs[0]) == len(pairs[1]) and all(
        _same(_join_letters(one), _join_letters(other)) for one, other in zip(*pairs, strict=True)
    )


def _umlauts(text: str) -> str:
    """Köln as Koeln."""
    return re.sub("[äöü]", lambda letter: "aou"["äöü".index(letter[0])] + "e", text.lower())


def _join_letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", entity_key(text))


def _words(text: str, asks: str) -> list[str]:
    """Stems of words, and single Han characters, without amounts, stop words and the words of the question."""
    plain_text = simplify(without_amounts(text))
    latin = [word for word in content_tokens(_HAN_CHARACTER.sub(" ", plain_text)) if word not in STOPWORDS]
    own = list(dict.fromkeys([*latin, *_HAN_CHARACTER.findall(plain_text)]))
    known = set(content_tokens(_HAN_CHARACTER.sub(" ", asks.replace(_GAP, " "))))
    unknown = [word for word in own if word not in known and word not in STOPWORDS]
    return unknown or own


def _words_score(wanted_words: Sequence[str], given_words: Sequence[str], *, alone: bool) -> float:
    if not wanted_words or not given_words:
        return 0.0
    if "".join(wanted_words) == "".join(given_words):
        return 1.0
    found = [word for word in wanted_words if any(_same(word, other) for other in given_words)]
    covered = len(found) / len(wanted_words)
    if covered == 1.0 or not alone:
        return covered
    if len(wanted_words) >= LONG:
        covered = min(1.0, covered * 2)
    fitting = [word for word in given_words if any(_same(word, other) for other in wanted_words)]
    return covered * len(fitting) / len(given_words)


def _same(one: str, other: str) -> bool:
    """Whether two words are equal or one is a misspelling; with a prefix ("unoxidised") a word is another word."""
    misspelt = min(len(one), len(other)) > 4 and one[0] == other[0] and fuzz.ratio(one, other) >= ALIKE
    return one == other or (misspelt and not one.endswith(other) and not other.endswith(one))


def _amounts_in(asks: str, text: str) -> list[Amount]:
    """The amounts of a text as it stands in the question's gap, with the sign or unit beside that; else by itself."""
    if _GAP not in asks:
        return amounts(text)
    before, _, after = (plain(part) for part in asks.partition(_GAP))
    start, end = len(before), len(before) + len(plain(text))
    filled = [one for one in amounts(f"{before}{text}{after}") if one.start < end and start < one.end]
    alone = amounts(text)
    return filled if len(filled) == len(alone) else alone


def _amounts_score(wanted_amounts: Sequence[Amount], given_answer: str, asks: str, *, alone: bool) -> float:
    """Mean likeness of the wanted amounts to the nearest given ones; half where another one is given too."""
    scores = []
    for read in (_amounts_in(asks, given_answer), amounts(given_answer)):
        is_vague = _ABOUT.search(given_answer) is not None
        pairs = [[likeness(one, other, is_vague=is_vague) for other in read] for one in wanted_amounts]
        score = sum(max(row, default=0.0) for row in pairs) / len(wanted_amounts)
        known = amounts(asks)
        extra = [
            other
            for n, other in enumerate(read)
            if not any(row[n] for row in pairs) and not any(likeness(one, other) for one in known)
        ]
        scores.append(score * 0.5 if score == 1.0 and alone and extra else score)
    return max(scores)
