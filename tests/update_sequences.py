"""Generated conversations in which facts change, with the truth at every moment, computed without the product.

Each sequence is what one or two users said, when, and what of it holds as of moments on both sides of every change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

KINDS = (
    "same slot",
    "other slot",
    "other person",
    "relative",
    "other dataset",
    "back-dated",
    "contradicted",
    "restored",
    "repeated",
    "ended",
)
DAY = timedelta(days=1)
MOMENT = timedelta(seconds=1)
START = datetime(2024, 1, 1, 9, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Told:
    """One message."""

    user_id: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Holds:
    """What is true of a slot at a moment: ``value``, or None where nothing is known to hold."""

    user_id: str
    subject: str
    slot: str
    at: datetime
    value: str | None


@dataclass(frozen=True, slots=True)
class UpdateSequence:
    """``told`` in the order in which it is said; ``holds`` is the whole truth after all of it."""

    kind: str
    told: tuple[Told, ...]
    holds: tuple[Holds, ...]


@dataclass(frozen=True, slots=True)
class _Slot:
    """A slot and how it is spoken of; ``{v}`` is the value, ``{d}`` a date."""

    name: str
    values: tuple[str, ...]
    states: tuple[str, ...]
    dated: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    of_sister: tuple[str, ...] = ()
    distractors: tuple[str, ...] = ()
    chinese: bool = False


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))


_SLOTS = (
    _Slot(
        "lives in",
        _listed("Oslo | Bergen | New York | Rio de Janeiro | Tromsø | Kyoto | East Janethaven | San Francisco | Leeds | Ghent"),
        _listed("I live in {v}. | I moved to {v}. | I just moved to {v}, so can you find me a gym? | We relocated to {v}. | Update: I'm living in {v} now. | I now live in {v}, and the weather is great."),
        _listed("I moved to {v} on {d}. | I've lived in {v} since {d}. | On {d} I moved to {v}."),
        _listed("I don't live in {v} anymore. | I moved out of {v}. | I no longer live in {v}."),
        _listed("My sister lives in {v}. | My sister moved to {v}."),
        _listed("I might move to {v}. | I would like to live in {v}. | If I moved to {v}, I'd be happy. | Do you think I should move to {v}? | I used to live in {v}. | I visited {v}. | My cousin moved to {v}. | She said \"I live in {v}.\" | I almost moved to {v}. | I never lived in {v}. | I'm thinking of moving to {v}."),
    ),
    _Slot(
        "employer",
        _listed("Acme | Globex | Initech | Umbrella Corp | Stark Industries | Hooli | the University of Oslo".replace("the ", "")),
        _listed("I work at {v}. | I started a new job at {v}. | I'm working for {v} now. | I changed jobs to {v}. | I now work at {v}, what should I wear?"),
        _listed("I've worked at {v} since {d}. | I started working at {v} on {d}."),
        _listed("I no longer work at {v}. | I left {v}. | I quit my job at {v}. | I don't work for {v} anymore."),
        _listed("My sister works at {v}. | My sister is working for {v}."),
        _listed("I want to work at {v}. | I used to work at {v}. | What if I worked at {v}? | I applied to {v}. | My friend works at {v}. | I'd love to work for {v}. | I also work at {v} on weekends."),
    ),
    _Slot(
        "favourite colour",
        _listed("green | blue | dark red | yellow | turquoise"),
        _listed("My favourite colour is {v}. | My favourite colour is now {v}. | Actually, my favourite colour is {v}."),
        ends=_listed("My favourite colour is no longer {v}. | My favourite colour isn't {v}."),
        of_sister=_listed("My sister's favourite colour is {v}."),
        distractors=_listed("I like {v}. | Is my favourite colour {v}? | My bike is {v}. | I painted the door {v}."),
    ),
    _Slot(
        "deadline for the report",
        _listed("May 10 | June 1 | July 15 | August 3 | Friday"),
        _listed("My deadline for the report is {v}. | My deadline for the report is now {v}. | My deadline for the report has been moved to {v}. | The deadline for the report is {v}."),
        ends=_listed("My deadline for the report is no longer {v}."),
        of_sister=_listed("My sister's deadline for the report is {v}."),
        distractors=_listed("My deadline for the essay is {v}. | Could the deadline for the report be {v}? | The meeting is on {v}."),
    ),
    _Slot(
        "budget",
        _listed("500 euros | 750 euros | $1,200 | 900 euros | 2000 kroner"),
        _listed("My budget is {v}. | My budget is {v} now. | My budget has been increased to {v}. | The budget is {v} now."),
        ends=_listed("My budget is not {v}."),
        of_sister=_listed("My sister's budget is {v}."),
        distractors=_listed("My rent is {v}. | My budget was {v}. | My budget for the trip is {v}. | The flight costs {v}."),
    ),
    _Slot(
        "dog's name",
        _listed("Rex | Bella | Max | Luna | Mr Biscuit"),
        _listed("My dog's name is {v}. | My dog's name is now {v}."),
        of_sister=_listed("My sister's dog's name is {v}."),
        distractors=_listed("My cat's name is {v}. | I know a dog called {v}. | I met {v} today."),
    ),
    _Slot(
        "marital status",
        _listed("married | single | divorced | engaged"),
        _listed("I'm {v}. | I am {v} now."),
        ends=_listed("I'm not {v} anymore. | I'm no longer {v}."),
        of_sister=_listed("My sister is {v}."),
        distractors=_listed("Alice is {v}. | If I were {v}, I'd travel. | Am I {v}?"),
    ),
    _Slot(
        "phone number",
        _listed("555 123 456 | 555 987 654 | +47 22 33 44 55 | 555-000-111"),
        _listed("My phone number is {v}. | My new phone number is {v}. | My phone number changed to {v}."),
        of_sister=_listed("My sister's phone number is {v}."),
        distractors=_listed("My old phone number was {v}. | The office number is {v}."),
    ),
    _Slot(
        "lives in",
        _listed("奥斯陆 | 卑尔根 | 上海 | 京都 | 成都 | 广州"),
        _listed("我住在{v}。 | 我搬到了{v}。 | 我现在住在{v}。 | 对了，我搬到{v}了。"),
        _listed("我{d}搬到了{v}。"),
        _listed("我已经不住在{v}了。 | 我不住在{v}了。 | 我搬离了{v}。"),
        _listed("我妹妹住在{v}。 | 我妹妹搬到了{v}。"),
        _listed("我想搬到{v}。 | 如果我搬到{v}，我会很开心。 | 我以前住在{v}。 | 他搬到了{v}。 | 我住在{v}吗？ | 我去过{v}。"),
        chinese=True,
    ),
    _Slot(
        "最喜欢的颜色",
        _listed("蓝色 | 绿色 | 红色 | 黄色"),
        _listed("我最喜欢的颜色是{v}。 | 我最喜欢的颜色变成{v}了。 | 我最喜欢的颜色现在是{v}。"),
        of_sister=_listed("我妹妹最喜欢的颜色是{v}。"),
        distractors=_listed("我喜欢{v}。 | 他最喜欢的颜色是{v}。"),
        chinese=True,
    ),
)  # fmt: skip
_SPEAKERS = ("Anna", "Ben", "Caroline", "Dmitri", "user", "李雷")

_Event = tuple[datetime, str | None]
"""From when what holds."""


class _Builder:
    def __init__(self, kind: str, dice: Random) -> None:
        self.kind, self.dice = kind, dice
        self.now = START + dice.randrange(300) * DAY
        self.told: list[Told] = []
        self.events: dict[tuple[str, str, str], list[_Event]] = {}
        self.users = tuple(f"{name}-{dice.randrange(10**6)}" for name in ("one", "two"))

    def say(self, text: str, speaker: str, user: int = 0) -> datetime:
        self.told.append(Told(self.users[user], speaker, text, self.now))
        return self.now

    def later(self) -> None:
        self.now += self.dice.randrange(2, 60) * DAY + self.dice.randrange(1, 20_000) * MOMENT

    def true(self, subject: str, slot: str, since: datetime, value: str | None, user: int = 0) -> None:
        self.events.setdefault((self.users[user], subject, slot), []).append((since, value))

    def state(self, slot: _Slot, value: str, speaker: str, user: int = 0) -> None:
        """Say it, alone or in one message with what says nothing of now, or with that in a message of its own."""
        text = self.dice.choice(slot.states).format(v=value)
        beside = self.distractor(slot)
        place = self.dice.choice(("before", "behind", "later", "nowhere"))
        text = {"before": f"{beside} {text}", "behind": f"{text} {beside}"}.get(place, text).strip()
        self.true(speaker, slot.name, self.say(text, speaker, user), value, user)
        if place == "later" and beside:
            self.now += self.dice.randrange(1, 3600) * MOMENT
            self.say(beside, speaker, user)
        self.later()

    def distractor(self, slot: _Slot) -> str:
        """Of the slot and its values, and yet no fact of the speaker's now; "" where the slot has none."""
        if not slot.distractors:
            return ""
        return self.dice.choice(slot.distractors).format(v=self.dice.choice(slot.values))

    def values(self, slot: _Slot, count: int) -> list[str]:
        return self.dice.sample(slot.values, min(count, len(slot.values)))

    def sequence(self) -> UpdateSequence:
        holds: list[Holds] = []
        for (user, subject, slot), events in self.events.items():
            ordered = sorted(events, key=lambda event: event[0])
            value: str | None = None
            for moment, following in ordered:
                holds.append(Holds(user, subject, slot, moment - MOMENT, value))
                holds.append(Holds(user, subject, slot, moment, following))
                value = following
            holds.append(Holds(user, subject, slot, self.now + 1000 * DAY, value))
        return UpdateSequence(self.kind, tuple(self.told), tuple(holds))


