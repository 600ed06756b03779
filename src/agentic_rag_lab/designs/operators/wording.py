"""Tells whether two memories say the same, by their words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agentic_rag.text import content_tokens, fold, tokens

_DATE = re.compile(r"^\([^()\n]*\)", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CAPITALISED_WORD = re.compile(r"\b[A-ZÀ-ÖØ-ÞА-Я][\w-]*")
_NEGATION = re.compile(r"\b(?:not|no|never|cannot|without|\w+n['’]t)\b|[不没未无别]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wording:
    """The features of a text for the comparison, computed once for many comparisons."""

    text: str
    """Without the dates before its lines."""
    telling: frozenset[str]
    tokens: frozenset[str]
    capitalised_words: frozenset[str]
    numbers: tuple[str, ...]
    negations: int


def wording(text: str) -> Wording:
    """The text in the form that ``word_overlap`` compares."""
    said = _DATE.sub("", text)
    plain = fold(said)
    return Wording(
        text=said,
        telling=frozenset(content_tokens(said)),
        tokens=frozenset(tokens(said)),
        capitalised_words=frozenset(
            token for word in _CAPITALISED_WORD.findall(said) for token in tokens(word)
        ),
        numbers=tuple(sorted(_NUMBER.findall(plain))),
        negations=len(_NEGATION.findall(plain)),
    )


def word_overlap(one: Wording, other: Wording) -> float:
    """|A ∩ B| / |A ∪ B| of the texts' content words, in [0, 1].

    0 if a different number, name or negation changes the meaning. The date in front of a line of dialogue is
    ignored.
    """
    either = len(one.telling | other.telling)
    both = len(one.telling & other.telling) / either if either else float(one.text == other.text)
    return both if both and not _turned_around(one, other) else 0.0


def _turned_around(one: Wording, other: Wording) -> bool:
    renamed = one.capitalised_words - other.tokens and other.capitalised_words - one.tokens
    return bool(renamed) or (one.numbers, one.negations) != (other.numbers, other.negations)
