"""LanceDB predicates, built from values only; pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from agentic_rag.dates.instants import as_utc


def quote(text: str) -> str:
    """A SQL string literal; exact for every text without a NUL."""
    return "'" + text.replace("'", "''") + "'"


def is_one_of(column: str, texts: Iterable[str]) -> str:
    """``column`` is one of the texts, at least one."""
    return f"{column} IN ({', '.join(map(quote, texts))})"


def timestamp(moment: datetime) -> str:
    """A timestamp literal in UTC, to the microsecond; a moment without a zone is UTC already."""
    return f"TIMESTAMP {quote(as_utc(moment).replace(tzinfo=None).isoformat(timespec='microseconds') + 'Z')}"


def not_after(column: str, moment: datetime) -> str:
    """The date is not after the moment, or there is none."""
    return f"({column} IS NULL OR {column} <= {timestamp(moment)})"
