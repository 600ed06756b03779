"""Reads the amounts of a text, numbers with sign, unit and range, times of day and days, and compares two of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agentic_rag.dates.reading import read_spans
from agentic_rag.text.measures import DEGREES, ERA, TEMPERATURES, to_base, unit_at
from agentic_rag.text.numbers import NUMBER_WORDS, decimal, numbers

CONVERSION_TOLERANCE = 0.01
"""Relative difference up to which amounts in two units are equal, and fractions: who converts, rounds."""
NEAR = 0.1
"""The same for an amount that is called approximate; it counts half."""
DAYS, CLOCK, HALF_CLOCK = "days", "clock", "half-clock"
"""Units of days, as ordinals; of times of day, in minutes; of those without morning or afternoon."""


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount, or a range of them, and its place in the text that ``plain`` makes of the original."""

    low: float
    high: float
    unit: str
    """An expression of ``pint``'s, or one of the constants of this module and of ``text.measures``; "" for a bare number."""
    start: int
    end: int


def likeness(wanted_amount: Amount, given_amount: Amount, *, is_vague: bool = False) -> float:
    """1 for the same amount, 0.5 for a part of it, 0 for another one.

    A part is the number without its unit, one end of a range, the month of a day, a number without its decimals; and
    what is within NEAR where it is called approximate.
    """
    if wanted_amount.unit in (CLOCK, HALF_CLOCK):
        return _clock_likeness(wanted_amount, given_amount)
    if given_amount.unit in (CLOCK, HALF_CLOCK):
        return 0.0
    if DAYS in (wanted_amount.unit, given_amount.unit):
        return _day_likeness(wanted_amount, given_amount)
    pair = in_one_unit(wanted_amount, given_amount)
    if pair is None:
        is_bare = not given_amount.unit and (given_amount.low, given_amount.high) == (
            wanted_amount.low,
            wanted_amount.high,
        )
        return 0.5 if is_bare else 0.0
    (low, high, other_low, other_high), tolerance = pair
    ends = [
        math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-9)
        for one, other in ((low, other_low), (high, other_high))
    ]
    if all(ends):
        return 1.0
    if any(ends) and (low == high) != (other_low == other_high):
        return 0.5
    near = max(abs(low - other_low), abs(high - other_high)) / (abs(low) or 1.0)
    is_cut = (
        given_amount.low.is_integer() and not wanted_amount.low.is_integer() and near <= CONVERSION_TOLERANCE
    )
    return 0.5 if is_cut or (is_vague and near <= NEAR) else 0.0


def _clock_likeness(wanted_amount: Amount, given_amount: Amount) -> float:
    minutes = given_amount.low
    if given_amount.unit == "":  # 2100, 9
        if minutes * 60 in (wanted_amount.low, wanted_amount.low - 720):
            return 0.5
        minutes = minutes // 100 * 60 + minutes % 100
    elif given_amount.unit not in (CLOCK, HALF_CLOCK):
        return 0.0
    period = 720 if HALF_CLOCK in (wanted_amount.unit, given_amount.unit) else 1440
    return float(wanted_amount.low % period == minutes % period)


def _day_likeness(wanted_amount: Amount, given_amount: Amount) -> float:
    if wanted_amount.unit != given_amount.unit:
        return 0.0
    if (wanted_amount.low, wanted_amount.high) == (given_amount.low, given_amount.high):
        return 1.0
    within = given_amount.low <= wanted_amount.low and wanted_amount.high <= given_amount.high
    return (
        0.5
        if within or (wanted_amount.low <= given_amount.low and given_amount.high <= wanted_amount.high)
        else 0.0
    )


def in_one_unit(wanted_amount: Amount, given_amount: Amount) -> tuple[tuple[float, ...], float] | None:
    """Ends of both in one unit, and the tolerance of their comparison; None where they have no unit in common."""
    ends = wanted_amount.low, wanted_amount.high, given_amount.low, given_amount.high
    units = {wanted_amount.unit, given_amount.unit}
    if len(units) == 1:
        return ends, CONVERSION_TOLERANCE if wanted_amount.low != round(wanted_amount.low, 4) else 1e-9
    if units <= {ERA, "", "year"}:
        return ends, 1e-9
    if DEGREES in units:
        return (ends, 1e-9) if units & {*TEMPERATURES, ""} else None
    if ERA in units:
        return None
    bases = [to_base(end, one.unit) for one in (wanted_amount, given_amount) for end in (one.low, one.high)]
    if not wanted_amount.unit and bases[2][1] != "dimensionless":
        return ends, 1e-9  # the note leaves the unit out
    if bases[0][1] != bases[2][1]:
        return None
    return tuple(magnitude for magnitude, _ in bases), CONVERSION_TOLERANCE


