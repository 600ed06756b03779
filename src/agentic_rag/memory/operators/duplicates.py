"""Whether two remembered texts say the same, for PostInsert: shared words, and the service's score where it has one."""

from __future__ import annotations

import re

from agentic_rag.memory.service import Memory
from agentic_rag.text import content_tokens, folded, tokens

_DATE = re.compile(r"^\([^()\n]*\)", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CAPITALISED = re.compile(r"\b[A-ZÀ-ÖØ-ÞА-Я][\w-]*")
_NEGATION = re.compile(r"\b(?:not|no|never|cannot|without|\w+n['’]t)\b|[不没未无别]", re.IGNORECASE)


def similarity(memory: Memory, text: str) -> float:
    """How far a retrieved memory says what a text says, in [0, 1].

    Jaccard of telling words (see ``overlap``); its mean with the service's score where that lies in [0, 1], so
    that it means something for every service.
    """
    shared = overlap(memory["text"], text)
    score = memory["score"]
    if shared == 0.0 or score is None or not 0.0 <= score <= 1.0:
        return shared
    return (shared + score) / 2


def overlap(one: str, other: str) -> float:
    """|A ∩ B| / |A ∪ B| of the texts' telling words, in [0, 1].

    0 where one word turns around what is said: another number, a negation, a name in place of another. The date
    in front of a line of dialogue is no part of what it says.
    """
    first, second = _DATE.sub("", one), _DATE.sub("", other)
    if _exact(first) != _exact(second) or _renamed(first, second):
        return 0.0
    a, b = frozenset(content_tokens(first)), frozenset(content_tokens(second))
    return len(a & b) / len(a | b) if a | b else float(first == second)


def told_words(text: str) -> int:
    """How many different telling words a text has."""
    return len(frozenset(content_tokens(_DATE.sub("", text))))


def _exact(text: str) -> tuple[list[str], int]:
    plain = folded(text)
    return sorted(_NUMBER.findall(plain)), len(_NEGATION.findall(plain))


def _renamed(one: str, other: str) -> bool:
    """Whether each text has a capitalised word that the other lacks."""
    first, second = frozenset(tokens(one)), frozenset(tokens(other))
    return bool(_capitalised(one) - second) and bool(_capitalised(other) - first)


def _capitalised(text: str) -> frozenset[str]:
    return frozenset(token for word in _CAPITALISED.findall(text) for token in tokens(word))
