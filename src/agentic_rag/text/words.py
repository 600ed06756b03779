"""Words of a text, for lexical comparison across languages."""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache

import regex

from agentic_rag.text.scripts import CJK, starts_cjk

_TOKEN = regex.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['’][^\W\d_]+)?")
_RUN = regex.compile(rf"[{CJK}]{{2,}}")
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]*(?:[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]))[A-Za-z0-9]{3,}"
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ACCENT = re.compile("[\u0300-\u036f]+")
_stemming = threading.Lock()
"""The stemmer keeps the word it works on in itself, and LangGraph runs plain functions in threads."""

STOPWORDS = frozenset(
    """a about after all also am an and any are as at be because been before being between both but by can
    could did do does doing down during each few for from further had has have having he her here hers
    him his how i if in into is it its itself just me more most my no nor not now of off on once only or
    other our out over own s same she should so some such t than that the their them then there these
    they this those through to too under until up us very was we were what when where which while who
    whom why will with would you your
    的 了 是 在 和 与 有 吗 呢 吧 啊 哪 么 什么 怎么 如何 为什么 哪些 哪个 谁 我 你 他 她 它 们 我们 这 那 就 都 也 很 及 或""".split()
)
"""Words that say nothing alone, English and Chinese."""


def folded(text: str) -> str:
    """Compatibility forms (full width, ligatures) made one, accents dropped: résumé is resume."""
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFKC", text)
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", composed)))


def inner_terms(text: str) -> list[str]:
    """What a segmentation into words leaves inside them: pairs of neighbouring Han, kana and Hangul
    characters, and the parts of identifiers (``get``, ``User``, ``Name`` of ``getUserName``)."""
    pairs = [run[i : i + 2] for run in _RUN.findall(text) for i in range(len(run) - 1)]
    return pairs + [part for name in _IDENTIFIER.findall(text) for part in _PART.findall(name)]


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[str, ...]:
    """Comparable terms of a text: stemmed words, bigrams of Han, kana and Hangul runs, parts of identifiers.

    Remembered for recent texts: the same passages come up again and again.
    """
    found: list[str] = []
    plain = folded(text)
    for name in _IDENTIFIER.findall(plain):
        found.extend(_stem(part.casefold()) for part in _PART.findall(name))
    for match in _TOKEN.finditer(plain.casefold()):
        word = match.group()
        if not starts_cjk(word):
            found.append(_stem(word))
        elif len(word) == 1:
            found.append(word)
        else:
            found.extend(word[i : i + 2] for i in range(len(word) - 1))
    return tuple(found)


def content_tokens(text: str) -> tuple[str, ...]:
    """``tokens`` without words that say nothing alone; all of them where nothing else is left."""
    every = tokens(text)
    kept = tuple(token for token in every if token not in STEMMED_STOPWORDS)
    return kept or every


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    with _stemming:
        return str(_stemmer().stemWord(word.removesuffix("'s").removesuffix("’s")))


@lru_cache(maxsize=1)
def _stemmer():  # type: ignore[no-untyped-def]
    import snowballstemmer

    return snowballstemmer.stemmer("english")


STEMMED_STOPWORDS = STOPWORDS | frozenset({"doe", "veri", "ani", "onc", "whi", "befor", "dure", "becaus"})
