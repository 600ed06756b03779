"""The values of properties as numbers and days: shares, stars and measures that are written as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from agentic_rag.domain.filters import And, Comparison, Expression, Or, matches
from agentic_rag.domain.notes import Field, Note
from agentic_rag.questions import comparisons
from agentic_rag.questions.times import Time
from agentic_rag.text.measures import CURRENCIES, HEADER_UNIT, convert, dimension_of, unit_at
from agentic_rag.text.numbers import decimal

_SHARE = re.compile(r"\d+(?:\.\d+)?\s*/\s*\d+")
_STARS = re.compile(r"[★⭐]+")
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?.*")
YEARS = range(1000, 2101)
_MEASURE = re.compile(
    r"[$€£¥￥]?\s*(?P<number>\d{1,3}(?:\.\d{3})+,\d{1,2}|\d[\d,]*(?:\.\d+)?)\s*(?:[^\W\d]{1,12}|[$€£¥￥%])?(?:\s?[^\W\d]{1,8})?"
)
"""A number with its unit: ``20天一次``, ``59.99 €``, ``30 min``."""


def is_number(value: Any) -> bool:
    """Whether a value is a number, a share (``4/5``), stars, or a number with its unit."""
    if isinstance(value, bool):
        return False
    written = str(value).strip()
    return isinstance(value, int | float) or bool(
        _SHARE.fullmatch(written) or _STARS.match(written) or _MEASURE.fullmatch(written)
    )


_DURATION = re.compile(
    r"(?:(?P<hours>\d+(?:\.\d+)?)\s*(?:h|hrs?|hours?|std|小时|时))?\s*(?:(?P<minutes>\d+(?:\.\d+)?)\s*(?:m|min|mins|minutes?|分钟|分))?",
    re.IGNORECASE,
)


_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):([0-5]\d)")
"""A length, ``4:12`` and ``1:02:30``, or a time of day."""
_HOURS = re.compile(r"h|hrs?|hours?|std|个?小时", re.IGNORECASE)


def magnitude(value: Any) -> float | None:
    """A value as a number to order and add by: a share by its first number, stars by their count, a duration in minutes,
    ``4:12`` as 4.2 of whatever it counts, a measure without its unit; None for any other."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    written = str(value).strip()
    duration = _DURATION.fullmatch(written)
    if duration is not None and written:
        return 60 * float(duration["hours"] or 0) + float(duration["minutes"] or 0)
    clock = _CLOCK.fullmatch(written)
    if clock is not None:
        hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        return 60 * hours + minutes + seconds / 60
    return _scale(written) if is_number(value) else None


def share_of(value: Any) -> str:
    """What stands behind the number that ``magnitude`` reads, for a result of several: ``/5``, `` min``, ``★``; ``:`` of a
    length as of a clock."""
    written = str(value).strip()
    duration = _DURATION.fullmatch(written)
    if not isinstance(value, str) or not written:
        return ""
    if duration is not None and (duration["hours"] or "min" in written.lower() or "分" in written):
        return " min"
    if _CLOCK.fullmatch(written):
        return ":"
    if _SHARE.fullmatch(written):
        return "/" + written.split("/")[1].strip()
    return "★" if _STARS.match(written) else ""


def unit_of(value: Any) -> str:
    """What is written behind the number of a measure: ``kg`` of ``2 kg``; empty for a number alone."""
    return str(value).strip().lstrip("0123456789.,").strip()


_CURRENCIES = frozenset(f"[{unit}]" for unit in CURRENCIES)
_AS_WRITTEN = _CURRENCIES | {"[time]"}
"""Dimensions whose numbers are compared as they are written: currencies have no rates here, and times are read by ``magnitude``."""


def measures_other(unit: str, key: str, values: Iterable[Any]) -> bool:
    """Whether a property or column, by its name or all of its values, measures something else than a number with a unit
    does."""
    return names_other_measure(unit, key) or all(
        is_of_other_measure(unit, value) for value in _with_unit(key, values)
    )


def names_other_measure(unit: str, key: str) -> bool:
    """Whether a name is itself a unit of another measure: ``Week``, where 15 kg are meant."""
    return is_of_other_measure(unit, f"1 {key.casefold()}")


def measures_same(unit: str, key: str, values: Iterable[Any]) -> bool:
    """Whether a property or column has a value that measures the same as a number with a unit does."""
    return any(
        all(_measures(unit, value)) and not is_of_other_measure(unit, value)
        for value in _with_unit(key, values)
    )


def has_unit_of_measure(key: str, values: Iterable[Any]) -> bool:
    """Whether a property or column has values with a unit, as a rating has none: ``12 €``, or the name ``Comfort (°C)``."""
    units = (unit_at(unit_of(value), 0)[0] for value in _with_unit(key, values))
    return any(unit not in ("", "percent") for unit in units)


def _with_unit(key: str, values: Iterable[Any]) -> Iterable[Any]:
    """The values; where the property's name has their unit, one of that unit for all."""
    of_key = HEADER_UNIT.search(key)
    return values if of_key is None else [f"1 {of_key['unit']}"]


def names_measure(unit: str) -> bool:
    """Whether a unit is one of measure, as GB and kg are, and no time and no currency."""
    known = unit_at(unit, 0)[0]
    return bool(known) and dimension_of(known) not in _AS_WRITTEN


