"""Checks remembered facts: generated histories of facts in the real stores, compared with an independent oracle.

    python evaluation/bench_memory.py [--quick] [--keep DIR] [--verbose] [--json FILE]

A history is told as sentences through ``remember`` if the rules can read its kinds of sentence, tested on values that
occur in no history; otherwise as facts through the semantic agent. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.identity import entity_key
from agentic_rag.errors import StoreError
from agentic_rag.memory.reading.statements import statements
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy, TaskRequest
from agentic_rag.testing import HashingEmbedding
from figures import Row, data_folder, options, report, row
from memory_histories import FAMILIES, FORMS, Event, Family, History, changes, histories, value_at

HISTORIES, QUICK_HISTORIES = 1_000, 33
SEED = 28
AT_ONCE = 4
"""Users processed concurrently."""
SECOND = timedelta(seconds=1)
_DAY = datetime(2021, 6, 1, 9, tzinfo=UTC)
_PROBED = Event(0, "Ada Probe", FAMILIES[0], "", datetime(2021, 3, 4, tzinfo=UTC), _DAY, "state")


@dataclass(slots=True)
class Errors:
    """Descriptions of errors by kind, and numbers of checks."""

    wrong: dict[str, list[str]] = field(default_factory=dict)
    looked: Counter[str] = field(default_factory=Counter)

    def check(self, kind: str, what: str, *, right: bool) -> None:
        """Record one check."""
        self.looked[kind] += 1
        if not right:
            self.wrong.setdefault(kind, []).append(what)

    def row(self, kind: str) -> Row:
        """Number of errors of a kind; the floor is 0."""
        return row(f"{kind} (of {self.looked[kind]})", "", len(self.wrong.get(kind, ())), floor=0)


RETIRED, STALE, TWICE = "facts wrongly retired", "stale facts given as current", "facts given twice"
SEARCHED, AS_OF = "searches that give a stale fact", "as-of searches that are wrong"


def readable(family: Family, form: str) -> bool:
    """Whether the rules read this kind of sentence."""
    if form in ("other", "nothing"):
        return True
    valid_at = _PROBED.valid_at if form == "dated" else _DAY
    event = Event(0, _PROBED.person, family, family.probe, valid_at, _DAY, form, before="Lagos")
    return any(
        one.slot is not None
        and family.probe in (one.value or "")
        and one.ends == (form == "ends")
        and (form != "dated" or (one.valid_at is not None and one.valid_at.date() == valid_at.date()))
        for one in statements(event.text, speaker=event.person, at=_DAY)
    )


async def told(rag: Rag, event: Event) -> None:
    """Tell an event as a sentence of the person."""
    await rag.memory.remember(
        event.text, user_id(event.user), at=event.said_at, metadata={"speaker": event.person}
    )


async def inserted(rag: Rag, event: Event) -> None:
    """Insert an event as a fact, as another person's fact, or as one without a slot."""
    subject = f"Quist {event.person}" if event.form == "other" else event.person
    given = {
        "user_id": user_id(event.user),
        "content": f"{subject}: {event.text}",
        "subject": subject,
        "at": event.said_at,
    }
    if event.form != "nothing":
        fact = {"slot": event.family.slot, "value": event.value, "valid_at": event.valid_at}
        given |= {**fact, "ends": event.form == "ends"}
    agent = rag.memory.agents[MemoryType.SEMANTIC]
    response = await agent.execute_task(TaskRequest("insert", given, timeout_ms=None))
    if not response.success:
        raise StoreError(f"{event.text!r} was not stored: {response.error}")


def user_id(number: int) -> str:
    """Of the generator's user."""
    return f"teller {number}"


async def stored(rag: Rag, every: Sequence[History]) -> int:
    """Tell all histories, those of a user sequentially; returns the number told as sentences."""
    reads = {(family.slot, form): readable(family, form) for family in FAMILIES for form in FORMS}
    work: dict[int, list[tuple[Event, bool]]] = {}
    as_sentences = 0
    for history in every:
        by_words = all(reads[event.family.slot, event.form] for event in history.events)
        as_sentences += by_words
        for event in history.events:
            work.setdefault(event.user, []).append((event, by_words))
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(events: Sequence[tuple[Event, bool]]) -> None:
        async with turn:
            for event, by_words in events:
                await (told if by_words else inserted)(rag, event)

    await asyncio.gather(*map(one, work.values()))
    return as_sentences


