"""Memory test, the scores: agreement of a predicted answer with the right one, by LoCoMo's rules.

Normalisation: lower case, without commas, punctuation and the words a, an, the, and; words by their Porter stem;
Chinese, Japanese and Korean by character. Punctuation of every script is removed; the published script removes only
that of ASCII. If nothing is left ("The The"), the words stay unchanged.

Source: Maharana et al., Evaluating Very Long-Term Conversational Memory of LLM Agents, ACL 2024
(task_eval/evaluation.py of snap-research/locomo).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

import regex

from agentic_rag.dates.months import MONTHS
from agentic_rag.dates.stated import named_dates
from agentic_rag.errors import ConfigError
from agentic_rag.text import CJK
from agentic_rag_lab.designs.conversation import ADVERSARIAL, UNANSWERABLE
from agentic_rag_lab.sources.beam import KINDS

CORRECT_FROM = 0.5
"""Minimum F1 of a correct answer; it must also have more than this share of the truth's words."""
ABSTENTIONS = ("not mentioned", "no information available")
"""Phrases that mark an answer as "not mentioned"."""

CATEGORIES = ("multi-hop", "temporal", "open-domain", "single-hop", ADVERSARIAL, *KINDS)
"""Categories of LoCoMo, then of BEAM."""

_ARTICLES = frozenset({"a", "an", "the", "and"})
_TOKEN = regex.compile(rf"[{CJK}]|[^\s{CJK}]+")

