"""The amounts that a statement states, and whether one is a passage's own, or follows from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from agentic_rag.answering.amounts import DAYS, Amount, amounts, likeness, plain

_NO_AMOUNT = re.compile(
    r"一(?=[般起共样直定些旦下致律])|(?<=[唯第统之])一|(?:星期|周|礼拜)[一二三四五六日天]|每隔?一|\b(?:first|second)\b",
    re.IGNORECASE,
)
"""Numerals that count nothing."""
_BOUNDS = tuple(
    (re.compile(rf"(?:{words})\s?\Z", re.IGNORECASE), sign)
    for words, sign in (
        (r"\b(?:less than|fewer than|under|below|within|at most)|不到|少于|低于|不足", 1),
        (r"\b(?:more than|over|above|at least)|超过|多于|高于|至少", -1),
    )
)
_BEFORE = 12
"""Code points before a number in which a bound is named."""
NEAR_BOUND = 0.5
"""Relative distance up to which an amount is meant by a bound: ``more than 300`` of 312, not of 9,000."""
SAME = 0.5
"""Least ``amounts.likeness`` of a statement's amount to a passage's: a part of it is enough."""
MIN_YEAR = 1000


def stated_amounts(text: str) -> list[Amount]:
    """The amounts of a text without those that count nothing: a, one, half, 一起.

    >>> [one.low for one in stated_amounts("first a cup of 5 g, 一起 3 分钟")]
    [5.0, 3.0]
    """
    if len(plain(text)) == len(text):
        text = _NO_AMOUNT.sub(lambda match: " " * len(match.group()), text)
    return [one for one in amounts(text) if not _is_article(text, one)]


def _is_article(text: str, one: Amount) -> bool:
    written = text[one.start : one.end].casefold()
    is_one = one.low == one.high == 1 and (not one.unit or written.startswith(("a ", "an ", "one ")))
    return is_one or (not one.unit and written.strip() in ("half", "半"))


def passage_amounts(text: str) -> list[Amount]:
    """The amounts of a passage, and of its days the year and the day of the month as numbers of their own."""
    read = amounts(text)
    parts = []
    for one in (one for one in read if one.unit == DAYS):
        day = date.fromordinal(int(one.low))
        numbers = [day.year, day.day] if one.high - one.low <= 1 else [day.year]
        parts += [Amount(float(number), float(number), "", one.start, one.end) for number in numbers]
    return [*read, *parts]


def is_same(given_amount: Amount, stated_amount: Amount, statement: str) -> bool:
    """Whether a passage's amount is the stated one, or within the bound or range that the statement names."""
    is_rate = given_amount.unit.startswith(f"{stated_amount.unit}/") and given_amount.low == stated_amount.low
    if is_rate or likeness(given_amount, stated_amount) >= SAME:
        return True
    if given_amount.unit != stated_amount.unit:
        return False
    before = plain(statement)[max(0, stated_amount.start - _BEFORE) : stated_amount.start]
    sign = next((sign for words, sign in _BOUNDS if words.search(before)), 0)
    if sign:
        return 0 <= sign * (stated_amount.low - given_amount.high) <= NEAR_BOUND * abs(stated_amount.low)
    return (
        stated_amount.low < stated_amount.high
        and stated_amount.low <= given_amount.low
        and given_amount.high <= stated_amount.high
    )


def is_difference(stated_amount: Amount, given_amounts: Sequence[Amount]) -> bool:
    """Whether an amount of years lies between two years: eight years from 1819 to 1827."""
    years = [one.low for one in given_amounts if not one.unit and one.low >= MIN_YEAR]
    return stated_amount.unit == "year" and any(
        abs(one - other) == stated_amount.low for one in years for other in years
    )