def values_in(family: Family, person: str, facts: Iterable[Mapping[str, Any]]) -> list[str]:
    """The family's values in those facts of this person that have a slot."""
    own = (
        str(one.get("value"))
        for one in facts
        if one.get("slot") is not None and entity_key(str(one.get("subject"))) == entity_key(person)
    )
    found = (next((value for value in family.values if value in text), None) for text in own)
    return [one for one in found if one is not None]


async def listed_rightly(rag: Rag, user: int, events: Sequence[Event], errors: Errors) -> None:
    """Check every slot of a user, by the list of current facts."""
    current = await rag.memory.list(user_id(user))
    facts = [record for record in current if record.memory_type is MemoryType.SEMANTIC]
    now = datetime.now(UTC)
    by_key = {event.key: event.family for event in events if event.user == user and event.counts}
    for key, family in by_key.items():
        expected = value_at(events, key, now)
        given = values_in(family, key[1], (one.details for one in facts))
        every = set(values_in(family, key[1], (one.details for one in current)))
        what = f"{key}: {expected} expected, {sorted(every)} given"
        if expected is not None:
            errors.check(RETIRED, what, right=expected in given)
        errors.check(STALE, what, right=every <= {expected})
        errors.check(TWICE, what, right=len(given) <= 1)


async def searched_rightly(rag: Rag, history: History, events: Sequence[Event], errors: Errors) -> None:
    """Check a history's slot, by searches now and on both sides of each change."""
    user, person, _ = history.key
    family = history.events[0].family
    expected = value_at(events, history.key, datetime.now(UTC))
    response = await rag.memory.search(family.question.format(person), user_id(user))
    found = set(values_in(family, person, (one.metadata for one in response.memories)))
    what = f"{history.kind} {history.key}: {expected} expected, {sorted(found)} found"
    errors.check(SEARCHED, what, right=found <= {expected})
    words = " ".join(family.values)
    for change in changes(events, history.key):
        for moment in (change - SECOND, change + SECOND):
            response = await rag.memory.search(
                words,
                user_id(user),
                max_results=300,
                context={"as_of": moment.isoformat()},
                memory_types=[MemoryType.SEMANTIC],
                strategy=RetrievalStrategy.STRING_MATCH,
            )
            found = set(values_in(family, person, (one.metadata for one in response.memories)))
            held = value_at(events, history.key, moment)
            what = f"{history.kind} {history.key} at {moment}: {held} expected, {sorted(found)} found"
            errors.check(AS_OF, what, right=found == (set() if held is None else {held}))


async def run(keep: Path | None, *, quick: bool, verbose: bool) -> list[Row]:
    """All rows."""
    every = list(histories(QUICK_HISTORIES if quick else HISTORIES, SEED))
    by_user: dict[int, list[Event]] = {}
    for event in (event for history in every for event in history.events):
        by_user.setdefault(event.user, []).append(event)
    errors = Errors()
    with data_folder(keep and keep / f"truth-{len(every)}") as folder:
        async with open_rag(RagConfig(data_dir=folder), embedding=HashingEmbedding(384)) as rag:
            started = time.perf_counter()
            as_sentences = await stored(rag, every)
            seconds = time.perf_counter() - started
            print(f"{sum(map(len, by_user.values()))} statements told in {seconds:.0f} s", file=sys.stderr)
            for user, events in by_user.items():
                await listed_rightly(rag, user, events, errors)
            for history in every:
                await searched_rightly(rag, history, by_user[history.key[0]], errors)
    if verbose:
        for kind, wrong in errors.wrong.items():
            print(*(f"{kind}: {one}" for one in wrong), sep="\n")
    told_as = row(f"of {len(every)} histories, told as sentences", "", as_sentences)
    return [told_as, *map(errors.row, (RETIRED, STALE, TWICE, SEARCHED, AS_OF))]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, "fewer histories")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="data folder that is kept for the next run")
    parser.add_argument("--verbose", action="store_true", help="print every failing history")
    given = parser.parse_args(arguments)
    rows = asyncio.run(run(given.keep, quick=given.quick, verbose=given.verbose))
    return report("memory of users", rows, given.json)


if __name__ == "__main__":
    sys.exit(main())