_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(map(ord, "−–—‐‑"), ord("-"))
_NARROW[ord("\N{OHM SIGN}")] = ord("Ω")
_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8"}


def plain(text: str) -> str:
    """The text with the signs of numbers in one form."""
    text = text.translate(_NARROW).replace("～", "~")
    for sign, fraction in _VULGAR.items():
        text = re.sub(rf"(?<=\d){sign}", f" {fraction}", text).replace(sign, fraction)
    return text


def amounts(text: str) -> list[Amount]:
    """The amounts of a text in order, apart.

    >>> [(one.low, one.high, one.unit) for one in amounts("七八成, 2 h 30 min, −5 °C")]
    [(7.0, 8.0, 'tenth'), (2.5, 2.5, 'hour'), (-5.0, -5.0, 'degC')]
    """
    text = plain(text)
    read = list(_days(text))
    for reader in (_times, _quantities):
        read += reader(_blank(text, read))
    return _join(text, sorted(read, key=lambda one: one.start))


def without_amounts(text: str) -> str:
    """The text with a space in place of each amount."""
    return _blank(plain(text), amounts(text))


def _blank(text: str, taken_amounts: Sequence[Amount]) -> str:
    letters = list(text)
    for one in taken_amounts:
        letters[one.start : one.end] = " " * (one.end - one.start)
    return "".join(letters)


def _days(text: str) -> Iterator[Amount]:
    for one in read_spans(text):
        if one.precision in ("day", "month") and one.span.start and one.span.end and one.relation == "in":
            days = float(one.span.start.toordinal()), float(one.span.end.toordinal())
            yield Amount(*days, DAYS, one.start, one.end)


_HAN_DIGIT = "〇一二三四五六七八九十百千两"
_SPELLED_NUMBER = "|".join(NUMBER_WORDS)
_PERIODS = (
    ("凌晨|早上|早晨|上午|a\\.?m\\.?|in the morning", 0),
    ("中午|下午|傍晚|晚上|夜里|p\\.?m\\.?|in the afternoon|in the evening|at night", 720),
)
_PERIOD = "|".join(words for words, _ in _PERIODS)
_HOUR = rf"(?P<hour>\d{{1,2}}|(?:{_SPELLED_NUMBER})\b|[一二三四五六七八九十两]{{1,3}})"
_CLOCKS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?P<before>{_PERIOD})?\s?(?<!\d)(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::\d\d)?(?!\d)(?:\s?(?P<period>{_PERIOD})(?!\w))?",
        r"(?<!\d)(?P<hour>\d{1,2})(?:\.(?P<minute>[0-5]\d))?\s?(?P<period>[ap]\.?m\b\.?)",
        rf"\b(?:(?P<part>half|(?:a\s)?quarter)\s(?P<side>past|to)|(?:(?P<minute>\d{{1,2}}|{_SPELLED_NUMBER})\sminutes?|(?P<fives>5|10|20|25|five|ten|twenty(?:-five)?))\s(?P<side2>past|to))\s{_HOUR}"
        rf"(?:\s?(?P<period>{_PERIOD})|(?!\s?[-\w°%]))",
        rf"(?<!\w){_HOUR}\s?(?:o['’]?clock(?:\s(?P<period>{_PERIOD}))?|(?P<before>in the (?:morning|afternoon|evening)|at night))",
        rf"(?P<before>{_PERIOD})?(?<![\d{_HAN_DIGIT}]){_HOUR}[点點](?P<minute>半|[一三]刻|(?:\d{{1,2}}|[零{_HAN_DIGIT}]{{1,3}})分?)?[钟整]?"
        rf"(?:\((?P<period>{_PERIOD})\))?",
        r"\b(?:(?P<noon>noon|midday)|(?P<midnight>midnight))\b",
    )
)


