"""Validity intervals of the values of one slot of one subject, from all statements about it; nothing is stored.

A slot has one value at a time. The intervals are computed from the whole set of statements, so their order of arrival
makes no difference, and forgetting a statement means leaving it out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from agentic_rag.dates.instants import as_utc
from agentic_rag.domain.identity import digest, entity_key

BEGINNING = datetime.min.replace(tzinfo=UTC)
"""Before any moment: the end of an overruled interval whose start is unknown."""


@dataclass(frozen=True, slots=True)
class SlotEvidence:
    """One statement about the slot."""

    evidence: str
    """Id of the message with the statement."""
    value: str
    """As written. For a statement that ends a value: that value, or "" for any earlier value."""
    text: str
    """The statement, verbatim."""
    valid_at: datetime | None
    """Stated start of validity (end, for a statement that ends a value); without a zone in UTC."""
    said_at: datetime | None
    order: int
    """Order number; decides among statements of the same instant."""
    ends: bool
    start: int
    end: int
    """Position of ``text`` in the message, in code points."""

    @property
    def moment(self) -> datetime:
        """The instant from which it counts: ``valid_at``, else ``said_at``, else the beginning of time; in UTC."""
        known = self.valid_at if self.valid_at is not None else self.said_at
        return BEGINNING if known is None else as_utc(known)

    @property
    def sort_key(self) -> tuple[datetime, int, str, int, int, tuple[str, ...]]:
        """Sort key by the time of the statement; total, so that the input order decides nothing."""
        said_at = BEGINNING if self.said_at is None else as_utc(self.said_at)
        rest = (self.value, self.text, str(self.ends), str(self.valid_at), str(self.said_at))
        return said_at, self.order, self.evidence, self.start, self.end, rest

    @property
    def key(self) -> str:
        """Identity of the value; case, width and white space are ignored."""
        return entity_key(self.value)


@dataclass(frozen=True, slots=True)
class ValueInterval:
    """One value and its validity interval."""

    value: str
    text: str
    """From the first statement, as ``value``."""
    valid_at: datetime | None
    """Inclusive, UTC; None if no statement has a date."""
    invalid_at: datetime | None
    """Exclusive, UTC; None while the value holds. Equal to ``valid_at`` (``BEGINNING`` if that is None) if another
    value overruled it from its start."""
    evidence: tuple[SlotEvidence, ...]
    """All statements of the value, in order; at least one."""

    @property
    def is_overruled(self) -> bool:
        """Whether the value never held."""
        return self.invalid_at == (BEGINNING if self.valid_at is None else self.valid_at)


def intervals(evidence: Iterable[SlotEvidence]) -> tuple[ValueInterval, ...]:
    """The intervals of a slot, by time; those of values that held do not overlap.

    An interval ends where another value begins or where a statement ends its value. A repeated statement of a
    value that still holds joins its interval. Of two values at one instant the later stated one holds; the others
    are kept as overruled.

    Args:
        evidence: statements about one slot of one subject; a repeated statement counts once.

    Raises:
        InputError: an instant is outside the years 1 to 9999 in UTC.
    """
    moments: defaultdict[datetime, set[SlotEvidence]] = defaultdict(set)
    for saying in evidence:
        moments[saying.moment].add(saying)
    found: list[ValueInterval] = []
    holding: list[SlotEvidence] = []
    for moment in sorted(moments):
        group = sorted(moments[moment], key=lambda saying: saying.sort_key)
        before = holding[0].key if holding else None
        standing = _standing(before, group)
        values = _by_value(group)
        joining = [] if before is None else values.get(before, [])
        if holding and standing != before:
            found.append(_interval([*holding, *joining], moment))
        overruled = values.keys() - {before, standing}
        found += [_interval(values[key], moment) for key in sorted(overruled)]
        if standing == before:
            holding += joining
        else:
            holding = [] if standing is None else values[standing]
    if holding:
        found.append(_interval(holding, None))
    return tuple(sorted(found, key=_by_time))


def id_of(subject: str, slot: str, interval: ValueInterval) -> str:
    """Identity of a fact, by the first of the statements of its value.

    Later statements do not change it, even those with an earlier date. If a later statement splits the interval,
    the part with the first statement keeps the id.
    """
    first = interval.evidence[0]
    return digest("fact", entity_key(subject), entity_key(slot), first.key, first.evidence, str(first.start))


def _standing(before: str | None, group: Sequence[SlotEvidence]) -> str | None:
    """Key of the value that holds from an instant on: the last of those that held before or begin here and do not end.

    A statement that ends any earlier value ends only a value from before, not one stated at the same instant.
    """
    whatever = any(saying.ends and not saying.key for saying in group)
    alive = {} if before is None or whatever else {before: None}  # in order of their last statements
    for saying in group:
        key = saying.key
        alive.pop(key, None)
        if not saying.ends:
            alive[key] = None
    return next(reversed(alive), None)


def _by_value(group: Sequence[SlotEvidence]) -> dict[str, list[SlotEvidence]]:
    """The statements that do not end their value, by its key."""
    found: dict[str, list[SlotEvidence]] = {}
    for saying in group:
        if not saying.ends:
            found.setdefault(saying.key, []).append(saying)
    return found


def _interval(evidence: Sequence[SlotEvidence], invalid_at: datetime | None) -> ValueInterval:
    """The interval of statements that are ordered by instant."""
    begins = evidence[0].moment
    spoken = sorted(evidence, key=lambda saying: saying.sort_key)
    valid_at = None if begins == BEGINNING else begins
    return ValueInterval(spoken[0].value, spoken[0].text, valid_at, invalid_at, tuple(spoken))


def _by_time(interval: ValueInterval) -> tuple[datetime, bool, tuple[object, ...]]:
    return interval.valid_at or BEGINNING, not interval.is_overruled, interval.evidence[0].sort_key