def _same_slot(build: _Builder, speaker: str) -> None:
    slot = build.dice.choice(_SLOTS)
    for value in build.values(slot, build.dice.randrange(2, 5)):
        build.state(slot, value, speaker)


def _other_slot(build: _Builder, speaker: str) -> None:
    one, two = build.dice.sample(_SLOTS[:8], 2)
    for value, other in zip(build.values(one, 3), build.values(two, 3), strict=True):
        build.state(one, value, speaker)
        build.state(two, other, speaker)


def _other_person(build: _Builder, speaker: str) -> None:
    slot = build.dice.choice(_SLOTS)
    other = build.dice.choice([name for name in _SPEAKERS if name != speaker])
    for index, value in enumerate(build.values(slot, 4)):
        build.state(slot, value, (speaker, other)[index % 2])


def _relative(build: _Builder, speaker: str) -> None:
    slot = build.dice.choice([slot for slot in _SLOTS if slot.of_sister])
    sister = f"{speaker}的妹妹" if slot.chinese else f"{speaker}'s sister"
    first, second, third = build.values(slot, 3)
    build.state(slot, first, speaker)
    for value in (second, third):
        text = build.dice.choice(slot.of_sister).format(v=value)
        build.true(sister, slot.name, build.say(text, speaker), value)
        build.later()


