"""Comparisons that a question states in words: numbers with their direction, the largest or smallest, negation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agentic_rag.questions.words import Span
from agentic_rag.text.numbers import numbers

Operator = Literal["$eq", "$gt", "$gte", "$lt", "$lte"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A number that something is compared with."""

    operator: Operator
    value: float | str
    """A text where it is written as a share: ``5/5``."""
    span: Span
    """Of the words that compare and the number."""
    unit: str = ""
    """The word after the number, or the sign of a currency."""


_NUMBER = r"(?P<sign>[$€£¥￥]\s*)?(?P<number>\d[\d,]*(?:\.\d+)?[万千百]?|[一二两三四五六七八九十百千万]+(?=\s*[元块页分克个岁集季部本天年星次小公]))(?P<share>\s*/\s*\d+)?(?P<percent>\s*%)?"
_UNIT = r"(?:[ \t]*-?(?P<unit>[a-zäöüß$€£¥]+|[元块页分克个岁集季部本天年星次]|公里|分钟|小时|块钱))?"
_WORDS: tuple[tuple[Operator, str], ...] = (
    (
        "$gte",
        r"(?:at least|no less than|not less than|minimum(?: of)?|(?:a )?min\.? (?:of )?|>=|≥|至少|不少于|不低于|mindestens)",
    ),
    (
        "$lte",
        r"(?:at most|no more than|not more than|up to|maximum(?: of)?|max\.? (?:of )?|<=|≤|至多|最多|不超过|不高于|höchstens)",
    ),
    (
        "$gt",
        r"(?:(?:more|greater|higher|larger|longer|bigger|heavier|older|better|later) than|over|above|exceed(?:s|ing)?|beyond|>|超过|多于|大于|高于|超出|über|mehr als)",
    ),
    (
        "$lt",
        r"(?:(?:less|fewer|lower|smaller|shorter|cheaper|lighter|younger|worse) than|under|below|<|少于|低于|小于|不到|不足|unter|weniger als)",
    ),
)
_BEFORE = tuple(
    (operator, re.compile(rf"{words}\s*{_NUMBER}{_UNIT}", re.IGNORECASE)) for operator, words in _WORDS
)
_AFTER: tuple[tuple[Operator, re.Pattern[str]], ...] = (
    (
        "$gte",
        re.compile(
            rf"{_NUMBER}{_UNIT}\s*(?:or (?:more|above|higher|over|better)|and (?:above|over|more)|\+|以上|及以上|或以上)",
            re.IGNORECASE,
        ),
    ),
    (
        "$lte",
        re.compile(
            rf"{_NUMBER}{_UNIT}\s*(?:or (?:less|below|lower|under|fewer)|and (?:below|under)|以下|及以下|以内|之内)",
            re.IGNORECASE,
        ),
    ),
)
_EQUAL = re.compile(
    rf"(?<![\w.,/-]){_NUMBER}(?![\w-]|[.,:/]\d)(?:[ \t]+(?P<unit>stars?|points?|dollars?|euros?|pages?))?",
    re.IGNORECASE,
)
_STARS = re.compile(
    r"(?P<number>[一二三四五六七八九十]|(?<![\d.])\d{1,2}(?:\.\d)?)\s*(?:颗?星(?!期)|分(?![钟之]))|(?P<word>one|two|three|four|five)[ -]stars?",
    re.IGNORECASE,
)
_DIGITS = {
    **{c: n for n, c in enumerate("一二三四五六七八九十", 1)},
    **{w: n for n, w in enumerate("one two three four five".split(), 1)},
}


def comparisons(text: str) -> list[Comparison]:
    """The numbers that a question compares with, in order; one without words that compare is an equality.

    >>> [(c.operator, c.value, c.unit) for c in comparisons("games that cost more than 20 dollars")]
    [('$gt', 20.0, 'dollars')]
    """
    found: list[Comparison] = []
    for operator, pattern in (*_BEFORE, *_AFTER):
        for match in pattern.finditer(text):
            _add(found, operator, match)
    for match in _STARS.finditer(text):
        written = match["number"] or match["word"]
        value = float(_DIGITS.get(written.lower(), 0) or float(written))
        _append(found, Comparison("$eq", value, Span(*match.span()), "stars"))
    for match in _EQUAL.finditer(text):
        _add(found, "$eq", match)
    return sorted(found, key=lambda one: one.span.start)


_TIMES = {"百": 100, "千": 1000, "万": 10_000}


def _add(found: list[Comparison], operator: Operator, match: re.Match[str]) -> None:
    number = match["number"].replace(",", "")
    value: float | str = (
        f"{number}{match['share'].replace(' ', '')}" if match["share"] else max(numbers(number))
    )
    if not match["share"] and number[:1].isdigit() and number[-1] in _TIMES:
        value = float(number[:-1]) * _TIMES[number[-1]]
    unit = (
        match["unit"]
        or match.groupdict().get("han")
        or (match["sign"] or "").strip()
        or ("%" if match["percent"] else "")
    )
    _append(found, Comparison(operator, value, Span(*match.span()), unit))


