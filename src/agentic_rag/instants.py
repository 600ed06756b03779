"""Moments as people write them: ISO 8601 dates and times, in UTC where no zone is given."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from agentic_rag.errors import InputError


def parse_as_of(text: str | None) -> datetime | None:
    """``as_of`` as a moment; a bare date means its end, in UTC.

    Raises:
        InputError: not ISO 8601.
    """
    if text is None:
        return None
    try:
        if len(text) <= 10:
            return datetime.combine(date.fromisoformat(text), time.max, tzinfo=UTC)
        moment = datetime.fromisoformat(text)
    except (ValueError, TypeError) as error:
        raise InputError(f"as_of must be an ISO date or time such as 2024-06-30, not {text!r}") from error
    return as_utc(moment)


def as_utc(moment: datetime) -> datetime:
    """The same moment in UTC; one without a zone is UTC already.

    Raises:
        InputError: in UTC it lies outside the years 1 to 9999.
    """
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError as error:
        raise InputError(f"{moment.isoformat()} is outside the years 1 to 9999 in UTC") from error
