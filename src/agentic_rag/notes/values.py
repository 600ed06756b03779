"""Values as metadata holds them: JSON only, valid Unicode, dates as ISO text; and the dates a note states."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any

from agentic_rag.dates.instants import moment_of

DATE_KEYS = ("date", "created", "published", "start")
"""Property names that say when a document is from; the first one with a readable date counts."""

_MAX_DEPTH = 32
_MAX_VALUES = 20_000
_SURROGATES = re.compile("[\ud800-\udfff]")
_DATE = re.compile(
    r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"
    r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:\s*(Z|[+-]\d{2}:?\d{2})(?!\d))?)?(?!\d)"
)
_NAME_DATES = (
    re.compile(r"(?<!\d)(\d{4})([-_.])(\d{2})\2(\d{2})(?!\d)"),
    re.compile(r"(?<!\d)(\d{4})()年(\d{1,2})月(\d{1,2})日"),
    re.compile(r"^((?:19|20)\d{2})()(\d{2})(\d{2})(?:\d{4}|\d{6})?(?!\d)"),
)
_DROPPED = object()


def valid_unicode(text: str) -> str:
    """The text with lone surrogates (possible in JSON and YAML escapes) replaced, so that it can be stored."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def jsonable(value: object) -> Any:
    """The value as JSON can hold it: dates in ISO form, keys as text, NaN and infinity left out.

    Raises:
        ValueError: nested deeper than 32 levels or larger than 20,000 values, which no author wrote by hand
            (YAML aliases can make a few lines expand to gigabytes).
    """
    converted = _convert(value, 0, [_MAX_VALUES])
    return None if converted is _DROPPED else converted


def _convert(value: object, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if depth > _MAX_DEPTH or budget[0] < 0:
        raise ValueError("values nested too deeply, or too many of them")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return valid_unicode(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else _DROPPED
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        pairs = [(_key_text(key), _convert(member, depth + 1, budget)) for key, member in value.items()]
        return {key: member for key, member in pairs if member is not _DROPPED}
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        members = [_convert(member, depth + 1, budget) for member in value]
        return [member for member in members if member is not _DROPPED]
    return _DROPPED


def _key_text(key: object) -> str:
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, date | time):
        return key.isoformat()
    return valid_unicode(str(key))


def read_date(value: object) -> datetime | None:
    """The first date in a property's value (``2023-09-12``, with or without a time), in UTC."""
    if isinstance(value, list):
        return next((found for found in map(read_date, value) if found is not None), None)
    if not isinstance(value, str):
        return None
    for match in _DATE.finditer(value):
        year, month, day, hour, minute, second, zone = match.groups()
        clock = f"{int(hour):02}:{minute}:{second or '00'}" if hour else "00:00:00"
        moment = moment_of(f"{year}-{int(month):02}-{int(day):02}T{clock}{zone or ''}")
        if moment is not None:
            return moment
    return None


def metadata_date(metadata: Mapping[str, Any]) -> datetime | None:
    """The document's date by its properties, the keys of ``DATE_KEYS`` in that order, in any case."""
    folded: dict[str, object] = {}
    for key, value in metadata.items():
        folded.setdefault(key.casefold(), value)
    return next((found for key in DATE_KEYS if (found := read_date(folded.get(key))) is not None), None)


def date_in_name(name: str) -> datetime | None:
    """The date a file name states: ``2023-09-12 Walk``, ``2023年9月12日``, or ``202309121530`` in front."""
    for pattern in _NAME_DATES:
        for match in pattern.finditer(name):
            year, _, month, day = match.groups()
            try:
                return datetime(int(year), int(month), int(day), tzinfo=UTC)
            except ValueError:
                continue
    return None