def _other_dataset(build: _Builder, speaker: str) -> None:
    slot = build.dice.choice(_SLOTS)
    for index, value in enumerate(build.values(slot, 4)):
        build.state(slot, value, speaker, index % 2)


def _back_dated(build: _Builder, speaker: str) -> None:
    slot = build.dice.choice([slot for slot in _SLOTS if slot.dated])
    first, second, third = build.values(slot, 3)
    build.state(slot, first, speaker)
    build.now += 30 * DAY
    between = build.now.replace(hour=0, minute=0, second=0)
    build.now += 30 * DAY
    build.state(slot, second, speaker)
    before = START.replace(hour=0, minute=0) - build.dice.randrange(20, 900) * DAY
    for moment in build.dice.sample([between, before], build.dice.randrange(1, 3)):
        written = (
            f"{moment.year}年{moment.month}月{moment.day}日"
            if slot.chinese
            else f"{moment:%B} {moment.day}, {moment.year}"
        )
        build.say(build.dice.choice(slot.dated).format(v=third, d=written), speaker)
        build.true(speaker, slot.name, moment, third)
        build.later()


def _contradicted(build: _Builder, speaker: str) -> None:
    slot = build.dice.choice(_SLOTS)
    first, second, third = build.values(slot, 3)
    build.state(slot, first, speaker)
    at = build.say(build.dice.choice(slot.states).format(v=second), speaker)
    build.say(build.dice.choice(slot.states).format(v=third), speaker)
    build.true(speaker, slot.name, at, third)
    build.later()


def _restored(build: _Builder, speaker: str) -> None:
    slot = build.dice.choice(_SLOTS)
    first, second = build.values(slot, 2)
    for value in (first, second, first):
        build.state(slot, value, speaker)


def _repeated(build: _Builder, speaker: str) -> None:
    slot = build.dice.choice(_SLOTS)
    first, second = build.values(slot, 2)
    for value in (first, first, second, second):
        build.state(slot, value, speaker)


def _ended(build: _Builder, speaker: str) -> None:
    slot = build.dice.choice([slot for slot in _SLOTS if slot.ends])
    first, second, third = build.values(slot, 3)
    build.state(slot, first, speaker)
    build.state(slot, second, speaker)
    build.say(build.dice.choice(slot.ends).format(v=first), speaker)
    build.later()
    build.true(speaker, slot.name, build.say(build.dice.choice(slot.ends).format(v=second), speaker), None)
    build.later()
    if build.dice.random() < 0.5:
        build.state(slot, third, speaker)


_MAKE: dict[str, Callable[[_Builder, str], None]] = {
    "same slot": _same_slot,
    "other slot": _other_slot,
    "other person": _other_person,
    "relative": _relative,
    "other dataset": _other_dataset,
    "back-dated": _back_dated,
    "contradicted": _contradicted,
    "restored": _restored,
    "repeated": _repeated,
    "ended": _ended,
}


def update_sequences(count: int, seed: int = 0) -> Sequence[UpdateSequence]:
    """That many sequences, of each kind equally many; the same seed gives the same ones."""
    dice = Random(seed)
    made = []
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        build = _Builder(kind, dice)
        _MAKE[kind](build, dice.choice(_SPEAKERS))
        made.append(build.sequence())
    return made
