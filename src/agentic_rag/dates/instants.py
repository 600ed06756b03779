"""ISO 8601 dates and times; without a zone they are UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from agentic_rag.errors import InputError


def parse_as_of(text: str | None) -> datetime | None:
    """``as_of`` as an instant; a bare date means its end, in UTC.

    Raises:
        InputError: not ISO 8601.
    """
    if text is None:
        return None
    try:
        return _read(text, bare=time.max)
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(f"as_of must be an ISO date or time such as 2024-06-30, not {text!r}") from error


def moment_of(value: object) -> datetime | None:
    """An ISO 8601 date (its start) or time as an instant in UTC; without a zone it is UTC; None for any other value.

    >>> moment_of("2023-08-01").isoformat(), moment_of("last Tuesday")
    ('2023-08-01T00:00:00+00:00', None)
    """
    if not isinstance(value, str):
        return None
    try:
        return _read(value.strip(), bare=time.min)
    except ValueError:
        return None


def as_utc(moment: datetime) -> datetime:
    """The same instant in UTC; without a zone it already is UTC.

    Raises:
        InputError: the instant in UTC is outside the years 1 to 9999.
    """
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError as error:
        raise InputError(f"{moment.isoformat()} is outside the years 1 to 9999 in UTC") from error


def _read(text: str, *, bare: time) -> datetime:
    """An ISO date at the time ``bare`` in UTC, or an ISO time; ``ValueError`` for anything else."""
    if len(text) <= len("2023-08-01"):
        return datetime.combine(date.fromisoformat(text), bare, tzinfo=UTC)
    return as_utc(datetime.fromisoformat(text))
