"""The terms of a question: its content words, which of them are names, and which are too general to be missed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agentic_rag.questions.generic_words import ANSWER_HAN, ANSWER_STEMS
from agentic_rag.questions.wording import COMPARE, HOW, REQUEST, STEPS_LEAD
from agentic_rag.questions.words import Place, regular
from agentic_rag.text import STOPWORDS, fold, placed_contents, starts_cjk, tokens
from agentic_rag.text.languages import function_words, language

_KIND_OF = re.compile(r"\b(?:what|which) (?:kinds?|types?|sorts?) of (?P<noun>\w+)", re.IGNORECASE)
_VALUE_NOUNS = frozenset({"rate", "score"})
"""Stems that say no more than that there is a value, behind the noun that names it."""
_WITH_DIGIT = re.compile(r"(?:[^\W\u4e00-\u9fff]|[.-])*\d(?:[^\W\u4e00-\u9fff]|[.-])*")
_PARTICIPLE = re.compile(r"\w{0,5}ge\w+(?:t|en)")
"""A German verb that says what was done, ``ausgegeben``, ``gejoggt``: it is asked for like a noun."""
_FIRST_WORD = re.compile(r"^\W*[\w'’]+")
_CAPITALISED_NAME = re.compile(r"(?<![\w'’])[A-ZÀ-ÖØ-Þ][\w'’&.-]*[\w]|(?<![\w'’])[A-Z](?![\w'’])")
_QUOTED_NAME = re.compile(r"[《「『“\"]([^》」』”\"]{1,60})[》」』”\"]")
MAKING = frozenset(("make", "do", "cook", "prepar"))
"""Stems of verbs that ask for steps of any kind: those of a recipe say brew and stir."""
DAYS = "\u25f7"
"""Stands for a span of days among the terms of a question."""


@dataclass(frozen=True, slots=True)
class Term:
    """A content word of a question, or a pair of Chinese characters."""

    token: str
    """As ``text.tokens`` gives it."""
    start: int
    end: int
    """Its place in the question."""
    is_name: bool = False
    """Whether it belongs to a proper name, a number or something in quotation marks."""
    is_generic: bool = False
    """Whether it is too general to be missed in an answer."""


def is_making(term: Term) -> bool:
    """Whether a term only asks for steps: make, do, recipe."""
    return regular(term.token) in MAKING or term.token == "recip"


_MANNER = frozenset(
    "safely properly correctly right quickly easily carefully best richtig sicher schnell am besten".split()
)
"""How something is to be done, which no step repeats."""


def is_manner(text: str, term: Term) -> bool:
    """Whether a term of a question for steps only says that they shall be good ones."""
    return text[term.start : term.end].casefold() in _MANNER


def terms_of(text: str, computing: Sequence[Place] = ()) -> tuple[Term, ...]:
    """The terms of a question.

    Args:
        text: the question.
        computing: places of the words that ask for something to be computed or limit a value, which no answer repeats.
    """
    how = {match.span("word") for match in HOW.finditer(text)}
    in_language = function_words(text)
    names = _name_spans(text)
    comparing = [match.span() for match in COMPARE.finditer(text)]
    comparing += [(one.start, one.end) for one in computing]
    terms: dict[str, Term] = {}
    before = -1
    asked = text
    for pattern in (ANSWER_HAN, STEPS_LEAD, REQUEST):
        asked = pattern.sub(lambda phrase: " " * len(phrase.group()), asked)
    for place in computing:
        if starts_cjk(text[place.start]):
            asked = f"{asked[: place.start]}{' ' * (place.end - place.start)}{asked[place.end :]}"
    for token, start, end in placed_contents(asked):
        is_function_word = fold(text[start:end]).casefold() in in_language
        if (start, end) not in how and token not in terms and not is_function_word:
            is_name = any(a <= start and end <= b for a, b in names)
            is_generic = token in ANSWER_STEMS or any(a <= start and end <= b for a, b in comparing)
            is_compound = start - 1 == before and not text[:before].endswith(("'s", "’s"))
            is_generic |= token in _VALUE_NOUNS and is_compound  # "challenge rating"
            is_generic |= text[start:end] == "may"  # the month has a capital
            terms[token] = Term(token, start, end, is_name, is_generic)
        before = end
    kind = _KIND_OF.search(text)
    if kind is not None:  # jazz is not called music
        of_kind = {t.token for t in terms.values() if kind.start("noun") == t.start}
        if any(not t.is_generic and t.token not in of_kind for t in terms.values()):
            terms |= {token: replace(terms[token], is_generic=True) for token in of_kind}
    return tuple(terms.values())


def without_verbs(text: str, terms: Sequence[Term]) -> Sequence[Term]:
    """The terms of a question, of a German one with its verbs and adjectives as too general to be missed: its nouns, which
    have capitals, say what it asks about. Not where it has no noun of its own."""
    if language(text) != "german" or not any(text[t.start].isupper() and not t.is_generic for t in terms):
        return terms
    return [
        replace(t, is_generic=True)
        if text[t.start].islower() and not _PARTICIPLE.fullmatch(text[t.start : t.end])
        else t
        for t in terms
    ]


def _name_spans(text: str) -> list[tuple[int, int]]:
    """Places of capitalised words but for the first and for German ones, of words with a digit, and of what is in quotation
    marks."""
    opening = _FIRST_WORD.match(text)
    begin = 0 if opening is None else opening.end()
    spans = [match.span(1) for match in _QUOTED_NAME.finditer(text)]
    spans += [match.span() for match in _WITH_DIGIT.finditer(text)]
    if language(text) != "german" and any(
        word.islower() for word in re.findall(r"[A-Za-z]+", text)
    ):  # capitals tell nothing where each word has one
        capitals = _CAPITALISED_NAME.finditer(text, begin)
        spans += [match.span() for match in capitals if match.group().casefold() not in STOPWORDS]
    return spans


def has_terms(text: str, terms: Iterable[str]) -> bool:
    """Whether a text has all terms: stems among its words, Chinese anywhere in it."""
    plain = fold(text).casefold()
    words = set(tokens(text))
    return all(term in words or (starts_cjk(term) and term in plain) for term in terms)