def _times(text: str) -> Iterator[Amount]:
    for form in _CLOCKS:
        for match in form.finditer(text):
            minutes = _minutes(match)
            if minutes is not None:
                yield Amount(*minutes, match.start(), match.end())
        text = form.sub(lambda match: " " * len(match.group()), text)


def _minutes(match: re.Match[str]) -> tuple[float, float, str] | None:
    parts = match.groupdict()
    if parts.get("noon") or parts.get("midnight"):
        return (720.0, 720.0, CLOCK) if parts["noon"] else (0.0, 0.0, CLOCK)
    hour = numbers(parts["hour"])[0]
    minute = _minute(parts)
    if hour > 24 or not -60 < minute < 60:
        return None
    period = parts.get("before") or parts.get("period")
    total = 60 * hour + minute
    if period is not None:
        offset = next(off for words, off in _PERIODS if re.fullmatch(words, period, re.IGNORECASE))
        total = (total - 720 if hour == 12 else total) + (offset if hour <= 12 else 0)
    is_whole = period is not None or not 1 <= hour <= 12 or parts["hour"].startswith("0")
    return total, total, CLOCK if is_whole else HALF_CLOCK


def _minute(parts: dict[str, str | None]) -> float:
    part, written = parts.get("part"), parts.get("minute") or parts.get("fives")
    if part:
        value = 30.0 if part.casefold() == "half" else 15.0
    elif not written:
        return 0.0
    elif written == "半":
        value = 30.0
    elif written.endswith("刻"):
        value = 15.0 * numbers(written[0])[0]
    else:
        value = numbers(written)[0]
    return -value if (parts.get("side") or parts.get("side2")) == "to" else value


_DIGITS = r"\d{1,3}(?:\.\d{3}){1,5}(?:,\d{1,2}(?![\d,])|(?=\s?(?:€|EUR\b|Euro\b)))|\d{1,3}(?:,\d{3}){1,5}(?!\d)(?:\.\d{1,9})?|\d{1,3}(?:\s\d{3}){1,5}(?!\d)|\d{1,15},\d{1,2}(?![\d,])|\d{1,15}(?:\.\d{1,9})?"
_PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}  # fmt: skip
_PART = rf"(?P<part>{'|'.join(_PARTS)})s?\b"
_ORDINALS = {word: n for n, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(), 1)}  # fmt: skip
_ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV", "XVI", "XVII", "XVIII", "XIX", "XX", "XXI")  # fmt: skip
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12} | {"百": 1e2, "千": 1e3, "百万": 1e6, "万": 1e4, "亿": 1e8}  # fmt: skip
_SIGN = re.compile(r"(?:(?<![\w.)\]])-|(?:\bminus\s|\bnegative\s|负|零下)\s?)\Z", re.IGNORECASE)
_BC_AHEAD, _AD_AHEAD = (
    re.compile(rf"(?:{words})\s?(?:大?约)?\Z") for words in ("(?:公元|西元)?前", r"\bAD|公元|西元")
)
_BC = re.compile(r"\s?(?:BCE?\b|B\.C\.(?:E\.)?|before Christ)")
_AD = re.compile(r"\s?(?:AD\b|CE\b|A\.D\.)")
MAX_YEAR = 2100
_BEFORE = 24
"""Code points before a number in which its sign, currency or era is looked for."""
_QUANTITY = re.compile(
    rf"(?P<over>[{_HAN_DIGIT}]{{1,9}}|\d{{1,9}})分之(?P<under>[{_HAN_DIGIT}]{{1,9}}|\d{{1,9}}(?:\.\d{{1,9}})?)"
    rf"|(?P<numerator>(?<![\d.])\d{{1,9}}|\b(?:{_SPELLED_NUMBER}))\s?(?:/|(?:out\s)?of)\s?(?P<denominator>\d{{1,9}}|(?:{_SPELLED_NUMBER})\b)(?![\d/])"
    rf"|\b(?:(?P<count>an?|\d{{1,9}}|{_SPELLED_NUMBER})[\s-]|(?=half|quarter)){_PART}(?:\s(?:of\s)?an?\b)?"
    rf"|(?P<digits>{_DIGITS})(?:\s?(?P<scale>hundred|thousand|million|billion|trillion|百万|[百千](?=[万亿])|[万亿千百](?![克米瓦伏帕卡焦])))?(?P<ordinal>st\b|nd\b|rd\b|th\b)?"
    rf"|(?P<spelt>\b(?:{_SPELLED_NUMBER})\b(?:[\s-](?:and\s)?(?:{_SPELLED_NUMBER}|hundred|thousand|million|billion)\b)*|\ba(?=\s(?:hundred|thousand|million)))"
    rf"|(?P<han>两?(?:零(?!下)|[{_HAN_DIGIT.replace('两', '')}万亿]|两(?=[百千万亿])){{1,20}}|两)"
    r"|(?P<half>半)(?!夜)"
    rf"|\b(?P<rank>{'|'.join(_ORDINALS)})\b|\b(?P<roman>(?-i:[IVX]{{1,5}}))(?=[\s-]century)"
    r"|\b(?P<one>an?)(?=\s[a-z]{3,})",
    re.IGNORECASE,
)
_AND_PART = re.compile(rf"\s(?:and\s)?(?:(?:an?|one)\s{_PART}|(?P<n>\d)/(?P<d>[1-9])(?!\d))", re.IGNORECASE)
_SUM_BEHIND = re.compile(r"\s?(?:€|EUR\b|Euro\b)")
_CURRENCY_BEFORE = re.compile(r"(?:[€£$¥]|EUR|USD|GBP|CNY|RMB|JPY)\s?\Z")
_EVERY = re.compile(r"每(?P<unit>个?(?:秒钟?|分钟?|小时|钟头|[天周月年日]))\D{0,3}\Z")


