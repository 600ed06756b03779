"""The words of a question with their places, and how a name of the schema is met among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import regex
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from agentic_rag.text import ASCII_WORD, CJK, STOPWORDS, fold, tokens

_WORD = regex.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['’][^\W\d_]+)?")
_CJK = regex.compile(rf"[{CJK}]")
_SPACE = regex.compile(rf"\s+|(?<=[{CJK}])(?=[a-z\d])|(?<=[a-z\d])(?=[{CJK}])")
"""Between Chinese and other script a space is written or left out."""
Likeness = Literal["stem", "beginning", "slip"]
MIN_SLIP = 5
"""Letters of a word from which a slip of the pen can be told from another word."""
LONG_SLIP = 8
"""Letters from which two slips are one word still; below one is: "dream" is no slip for "drama"."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question: as it is written, its stem, and its place."""

    text: str
    stem: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """A run of characters of the question."""

    start: int
    end: int

    def overlaps(self, other: Place) -> bool:
        """Whether the two share a character."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Words:
    """A question as words; a run of Chinese counts as one and is searched by characters."""

    text: str
    """Folded: compatibility forms unified, traditional characters of common words simplified, lower case."""
    words: tuple[Word, ...]

    @classmethod
    def of(cls, question: str) -> Words:
        """Read a question."""
        text = fold(question).casefold()
        if len(text) != len(question):  # places must be those of the question
            text = question.lower()
        words = (
            Word(match.group(), stem(match.group()), match.start(), match.end())
            for match in _WORD.finditer(text)
        )
        return cls(text, tuple(words))

    def find(self, name: str, likeness: Likeness = "stem") -> Place | None:
        """The span of a name in the question; None if it is not there.

        Words of Latin script are met as stems, in a row; Chinese as characters.

        Args:
            name: of a folder, tag, property, value or note.
            likeness: of the words: of one stem, of one beginning, or a slip of the pen apart.
        """
        wanted = parts(name)
        if not wanted:
            return None
        han = plain_han(name)
        if han is not None:
            if han.replace(" ", "") not in self.text.replace(" ", ""):
                return None
            spaced = regex.escape(_SPACE.sub(" ", han), literal_spaces=True).replace(" ", r"\s*")
            met = regex.search(rf"(?<!\d(?=\d)){spaced}(?!(?<=\d)\d)", self.text)  # 3年 is not in 2023年
            return None if met is None else Place(*met.span())
        if len(wanted) == 1:
            return self._find_word(name, wanted[0], likeness)
        # "would I rewatch" names the property "Would rewatch"
        words = [word for word in self.words if word.text not in _BETWEEN or word.stem in wanted]
        for first in range(len(words) - len(wanted) + 1):
            if _same(words[first], wanted[0], likeness):  # most names end here
                row = words[first : first + len(wanted)]
                if all(_same(word, part, likeness) for word, part in zip(row[1:], wanted[1:], strict=True)):
                    return Place(row[0].start, row[-1].end)
        return None

    def _find_word(self, name: str, part: str, likeness: Likeness) -> Place | None:
        written = fold(name).casefold() if likeness == "slip" else None
        for word in self.words:
            if _same(word, part, likeness) or (written is not None and _is_slip(word.text, written)):
                return Place(word.start, word.end)
        return None


_BETWEEN = frozenset("i we you my our the a an".split())


def _same(word: Word, part: str, likeness: Likeness) -> bool:
    if word.stem == part:
        return True
    if likeness == "stem":
        return False
    long = min(len(word.stem), len(part)) >= MIN_SLIP
    if (
        long
        and (word.stem.startswith(part) or part.startswith(word.stem))
        and abs(len(part) - len(word.stem)) <= 3
    ):
        return True
    return likeness == "slip" and _is_slip(word.stem, part)


def _is_slip(word: str, intended_word: str) -> bool:
    """Whether a word of five letters and more is another one with a slip of the pen."""
    shorter = min(len(word), len(intended_word))
    slips = 2 if shorter >= LONG_SLIP else 1
    return shorter >= MIN_SLIP and word[0] == intended_word[0] and OSA.distance(word, intended_word) <= slips


@lru_cache(maxsize=65_536)
def plain_han(name: str) -> str | None:
    """A name with Chinese as it stands in ``Words.text``; None for one without."""
    if name.isascii() or not any(_CJK.search(part) for part in parts(name)):
        return None
    return fold(name).casefold().strip()


@lru_cache(maxsize=65_536)
def parts(name: str) -> tuple[str, ...]:
    """The stems of a name's words, in order; a run of Chinese is one."""
    plain = fold(split_camel_case(name)).casefold()
    return tuple(map(stem, (ASCII_WORD if plain.isascii() else _WORD).findall(plain)))


