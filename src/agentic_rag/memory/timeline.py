"""How the value of a slot changes: from all that was said of it to the times in which each value holds; pure.

A slot holds one value at a time. What is said later of a time before (a back-dated saying) is put in its place; nothing is
deleted, and the result depends on the set of sayings alone, not on the order in which they came in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agentic_rag.dates.instants import as_utc
from agentic_rag.domain.identity import entity_key

_ALWAYS = datetime.min.replace(tzinfo=UTC)
"""Since when what has no time at all holds."""


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence that says something of a slot."""

    evidence: str
    """Id of the text it stands in."""
    value: str
    """"" with ``ends``: whatever it was."""
    text: str
    valid_at: datetime | None
    """Since when (with ``ends``: until when) it holds; None: from when it was said."""
    said_at: datetime | None
    order: int
    """Its place among all that was said."""
    ends: bool
    """The value holds no longer."""
    start: int
    end: int

    @property
    def moment(self) -> datetime:
        """From which it counts, in UTC."""
        moment = self.valid_at or self.said_at
        return _ALWAYS if moment is None else as_utc(moment)

    @property
    def place(self) -> tuple[datetime, datetime, int, int, str]:
        """Total order: what counts from the same moment is in the order in which it was said, so that the later wins."""
        said = _ALWAYS if self.said_at is None else as_utc(self.said_at)
        return self.moment, said, self.order, self.start, entity_key(self.value)


@dataclass(frozen=True, slots=True)
class ValueInterval:
    """The time in which a value holds: valid_at ≤ t < invalid_at; a missing bound is open."""

    value: str
    text: str
    """The sentence that said so last."""
    valid_at: datetime | None
    invalid_at: datetime | None
    """Equal to ``valid_at`` where something else was said of the same moment later: it never held."""
    said: tuple[Said, ...]
    """All that says so, in the order in which it was said."""

    @property
    def first(self) -> Said:
        """What said so first: the interval's identity, as long as that is not forgotten."""
        return self.said[0]

    @property
    def last(self) -> Said:
        """What said so last."""
        return self.said[-1]

    def holds(self, at: datetime) -> bool:
        """Whether the value holds at a moment."""
        begins = self.valid_at is None or as_utc(self.valid_at) <= as_utc(at)
        return begins and (self.invalid_at is None or as_utc(at) < as_utc(self.invalid_at))


@dataclass(slots=True)
class _OpenValue:
    """The interval that holds so far."""

    value: str
    since: datetime
    said: list[Said] = field(default_factory=list)

    def closed(self, until: datetime | None) -> ValueInterval:
        said = tuple(sorted(self.said, key=lambda one: (one.order, one.start)))
        since = None if self.since == _ALWAYS else self.since
        return ValueInterval(said[-1].value, said[-1].text, since, until, said)


def intervals(said: Iterable[Said]) -> tuple[ValueInterval, ...]:
    """The values of a slot, by time, none overlapping another.

    A value holds until another one is said, or until it is said to hold no longer; said again while it holds, it stays
    one interval with more evidence. What ends a value that does not hold changes nothing.
    """
    found: list[ValueInterval] = []
    current: _OpenValue | None = None
    for one in sorted(said, key=lambda saying: saying.place):
        same = current is not None and current.value == entity_key(one.value)
        if current is not None and not one.ends and same:
            current.said.append(one)
        elif current is not None and (not one.ends or same or not one.value):
            found.append(current.closed(one.moment))
            current = None
        if current is None and not one.ends:
            current = _OpenValue(entity_key(one.value), one.moment, [one])
    return (*found, *([current.closed(None)] if current is not None else ()))


def current(values: Sequence[ValueInterval], at: datetime) -> ValueInterval | None:
    """The interval that holds at a moment; None where none does."""
    return next((one for one in values if one.holds(at)), None)
