"""How old the memories are when the question is asked; the wall clock says nothing about that."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.instants import moment_of
from agentic_rag.memory.operators.post_retrieval.items import Items
from agentic_rag.memory.operators.post_retrieval.outcome import Request, told


@dataclass(frozen=True, slots=True)
class Ages:
    """Of memories, in their order."""

    hours: tuple[float | None, ...]
    """At least 0: what is later than the question has no age. None where no time is known."""
    reason: str | None
    """From when ages count, where the request does not say it, and how many have none."""
    degraded: bool
    """No memory has an age, or the request's time cannot be read."""


def ages(items: Items, request: Request, time_field: str) -> Ages:
    """Hours from each memory's time to the request's, or to the newest memory's where it has none."""
    times = [item.get_timestamp(time_field) for item in items]
    known = [moment for moment in times if moment is not None]
    if not known:
        return Ages((None,) * len(items), f"no memory has an ISO 8601 time in metadata {time_field!r}", True)
    given = moment_of(request.reference_time)
    now = max(known) if given is None else given
    missing = len(times) - len(known)
    reason = told(
        None if given is not None else _unread(request.reference_time, now.isoformat()),
        f"{missing} of {len(items)} memories have no ISO 8601 time in metadata {time_field!r}"
        if missing
        else None,
    )
    hours = tuple(
        None if moment is None else max(0.0, (now - moment).total_seconds() / 3600) for moment in times
    )
    return Ages(hours, reason, degraded=given is None and request.reference_time is not None)


def _unread(given: str | None, newest: str) -> str:
    fault = "there is no reference_time" if given is None else f"reference_time {given!r:.40} is not ISO 8601"
    return f"{fault}, so ages count from the newest memory's ({newest})"
