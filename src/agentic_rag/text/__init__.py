"""Scripts, words and the wording of questions; pure.

Defines Han, kana and Hangul in one place; words for lexical comparison across languages; whether a question refers
back, and its content terms.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal

import regex

from agentic_rag.text.forms import amount_forms as amount_forms
from agentic_rag.text.forms import as_written as as_written
from agentic_rag.text.forms import fold as fold
from agentic_rag.text.forms import simplify as simplify

Script = Literal["latin", "cjk", "other"]

HAN = r"\p{Han}"
KATAKANA = r"\p{Katakana}ーｰ"
KANA = rf"\p{{Hiragana}}{KATAKANA}"
CJK = rf"{HAN}{KANA}\p{{Hangul}}"
"""Scripts, for use within a character class of ``regex``."""

STOPWORDS = frozenset(
    """a about after all also am an and any are as at be because been before being between both but by can
    could did do does doing down during each few for from further had has have having he her here hers
    him his how i if in into is it its itself just me more most my no nor not now of off on once only or
    other our out over own s same she should so some such t than that the their them then there these
    they this those through to too under until up us very was we were what when where which while who
    whom why will with would you your
    的 了 是 在 和 与 有 吗 呢 吧 啊 哪 么 什么 怎么 如何 为什么 哪些 哪个 谁 我 你 他 她 它 们 我们 这 那 就 都 也 很 及 或""".split()
)
"""English and Chinese stop words."""
STEMMED_STOPWORDS = STOPWORDS | frozenset({"doe", "veri", "ani", "onc", "whi", "befor", "dure", "becaus"})
_ASKING = STEMMED_STOPWORDS | frozenset(
    "describ explain find give know mean note pleas say show tell".split()
)
_CONTRACTION = re.compile(r"\w+(?:n['’]t|['’](?:m|re|ve|ll|d))")
"""Stop words that are written as one: can't, I'm."""
PHRASE = 8
"""Minimum Han, kana or Hangul characters that count as a phrase."""
SCRIPT_SAMPLE = 200
"""Number of first characters that decide a text's script."""
_NOT_CJK = regex.compile(rf"[^{CJK}]+")
_STARTS_CJK = regex.compile(rf"[{CJK}]")
_ASCII_LETTER = re.compile("[A-Za-z]")
_TOKEN = regex.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['’][^\W\d_]+)?")
ASCII_WORD = re.compile(r"[a-z\d]+(?:'[a-z]+)?")
"""A word of folded ASCII text, as ``_TOKEN`` finds it, in a third of the time."""
_THAI = regex.compile(r"\p{Thai}{2,}")
_RUN = regex.compile(rf"[{CJK}]{{2,}}")
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9]*(?:[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]))[A-Za-z0-9]{3,}"
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_stemming = threading.Lock()
"""The stemmer is not thread-safe, and LangGraph runs plain functions in threads."""


def starts_cjk(text: str) -> bool:
    """Whether a text begins with Han, kana or Hangul."""
    return _STARTS_CJK.match(text) is not None


@lru_cache(maxsize=8192)
def script(text: str) -> Script:
    """The script of most letters of a text; Han, kana and Hangul count double, because they are denser.

    Only the first SCRIPT_SAMPLE characters count, because the function runs on every passage of a search.
    """
    sample = text[:SCRIPT_SAMPLE]
    if sample.isascii():
        return "latin" if _ASCII_LETTER.search(sample) else "other"
    cjk = len(_NOT_CJK.sub("", sample))
    letters = sum(map(str.isalpha, sample))
    if letters == 0:
        return "other"
    return "cjk" if 2 * cjk >= letters - cjk else "latin"


def main_script(text: str) -> Literal["latin", "cjk"]:
    """``script``, where a text of neither counts as Latin."""
    return "cjk" if script(text) == "cjk" else "latin"


def script_beside(query: Script, passage: str) -> Script:
    """The script for comparing a passage with a query: Han, kana or Hangul if the query is in it and the passage has
    a phrase of it, however much Latin text (URLs, titles) is around it."""
    own = script(passage)
    if query == "cjk" and own == "latin" and len(_NOT_CJK.sub("", passage[:SCRIPT_SAMPLE])) >= PHRASE:
        return "cjk"
    return own


def inner_terms(text: str) -> list[str]:
    """Terms inside the words of a segmentation: pairs of neighbouring Han, kana and Hangul characters, the
    parts of identifiers (``get``, ``User``, ``Name`` of ``getUserName``), and other forms of amounts."""
    pairs = [run[i : i + 2] for run in _RUN.findall(text) for i in range(len(run) - 1)]
    return (
        pairs
        + [part for name in _IDENTIFIER.findall(text) for part in _PART.findall(name)]
        + amount_forms(text)
    )


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[str, ...]:
    """Comparable terms of a text: stemmed words, bigrams of Han, kana and Hangul runs, parts of identifiers, forms of
    amounts.

    Cached for recent texts, because the same passages recur.
    """
    # One plain word or number, as names are read.
    if text.isascii() and (text.isdigit() or (text.isalpha() and text.islower())):
        return (_stem(text),)
    found: list[str] = []
    plain = fold(text)
    for name in _IDENTIFIER.findall(plain):
        found.extend(_stem(part.casefold()) for part in _PART.findall(name))
    found.extend(form.casefold() for form in amount_forms(plain))
    cased = plain.casefold()
    if cased.isascii():
        return (*found, *map(_stem, ASCII_WORD.findall(cased)))
    for word in _TOKEN.findall(cased):
        if word.isascii():
            found.append(_stem(word))
        elif not starts_cjk(word):
            found.extend(map(_stem, thai_words(word)))
        elif len(word) == 1:
            found.append(word)
        else:
            found.extend(word[i : i + 2] for i in range(len(word) - 1))
    return tuple(found)