def _append(found: list[Comparison], one: Comparison) -> None:
    if not any(one.span.overlaps(other.span) for other in found):
        found.append(one)


@dataclass(frozen=True, slots=True)
class Extreme:
    """Asks for the largest or smallest by some property."""

    largest: bool
    concept: str
    """What is compared, by a noun: ``price``, ``date``, ``duration``, ``rating``, ``size``."""
    span: Span


_CONCEPTS: Mapping[str, tuple[str, str]] = {
    "price": (r"most expensive|priciest|dearest|costliest|最贵|teuerste\w*", r"cheapest|least expensive|最便宜|billigste\w*"),
    "date": (r"newest|latest|most recent|last|youngest|最新|最近|最后|最晚|neueste\w*|letzte\w*", r"oldest|earliest|first|最早|最旧|最老|älteste\w*|erste\w*"),
    "duration": (r"longest|最长|最久|längste\w*", r"shortest|quickest|fastest|最短|最快|kürzeste\w*"),
    "rating": (r"best(?:[ -]rated)?|highest[ -]rated|top[ -]rated|highest rating|评分最高|最好|beste\w*", r"worst(?:[ -]rated)?|lowest[ -]rated|lowest rating|评分最低|最差|schlechteste\w*"),
    "size": (r"largest|biggest|highest|most|greatest|最大|最高|最多|größte\w*|höchste\w*", r"smallest|lowest|fewest|least|最小|最低|最少|kleinste\w*|niedrigste\w*"),
}  # fmt: skip
_EXTREMES = tuple(
    (concept, largest, re.compile(rf"(?<![a-z-])(?:{words})(?![a-z])(?:\s+by\s+)?", re.IGNORECASE))
    for concept, pair in _CONCEPTS.items()
    for largest, words in zip((True, False), pair, strict=True)
)


def extreme(text: str) -> Extreme | None:
    """The superlative of a question; None without one."""
    for concept, largest, pattern in _EXTREMES:
        match = pattern.search(text)
        if match is not None:
            return Extreme(largest, concept, Span(*match.span()))
    return None


_NOTHING = re.compile(
    r"(?<![a-z-])(?:free(?: of charge)?|for free|gratis|no cost|kostenlos\w*)(?![a-z-])|免费|不要钱",
    re.IGNORECASE,
)


def free(text: str) -> Span | None:
    """Where a question says that something costs nothing."""
    match = _NOTHING.search(text)
    return None if match is None else Span(*match.span())


_NEGATION = re.compile(
    r"(?<![a-z])(?:not|n['’]t|without|except(?: for)?|other than|never|no|excluding|ohne|nicht|keine?)(?![a-z])|不含|不是|没有|不带|非|除了|不(?=[^\s过])",
    re.IGNORECASE,
)
REACH = 14
"""Characters between a negation and what it negates."""


def negated(text: str, span: Span) -> Span | None:
    """The negation right before a span; None if it is not negated."""
    for match in _NEGATION.finditer(text, max(0, span.start - REACH - 8), span.start):
        if span.start - match.end() <= REACH:
            return Span(*match.span())
    return None


Open = Literal["open", "done", "cancelled", "doing"]
_STATES: tuple[tuple[Open, re.Pattern[str]], ...] = (
    ("open", re.compile(r"(?<![a-z])(?:(?:not|n['’]t)(?: yet)? (?:\w+ )?(?:done|finished|completed?|ticked|watched|read|bought)|un(?:done|finished|completed|ticked|checked|watched|read)|open|pending|outstanding|incomplete|remaining|left|still|yet|todo)(?![a-z])|未完成|没完成|还没|尚未|待办|要做|没[做办买弄看写交定]|剩下|未读|还有什么|还要|offen\w*", re.IGNORECASE)),
    ("doing", re.compile(r"(?<![a-z])(?:in progress|being done|ongoing|under way|doing)(?![a-z])|进行中|正在", re.IGNORECASE)),
    ("cancelled", re.compile(r"(?<![a-z])(?:cancell?ed|dropped|abandoned)(?![a-z])|取消", re.IGNORECASE)),
    ("done", re.compile(r"(?<![a-z])(?:done|finished|completed?|ticked(?: off)?|checked(?: off)?|already|accomplished|watched|crossed off)(?![a-z])|已完成|完成|做完|做了|已经|看过|读过|erledigt\w*", re.IGNORECASE)),
)  # fmt: skip


def state(text: str) -> tuple[Open, Span] | None:
    """The state of tasks that a question names; None without one."""
    for name, pattern in _STATES:
        match = pattern.search(text)
        if match is not None:
            return name, Span(*match.span())
    return None


MARKS: Mapping[str, frozenset[str]] = {
    "open": frozenset(" /<>!?*"),
    "doing": frozenset("/"),
    "done": frozenset("xX"),
    "cancelled": frozenset("-"),
}
"""Marks of tasks by what a question calls them. What is begun, deferred or important is still open."""
