"""Which value of a slot holds at an instant."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agentic_rag.dates.instants import as_utc
from agentic_rag.memory.timeline import ValueInterval


def current(slot_intervals: Sequence[ValueInterval], at: datetime) -> ValueInterval | None:
    """The interval that holds at an instant: ``valid_at`` ≤ ``at`` < ``invalid_at``; None if none does.

    Args:
        slot_intervals: as ``intervals`` gives them.
        at: without a zone in UTC.
    """
    moment = as_utc(at)
    for interval in reversed(slot_intervals):
        begun = interval.valid_at is None or interval.valid_at <= moment
        if begun and (interval.invalid_at is None or moment < interval.invalid_at):
            return interval
    return None
