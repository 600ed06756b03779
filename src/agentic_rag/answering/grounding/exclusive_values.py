"""Values of which a thing has one of its kind: a weekday, month, season, colour, or how often. Their vectors are near."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from itertools import pairwise

from agentic_rag.answering.amounts import DAYS, Amount
from agentic_rag.dates.months import MONTHS

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY_NUMERALS = ("一1", "二2", "三3", "四4", "五5", "六6", "日天7")
_MONTH_NUMERALS = "一 二 三 四 五 六 七 八 九 十 十一 十二".split()
_KINDS: tuple[tuple[re.Pattern[str], ...], ...] = (
    tuple(
        re.compile(rf"\b{name}s?\b|(?:周|星期|礼拜)[{numerals}]")
        for name, numerals in zip(_WEEKDAYS, _DAY_NUMERALS, strict=True)
    ),
    tuple(
        re.compile(rf"\b{name}\b|(?<![\d十]){number}月|(?<![\d十]){numeral}月")
        for number, (name, numeral) in enumerate(zip(MONTHS, _MONTH_NUMERALS, strict=True), start=1)
    ),
    tuple(map(re.compile, (r"\bspring\b|春[天季]", r"\bsummer\b|夏[天季]", r"\bautumn\b|秋[天季]", r"\bwinter\b|冬[天季]"))),
    tuple(
        re.compile(rf"\b(?:{word})\b|{letter}色", re.IGNORECASE)
        for word, letter in zip(
            ("red", "blue", "green", "yellow", "black", "white", "brown", "purple", "pink", "gr[ae]y", r"(?!)"),
            (*"红蓝绿黄黑白棕紫粉灰", "[橙橘]"),  # an orange is no colour
            strict=True,
        )
    ),
    tuple(
        re.compile(words, re.IGNORECASE)
        for words in (
            r"\b(?:hourly|every hour)\b|每小时",
            r"\b(?:daily|nightly|(?:every|each) (?:single )?(?:day|night|morning|evening|afternoon))\b|每[天日晚]|天天",
            r"\b(?:every (?:other|second) day)\b|隔天",
            r"\b(?:weekly|(?:every|each) week)\b|每(?:周|星期|礼拜)(?![一二三四五六日天])",
            r"\b(?:monthly|(?:every|each) month)\b|每个?月",
            r"\b(?:yearly|annual(?:ly)?|(?:every|each) year)\b|每年",
        )
    ),
)  # fmt: skip
_TO = re.compile(r"\s*(?:to|through|until|till|[-–—~至到])\s*")
Values = tuple[frozenset[int], ...]
"""By kind, which of its values a text has."""


@lru_cache(maxsize=1024)
def values_of(text: str, amounts: tuple[Amount, ...] = ()) -> Values:
    """The values of a text, all of those within a range; ``amounts`` gives the months of its dates.

    >>> [sorted(kind) for kind in values_of("open Monday to Wednesday, the red door")]
    [[0, 1, 2], [], [], [0], []]
    """
    found = [_values_of_kind(text, kind) for kind in _KINDS]
    dates = (date.fromordinal(int(one.low)) for one in amounts if one.unit == DAYS)
    found[1] |= {day.month - 1 for day in dates}
    return tuple(map(frozenset, found))


def _values_of_kind(text: str, patterns: Sequence[re.Pattern[str]]) -> set[int]:
    spans = sorted(
        (match.start(), match.end(), n) for n, one in enumerate(patterns) for match in one.finditer(text)
    )
    found = {n for *_, n in spans}
    for (_, end, first), (start, _, last) in pairwise(spans):
        if _TO.fullmatch(text, end, start):
            found |= {n % len(patterns) for n in range(first, last + 1 + len(patterns) * (last < first))}
    return found


def has_other_value(own_values: Values, given_values: Sequence[Values]) -> bool:
    """Whether the given texts have a value of a kind, and none of them has an own value of it."""
    for kind, own in enumerate(own_values):
        given = frozenset().union(*(one[kind] for one in given_values))
        if given and own - given:
            return True
    return False
