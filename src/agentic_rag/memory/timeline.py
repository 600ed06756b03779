"""When each value of one slot of one subject held, from all that was said of it; nothing is stored between calls.

A slot holds one value at a time. The intervals are computed from the whole set of sayings, so that the order in which
they came in makes no difference, and forgetting one is leaving it out.
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
class Said:
    """One saying about the slot."""

    evidence: str
    """Id of the text that says it."""
    value: str
    """As written. Of a saying that ends: the value that no longer holds, "" for whatever held before."""
    text: str
    """The statement, verbatim."""
    valid_at: datetime | None
    """Since when it holds (of one that ends: until when), where that is stated; without a zone in UTC."""
    said_at: datetime | None
    order: int
    """Of sayings of the same moment the higher was said later."""
    ends: bool
    start: int
    end: int
    """Where ``text`` stands in the evidence, in code points."""

    @property
    def moment(self) -> datetime:
        """From when it counts: ``valid_at``, else ``said_at``, else the beginning of time; in UTC."""
        known = self.valid_at if self.valid_at is not None else self.said_at
        return BEGINNING if known is None else as_utc(known)

    @property
    def spoken(self) -> tuple[datetime, int, str, int, int, tuple[str, ...]]:
        """Sorts sayings by when they were said; total, so that no tie is left to the order they are given in."""
        said_at = BEGINNING if self.said_at is None else as_utc(self.said_at)
        rest = (self.value, self.text, str(self.ends), str(self.valid_at), str(self.said_at))
        return said_at, self.order, self.evidence, self.start, self.end, rest

    @property
    def key(self) -> str:
        """Identity of the value: case, width and white space make no difference."""
        return entity_key(self.value)


@dataclass(frozen=True, slots=True)
class ValueInterval:
    """One value and the time in which it held."""

    value: str
    text: str
    """Of the saying that was made first; so is ``value``."""
    valid_at: datetime | None
    """Inclusive, UTC; None where no saying has a date."""
    invalid_at: datetime | None
    """Exclusive, UTC; None while it holds. Equal to ``valid_at`` (``BEGINNING`` if that is None) if the value was
    overruled at the moment it began."""
    said: tuple[Said, ...]
    """All that state it, in the order in which they were made; at least one."""

    @property
    def overruled(self) -> bool:
        """Whether it never held."""
        return self.invalid_at == (BEGINNING if self.valid_at is None else self.valid_at)


def intervals(said: Iterable[Said]) -> tuple[ValueInterval, ...]:
    """The intervals of a slot, by time; those that held follow each other without overlap.

    An interval ends where another value begins or where a saying ends its value. The same value said again while it
    holds joins its interval. Of two values at one moment the one said later holds; the others are kept, overruled.

    Args:
        said: of one slot of one subject; the same saying twice counts once.

    Raises:
        InputError: a moment lies outside the years 1 to 9999 in UTC.
    """
    moments: defaultdict[datetime, set[Said]] = defaultdict(set)
    for saying in said:
        moments[saying.moment].add(saying)
    found: list[ValueInterval] = []
    holding: list[Said] = []
    for moment in sorted(moments):
        group = sorted(moments[moment], key=lambda saying: saying.spoken)
        before = holding[0].key if holding else None
        standing = _standing(before, group)
        joining = [saying for saying in group if not saying.ends and saying.key == before]
        if holding and standing != before:
            found.append(_interval([*holding, *joining], moment))
        overruled = {saying.key for saying in group if not saying.ends} - {before, standing}
        found += [_interval(values, moment) for key in sorted(overruled) if (values := _of(group, key))]
        if standing == before:
            holding += joining
        else:
            holding = [] if standing is None else _of(group, standing)
    if holding:
        found.append(_interval(holding, None))
    return tuple(sorted(found, key=_by_time))


def current(found: Sequence[ValueInterval], at: datetime) -> ValueInterval | None:
    """The interval that holds at a moment: ``valid_at`` ≤ ``at`` < ``invalid_at``; None where none does.

    Args:
        found: as ``intervals`` gives them.
        at: without a zone in UTC.
    """
    moment = as_utc(at)
    for interval in reversed(found):
        begun = interval.valid_at is None or interval.valid_at <= moment
        if begun and (interval.invalid_at is None or moment < interval.invalid_at):
            return interval
    return None


def id_of(subject: str, slot: str, interval: ValueInterval) -> str:
    """Identity of a fact, by the saying that was made first of those that state it.

    Whatever is said later, also with an earlier date, leaves it as it is, unless it shows that another value held in
    between; then the part with the first saying keeps it.
    """
    first = interval.said[0]
    return digest("fact", entity_key(subject), entity_key(slot), first.key, first.evidence, str(first.start))


def _standing(before: str | None, group: Sequence[Said]) -> str | None:
    """Key of the value that holds from a moment on: the last of those that held before or begin, and do not end.

    A saying that ends "whatever held" ends the earlier value only, not one stated at the same moment.
    """
    whatever = any(saying.ends and not saying.key for saying in group)
    alive = [] if before is None or whatever else [before]
    for saying in group:
        alive = [key for key in alive if key != saying.key]
        if not saying.ends:
            alive.append(saying.key)
    return alive[-1] if alive else None


def _of(group: Sequence[Said], key: str) -> list[Said]:
    return [saying for saying in group if not saying.ends and saying.key == key]


def _interval(said: Sequence[Said], invalid_at: datetime | None) -> ValueInterval:
    """Of what was said, ordered by moment."""
    begins = said[0].moment
    spoken = sorted(said, key=lambda saying: saying.spoken)
    valid_at = None if begins == BEGINNING else begins
    return ValueInterval(spoken[0].value, spoken[0].text, valid_at, invalid_at, tuple(spoken))


def _by_time(interval: ValueInterval) -> tuple[datetime, bool, tuple[object, ...]]:
    return interval.valid_at or BEGINNING, not interval.overruled, interval.said[0].spoken
