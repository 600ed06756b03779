"""The clauses of a text, each with its sign and its content words, as statements and passages are compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

import regex

from agentic_rag.answering.grounding.opposites import is_negated
from agentic_rag.answering.grounding.stated_amounts import stated_amounts
from agentic_rag.text import CJK, HAN, STEMMED_STOPWORDS, STOPWORDS, fold, placed_tokens, starts_cjk

_BREAK = regex.compile(
    r"[;；。！？!?\n]|[,，:：](?!\d)|(?<=\.)\s|\bbut\b|但是?|而(?=[是非不])"
    r"|\band (?=(?:is|are|was|were|has|have|had|do|does|did|can|must|may|will|should|not|no|never|it|they)\b)"
    r"|(?=\b(?:rather than|instead of|without|not (?:in|on|at))\b)|(?<=\bwithout (?:the |an? |any )?[a-z]+)\s",
    regex.IGNORECASE,
)
"""What parts two clauses; ``without lid`` is one of its own."""
_GOES_ON = re.compile(r"[,;]?\s*(?:even|or|nor)\b", re.IGNORECASE)
"""The beginning of a clause that goes on denying."""
_STOPWORDS = STEMMED_STOPWORDS | frozenset(
    "e g i ie eg etc yes may might must shall need also still even sinc while per yet howev therefor thus without use get got".split()
)
_STOP_LETTERS = frozenset(word for word in STOPWORDS if len(word) == 1 and not word.isascii()) | frozenset(
    "不没无未非勿被把要会能可以为于由从对而但并则时"
)
_UNIT = regex.compile(rf"[{HAN}]|[^\W_{CJK}]+")


class Word(NamedTuple):
    """A content word: its stem, or one or two Han characters, and its place in code points."""

    token: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a text that denies or affirms as a whole; ``start`` and ``end`` are code points."""

    text: str
    start: int
    end: int
    is_negated: bool
    words: tuple[Word, ...]

    @classmethod
    def all(cls, text: str) -> tuple[Clause, ...]:
        """The clauses of a text in order."""
        words = content_words(text)
        found: list[Clause] = []
        start, denies = 0, False
        for end in [*(match.start() for match in _BREAK.finditer(text)), len(text)]:
            part = text[start:end]
            if part.strip():
                own = tuple(one for one in words if start <= one.start < end)
                denies = is_negated(part) or (denies and _GOES_ON.match(part) is not None)
                found.append(cls(part, start, end, denies, own))
            start = end
        return tuple(found)

    def units(self) -> list[str]:
        """Words without stop words, and single Han characters, in order."""
        units = [unit.casefold() for unit in _UNIT.findall(fold(self.text))]
        return [unit for unit in units if unit not in STOPWORDS and unit not in _STOP_LETTERS]


def content_words(text: str) -> list[Word]:
    """The words of a text without stop words and amounts; of two characters of which one is a stop word the other.

    >>> [word.token for word in content_words("Steep it for 5 minutes, 加葱和姜")]
    ['steep', '加葱', '姜']
    """
    taken = stated_amounts(text)
    words = [
        word
        for word in map(_trim, (Word(*one) for one in placed_tokens(text) if one[0] not in _STOPWORDS))
        if word.token and not any(one.start < word.end and word.start < one.end for one in taken)
    ]
    pairs = [word for word in words if len(word.token) > 1]
    # 葱 of 葱和 stands in 加葱 already.
    return [
        word
        for word in dict.fromkeys(words)
        if len(word.token) > 1 or not any(pair.start <= word.start and word.end <= pair.end for pair in pairs)
    ]


def _trim(word: Word) -> Word:
    if not starts_cjk(word.token):
        return word
    kept = [n for n, letter in enumerate(word.token) if letter not in _STOP_LETTERS]
    if not kept:
        return Word("", word.start, word.end)
    first, last = kept[0], kept[-1] + 1
    return Word(word.token[first:last], word.start + first, word.start + last)
