"""Checks preferences that turn, and questions about the past, compared with an oracle of their own; bundled model.

Generated are sequences of likes and dislikes of a thing, in changing words, and people whose home, employer, favourites
and likings change. Each is made from two seeds: the rules were written on the first half, the rows are the second.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.memory.records import MemoryRecord
from agentic_rag.memory.schemas import MemoryType, RetrievedMemory
from figures import Row, data_folder, row
from memory_truth import RETIRED, SEARCHED, STALE, Errors

SEQUENCES, QUESTIONS = 300, 200
CHOOSING, REPORTED = 48, 4_800
"""Seeds of the half that the rules were written on, and of the half that chose nothing."""
AT_LEAST = 0.85
_BEGINNING = datetime(2018, 1, 8, 9, tzinfo=UTC)
_PER_USER = 10
"""Sequences, or questions, of one person."""

THINGS = {
    "en": "sushi,jazz,running,coffee,mushrooms,winter,chess,hiking,opera,camping,tennis,ballet,liquorice,poetry,Chinese food,horror films,crowded beaches,long flights,science fiction".split(","),
    "zh": "川菜,咖啡,跑步,爵士乐,香菜,爬山,足球,下雪天,恐怖片,火锅,京剧,钓鱼".split(","),
}  # fmt: skip
TURNS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "en": {
        "likes": ("I love {}.", "I really like {}.", "I've come to love {}.", "I'm a big fan of {}.", "These days I enjoy {}."),
        "dislikes": ("I hate {}.", "I don't like {} any more.", "I can't stand {} any more.", "I no longer enjoy {}.", "I used to love {}, but now I hate it."),
    },
    "zh": {
        "likes": ("我喜欢{}。", "我很喜欢{}。", "我爱上了{}。", "我现在挺喜欢{}的。"),
        "dislikes": ("我讨厌{}。", "我不喜欢{}了。", "我受不了{}了。", "我对{}没兴趣了。", "我以前喜欢{}，现在不喜欢了。"),
    },
}  # fmt: skip
ASKING = {"en": "Do I like {}?", "zh": "我喜欢{}吗？"}
OTHERS = {"en": "My sister {}s {}.", "zh": "我妈妈{}{}。"}
VERBS = {"en": ("love", "hate"), "zh": ("喜欢", "讨厌")}


@dataclass(frozen=True, slots=True)
class Kind:
    """A slot with its values, the sentences that state one, and the questions about its past."""

    slot: str
    values: Sequence[str]
    sentences: Sequence[str]
    before: Sequence[str]
    during: Sequence[str]
    ending: Sequence[str]


KINDS: Mapping[str, Sequence[Kind]] = {
    "en": (
        Kind("lives in", ("Oslo", "Bergen", "Lima", "Kyoto", "Porto", "Tartu", "Izmir", "Accra"),
            ("I live in {}.", "I moved to {}.", "I live in {} now."),
            ("Where did I live before?", "Where did I use to live?", "Which town did I live in previously?"),
            ("Where did I live in {}?", "Which town was I living in in {}?"),
            ("When did I stop living in {}?", "When did I leave {}?", "When did I move away from {}?")),
        Kind("employer", ("Telnorix", "Avantia", "Brightloom", "Corvane", "Deltrigo", "Eastmoor", "Fenwyck"),
            ("I work at {}.", "I started a new job at {}.", "I work for {} now."),
            ("Where did I work before?", "Who was my previous employer?"),
            ("Where did I work in {}?", "Which company was I working for in {}?"),
            ("When did I stop working at {}?", "When did I quit {}?")),
        Kind("favourite colour", ("green", "purple", "orange", "turquoise", "crimson", "silver"),
            ("My favourite colour is {}.", "My favourite colour is now {}."),
            ("What was my favourite colour before?", "What did my favourite colour use to be?"),
            ("What was my favourite colour in {}?",),
            ("When did my favourite colour stop being {}?",)),
        Kind("dog's name", ("Rex", "Bella", "Milo", "Luna", "Pepper", "Biscuit"),
            ("My dog's name is {}.", "My dog's name is now {}."),
            ("What was my dog's name before?",),
            ("What was my dog called in {}?",),
            ()),
    ),
    "zh": (
        Kind("lives in", ("北京", "上海", "广州", "成都", "杭州", "西安", "厦门"),
            ("我住在{}。", "我搬到{}了。", "我现在住在{}。"),
            ("我以前住在哪里？", "我以前住哪？", "我原来住在哪个城市？"),
            ("我{}住在哪里？", "{}我住哪？"),
            ("我什么时候离开{}的？", "我什么时候不住{}了？")),
        Kind("employer", ("腾讯", "华为", "小米", "网易", "联想", "美团"),
            ("我在{}工作。", "我跳槽到{}了。", "我入职了{}。"),
            ("我以前在哪里工作？", "我之前在哪家公司上班？"),
            ("我{}在哪里上班？", "{}我在哪家公司工作？"),
            ("我什么时候离开{}的？", "我什么时候不在{}工作了？")),
    ),
}  # fmt: skip
STOPPED_LIKING = {
    "en": ("When did I stop liking {}?", "When did I stop being fond of {}?"),
    "zh": ("我什么时候不喜欢{}了？", "我从什么时候开始不喜欢{}的？"),
}
LIKED_THEN = {"en": ("Did I like {0} in {1}?",), "zh": ("我{1}喜欢{0}吗？",)}
NOISE = {
    "en": ("My sister lives in Turin.", "I visited Quito last week and liked the harbour.", "I read an article about Galtara."),
    "zh": ("我姐姐住在南京。", "我上周去了苏州，天气很好。"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, its time, and the slot and value that it states; None if it states none of the person's."""

    text: str
    at: datetime
    slot: str | None = None
    value: str = ""


