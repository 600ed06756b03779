"""The date that the name of a note states: in a usual form, or in the format of Obsidian's daily notes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath

from agentic_rag.dates.months import month_number
from agentic_rag.dates.reading import moment_in
from agentic_rag.dates.written import number_of
from agentic_rag.domain.json_values import Json

DAILY_FORMAT = "YYYY-MM-DD"
"""Of Obsidian, where its settings name no other."""
DAILY_SETTINGS = (
    (".obsidian", "daily-notes.json"),
    (".obsidian", "plugins", "periodic-notes", "data.json"),
)
"""Files below a vault that say what its daily notes are called: of Obsidian and of Periodic Notes."""

_IN_FRONT = re.compile(r"((?:19|20)\d{2})(\d{2})(\d{2})(?:\d{4}|\d{6})?(?!\d)")
# 2023-1-1 may count a chapter.
_SHORT = re.compile(r"(?<!\d)\d{4}([-_.])\d{1,2}\1\d(?!\d)|(?<!\d)\d{4}([-_.])\d\2\d{1,2}(?!\d)")
_WORD = r"[^\W\d_]+"
_TOKENS = {
    "YYYY": r"\d{4}", "gggg": r"\d{4}", "GGGG": r"\d{4}", "YY": r"\d{2}", "gg": r"\d{2}", "GG": r"\d{2}", "Y": r"\d{4}",
    "MMMM": rf"{_WORD}|\d{{1,2}}月", "MMM": rf"{_WORD}\.?|\d{{1,2}}月", "MM": r"\d{2}", "Mo": r"\d{1,2}\w{0,2}", "M": r"\d{1,2}",
    "DDDD": r"\d{3}", "DDD": r"\d{1,3}", "DD": r"\d{2}", "Do": r"\d{1,2}(?:st|nd|rd|th|[.日号])?", "D": r"\d{1,2}",
    "ww": r"\d{2}", "wo": r"\d{1,2}\w{0,2}", "w": r"\d{1,2}", "WW": r"\d{2}", "Wo": r"\d{1,2}\w{0,2}", "W": r"\d{1,2}", "E": r"[1-7]",
    "dddd": _WORD, "ddd": rf"{_WORD}\.?", "dd": _WORD, "do": r"\d\w{0,2}", "d": r"\d", "e": r"\d", "Qo": r"\d\w{0,2}", "Q": r"\d",
    "HH": r"\d{2}", "H": r"\d{1,2}", "hh": r"\d{2}", "h": r"\d{1,2}", "mm": r"\d{2}", "m": r"\d{1,2}", "ss": r"\d{2}", "s": r"\d{1,2}",
    "A": "AM|PM", "a": "am|pm",
}  # fmt: skip
"""Tokens of moment.js, and what they write."""
_PIECE = re.compile(rf"\[([^\]]*)\]|({'|'.join(sorted(_TOKENS, key=len, reverse=True))})|(.)", re.DOTALL)
_MEANINGS = {
    "Y": "year",
    "g": "year",
    "G": "year",
    "M": "month",
    "D": "day",
    "w": "week",
    "W": "week",
    "E": "weekday",
}


@dataclass(frozen=True, slots=True)
class NameFormat:
    """A format of dates in names, ready to read them."""

    pattern: re.Pattern[str]
    tokens: tuple[str, ...]
    """Of each group of the pattern."""

    def day(self, name: str) -> date | None:
        """The date of a name that is wholly in this format; None for another name, or where there is no such day.

        A week is its Monday and a month its first day; a token that comes twice must say the same twice.
        """
        match = self.pattern.fullmatch(name)
        values: dict[str, int] = {}
        for token, written in zip(self.tokens, match.groups() if match else (), strict=match is not None):
            meaning = "day of year" if token.startswith("DDD") else _MEANINGS.get(token[0])
            if meaning is None or token == "dddd":
                continue
            number = _value(written)
            number = number + 2000 if meaning == "year" and len(token) == 2 else number
            if values.setdefault(meaning, number) != number:
                return None
        return _date(values)


@dataclass(frozen=True, slots=True)
class DailyNotes:
    """Where and under which names a vault has its daily notes."""

    folder: str = ""
    """Below the vault; "" is the vault itself."""
    format: str = DAILY_FORMAT

    def day(self, path: str) -> date | None:
        """The day of a daily note, by its path below the vault; None for any other note."""
        inside = PurePosixPath(path).with_suffix("")
        if not inside.is_relative_to(self.folder):
            return None
        return moment_format(self.format).day(str(inside.relative_to(self.folder)))


@lru_cache(maxsize=32)
def moment_format(text: str) -> NameFormat:
    """A format as moment.js writes it: ``YYYY-MM-DD``, ``dddd, MMMM Do YYYY``, ``gggg-[W]ww``, ``[literal]``.

    Weeks are those of ISO 8601, also for ``ww``, whose first day moment.js takes from the language of the app.

    >>> moment_format("YYYY/MM/DD.MM.YYYY").day("2024/03/15.03.2024").isoformat()
    '2024-03-15'
    """
    pattern, tokens = "", []
    for literal, token, other in _PIECE.findall(text):
        if token:
            tokens.append(token)
        pattern += f"({_TOKENS[token]})" if token else re.escape(literal or other)
    return NameFormat(re.compile(pattern, re.IGNORECASE), tuple(tokens))


def read_daily_settings(folder: Path) -> DailyNotes:
    """The daily notes of a vault, by the plugin Periodic Notes where it makes them, else by Obsidian's own settings
    (``DAILY_SETTINGS``); Obsidian's own defaults for what these lack.

    Never raises: settings that cannot be read are none.
    """
    core, plugin = (_settings(folder.joinpath(*parts)) for parts in DAILY_SETTINGS)
    periodic = plugin.get("daily")
    settings = periodic if isinstance(periodic, dict) and periodic.get("enabled") is True else core
    inside, form = (settings.get(key) for key in ("folder", "format"))
    return DailyNotes(
        inside.strip().strip("/") if isinstance(inside, str) else "",
        form.strip().removesuffix(".md") or DAILY_FORMAT if isinstance(form, str) else DAILY_FORMAT,
    )


def _settings(file: Path) -> Json:
    try:
        loaded = json.loads(file.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def date_in_name(name: str) -> datetime | None:
    """The date that a note's name states, at its start in UTC; of a month or week its first day.

    ``2023-09-12 Walk``, ``March 15th, 2024``, ``15.3.2024``, ``2024-W18``, ``2023年9月12日``, ``202309121530`` in front.
    A year alone is none; the name is without suffix.
    """
    written = _IN_FRONT.sub(r"\1-\2-\3", name, count=1) if _IN_FRONT.match(name) else _SHORT.sub(" ", name)
    return moment_in(written) or moment_in(written.replace("_", " "))


def _value(number_text: str) -> int:
    number = number_of(number_text.removesuffix("月"))
    return month_number(number_text) or 0 if number is None else number


def _date(values: dict[str, int]) -> date | None:
    year = values.get("year")
    if year is None:
        return None
    try:
        if "day of year" in values:
            day = date.fromordinal(date(year, 1, 1).toordinal() + values["day of year"] - 1)
            return day if day.year == year else None
        if "month" in values:
            return date(year, values["month"], values.get("day", 1))
        if "week" in values:
            return date.fromisocalendar(year, values["week"], values.get("weekday", 1))
    except ValueError:
        return None
    return None
