"""The amounts that a statement states, and whether one is a passage's own, or follows from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from agentic_rag.answering.amounts import (
    CLOCK,
    DAYS,
    HALF_CLOCK,
    Amount,
    amounts,
    in_one_unit,
    likeness,
    plain,
)

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
_COMPARATIVE = re.compile(
    r"\b(?:than|at (?:least|most)|about|around|roughly|nearly|almost|approximately)\s?\Z", re.IGNORECASE
)
"""Before an article that counts one: less than an hour, about a litre."""
_BEFORE = 12
"""Code points before a number in which a bound is named."""
NEAR_BOUND = 0.5
"""Relative distance up to which an amount is meant by a bound: ``more than 300`` of 312, not of 9,000."""
NEAR_ONE = 4.0
"""The same for a bound of one, which is a round number: ``more than a year`` of three years."""
SAME = 0.5
"""Least ``amounts.likeness`` of a statement's amount to a passage's: a part of it is enough."""
MIN_YEAR = 1000
_PLAIN_UNITS = frozenset(("", DAYS, CLOCK, HALF_CLOCK))
"""Units that convert into no other."""
DATE_PART = "date part"
"""Unit of the year and the day of the month of a date, which a statement may name alone, but not as 4 °C."""


def stated_amounts(text: str) -> list[Amount]:
    """The amounts of a text without those that count nothing: a, one, half, 一起; with those of a bound.

    >>> [one.low for one in stated_amounts("first a cup of 5 g, 一起 3 分钟, less than an hour")]
    [5.0, 3.0, 1.0]
    """
    if len(plain(text)) == len(text):
        text = _NO_AMOUNT.sub(lambda match: " " * len(match.group()), text)
    return [one for one in amounts(text) if not _is_article(text, one)]


def _is_article(text: str, one: Amount) -> bool:
    written = text[one.start : one.end].casefold()
    if one.unit and _COMPARATIVE.search(text, 0, one.start):
        return False
    is_one = one.low == one.high == 1 and (not one.unit or written.startswith(("a ", "an ", "one ")))
    return is_one or (not one.unit and written.strip() in ("half", "半"))


def _bound_sign(text: str, one: Amount) -> int:
    """1 where an amount is an upper bound, -1 where it is a lower one, else 0."""
    before = plain(text)[max(0, one.start - _BEFORE) : one.start]
    return next((sign for words, sign in _BOUNDS if words.search(before)), 0)


def passage_amounts(text: str) -> list[Amount]:
    """The amounts of a passage, and of its days the year and the day of the month as numbers of their own."""
    read = amounts(text)
    parts = []
    for one in (one for one in read if one.unit == DAYS):
        day = date.fromordinal(int(one.low))
        numbers = [day.year, day.day] if one.high - one.low <= 1 else [day.year]
        parts += [Amount(float(number), float(number), DATE_PART, one.start, one.end) for number in numbers]
    return [*read, *parts]


def is_same(given_amount: Amount, stated_amount: Amount, statement: str) -> bool:
    """Whether a passage's amount is the stated one, or within the bound or range that the statement names."""
    if given_amount.unit == DATE_PART:
        return not stated_amount.unit and stated_amount.low == stated_amount.high == given_amount.low
    is_rate = given_amount.unit.startswith(f"{stated_amount.unit}/") and given_amount.low == stated_amount.low
    if is_rate or likeness(given_amount, stated_amount) >= SAME:
        return True
    units = {stated_amount.unit, given_amount.unit}
    pair = None if len(units) > 1 and units & _PLAIN_UNITS else in_one_unit(stated_amount, given_amount)
    if pair is None:
        return False
    (low, high, given_low, given_high), _ = pair
    if sign := _bound_sign(statement, stated_amount):
        near = NEAR_ONE if stated_amount.low == 1 else NEAR_BOUND
        return 0 <= sign * (low - given_high) <= near * abs(low)
    return low < high and low <= given_low and given_high <= high


def is_difference(stated_amount: Amount, given_amounts: Sequence[Amount]) -> bool:
    """Whether an amount of years lies between two years: eight years from 1819 to 1827."""
    years = [one.low for one in given_amounts if one.unit in ("", DATE_PART) and one.low >= MIN_YEAR]
    return stated_amount.unit == "year" and any(
        abs(one - other) == stated_amount.low for one in years for other in years
    )
