"""Months by their English and German names."""

from __future__ import annotations

from datetime import date

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
MONTH = (
    r"(?:Jan(?:uary?|uar)?|Jänner|Feb(?:ruary?|ruar)?|Mar(?:ch)?|März?|Mrz|Apr(?:il)?|May|Mai|Jun[ei]?|Jul[yi]?"
    r"|Aug(?:ust)?|Sept?(?:ember)?|O[ck]t(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?)(?![A-Za-zÀ-ÿ])\.?"
)
"""Pattern of a month's name or its abbreviation, to be compiled without regard to case."""
_NUMBERS = {
    **{name[:3].lower(): number for number, name in enumerate(MONTHS, 1)},
    **{"jän": 1, "mär": 3, "mrz": 3, "mai": 5, "okt": 10, "dez": 12},
}


def month_number(name: str) -> int | None:
    """1 to 12, from the first three letters; None for another word."""
    return _NUMBERS.get(name[:3].lower())


def day_text(day: date) -> str:
    """A day in English: ``7 May 2023``."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