def first_part(name: str) -> str | None:
    """The first of a name's ``parts``, in a fraction of the time; None where it has none."""
    plain = fold(split_camel_case(name)).casefold()
    word = (ASCII_WORD if plain.isascii() else _WORD).search(plain)
    return None if word is None else stem(word.group())


def key_words(key: str) -> frozenset[str]:
    """The stems of a property's name that say something."""
    return frozenset(part for part in parts(key) if part not in STOPWORDS)


def is_named_apart(words: Words, key: str) -> bool:
    """Whether a question has all words of a name of several: "hours did I spend in the garden" of ``hours in garden``."""
    return len(key_words(key)) > 1 and key_words(key) <= {word.stem for word in words.words}


_CAMEL = regex.compile(r"(?<=[a-z])(?=[A-Z])")


def any_of(*patterns: str) -> re.Pattern[str]:
    """The pattern that any of these match, in letters of either case."""
    return re.compile("|".join(patterns), re.IGNORECASE)


def split_camel_case(name: str) -> str:
    """``totalPages`` as two words."""
    return name if name.islower() else str(_CAMEL.sub(" ", name))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of one word; irregular forms that properties and questions differ in are mapped to one."""
    known = regular(word)
    if known != word:
        return known
    if not word.isascii() and _CJK.search(word) is not None:
        return word
    terms: Sequence[str] = tokens(word)
    return terms[-1] if terms else word


def regular(word: str) -> str:
    """The regular form of a word or stem that properties and questions differ in: ``write`` of "wrote" and "author"."""
    return IRREGULAR.get(word, word)


IRREGULAR = {
    "met": "meet", "bought": "buy", "paid": "pay", "wrote": "write", "written": "write", "author": "write", "authors": "write",
    "made": "make", "maker": "make", "spent": "spend", "slept": "sleep", "felt": "feel",
    "saw": "see", "seen": "see", "went": "go", "gone": "go", "drank": "drink", "ran": "run", "people": "person", "persons": "person",
    "sown": "sow", "grown": "grow", "grew": "grow", "shown": "show", "taken": "take", "took": "take", "given": "give", "gave": "give",
    "eaten": "eat", "ate": "eat", "driven": "drive", "drove": "drive", "chosen": "choos", "chose": "choos", "worn": "wear", "built": "build",
    "sent": "send", "sold": "sell", "brought": "bring", "taught": "teach", "caught": "catch", "held": "hold", "broken": "break", "lent": "lend",
    "dailies": "daili", "dailys": "daili", "children": "child", "movies": "movi", "films": "film", "began": "begin", "begun": "begin", "dice": "die",
    "jan": "januari", "feb": "februari", "mar": "march", "apr": "april", "jun": "june", "jul": "juli", "aug": "august", "sep": "septemb",
    "sept": "septemb", "oct": "octob", "nov": "novemb", "dec": "decemb",
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "fri": "friday", "sat": "saturday", "sun": "sunday",
}  # fmt: skip
"""What ``regular`` maps to another word; no form is its own."""


def uncovered_words(words: Words, spans: Iterable[Place], generic: frozenset[str]) -> list[Word]:
    """The words that no span covers and that are not generic, in order."""
    covered = list(spans)
    return [
        word
        for word in words.words
        if word.stem not in generic
        and word.text not in generic
        and not _is_slip_of(word.text, generic)
        and not any(Place(word.start, word.end).overlaps(span) for span in covered)
    ]


@lru_cache(maxsize=4096)
def _is_slip_of(word: str, generic: frozenset[str]) -> bool:
    """Whether a short word is a misspelled generic one: ``wich``, ``ar``."""
    return (
        word.isascii()
        and len(word) <= 5
        and any(
            abs(len(one) - len(word)) == 1 and one.isascii() and len(one) > 2 and fuzz.ratio(word, one) >= 80
            for one in generic
        )
    )


def longest_first(name: str) -> tuple[int, int, str]:
    """Orders names by the number of their words, most first, so that the longer one of two is met."""
    return -len(parts(name)), -len(name), name