def _quantities(text: str) -> Iterator[Amount]:
    place = previous = 0
    while match := _QUANTITY.search(text, place):
        amount = _quantity(text, match)
        place = match.end() if amount is None else max(amount.end, match.end())
        if amount is not None:
            yield replace(amount, start=max(amount.start, previous))
            previous = amount.end


def _quantity(text: str, match: re.Match[str]) -> Amount | None:
    ends = _ends(match)
    if ends is None:
        return None
    (low, high), start, end = ends, match.start(), match.end()
    more = _AND_PART.match(text, end)
    if more is not None:
        extra = 1 / _PARTS[more["part"].casefold()] if more["part"] else int(more["n"]) / int(more["d"])
        low, high, end = low + extra, high + extra, more.end()
    is_half = text.startswith("个半", end)
    if is_half:
        low, high, end = low + 0.5, high + 0.5, end + 2
    unit, stop = unit_at(text, end)
    if unit == "inch" and 1000 <= low <= MAX_YEAR and text[end:stop].strip() == "in":
        unit, stop = "", end  # born in 1819 in Leipzig
    if unit == "second" and 1000 <= low <= MAX_YEAR and low % 10 == 0 and text[end:stop] == "s":
        high, unit = low + 9, ""  # the 1960s
    if match["one"] and not unit:
        return None
    if match["one"] and (after := re.compile(r"\s(?:and a )half\b").match(text, stop)):
        low, high, stop = 1.5, 1.5, after.end()
    if unit and text.startswith("半", stop) and not is_half:
        low, high, stop = low + 0.5, high + 0.5, stop + 1
    first = max(0, start - _BEFORE)
    before = text[first:start]
    if not unit and (sign := _CURRENCY_BEFORE.search(before)):
        unit, start = unit_at(sign.group().strip(), 0)[0], first + sign.start()
    if not unit and (every := _EVERY.search(before)) and text.startswith("次", stop):
        unit, stop = f"1/{unit_at(every['unit'], 0)[0] or 'day'}", stop + 1
    if sign := _SIGN.search(before):
        low, high, start = -low, -high, first + sign.start()
    elif below := re.compile(r"\s(?:degrees\s)?below(?: zero| freezing)?\b").match(text, stop):
        low, high, stop = -low, -high, below.end()
    return _of_era(text, Amount(low, high, unit, start, stop))


def _of_era(text: str, one: Amount) -> Amount:
    """The amount; a year before or after Christ as such, and one from 100 on as a bare number."""
    if one.unit not in ("", "year"):
        return one
    before = text[max(0, one.start - _BEFORE) : one.start]
    for sign, ahead, behind in ((-1, _BC_AHEAD, _BC), (1, _AD_AHEAD, _AD)):
        if led := ahead.search(before):
            return Amount(sign * one.low, sign * one.high, ERA, one.start - len(led.group()), one.end)
        if followed := behind.match(text, one.end):
            return Amount(sign * one.low, sign * one.high, ERA, one.start, followed.end())
    return replace(one, unit="") if one.unit == "year" and one.low >= 100 else one


