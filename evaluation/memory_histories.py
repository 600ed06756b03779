"""Generated histories of facts with the true values at every moment, computed without the product's timeline.

A history consists of messages of several people: values of a slot that change, and statements that must not change them
(another slot, another person, another user, a past change reported late, an end of an ended value). The oracle evaluates the
history for each question: the last change at or before the moment counts. No two changes of one slot are at the same moment.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice

FORMS = ("state", "change", "dated", "ends", "other", "nothing")
"""Forms of a statement: a state; a change; a dated change; an end; another person's; unrelated to the slot."""


@dataclass(frozen=True, slots=True)
class Family:
    """A slot, its values, and its phrases; in ``said``, ``{}`` is the value, ``{before}`` the previous one,
    ``{day}`` a day, ``{friend}`` a name."""

    slot: str
    values: tuple[str, ...]
    probe: str
    """A value that no history has."""
    question: str
    said: dict[str, str]


FAMILIES = (
    Family(
        "home",
        ("Oslo", "Bergen", "Lima", "Kyoto", "Porto", "Tartu", "Izmir", "Accra", "Perth", "Turin"),
        "Quito",
        "Where does {} live?",
        {
            "state": "I live in {}.",
            "change": "I moved from {before} to {}.",
            "dated": "I moved to {} on {day}.",
            "ends": "I no longer live in {}.",
            "other": "My friend {friend} lives in {}.",
            "nothing": "I visited {} last week and liked the harbour.",
        },
    ),
    Family(
        "employer",
        ("Telnorix", "Avantia", "Brightloom", "Corvane", "Deltrigo", "Eastmoor", "Fenwyck", "Galtara"),
        "Hexavia",
        "Where does {} work?",
        {
            "state": "I work at {}.",
            "change": "I started a new job at {}.",
            "dated": "I started working at {} on {day}.",
            "ends": "I no longer work at {}.",
            "other": "My friend {friend} works at {}.",
            "nothing": "I read an article about {} yesterday.",
        },
    ),
    Family(
        "favourite colour",
        ("green", "purple", "orange", "turquoise", "crimson", "silver"),
        "yellow",
        "What is the favourite colour of {}?",
        {
            "state": "My favourite colour is {}.",
            "change": "My favourite colour is now {}.",
            "dated": "Since {day} my favourite colour has been {}.",
            "ends": "My favourite colour is no longer {}.",
            "other": "The favourite colour of my friend {friend} is {}.",
            "nothing": "I painted the fence {} this morning.",
        },
    ),
    Family(
        "name of the dog",
        ("Rex", "Bella", "Milo", "Luna", "Pepper", "Biscuit"),
        "Fido",
        "What is the name of {}'s dog?",
        {
            "state": "My dog's name is {}.",
            "change": "My dog's name is now {}.",
            "dated": "Since {day} my dog's name has been {}.",
            "ends": "My dog's name is no longer {}.",
            "other": "The dog of my friend {friend} is called {}.",
            "nothing": "I met a dog that is called {} in the park.",
        },
    ),
)


@dataclass(frozen=True, slots=True)
class Event:
    """One statement."""

    user: int
    person: str
    family: Family
    value: str
    valid_at: datetime
    said_at: datetime
    form: str
    before: str = ""
    """The previous value, if the form names it."""

    @property
    def text(self) -> str:
        """The statement as text."""
        day = f"{self.valid_at.day} {self.valid_at:%B %Y}"
        friend = f"{self.person.split()[1]} Quist"
        return self.family.said[self.form].format(self.value, before=self.before, day=day, friend=friend)

    @property
    def counts(self) -> bool:
        """Whether it is about the person's slot."""
        return self.form not in ("other", "nothing")

    @property
    def key(self) -> Key:
        return self.user, self.person, self.family.slot


Key = tuple[int, str, str]
"""User, person, slot."""


@dataclass(frozen=True, slots=True)
class History:
    """Statements about one slot of one person, and unrelated ones."""

    kind: str
    events: tuple[Event, ...]

    @property
    def key(self) -> Key:
        """The slot of the history."""
        return self.events[0].key


