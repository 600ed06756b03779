"""Months by their English names."""

from __future__ import annotations

from datetime import date

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_NUMBERS = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}


def month_number(name: str) -> int | None:
    """1 to 12, from the first three letters; None for another word."""
    return _NUMBERS.get(name[:3].lower())


def day_text(day: date) -> str:
    """``7 May 2023``."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