def _ends(match: re.Match[str]) -> tuple[float, float] | None:
    """The number, or the two of 七八, that a match of ``_QUANTITY`` writes."""
    parts = {name: value for name, value in match.groupdict().items() if value}
    name, written = next(iter(parts.items()))
    value: float
    if name == "over":
        value = numbers(parts["under"])[0] / (numbers(written)[0] or 1)
    elif name == "numerator":
        value = numbers(written)[0] / (numbers(parts["denominator"])[0] or 1)
    elif "part" in parts:
        count = parts.get("count", "a")
        value = (1 if count.casefold() in ("a", "an") else numbers(count)[0]) / _PARTS[
            parts["part"].casefold()
        ]
    elif name == "digits":
        is_sum = _SUM_BEHIND.match(match.string, match.end()) is not None
        value = decimal(re.sub(r"\s", "", written), is_sum=is_sum)
        value *= _SCALES[parts["scale"].casefold()] if "scale" in parts else 1
    elif name == "spelt":
        value = _spelled_value(written)
    elif name == "han":
        return _han(written)
    elif name == "half":
        value = 0.5
    elif name == "rank":
        value = float(_ORDINALS[written.casefold()])
    elif name == "roman":
        if written not in _ROMAN:
            return None
        value = float(_ROMAN.index(written))
    else:
        value = 1.0
    return value, value


def _spelled_value(words: str) -> float:
    total = section = 0.0
    for word in re.split(r"[\s-]+", words.casefold()):
        if word == "hundred":
            section = (section or 1) * 100
        elif word in _SCALES:
            total, section = total + (section or 1) * _SCALES[word], 0.0
        elif word not in ("and", "a"):
            section += numbers(word)[0]
    return total + section


def _han(numeral: str) -> tuple[float, float] | None:
    head, _, tail = numeral.rpartition("亿")
    rest = numbers(tail)[0] if tail else 0.0
    if head:
        value = numbers(head)[0] * 1e8 + rest
        return value, value
    first, second = (numbers(c)[0] for c in (numeral[0], numeral[-1]))
    if len(numeral) == 2 and second == first + 1 < 10 and first > 0:
        return first, second  # 七八, seven or eight
    return rest, rest


_RANGE = re.compile(r"\s?(?:-|~|to|until|至|到)\s?", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s\Z|在\Z", re.IGNORECASE)
_SUM = re.compile(r"\s?(?:and\s|又|零)?\s?", re.IGNORECASE)


def _join(text: str, amounts_read: Sequence[Amount]) -> list[Amount]:
    """The amounts, two as one where they are the ends of a range, or the parts of a sum (2 h 30 min)."""
    joined: list[Amount] = []
    for one in amounts_read:
        last = joined[-1] if joined else None
        is_between = last is not None and _BETWEEN.search(text[max(0, last.start - _BEFORE) : last.start])
        both = (
            None if last is None else _both(text[last.end : one.start], last, one, is_range=bool(is_between))
        )
        if both is None:
            joined.append(one)
        else:
            joined[-1] = both
    return joined


def _both(between: str, last: Amount, one: Amount, *, is_range: bool) -> Amount | None:
    if last.unit == "hour" and one.unit in ("meter", "") and not between.strip() and 0 < one.low < 60:
        one = replace(one, unit="minute")  # 2h 30m, 3h20
    if (
        (_RANGE.fullmatch(between) or (between.strip() in ("and", "和") and is_range))
        and last.unit in ("", one.unit)
        and last.low < one.low
    ):
        return Amount(last.low, one.high, one.unit, last.start, one.end)
    special = {"", DAYS, CLOCK, HALF_CLOCK, DEGREES, ERA, *TEMPERATURES}
    if last.unit == one.unit or {last.unit, one.unit} & special or not _SUM.fullmatch(between):
        return None
    (first, dimension), (second, other) = to_base(1.0, last.unit), to_base(one.low, one.unit)
    if dimension != other or not 0 < second < first:
        return None
    low = last.low + second / first
    return Amount(low, low, last.unit, last.start, one.end)
