"""What entries of tables and lists measure: one value of a cell or an item, with its unit, that can be added to others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.amounts import CLOCK, DAYS, HALF_CLOCK, Amount, amounts
from agentic_rag.notes.units import Unit
from agentic_rag.text.measures import CURRENCIES, ERA, HEADER_UNIT, dimension_of, to_base, unit_at

_CALENDAR = frozenset({"day", "week", "month", "year"})
"""Units that name no unit where a column is called so."""
CLOCK_LENGTH = ":"
"""Unit of a length as a clock shows it, 31:10 or 1:02:30; its number is in seconds."""
_LENGTH = re.compile(r"(?:(?P<hours>\d{1,3}):)?(?P<minutes>\d{1,3}):(?P<seconds>[0-5]\d)")
_NUMBER = re.compile(r"[-+]?\d[\d,.]*")


@dataclass(frozen=True, slots=True)
class EntryValue:
    """A value that an entry states."""

    number: float
    unit: str
    """In the words of ``text.measures``, or ``CLOCK_LENGTH``; "" for a bare number."""
    label: str = ""
    """The unit as it is written."""
    is_label_first: bool = False
    """Whether it is written before the number."""

    @property
    def dimension(self) -> str:
        """What the unit measures, ``[length]``; "" for a bare number."""
        if not self.unit:
            return ""
        return "[time]" if self.unit == CLOCK_LENGTH else dimension_of(self.unit)

    def in_base_unit(self) -> float:
        """The number in the base unit of its dimension."""
        return self.number if self.unit in ("", CLOCK_LENGTH) else to_base(self.number, self.unit)[0]

    def text(self) -> str:
        """As it is shown: ``23.6 km``, ``$12.50``, ``1:02:30``."""
        if self.unit == CLOCK_LENGTH:
            minutes, seconds = divmod(round(self.number), 60)
            return (
                f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
                if minutes >= 60
                else f"{minutes}:{seconds:02}"
            )
        if self.unit == "hour" and not float(self.number).is_integer():
            minutes = round(60 * self.number)
            return f"{minutes // 60} h {minutes % 60} min"
        number = f"{self.number:.2f}"
        if self.unit not in CURRENCIES or number.endswith(".00"):
            number = number.rstrip("0").rstrip(".")
        return f"{self.label}{number}" if self.is_label_first else f"{number} {self.label}".strip()


def column_values(units: Sequence[Unit], column: str) -> list[EntryValue | None]:
    """The value of each row's cell, with the unit of its column where it has none of its own; None for no or several.

    In a column of times ``45m`` is minutes.
    """
    values = [
        _cell_value(next((text for name, text in unit.columns if name == column), ""), column)
        for unit in units
    ]
    are_times = _are_times([value for value in values if value is not None])
    return [None if value is None else _in_minutes([value], are_times)[0] for value in values]


def item_values(units: Sequence[Unit], fits: Callable[[EntryValue], bool]) -> list[EntryValue | None]:
    """The one value of each list item that fits; None for no or several. One without a unit counts only where no item
    has a unit.

    Args:
        units: the items.
        fits: whether a value may be what is asked for.
    """
    values = [read_values(unit.own()) for unit in units]
    are_times = _are_times([value for its in values for value in its])
    fitting = [[value for value in _in_minutes(its, are_times) if fits(value)] for its in values]
    if any(value.unit for its in fitting for value in its):
        fitting = [[value for value in its if value.unit] for its in fitting]
    return [its[0] if len(its) == 1 else None for its in fitting]


def _are_times(values: Sequence[EntryValue]) -> bool:
    """Whether ``45m`` among these values is minutes."""
    return any(value.label == "m" for value in values) and any(
        value.dimension == "[time]" for value in values
    )


def _in_minutes(values: Sequence[EntryValue], are_times: bool) -> list[EntryValue]:
    return [replace(one, unit="minute") if are_times and one.label == "m" else one for one in values]


def _cell_value(cell: str, column: str) -> EntryValue | None:
    length = _LENGTH.fullmatch(cell.strip())
    if length is not None:
        hours, minutes, seconds = (float(part or 0) for part in length.groups())
        return EntryValue(3600 * hours + 60 * minutes + seconds, CLOCK_LENGTH)
    values = read_values(cell)
    if len(values) != 1:
        return None
    header = HEADER_UNIT.search(column)
    label = column if header is None else header["unit"]
    unit, end = unit_at(label, 0)
    if values[0].unit or end < len(label) or unit in _CALENDAR:
        return values[0]
    return EntryValue(values[0].number, unit, label)


def column_name(column: str) -> str:
    """A column's name without the unit behind it: ``Distance`` of ``Distance (km)``."""
    return HEADER_UNIT.sub("", column).strip()


def read_values(text: str) -> list[EntryValue]:
    """The values of a text in order, without its days, times of day, years and ranges."""
    return [
        EntryValue(one.low, one.unit, *_label(text, one))
        for one in amounts(text)
        if one.unit not in (DAYS, CLOCK, HALF_CLOCK, ERA) and one.low == one.high
    ]


def _label(text: str, amount: Amount) -> tuple[str, bool]:
    """The unit as it is written, and whether before the number."""
    written = text[amount.start : amount.end]
    number = _NUMBER.search(written)
    if number is None or not amount.unit:
        return "", False
    before, after = written[: number.start()].strip(), written[number.end() :].strip()
    return (before, True) if before else (after, False)


def are_addable(values: Sequence[EntryValue]) -> bool:
    """Whether values are of one unit, or of units that convert."""
    units = {value.unit for value in values}
    return len(units) == 1 or (
        not units & {"", CLOCK_LENGTH} and len({value.dimension for value in values}) == 1
    )


def numbers_in_one_unit(values: Sequence[EntryValue]) -> list[float]:
    """The numbers of addable values, as they are where all are of one unit, else in the base unit of their dimension."""
    if len({value.unit for value in values}) == 1:
        return [value.number for value in values]
    return [value.in_base_unit() for value in values]


def add_values(values: Sequence[EntryValue], *, is_average: bool = False) -> EntryValue:
    """The total or average of values that are addable, in the unit that most of them are written in."""
    (unit, label, is_first), _ = Counter(
        (one.unit, one.label, one.is_label_first) for one in values
    ).most_common(1)[0]
    total = sum(numbers_in_one_unit(values))
    if len({value.unit for value in values}) > 1:
        total /= to_base(1.0, unit)[0]
    return EntryValue(total / len(values) if is_average else total, unit, label, is_first)