_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_HAN = "二三四五六七八九十"
_WORDS = {
    **{word: str(number) for number, word in enumerate(_SMALL)},
    **{word: str(number) for number, word in enumerate(_ORDINALS, start=1)},
    **{han: str(number) for number, han in enumerate(_HAN, start=2)},
    "两": "2",
}
"""Number words; 一 is left out, because it is part of too many other words."""
_VALUE = re.compile(
    rf"\d+(?:,\d{{3}})*(?:\.\d+)?|[两{_HAN}]|\b(?:(?i:{'|'.join((*_SMALL, *_ORDINALS, *_DAYS))})|{'|'.join(MONTHS)})\b"
)
_YES = re.compile(r"\W*(?:(?:most|very|quite)\s+)?(?:(?:likely|probably|perhaps|maybe)\W+)?yes\b|\W*是的", re.IGNORECASE)  # fmt: skip
_NO = re.compile(r"\b(?:no|not|never|none|nobody|nothing|neither|nor|cannot|without)\b|n['’]t\b|[不没沒否]", re.IGNORECASE)  # fmt: skip
_BESIDE = re.compile(
    rf"\b(?:(?P<count>\d{{1,2}}|{'|'.join(_SMALL)})\s+)?(?P<unit>day|week(?:end)?|{'|'.join(_DAYS)})s?\s+(?P<side>before|after)\b",
    re.IGNORECASE,
)
_Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one answer."""

    f1: float
    """In [0, 1], higher is better."""
    exact_match: float
    """1.0 if the normalised words are equal, else 0.0."""
    is_correct: bool
    """Stricter than F1: F1 of at least ``CORRECT_FROM``, more than half of the truth's words, and the same
    affirmation or negation, dates and numbers (see ``agrees``); or a right abstention."""


def score(category: str | None, prediction: str, truth: str) -> Scores:
    """Scores by the rule of a question's category.

    ``multi-hop``: mean over the parts of the truth (between commas) of the best F1 of any part of the prediction;
    ``open-domain``: F1 with the truth up to its first ``;``; ``adversarial``, ``abstention``: 1 if the prediction
    says that it is not mentioned, else 0; all others: F1. Such an answer to an answerable question gets 0.
    Without a category: ``adversarial`` if the truth is an abstention, else ``single-hop``.

    Raises:
        ConfigError: the category is none of these.

    >>> score("single-hop", "a dance studio", "the studio").f1 == 2 * (1 / 2 * 1) / (1 / 2 + 1)
    True
    """
    if category is None:
        category = ADVERSARIAL if abstains(truth) else "single-hop"
    if category not in CATEGORIES:
        raise ConfigError(f"unknown question category {category!r}; use one of: {', '.join(CATEGORIES)}")
    if category in UNANSWERABLE:
        right = abstains(prediction)
        return Scores(float(right), float(right), right)
    if category == "open-domain":
        truth = truth.split(";")[0].strip()
    if abstains(prediction) and not abstains(truth):
        return Scores(0.0, 0.0, False)
    f1 = multi_answer_f1(prediction, truth) if category == "multi-hop" else token_f1(prediction, truth)
    words, wanted = normalise(prediction), normalise(truth)
    correct = (
        f1 >= CORRECT_FROM
        and _count_shared(words, wanted) > CORRECT_FROM * len(wanted)
        and agrees(prediction, truth)
    )
    return Scores(f1, float(bool(words) and words == wanted), correct)


def abstains(answer: str) -> bool:
    """Whether an answer says that the history does not mention it."""
    said = answer.lower()
    return any(phrase in said for phrase in ABSTENTIONS)


def token_f1(prediction: str, truth: str) -> float:
    """Harmonic mean of precision and recall of the normalised words, in [0, 1]; 0 without shared words."""
    given, wanted = normalise(prediction), normalise(truth)
    shared = _count_shared(given, wanted)
    if not shared:
        return 0.0
    precision, recall = shared / len(given), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def multi_answer_f1(prediction: str, truth: str) -> float:
    """Mean over the parts of the truth (between commas) of the best F1 of any part of the prediction."""
    parts = prediction.split(",")
    wanted = truth.split(",")
    return sum(max(token_f1(part, one) for part in parts) for one in wanted) / len(wanted)


@lru_cache(maxsize=8192)
def normalise(text: str) -> tuple[str, ...]:
    """The normalised words for comparisons."""
    import Stemmer

    lowered = text.lower().replace(",", "")
    plain = "".join(letter for letter in lowered if not unicodedata.category(letter).startswith("P"))
    # "$", "+", "<" and the like are symbols in Unicode, but punctuation in the published script.
    words = _TOKEN.findall(re.sub(r"[$+<=>^`|~]", "", plain))
    kept = [word for word in words if word not in _ARTICLES] or words
    # A new stemmer each time: it is not thread-safe.
    return tuple(Stemmer.Stemmer("porter", 0).stemWords(kept))


def _count_shared(words: Sequence[str], others: Sequence[str]) -> int:
    return sum((Counter(words) & Counter(others)).values())


def agrees(prediction: str, truth: str) -> bool:
    """Whether an answer has the truth's affirmation or negation, dates, and all its numbers.

    Words alone do not separate "Likely yes" from "Likely no", nor 25 May from 7 May: they share most words.
    A date agrees with a date within it: "June 2023" with "13 June 2023", and "the Friday before 23 July 2023" with "21
    July 2023". Numbers may be digits or words; additional numbers are accepted.

    >>> agrees("25 May 2023", "7 May 2023"), agrees("ten years ago", "10 years ago")
    (False, True)
    """
    if _denies(prediction) != _denies(truth):
        return False
    said, meant = _times(prediction), _times(truth)
    if not said or not meant:
        return _values(truth) <= _values(prediction)
    dated = all(any(first < end and start < last for first, last in said) for start, end in meant)
    return dated and _values(truth) - _parts_of_dates(truth) <= _values(prediction)


def _denies(answer: str) -> bool:
    return _YES.match(answer) is None and _NO.search(answer) is not None


def _values(text: str) -> frozenset[str]:
    """Numbers, months and weekdays."""
    found = (match[0].lower().replace(",", "") for match in _VALUE.finditer(text))
    return frozenset(_WORDS.get(value, value) for value in found)


def _parts_of_dates(text: str) -> frozenset[str]:
    parts = {*_DAYS}
    for day, end in named_dates(text):
        parts |= {str(day.year), str(day.month), f"{day.month:02}", MONTHS[day.month - 1].lower()}
        if end - day <= timedelta(days=1):
            parts |= {str(day.day), f"{day.day:02}"}
    for match in _BESIDE.finditer(text):
        parts |= _values(match[0])
    return frozenset(parts)


def _times(text: str) -> list[_Span]:
    """The dates named in a text; relative dates ("the week before 9 June 2023") are resolved."""
    found = list(named_dates(text))
    for match in _BESIDE.finditer(text):
        n = len(named_dates(text[: match.start()]))
        if n < len(found):
            found[n] = _beside(found[n], match)
    return found


def _beside(date: _Span, match: re.Match[str]) -> _Span:
    unit, count = match["unit"].lower(), (match["count"] or "1").lower()
    number = int(_WORDS.get(count, count))
    start, end = date
    before = match["side"].lower() == "before"
    if unit in _DAYS:
        wanted = _DAYS.index(unit)
        off = (start.weekday() - wanted - 1) % 7 + 1 if before else (wanted - start.weekday() - 1) % 7 + 1
        first, days = start + timedelta(days=-off if before else off), 1
    else:
        days = 1 if unit == "day" else 7
        first = start - timedelta(days=days * number) if before else end + timedelta(days=days * (number - 1))
    return first, first + timedelta(days=days)