def is_of_other_measure(unit: str, value: Any) -> bool:
    """Whether a value measures something else than a number with a unit does: ``2 kg`` and GB."""
    asked, given = _measures(unit, value)
    if not asked or not given or asked == given:
        return False
    dimensions = {dimension_of(asked), dimension_of(given)}
    return len(dimensions) == 2 and not dimensions <= _CURRENCIES


def _measures(unit: str, value: Any) -> tuple[str, str]:
    """The unit of a number and that of a value; "" for none that is known."""
    return unit_at(unit, 0)[0], unit_at(unit_of(value), 0)[0]


def _in_unit(unit: str, value: Any) -> float | None:
    """A value as a number to compare with one of a unit: 800 g are .8 of kg; None where it measures something else."""
    asked, given = _measures(unit, value)
    number = magnitude(value)
    if number is None or not asked or not given or asked == given or dimension_of(asked) in _AS_WRITTEN:
        return number
    return convert(number, given, asked) if dimension_of(asked) == dimension_of(given) else None


def is_date(value: Any) -> bool:
    """Whether a value begins with a day or month: ``2024-03-15``."""
    return _DATE.fullmatch(str(value)) is not None


def whole(value: float | str) -> float | int | str:
    """A number without a fraction as an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def comparison_on(key: str, one: comparisons.Comparison, values: Sequence[Any]) -> Expression:
    """The condition that a comparison puts on a property, with shares, stars and measures that are written as text
    resolved to the texts that fit.

    Args:
        key: the property.
        one: the comparison.
        values: of the property.
    """
    if one.upper is not None:
        upper = replace(one, operator="$lte", value=one.upper, upper=None)
        return And((comparison_on(key, replace(one, upper=None), values), comparison_on(key, upper, values)))
    if one.others:
        every = (replace(one, value=value, others=()) for value in (one.value, *one.others))
        return Or(tuple(comparison_on(key, each, values) for each in every))
    plain = whole(one.value)
    if isinstance(plain, int | float) and _HOURS.fullmatch(one.unit):
        plain = (
            plain * 60
            if any(isinstance(v, str) and _DURATION.fullmatch(v.strip()) for v in values)
            else plain
        )
    texts = [value for value in dict.fromkeys(values) if isinstance(value, str)]
    if isinstance(plain, str):
        if one.operator == "$eq":
            return Comparison(key, "$eq", plain)
        plain = _scale(plain)  # "at least 4/5"
    if not texts:
        return Comparison(key, one.operator, plain)
    fitting = [
        v for v in texts if matches(Comparison(key, one.operator, plain), {key: _in_unit(one.unit, v)})
    ]
    written = Comparison(key, "$in", tuple(fitting))
    has_numbers = any(not isinstance(value, str) for value in values)
    if has_numbers and not fitting:
        return Comparison(key, one.operator, plain)
    return Or((written, Comparison(key, one.operator, plain))) if has_numbers else written


def _scale(scale_text: str) -> float:
    stars = _STARS.match(scale_text)
    if stars:
        return float(len(stars.group()))
    measure = _MEASURE.match(scale_text.strip())
    if measure is None:
        return float(scale_text.split("/")[0])
    return decimal(measure["number"], is_sum=measure.group().rstrip().endswith(("€", "EUR", "Euro")))


def date_keys(fields: Iterable[Field]) -> list[str]:
    """The properties that have a date as a value, each once, in order."""
    return list(dict.fromkeys(one.key for one in fields if is_date(str(one.value).strip("[]"))))


def within(key: str, time: Time) -> Expression:
    """The condition that a date lies in the span of days, or in one of the spans."""
    parts = tuple(_between(key, start, end) for start, end in time.parts or ((time.start, time.end),))
    return parts[0] if len(parts) == 1 else Or(parts)


def _between(key: str, start: str | None, end: str | None) -> Expression:
    bounds = []
    if start is not None:
        bounds.append(Comparison(key, "$gte", start))
    if end is not None:
        bounds.append(Comparison(key, "$lt", end))
    return bounds[0] if len(bounds) == 1 else And(tuple(bounds))


def year_keys(notes: Sequence[Note]) -> list[str]:
    """The properties that tell a year, each once, in order: those that half of the notes have, as a number from 1000 to
    2100."""
    values: dict[str, list[Any]] = {}
    for note in notes:
        for one in note.fields:
            if one.value not in (None, "", []):
                values.setdefault(one.key, []).append(one.value)
    return [
        key
        for key, its in values.items()
        if len(its) * 2 >= len(notes) and all(isinstance(one, int) and one in YEARS for one in its)
    ]


def bounding_years(time: Time) -> tuple[int | None, int | None] | None:
    """The first year of a span and the year after its last; None where the span is not of whole years."""
    sides = [side for side in (time.start, time.end) if side is not None]
    if time.parts or not sides or not all(side.endswith("-01-01") for side in sides):
        return None
    return None if time.start is None else int(time.start[:4]), None if time.end is None else int(
        time.end[:4]
    )


def within_years(key: str, time: Time) -> Expression:
    """The condition that a year, as a number, lies in a span of whole years."""
    first, after = bounding_years(time) or (None, None)
    if first is not None and after == first + 1:
        return Comparison(key, "$eq", first)
    bounds = [] if first is None else [Comparison(key, "$gte", first)]
    bounds += [] if after is None else [Comparison(key, "$lt", after)]
    return bounds[0] if len(bounds) == 1 else And(tuple(bounds))