@dataclass(slots=True)
class Person:
    """What one person says, in order, and is asked."""

    name: str
    statements: list[Statement] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def values(self, slot: str) -> list[tuple[str, datetime, datetime | None]]:
        """The oracle: the values of a slot with start and end; one that is stated again goes on."""
        spans: list[tuple[str, datetime, datetime | None]] = []
        for one in sorted((one for one in self.statements if one.slot == slot), key=lambda one: one.at):
            if spans and spans[-1][0] == one.value:
                continue
            if spans:
                spans[-1] = (*spans[-1][:2], one.at)
            spans.append((one.value, one.at, None))
        return spans


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a slot's past, and the right values, each with the day of its end if that is asked.

    When a liking ended, the sentence of that day that says so is right too.
    """

    kind: str
    text: str
    slot: str
    right: frozenset[tuple[str, str | None]]
    ends: frozenset[tuple[str, str]] = frozenset()
    """Sentences with their days."""

    def is_right(self, memory: RetrievedMemory) -> bool:
        """Whether a memory answers it."""
        known = memory.metadata
        day = (known.get("invalid_at") or "")[:10]
        own = known.get("slot") == self.slot and known.get("subject") == "user"
        if own and any(known["value"] == value and until in (None, day) for value, until in self.right):
            return True
        day = (known.get("at") or "")[:10]
        return any(memory.content.strip(".。") in text and day == until for text, until in self.ends)


def sequences(count: int, seed: int) -> Iterator[tuple[Person, str, str]]:
    """A person with the preference of one thing that turns, the thing and the language."""
    chance = random.Random(seed)
    person = Person("")
    for number in range(count):
        if number % _PER_USER == 0:
            person = Person(f"turning {seed} {number}")
        language = "zh" if number % 3 == 2 else "en"
        taken = {one.slot for one in person.statements}
        thing = chance.choice([one for one in THINGS[language] if _slot(one) not in taken])
        day = _BEGINNING + timedelta(days=chance.randrange(300))
        sign = chance.choice(("likes", "dislikes"))
        other = OTHERS[language].format(chance.choice(VERBS[language]), thing)
        person.statements.append(Statement(other, day + timedelta(days=500)))
        for _ in range(chance.randint(2, 5)):
            person.statements.append(_turn(language, thing, sign, day, chance))
            if chance.random() < 0.2:
                person.statements.append(_turn(language, thing, sign, day + timedelta(days=3), chance))
            day += timedelta(days=chance.randint(20, 300))
            sign = "dislikes" if sign == "likes" else "likes"
        yield person, thing, language


def _slot(thing: str) -> str:
    return f"liking of {thing}"


def _turn(language: str, thing: str, sign: str, day: datetime, chance: random.Random) -> Statement:
    return Statement(chance.choice(TURNS[language][sign]).format(thing), day, _slot(thing), sign)


def people(count: int, seed: int) -> Iterator[Person]:
    """People with ``count`` questions in all."""
    chance = random.Random(seed)
    for number in range(count // _PER_USER):
        language = "zh" if number % 4 == 3 else "en"
        person = Person(f"past {seed} {number}")
        for kind in KINDS[language]:
            day = _BEGINNING + timedelta(days=chance.randrange(500))
            for value in chance.sample(list(kind.values), 4):
                person.statements.append(
                    Statement(chance.choice(kind.sentences).format(value), day, kind.slot, value)
                )
                day += timedelta(days=chance.randint(200, 700))
        for thing in chance.sample(THINGS[language], 2):
            day = _BEGINNING + timedelta(days=chance.randrange(500))
            for sign in ("likes", "dislikes", "likes", "dislikes")[: chance.randint(2, 4)]:
                person.statements.append(_turn(language, thing, sign, day, chance))
                day += timedelta(days=chance.randint(200, 700))
        person.statements += [Statement(text, _BEGINNING + timedelta(days=600)) for text in NOISE[language]]
        person.statements.sort(key=lambda one: one.at)
        every = list(_questions(person, language, chance))
        person.questions = [
            one
            for kind, count in (("before", 3), ("in a time", 4), ("when it stopped", 3))
            for one in chance.sample([one for one in every if one.kind == kind], count)
        ]
        yield person


def _questions(person: Person, language: str, chance: random.Random) -> Iterator[Question]:
    for slot in sorted({one.slot for one in person.statements if one.slot}):
        intervals = person.values(slot)
        kind = next((one for one in KINDS[language] if one.slot == slot), None)
        if kind is not None:
            before = frozenset({(intervals[-2][0], None)})
            yield from (Question("before", text, slot, before) for text in kind.before)
        moment = intervals[0][1] + timedelta(days=chance.randint(10, 900))
        when, start, end = _time(moment, language, chance)
        then = frozenset(
            (value, None) for value, begun, ended in intervals if begun < end and (ended or end) > start
        )
        thing = slot.removeprefix("liking of ")
        during = kind.during if kind else LIKED_THEN[language]
        yield from (
            Question("in a time", text.format(*([when] if kind else [thing, when])), slot, then)
            for text in during
        )
        for value, _, ended in intervals:
            if ended is None or value == "dislikes":
                continue
            forms = kind.ending if kind else STOPPED_LIKING[language]
            days = frozenset(
                (value, until.date().isoformat()) for known, _, until in intervals if known == value and until
            )
            ends = frozenset(
                (one.text, one.at.date().isoformat())
                for one in person.statements
                if (one.slot, one.value) == (slot, "dislikes")
            )
            yield from (
                Question("when it stopped", text.format(value if kind else thing), slot, days, ends)
                for text in forms
            )


def _time(moment: datetime, language: str, chance: random.Random) -> tuple[str, datetime, datetime]:
    """A year or a month in words, with its start and end."""
    if chance.random() < 0.5:
        year = moment.year
        words = f"{year}年" if language == "zh" else str(year)
        return words, datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
    start = moment.replace(day=1, hour=0)
    words = f"{moment.year}年{moment.month}月" if language == "zh" else f"{moment:%B %Y}"
    return words, start, (start + timedelta(days=32)).replace(day=1)


async def stored(rag: Rag, every: Sequence[Person]) -> None:
    """Tell what each person says."""
    for person in every:
        for one in person.statements:
            await rag.memory.remember(one.text, person.name, at=one.at)


def states(memory: MemoryRecord | RetrievedMemory, person: Person, slot: str) -> str | None:
    """The value of a slot that a memory's text states; None if it states none, or is a message."""
    if memory.memory_type is MemoryType.EPISODIC:
        return None
    text = memory.content.strip(".。")
    return next(
        (one.value for one in person.statements if one.slot == slot and text == one.text.strip(".。")), None
    )


