"""Values as metadata holds them: JSON only, valid Unicode, dates as ISO text; and the date of a note by its properties."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from typing import Any

from agentic_rag.dates.reading import moment_in

DATE_KEYS = ("date", "created", "published", "start")
"""Property names that say when a document is from; the first one with a readable date counts."""

_MAX_DEPTH = 32
_MAX_VALUES = 20_000
_SURROGATES = re.compile("[\ud800-\udfff]")
_DROP = object()


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
    return None if converted is _DROP else converted


def _convert(value: object, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if depth > _MAX_DEPTH or budget[0] < 0:
        raise ValueError("values nested too deeply, or too many of them")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return valid_unicode(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else _DROP
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Mapping):
        pairs = [(_key_text(key), _convert(member, depth + 1, budget)) for key, member in value.items()]
        return {key: member for key, member in pairs if member is not _DROP}
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        members = [_convert(member, depth + 1, budget) for member in value]
        return [member for member in members if member is not _DROP]
    return _DROP


def _key_text(key: object) -> str:
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, date | time):
        return key.isoformat()
    return valid_unicode(str(key))


def read_date(value: object) -> datetime | None:
    """The first date in a property's value, in UTC: ``2023-09-12``, with or without a time, ``March 15th, 2024``.

    A month or week is its first day; a year alone is no date.
    """
    if isinstance(value, list):
        return next((found for found in map(read_date, value) if found is not None), None)
    return moment_in(value) if isinstance(value, str) else None


def metadata_date(metadata: Mapping[str, Any]) -> datetime | None:
    """The document's date by its properties, the keys of ``DATE_KEYS`` in that order, in any case."""
    folded: dict[str, object] = {}
    for key, value in metadata.items():
        folded.setdefault(key.casefold(), value)
    return next((found for key in DATE_KEYS if (found := read_date(folded.get(key))) is not None), None)
