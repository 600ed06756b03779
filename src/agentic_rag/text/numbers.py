"""Numbers in text: digits, English words, Han numerals."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_HAN_NUMBER = re.compile(r"([零〇一二三四五六七八九十百千两万]+)(成(?![为了])|)")
"""Tenths: 六成 is 60 percent."""
_HAN_DIGITS = dict(zip("零〇一二三四五六七八九两", (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2), strict=True))
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
MAX_NUMERAL = 30
"""Characters up to which a run of Han digits is a number."""
NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
} | {
    word: 10 * number
    for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SPELLED_NUMBER = re.compile(
    rf"\b(?:{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})(?:[ -](?:{'|'.join(NUMBER_WORDS)}))?\b"
    r"(?:[ -](?:hundred|thousand))?",
    re.IGNORECASE,
)


def numbers(text: str) -> list[float]:
    """The numbers in a text, in no particular order.

    >>> sorted(numbers("一百五十毫升, 3 g, twenty-five days"))
    [3.0, 25.0, 150.0]
    """
    found = [float(one.group().replace(",", "")) for one in _DIGITS.finditer(text)]
    found += [
        float(_han(one[1]) * (10 if one[2] else 1))
        for one in _HAN_NUMBER.finditer(text)
        if len(one[1]) <= MAX_NUMERAL
    ]
    return found + [float(_spelled_value(one.group())) for one in _SPELLED_NUMBER.finditer(text)]


_COMMA_DECIMAL = re.compile(r"[\d.]+,\d{1,2}")
_DOT_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")


def decimal(digits: str, *, is_sum: bool = False) -> float:
    """The number that digits with points and commas write, in English or as on the continent: ``1,137.5``, ``1.137,50``.

    Args:
        digits: without a sign and spaces.
        is_sum: whether they are a sum of money, which has no three decimals: ``1.044 €`` is more than a thousand.
    """
    is_continental = _COMMA_DECIMAL.fullmatch(digits) or (is_sum and _DOT_THOUSANDS.fullmatch(digits))
    if is_continental:
        digits = digits.replace(".", "").replace(",", ".")
    return float(digits.replace(",", ""))


def _han(numeral: str) -> int:
    if not any(letter in _HAN_UNITS for letter in numeral):  # 一九九一
        return int("".join(str(_HAN_DIGITS[letter]) for letter in numeral))
    total = section = digit = 0
    for letter in numeral:
        if letter in _HAN_DIGITS:
            digit = _HAN_DIGITS[letter]
        elif letter == "万":
            total, section, digit = (total + section + digit) * 10_000, 0, 0
        else:
            section += (digit or 1) * _HAN_UNITS[letter]
            digit = 0
    return total + section + digit


def _spelled_value(words: str) -> int:
    total = 0
    for word in re.split(r"[ -]", words.casefold()):
        total = (
            total * {"hundred": 100, "thousand": 1000}[word]
            if word not in NUMBER_WORDS
            else total + NUMBER_WORDS[word]
        )
    return total
