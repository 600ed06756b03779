"""The conditions on notes that a question states beside numbers: values, yes and no, days, what their lists have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

from agentic_rag.dates.reading import read_spans
from agentic_rag.domain.filters import Comparison, Expression, Not, Or, matches
from agentic_rag.domain.notes import ITEMS, Note
from agentic_rag.questions.comparisons import comparisons, is_bound, lack_before, negation_before, state
from agentic_rag.questions.forms import (
    ACTIVITY,
    ENGLISH_NOUN,
    HAS,
    LAST_NOUN,
    MAKING,
    NOUN,
    OF_ONE,
    PAST_DEED,
)
from agentic_rag.questions.note_queries.draft import Draft
from agentic_rag.questions.note_queries.values import (
    bounding_years,
    date_keys,
    within,
    within_years,
    year_keys,
)
from agentic_rag.questions.note_queries.vocabulary import Value, value_name
from agentic_rag.questions.times import Time, in_year
from agentic_rag.questions.words import Place, Word, parts, stem

MAX_ITEMS = 3
"""Words that the lists of the notes are searched for."""
MAX_STATES = 8
"""Values of a property that tells a state; one with more tells something else."""
SAME = 0.01
"""Cosine by which two properties of one value are as near to a question."""


async def read_values(draft: Draft) -> None:
    """Add the values of properties that the question names; of one property one of several, "done or cancelled"."""
    members = None
    earlier: list[_ValueCondition] = []
    bounds = [one.span for one in comparisons(draft.text) if one.operator != "$eq"]
    for values, place in draft.vocabulary.values_in(draft.words, slips=draft.asks_many):
        written = draft.text[place.start : place.end]
        if not draft.is_free(place):
            continue
        if any(map(str.isdigit, written)) and any(place.overlaps(bound) for bound in bounds):
            continue  # "under 30 min" is no "30 min"
        if members is None:
            members = [draft.vocabulary.snapshot.facts[n.document_id] for n in draft.members()]
        conditions = [one for one in map(_of_value, values) if any(matches(one, facts) for facts in members)]
        if not conditions and _join_to_earlier(draft, values, place, earlier):
            continue
        if not conditions:
            continue
        conditions = await _choose_property(draft, conditions, place)
        condition: Expression = conditions[0] if len(conditions) == 1 else Or(tuple(conditions))
        negation = negation_before(draft.text, place)
        if negation is None and len(conditions) == 1:
            earlier.append(_ValueCondition(conditions[0].key, place, len(draft.conditions), members))
        draft.add(Not(condition) if negation else condition, place, negation)
        draft.shown_keys += [one.key for one in conditions]
        members = None
    for key, place in draft.vocabulary.keys_in(draft.words):
        if key in draft.shown_keys:
            draft.cover(place)


_CONTENTS = re.compile(
    r"\W*what(?:['’]?s| is| are| do (?:i|we) (?:have|keep|grow)) (?:in|on|at)(?: the| my)? $"
)
_CONTENTS_HAN = re.compile(r"(?:里面?|中|上)?(?:都|种|放)?(?:着|了)?有?(?:什么|哪些)(?:东西)?\W*$")


async def read_contents(draft: Draft, titles: Sequence[tuple[Note, Place]]) -> bool:
    """Add that a property names the note that is asked for as a place, "what is in Bed 4?"; whether it does, and the note
    has no list of its own."""
    note, place = titles[0]
    before, after = draft.text[: place.start], draft.text[place.end :]
    asks = _CONTENTS.fullmatch(before) and not after.strip(" ?.")
    if note.rows or not (asks or (not before and _CONTENTS_HAN.fullmatch(after))):
        return False
    await read_values(draft)
    return draft.strength > 0


class _ValueCondition(NamedTuple):
    key: str
    place: Place
    position: int
    """Of the condition among those of the draft."""
    members: Sequence[Mapping[str, Any]]
    """The facts of the notes before it."""


_CONJUNCTION = re.compile(r"\s*(?:,|、)?\s*(?:or|and|oder|und|或者?|和|还是)?\s*", re.IGNORECASE)


def _join_to_earlier(
    draft: Draft, values: Sequence[Value], place: Place, earlier: list[_ValueCondition]
) -> bool:
    """Join a value to another one of its property that stands beside it, as no note has both; whether there is one."""
    for n, before in enumerate(earlier):
        first, last = sorted((before.place, place), key=lambda span: span.start)
        one = next((_of_value(value) for value in values if value.key == before.key), None)
        if (
            one is not None
            and _CONJUNCTION.fullmatch(draft.text[first.end : last.start])
            and any(matches(one, facts) for facts in before.members)
        ):
            condition = draft.conditions[before.position]
            alternatives = condition.parts if isinstance(condition, Or) else (condition,)
            draft.conditions[before.position] = Or((*alternatives, one))
            draft.cover(place)
            earlier[n] = before._replace(place=Place(first.start, last.end))
            return True
    return False


_OF_ONE = re.compile(r"\b(?:by|from|of|von|aus)\s+$")
"""Before a value: it stands in one relation to the thing, "books by Ann", and not in any, "projects with Ann"."""


async def _choose_property(draft: Draft, conditions: list[Comparison], place: Place) -> list[Comparison]:
    """Of one value in several properties: the one that is named; else the nearest to the question; all, where it says
    nothing but the value, "which projects is Ann on?"."""
    keys = {one.key: one for one in conditions}
    named = [key for key, _ in draft.vocabulary.keys_in(draft.words) if key in keys]
    if named:
        return [keys[named[0]]]
    says_more = draft.rest(place) or _OF_ONE.search(draft.text[: place.start])
    if len(conditions) == 1 or (draft.classes and not says_more):
        return conditions
    near = await draft.nearest(draft.text, list(keys))
    best = max(near.values())
    return [keys[key] for key in keys if near[key] >= best - SAME]


def _of_value(value: Value) -> Comparison:
    if len(value.stored_values) == 1:
        return Comparison(value.key, "$eq", value.stored_values[0])
    return Comparison(value.key, "$in", value.stored_values)


def read_activity(draft: Draft) -> bool:
    """Add the state of the things that were dealt with: "how many books have I read?" by ``status: finished``, where the
    same property says ``reading`` of others. Whether the question is clear: where the property has no value for what is
    done, none is chosen."""
    match = ACTIVITY.search(draft.text)
    if match is None or not draft.classes or draft.strength:
        return True
    place = Place(*match.span("verb" if match["verb"] else "han"))
    verb = stem(match["verb"]) if match["verb"] else match["han"]
    if not draft.is_free(place):
        return True
    values: dict[str, dict[str, list[Any]]] = {}
    for note in draft.members():
        for one in note.fields:
            for value in one.value if isinstance(one.value, list) else [one.value]:
                if isinstance(value, str):
                    values.setdefault(one.key, {}).setdefault(value_name(value).casefold(), []).append(value)
    for key, named in values.items():
        done = [name for name in named if _is_done(name)]
        if len(named) > MAX_STATES or not (
            any(verb in parts(one) or verb in one for one in named)
            or (len(verb) == 1 and 0 < len(done) < len(named))  # 看 of watched: no letters agree
        ):
            continue
        if not done:
            return False
        stored = tuple(dict.fromkeys(value for name in done for value in named[name]))
        draft.add(_of_value(Value(done[0], key, stored, len(stored))), place)
        draft.shown_keys.append(key)
        return True
    return True


def _is_done(name: str) -> bool:
    meaning = state(name)
    return meaning is not None and meaning[0] == "done"


def read_booleans(draft: Draft) -> None:
    """Add the yes/no properties that the question names: "which shows would I rewatch?"."""
    for key, place in draft.vocabulary.keys_in(draft.words):
        known = draft.vocabulary.keys.get(key)
        if (
            known is None
            or "boolean" not in known.types[:1]
            or key in draft.shown_keys
            or not draft.is_free(place)
        ):
            continue
        negation = negation_before(draft.text, place)
        draft.add(Comparison(key, "$eq", negation is None), place, negation)
        draft.shown_keys.append(key)


def read_existing(draft: Draft) -> None:
    """Add a property that the notes are to have, "how many books have I finished?" where some say when, or to lack,
    "which notes have no rating?"."""
    if draft.strength:
        return
    named = [pair for pair in draft.vocabulary.keys_in(draft.words) if pair[0] in draft.vocabulary.keys]
    for key, place in (*named, *_named_parts(draft.text)):
        if not draft.is_free(place) or is_bound(draft.text, place):
            continue
        members = draft.members()
        negation = lack_before(draft.text, place) or negation_before(draft.text, place)
        is_of_notes = bool(draft.classes) or _ANY_NOTE.search(draft.text) is not None
        if negation is not None and is_of_notes:
            if not draft.classes and any(not note.path.endswith(".md") for note in members):
                draft.conditions.append(Comparison("file.ext", "$eq", "md"))  # a picture has no properties
            draft.add(Comparison(key, "$exists", False), place, negation)
            return
        facts = draft.vocabulary.snapshot.facts
        having = sum(facts[note.document_id].get(key) not in (None, "", []) for note in members)
        if is_of_notes and draft.asks_many and 0 < having < len(members):
            draft.add(Comparison(key, "$exists", True), place)
            draft.shown_keys.append(key)
            return


_PARTS = (
    ("tags", re.compile(r"(?:\b|(?<=\bun))tag(?:s|ged)\b|标签")),
    ("links", re.compile(r"\blinks\b|链接")),
)
"""What a note may lack without a property of the name."""


def _named_parts(text: str) -> Iterator[tuple[str, Place]]:
    return ((key, Place(*match.span())) for key, words in _PARTS for match in words.finditer(text))


_ANY_NOTE = re.compile(
    r"(?<![a-z])(?:notes?|pages?|files?|documents?)(?![a-z])|笔记|文档|文件", re.IGNORECASE
)


def read_items(draft: Draft) -> None:
    """Add the words that the lists of some of the notes have: "which recipes use eggs and milk?", 不含酒精的饮料."""
    if not draft.asks_many or draft.strength or not HAS.search(draft.text) or OF_ONE.search(draft.text):
        return
    rest = draft.rest(*([] if draft.time is None else [draft.time.span]))
    # One word may be the noun of what is asked for, which is no class.
    noun = None if draft.classes else _noun_of(draft.text, rest)
    words = [word for word in rest if word is not noun]
    if not 1 <= len(words) <= MAX_ITEMS or (len(words) > 1 and noun is None and not draft.classes):
        return
    facts = [draft.vocabulary.snapshot.facts[note.document_id] for note in draft.members()]
    conditions: list[tuple[Expression, Place, Place | None]] = []
    for word in words:
        name = word.stem if word.text.isascii() else word.text
        condition: Expression = Comparison(ITEMS, "$contains", name)
        having = sum(matches(condition, one) for one in facts)
        if not 0 < having < len(facts):
            return
        span = Place(word.start, word.end)
        negation = negation_before(draft.text, span)
        conditions.append((Not(condition) if negation else condition, span, negation))
    if noun is not None:
        draft.cover(Place(noun.start, noun.end))
    for condition, *spans in conditions:
        draft.add(condition, *spans)


def _noun_of(text: str, words: list[Word]) -> Word | None:
    """The one of the words that is the noun of what is asked for."""
    nouns = (LAST_NOUN.search(text), NOUN.search(text), ENGLISH_NOUN.search(text))
    return next((one for noun in nouns if noun for one in words if one.text.startswith(noun["noun"])), None)


def _of_any_year(key: str, draft: Draft, time: Time) -> Expression | None:
    """The condition that a date is of the day or month that is named without a year, in any year: "whose birthday is in
    May?"; None where a year is named, or no date is of it."""
    one = next((one for one in read_spans(draft.text) if one.yearless), None)
    if one is None or one.yearless is None:
        return None
    written = (str(f.value).strip("[]")[:10] for note in draft.members() for f in note.fields if f.key == key)
    days = {date.fromisoformat(text) for text in written if _DAY.fullmatch(text)}
    years = sorted({day.year for day in days if one.covers(day)})
    spans = [in_year(one.yearless, year) for year in years]
    parts = tuple((str(span.start), str(span.end)) for span in spans)
    return within(key, replace(time, start=parts[0][0], end=parts[-1][1], parts=parts)) if parts else None


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