KINDS: dict[str, tuple[str, ...]] = {
    "changed": ("state", "change", "change"),
    "repeated": ("state", "repeat", "change", "repeat"),
    "other slot": ("state", "*slot", "change", "*slot"),
    "other person": ("state", "*person", "other", "change", "*person"),
    "other user": ("state", "*user", "change", "*user"),
    "back-dated": ("state", "change", "dated", "change"),
    "contradicted": ("state", "ends"),
    "contradicted late": ("state", "change", "ends first"),
    "restored": ("state", "change", "restored"),
    "ended and restored": ("state", "ends", "restored"),
    "nothing said": ("state", "nothing", "change", "nothing"),
}
"""Steps of a history by kind; ``*`` is an unrelated statement."""


def histories(count: int, seed: int, per_user: int = 25) -> Iterator[History]:
    """So many, kind after kind, family after family; the people of each are its own, several histories share a user."""
    chance = random.Random(seed)
    users = max(2, -(-count // per_user))
    for number, kind in enumerate(islice(cycle(KINDS), count)):
        family = FAMILIES[number // len(KINDS) % len(FAMILIES)]
        yield _history(kind, family, number, number % users, users, chance)


def _history(kind: str, family: Family, number: int, user: int, users: int, chance: random.Random) -> History:
    person = f"Ada {_surname(number)}"
    values = iter(chance.sample(family.values, len(family.values)))
    day = datetime(2021, 1, 5, 9, tzinfo=UTC) + timedelta(days=chance.randrange(300))
    events: list[Event] = []
    for step in KINDS[kind]:
        day += timedelta(days=chance.randint(10, 90), minutes=chance.randint(1, 300))
        events.append(
            _event(step, events, Event(user, person, family, "", day, day, "state"), values, users, chance)
        )
    return History(kind, tuple(events))


def _event(
    step: str, before: Sequence[Event], bare: Event, values: Iterator[str], users: int, chance: random.Random
) -> Event:
    own = [event for event in before if event.key == bare.key and event.counts]
    user, person, family, day = bare.user, bare.person, bare.family, bare.said_at

    def said(value: str, form: str, valid_at: datetime = day, *, to: int = user, by: str = person) -> Event:
        return Event(to, by, family, value, valid_at, day, form)

    match step:
        case "repeat":
            return said(own[-1].value, "state")
        case "*slot":
            family = chance.choice([one for one in FAMILIES if one is not family])
            return said(chance.choice(family.values), "state")
        case "*person":
            return said(next(values), "state", by=f"Eve {person.split()[1]}")
        case "*user":
            return said(next(values), "state", to=(user + 1) % users)
        case "dated":
            # A day between two changes, told after both, at its beginning, because the sentence has no time of day.
            between = own[0].valid_at + (own[1].valid_at - own[0].valid_at) / 2
            return said(next(values), "dated", between.replace(hour=0, minute=0, second=0, microsecond=0))
        case "ends":
            return said(own[-1].value, "ends")
        case "ends first":
            return said(own[0].value, "ends")
        case "restored":
            return said(own[0].value, "state")
        case _:
            held = value_at(before, bare.key, day)
            return replace(said(next(values), step), before=held or "")


def _surname(number: int) -> str:
    """A unique name for each number; letters only."""
    return "".join(
        "bdfgklmnrt"[int(digit)] + "aeiou"[int(digit) % 5] for digit in f"{number:04d}"
    ).capitalize()


def value_at(events: Sequence[Event], key: Key, moment: datetime) -> str | None:
    """The oracle: the value of a slot at a moment, by all statements about it."""
    told = [event for event in events if event.key == key and event.counts and event.valid_at <= moment]
    held: str | None = None
    for event in sorted(told, key=lambda event: event.valid_at):
        if event.form != "ends":
            held = event.value
        elif held == event.value:
            held = None
    return held


def changes(events: Sequence[Event], key: Key) -> list[datetime]:
    """The moments of all statements about a slot."""
    return sorted({event.valid_at for event in events if event.key == key and event.counts})
