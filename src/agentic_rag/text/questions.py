"""The wording of a question: whether it points back, and what it asks about."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentic_rag.text.words import STEMMED_STOPWORDS, STOPWORDS, folded, tokens

_ASKING = STEMMED_STOPWORDS | frozenset(
    "describ explain find give know mean note pleas say show tell".split()
)


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Matches any of the words wherever it stands, the longest that does."""
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))


_ASKING_PHRASES = any_of(
    [
        *(word for word in STOPWORDS if not word.isascii()),
        *"请问 请 介绍 解释 告诉 说说 讲讲 一下 关于 笔记 意思 是指 哪里 哪儿 多少 怎样".split(),
    ]
)


_POINTS = re.compile(
    r"\b(?:it|its|this|these|those|they|them|their|he|him|his|she|her|same|former|latter|the ones?"
    r"|它|它们|这|那|这个|那个|这些|那些|他|她|他们|她们|此|该)\b"
    # "that" points where no noun stands before it: "a tea that is steamed" points nowhere.
    r"|(?:\A|\b(?:of|for|with|after|before|in|on|at|about|from|to|than|like|is|was|are|were|does|did|do|and|but|why|how) )"
    r"that\b|\A\s*(?:[它这那他她此该]|其(?![他它实余]))",
    re.IGNORECASE,
)
"""A word that stands for what was said before."""


def points_back(query: str) -> bool:
    """Whether a word of a question stands for what was said before: "and when did *they* …"."""
    return bool(_POINTS.search(query))


def names_nothing(question: str) -> bool:
    """Whether a question points back before it names anything: "is it better" does; in "who is Anna, and where is her
    cat" the word points to what the question itself names."""
    pointing = _POINTS.search(question)
    return pointing is not None and not asked_about(question[: pointing.start()])


def asked_about(question: str) -> frozenset[str]:
    """The terms (see ``tokens``) of what a question asks about, without what makes it a question, as "what is",
    "tell me about" or 什么是; none where nothing is left."""
    left = _ASKING_PHRASES.sub(" ", folded(question))
    return frozenset(tokens(left)) - _ASKING


def coverage(asked: frozenset[str], text: str) -> float:
    """Share of the asked terms that a text has, in [0, 1]; 0 where nothing is asked."""
    return len(asked.intersection(tokens(text))) / len(asked) if asked else 0.0