async def read_days(draft: Draft) -> None:
    """Add the span of days: of the property that is named, of the year of the things that the notes are about, else of
    the note's own date."""
    time = draft.time
    if time is None:
        return
    members = draft.members()
    keys = date_keys(field for note in members for field in note.fields)
    named_keys = [pair for pair in draft.vocabulary.keys_in(draft.words) if pair[0] in keys]
    of_keys = (place for _, place in named_keys)
    is_kind = draft.asks_many or not draft.rest(time.span, *of_keys)  # exams in May
    if not draft.conditions and not (named_keys and is_kind):
        draft.conditions.append(within("date", time))
        draft.cover(time.span)
        return
    years = [] if bounding_years(time) is None else year_keys(members)
    rows = date_keys(f for note in members for row in note.rows for f in row.fields)
    named = [
        (key, place)
        for key, place in draft.vocabulary.keys_in(draft.words)
        if key in keys or key in rows or key in years
    ]
    if years:
        draft.cover(*(Place(*match.span()) for match in MAKING.finditer(draft.text)))
    rest = draft.rest(time.span)
    dated = sum(note.date is not None for note in members)
    place: Place | None = None
    if named:
        key, place = named[0]
    elif len(years) == 1 and not (ACTIVITY.search(draft.text) or PAST_DEED.search(draft.text)):
        key = years[0]
    elif dated * 2 >= len(members) and members and not (rows and not keys and rest):
        key = "date"
    elif keys or rows:
        near = await draft.nearest(draft.text, [*keys, *rows])
        key = max(near, key=lambda name: near[name])
        draft.cover(*(Place(word.start, word.end) for word in rest[:1]))
    else:
        return
    condition = within_years(key, time) if key in years else within(key, time)
    if (
        named
        and key in keys
        and not any(matches(condition, draft.vocabulary.snapshot.facts[n.document_id]) for n in members)
    ):
        condition = _of_any_year(key, draft, time) or condition
    if key in rows and key not in keys and key not in years:
        draft.entry_conditions.append(condition)
        draft.cover(time.span, place)
    else:
        draft.add(condition, time.span, place)
    if key != "date":
        draft.shown_keys.append(key)