def placed_tokens(text: str) -> list[tuple[str, int, int]]:
    """``tokens`` with their places in the text, in code points: (token, start, end); of identifiers and amounts only
    what is written."""
    found: list[tuple[str, int, int]] = []
    for word in _TOKEN.finditer(text):
        at = word.start()
        if not starts_cjk(word.group()):
            for part in thai_words(word.group()):
                found.append((_stem(fold(part).casefold()), at, at + len(part)))
                at += len(part)
            continue
        plain = fold(word.group()).casefold()
        written = plain if len(plain) == len(word.group()) else word.group()
        places = range(max(1, len(written) - 1))
        found += [(written[i : i + 2], at + i, at + i + len(written[i : i + 2])) for i in places]
    return found


def has_all(terms: frozenset[str], text: str) -> bool:
    """Whether a text has all of these terms, as ``tokens`` gives them.

    Most texts can be rejected by the beginnings of the terms, which takes a tenth of the time: the stemmer
    changes only the last letter of a stem, or the last two (dying, die).
    """
    cased = fold(text).casefold()
    beginnings = (term[:-2] if term.endswith("ie") else term[:-1] for term in terms)
    return all(map(cased.__contains__, beginnings)) and terms <= set(tokens(text))


def content_tokens(text: str) -> tuple[str, ...]:
    """``tokens`` without stop words; all tokens if nothing else is left."""
    every = tokens(text)
    kept = tuple(token for token in every if token not in STEMMED_STOPWORDS)
    return kept or every


def without_possessive(word: str) -> str:
    """Ann of ``Ann's``."""
    return word.removesuffix("'s").removesuffix("’s")


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    with _stemming:
        return str(_stemmer().stemWord(without_possessive(word)))


@lru_cache(maxsize=1)
def _stemmer():  # type: ignore[no-untyped-def]
    import Stemmer

    return Stemmer.Stemmer("english", 0)  # its own cache takes longer than the stemming


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern for any of the words at any place; the longest match wins."""
    return re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))


_ASKING_PHRASES = any_of(
    [
        *(word for word in STOPWORDS if not word.isascii()),
        *"请问 请 介绍 解释 告诉 说说 讲讲 一下 关于 笔记 意思 是指 哪里 哪儿 多少 第几 怎样".split(),
    ]
)


_POINTS = re.compile(
    r"\b(?:it|its|this|these|those|they|them|their|he|him|his|she|her|same|former|latter|the ones?"
    r"|它|它们|这|那|这个|那个|这些|那些|他|她|他们|她们|此|该)\b"
    # "that" refers back if no noun precedes it: in "a tea that is steamed" it does not.
    r"|(?:\A|\b(?:of|for|with|after|before|in|on|at|about|from|to|than|like|is|was|are|were|does|did|do|and|but|why|how) )"
    r"that\b|\A\s*(?:[它这那他她此该]|其(?![他它实余]))",
    re.IGNORECASE,
)
"""A word that refers back to earlier text."""


def points_back(query: str) -> bool:
    """Whether a word of a question refers back to earlier text: "and when did *they* …"."""
    return bool(_POINTS.search(query))


def names_nothing(question: str) -> bool:
    """Whether a question refers back before it names anything: "is it better" does; in "who is Anna, and where is her
    cat" the word refers to the question's own name."""
    pointing = _POINTS.search(question)
    return pointing is not None and not asked_about(question[: pointing.start()])


def asked_about(question: str) -> frozenset[str]:
    """The content terms (see ``tokens``) of a question, without question phrases such as "what is", "tell me about" or
    什么是; empty if nothing is left."""
    left = _ASKING_PHRASES.sub(" ", fold(question))
    return frozenset(tokens(left)) - _ASKING


def placed_contents(question: str) -> list[tuple[str, int, int]]:
    """The content terms of a question with their places, in order; all terms where nothing else is left.

    >>> placed_contents("What is oolong?"), placed_contents("有多少页？"), placed_contents("Why can't I swim?")
    ([('oolong', 8, 14)], [('页', 3, 4)], [('swim', 12, 16)])
    """
    plain = fold(question)
    plain = plain if len(plain) == len(question) else question
    blank = _ASKING_PHRASES.sub(lambda phrase: " " * len(phrase.group()), plain)
    kept = [
        one for one in placed_tokens(blank) if one[0] not in _ASKING and not _CONTRACTION.fullmatch(one[0])
    ]
    return kept or placed_tokens(question)


def coverage(terms: frozenset[str], text: str) -> float:
    """Share of the asked terms in a text, in [0, 1]; 0 without asked terms."""
    return len(terms.intersection(tokens(text))) / len(terms) if terms else 0.0


def thai_words(word: str) -> list[str]:
    """The words of a run of letters, Thai by BudouX's model, as it has no spaces; one that has no Thai is one word.

    >>> thai_words("ผีเสื้อกินน้ำหวาน"), thai_words("tea")
    (['ผี', 'เสื้อ', 'กิน', 'น้ำหวาน'], ['tea'])
    """
    if _THAI.search(word) is None:
        return [word]
    return list(_thai_parser().parse(word))


@lru_cache(maxsize=1)
def _thai_parser() -> Any:
    import budoux

    return budoux.load_default_thai_parser()
