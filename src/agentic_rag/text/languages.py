"""The language of a question, by its function words, where it is written with spaces and not in English."""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache

import regex

from agentic_rag.text.forms import fold

_WORD = regex.compile(r"[\p{L}\p{M}]+(?:['’]\p{L}+)?")
MIN_WORDS = 2
"""Function words that tell a language: one may stand in another as well."""
_READ_OTHERWISE = frozenset({"chinese", "japanese", "korean", "slovak"})
"""Written without spaces, or a list with English words (``the``, ``of``, ``and``)."""
_ALSO_GERMAN = "beim darf gab gibt ging hast heraus heißt kam kommt lange lautet mussten oft schon viele"
"""Words of questions that the list lacks."""


@lru_cache(maxsize=256)  # a question is asked for it by each of its readers
def language(text: str) -> str | None:
    """The English name of the language that has most of the text's words as function words, ``german``; None where that is
    English, or fewer than MIN_WORDS tell.

    >>> language("Wann legt unsere Fähre nach Bergen ab?"), language("When does our ferry leave?")
    ('german', None)
    """
    words = {fold(word).casefold() for word in _WORD.findall(text)}
    hits = Counter(name for word in words for name in _languages().get(word, ()))
    if not hits:
        return None
    best = max(hits.values())
    names = [name for name, count in hits.items() if count == best]
    return None if best < MIN_WORDS or "english" in names else min(names)


def function_words(text: str) -> frozenset[str]:
    """The function words of the text's language, folded, as they may stand in a question; none of English."""
    name = language(text)
    return frozenset() if name is None else _function_words(name)


@cache
def _function_words(name: str) -> frozenset[str]:
    from stop_words import get_stop_words

    also = _ALSO_GERMAN.split() if name == "german" else []
    # Folded together: one by one the words of all languages take a tenth of a second.
    return frozenset(fold("\n".join((*get_stop_words(name), *also))).casefold().split("\n"))


@cache
def _languages() -> dict[str, tuple[str, ...]]:
    """The languages of each function word."""
    from stop_words import AVAILABLE_LANGUAGES

    languages: dict[str, tuple[str, ...]] = {}
    for name in AVAILABLE_LANGUAGES:
        if name not in _READ_OTHERWISE:
            for word in _function_words(name):
                languages[word] = (*languages.get(word, ()), name)
    return languages