async def turned_rightly(rag: Rag, every: Sequence[tuple[Person, str, str]], errors: Errors) -> None:
    """Check each preference, by the list of current facts and by a search."""
    for person, thing, language in every:
        slot = _slot(thing)
        value = person.values(slot)[-1][0]
        current = {states(one, person, slot) for one in await rag.memory.list(person.name)} - {None}
        what = f"{person.name}, {thing}: {value} expected, {sorted(map(str, current))} given"
        errors.check(RETIRED, what, right=value in current)
        errors.check(STALE, what, right=current <= {value})
        found = await rag.memory.search(ASKING[language].format(thing), person.name)
        given = {states(one, person, slot) for one in found.memories} - {None}
        errors.check(SEARCHED, f"{what} {given}", right=given <= {value})


async def answered_rightly(rag: Rag, every: Sequence[Person], errors: Errors) -> None:
    """Check that the first memory of each answer is the fact that held then."""
    for person in every:
        for question in person.questions:
            found = await rag.memory.search(question.text, person.name, max_results=3)
            first = found.memories[0]
            known = (first.metadata.get("slot"), first.metadata.get("invalid_at"))
            what = f"{question.text} {sorted(map(str, question.right))}: {first.content} {known}"
            errors.check(question.kind, what, right=question.is_right(first))


async def run(keep: Path | None, *, quick: bool, verbose: bool, seed: int = REPORTED) -> list[Row]:
    """The rows of one half."""
    share = 10 if quick else 1
    turning = list(sequences(SEQUENCES // share, seed))
    asking = list(people(QUESTIONS // share, seed))
    turned, answered = Errors(), Errors()
    with data_folder(keep, f"past-{seed}-{len(turning)}") as folder:
        async with open_rag(RagConfig(data_dir=folder)) as rag:
            await stored(rag, [*{id(person): person for person, _, _ in turning}.values(), *asking])
            await turned_rightly(rag, turning, turned)
            await answered_rightly(rag, asking, answered)
    if verbose:
        for errors in (turned, answered):
            for kind, wrong in errors.wrong.items():
                print(*(f"{kind}: {one}" for one in wrong), sep="\n")
    shares = [(kind, len(answered.wrong.get(kind, ())), count) for kind, count in answered.looked.items()]
    total, wrongly = sum(answered.looked.values()), sum(number for _, number, _ in shares)
    return [
        *(turned.row(kind) for kind in (RETIRED, STALE, SEARCHED)),
        *(row(f"right, {kind} (of {count})", "", 1 - number / count) for kind, number, count in shares),
        row(
            f"questions about the past, right (of {total})",
            "",
            1 - wrongly / total,
            bound="min",
            floor=AT_LEAST,
        ),
    ]


if __name__ == "__main__":
    # The half that the rules were written on.
    for line in asyncio.run(run(None, quick="--quick" in sys.argv, verbose=True, seed=CHOOSING)):
        print(line["what"], line["ours"])
