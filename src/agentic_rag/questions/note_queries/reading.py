"""Reads a question as a query to the catalogue of notes; None where it is no question about many notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.domain.filters import Comparison
from agentic_rag.domain.notes import Note
from agentic_rag.notes.units import RECORD_KEYS
from agentic_rag.questions.computations import read_computation
from agentic_rag.questions.forms import (
    AMOUNT,
    COUNT,
    LAST_NOUN,
    ONE,
    TASKS,
    VALUE,
    WHO,
    WHO_IS,
    extreme_noun,
    head_noun,
)
from agentic_rag.questions.generic_words import QUERY_WORDS
from agentic_rag.questions.note_queries.aggregates import counts_all_notes, read_aggregate, read_limit
from agentic_rag.questions.note_queries.conditions import (
    read_activity,
    read_booleans,
    read_contents,
    read_days,
    read_existing,
    read_items,
    read_values,
)
from agentic_rag.questions.note_queries.draft import Draft, Nearest, places
from agentic_rag.questions.note_queries.entries import entries_of_members, entries_of_named, entries_of_table
from agentic_rag.questions.note_queries.links import read_links
from agentic_rag.questions.note_queries.measures import (
    is_named_in_part,
    numeric_keys,
    read_comparisons,
    read_extreme,
    read_free,
    read_order,
)
from agentic_rag.questions.note_queries.note_classes import (
    is_of_one_kind,
    is_people,
    names_only_kind,
    read_class,
    read_tags,
)
from agentic_rag.questions.note_queries.query import Query
from agentic_rag.questions.note_queries.tasks import tasks_of_members, tasks_of_named
from agentic_rag.questions.note_queries.values import date_keys, within
from agentic_rag.questions.note_queries.vocabulary import Vocabulary
from agentic_rag.questions.times import Time
from agentic_rag.questions.wording import named_phrase
from agentic_rag.questions.words import Place, Word, Words, parts, stem


async def read_query(
    question: str, vocabulary: Vocabulary, nearest: Nearest, time: Time | None = None
) -> Query | None:
    """The query that a question about many notes states.

    Args:
        question: in English or Chinese.
        vocabulary: of the dataset.
        nearest: compares words of the question with names, where no letters agree.
        time: the span of days that it names.
    """
    draft = Draft(Words.of(question), vocabulary, nearest, time)
    query = await _read(draft)
    if query is not None and query.target == "entries" and _asks_for_total(draft, query):
        return None  # what is added up of entries, the answer reads in their notes
    return query


def _asks_for_total(draft: Draft, query: Query) -> bool:
    """Whether the values of entries are to be added up, and not the entries are asked for."""
    computation = read_computation(draft.text)
    if computation is None or computation.result not in ("sum", "average"):
        return False
    noun = head_noun(draft.text)
    word = "" if noun is None else stem(draft.text[noun.start : noun.end])
    return query.ask == "list" or any(word in parts(key) for key in numeric_keys(draft, entries=True))


async def _read(draft: Draft) -> Query | None:
    if counts_all_notes(draft.text):
        return Query("notes", "count")
    is_count = COUNT.search(draft.text)
    if is_count:
        draft.cover(Place(*is_count.span()))
    is_tagged = read_tags(draft)
    if read_links(draft):
        await read_class(draft)
        conditions = tuple(draft.conditions)
        return Query(
            "notes", draft.list_or_count, tuple(draft.classes), conditions, residual=places(draft.rest())
        )
    titles = _titles(draft)
    time = draft.time
    if time is not None and any(place.overlaps(time.span) for _, place in titles):
        draft.time = None  # the date belongs to the name of a note
    are_tasks_named = TASKS.search(draft.text) is not None
    entries = tasks_of_named(draft, titles) if are_tasks_named else None
    entries = entries or await entries_of_named(draft, titles)
    if not are_tasks_named:
        entries = entries or tasks_of_named(draft, titles)
    entries = entries or await entries_of_table(draft, titles)
    if entries is not None:
        return entries
    if titles and await read_contents(draft, titles):
        return Query("notes", "list", (), tuple(draft.conditions), shown_keys=tuple(draft.shown_keys))
    if titles and not is_tagged and not draft.asks_when:
        return _of_days(draft, titles)
    await read_class(draft)
    if not draft.classes and (named_phrase(draft.text) or _asks_for_part(draft)):
        return _of_days(draft, titles)
    await read_values(draft)
    if not read_activity(draft):
        return _of_days(draft, titles)
    tasks = tasks_of_members(draft)
    return tasks or await _of_notes(draft, titles, is_tagged=is_tagged)


async def _of_notes(draft: Draft, titles: Sequence[tuple[Note, Place]], *, is_tagged: bool) -> Query | None:
    """The query to notes, or to entries of theirs, of the class and the values that were read."""
    aggregate = await read_aggregate(draft)
    if aggregate is not None:
        return aggregate
    extreme = read_extreme(draft)
    limit = read_limit(draft, extreme)
    await read_comparisons(draft)
    read_booleans(draft)
    await read_free(draft)
    read_existing(draft)
    if extreme is None:
        read_items(draft)
    strength = draft.strength
    await read_days(draft)
    if draft.time is not None and draft.is_free(draft.time.span):
        return _of_days(draft, titles)  # nothing of the notes tells their time
    if draft.entry_conditions:
        entries = entries_of_members(draft)
        if entries is not None or not strength:
            return entries
    order = await read_order(draft, extreme)
    rest = draft.rest()
    is_extreme = order is not None and _is_extreme(draft, order[0], rest)
    if is_extreme:
        rest = []
    if not is_extreme and not _is_asked(draft, strength, rest, is_tagged=is_tagged):
        return _of_days(draft, titles)
    if not draft.classes and (
        _names_another_kind(draft) or _asks_for_own(draft, rest) or _asks_for_aspect(draft, rest)
    ):
        return _of_days(draft, titles)
    is_counted = draft.list_or_count == "count"
    if not (draft.strength or is_tagged or is_extreme or _is_listed(draft)):
        return _of_days(draft, titles)
    if len(rest) > min(1, draft.strength) and not (draft.time and strength):
        return _of_days(draft, titles)
    if ONE.search(draft.text) and not draft.members():
        return _of_days(draft, titles)
    if draft.asks_when:
        _show_dates(draft)
    return Query(
        "notes",
        "count" if is_counted else "extreme" if order and limit is None else "list",
        tuple(draft.classes),
        tuple(draft.conditions),
        shown_keys=tuple(dict.fromkeys(draft.shown_keys)),
        order=order,
        limit=None if order is None else limit,
        residual=places(rest),
    )


def _is_asked(draft: Draft, strength: int, rest: Sequence[Word], *, is_tagged: bool) -> bool:
    """Whether the wording asks for the notes that were read, and not for something that they say.

    Args:
        draft: all that was read.
        strength: number of conditions beside class and days.
        rest: words that nothing accounts for.
        is_tagged: whether a tag is named.
    """
    is_dated_kind = draft.time is not None and not rest and draft.strength > strength  # exams in May
    kind = LAST_NOUN.search(draft.text)  # 难度为4的菜
    is_kind = kind is not None and all(word.text == kind["noun"] for word in rest)
    is_one = ONE.search(draft.text) is not None
    is_topic = (is_dated_kind and (not is_one or draft.text.startswith("what "))) or (
        not is_one and strength > 0 and (bool(draft.classes) or is_kind)
    )
    is_dated = draft.time is not None and strength > 0 and len(rest) <= 1 and not VALUE.search(draft.text)
    has_condition = strength > 0 or (bool(draft.shown_keys) and draft.strength > 0)
    is_of_people = has_condition and WHO.search(draft.text) and is_people(" ".join(draft.classes[:1]))
    return (
        draft.asks_many
        or is_tagged
        or is_of_people
        or (draft.asks_when and strength > 0)
        or is_topic
        or is_dated
    )


def _is_extreme(draft: Draft, key: str, rest: Sequence[Word]) -> bool:
    """Whether the question is for the largest or smallest of a class and for nothing else: "the most expensive game",
    or for how much that is."""
    named = [name for name, _ in draft.vocabulary.keys_in(draft.words)]
    is_named = key in named or is_named_in_part(draft.text, key)
    is_of_people = is_people(" ".join(draft.classes[:1]))
    rest = [one for one in rest if one.stem not in parts(key) and not (is_of_people and one.text == "谁")]
    is_kind = not rest if draft.classes or draft.asks_when else _is_bare_kind(draft, rest, is_named=is_named)
    if not is_kind:
        return False
    asks_otherwise = VALUE.search(draft.text) and not (is_of_people or WHO_IS.search(draft.text))
    return not asks_otherwise or is_named or AMOUNT.search(draft.text) is not None


def _is_bare_kind(draft: Draft, rest: Sequence[Word], *, is_named: bool) -> bool:
    """Whether a noun that is no class is the kind of all notes that have the property: the property itself, "the first
    exam", a Chinese noun of one character, 最难的菜, or one beside a property that is named."""
    if is_named and (not rest or names_only_kind(draft, rest)):
        return VALUE.search(draft.text) is None
    place = extreme_noun(draft.text)
    if place is None or any(draft.text[place.start : place.end] != word.text for word in rest):
        return False
    return is_named or (place.end - place.start == 1 and is_of_one_kind(draft))


def _names_another_kind(draft: Draft) -> bool:
    """Whether the question is for a kind of things that the vault does not have: "which shows are rated 5?" where books
    and games are rated."""
    noun = head_noun(draft.text)
    if (
        noun is None
        or not draft.asks_many
        or not draft.strength
        or not draft.shown_keys
        or not draft.is_free(noun)
    ):
        return False
    is_value = all(isinstance(one, Comparison) and isinstance(one.value, str) for one in draft.conditions)
    return (is_value and draft.list_or_count == "count") or not is_of_one_kind(draft)


def _asks_for_own(draft: Draft, rest: Sequence[Word]) -> bool:
    """Whether something of a value is asked for that is no kind of notes, "what are Tom's dogs called?", or a property that
    the notes with the value lack: 爸爸的生日."""
    if any(draft.text[: word.start].rstrip().endswith(("'s", "’s")) for word in rest):
        return True
    keys = [
        key
        for key, place in draft.vocabulary.keys_in(draft.words)
        if draft.is_free(place) and draft.text[: place.start].endswith("的")
    ]
    return bool(keys) and not {field.key for note in draft.members() for field in note.fields}.issuperset(
        keys
    )


def _asks_for_aspect(draft: Draft, rest: Sequence[Word]) -> bool:
    """Whether something of a value is asked for, and not the notes that have it: "the effects of frost", 爸爸的血型是什么."""
    ends = (part.end() for word in rest if (part := _OF_VALUE.match(draft.text, word.end)) is not None)
    starts = (word.start - 1 for word in rest if _OWN_ASPECT.match(draft.text, word.start - 1))
    return any(span.start == end for end in ends for span in draft.spans) or any(
        span.end == start for start in starts for span in draft.spans
    )


def _is_listed(draft: Draft) -> bool:
    """Whether all notes of a class are asked for: "list my books", "which games do I have?"."""
    return bool(draft.classes) and draft.asks_many and not draft.rest()


def _of_days(draft: Draft, titles: Sequence[tuple[Note, Place]]) -> Query | None:
    """The notes of the span of days that is named, whose units are searched for the rest of the question."""
    if draft.time is None or any(note.date is None for note, _ in titles):
        return None
    draft.spans.clear()
    rest = draft.rest(draft.time.span)
    return Query("notes", "list", (), (within("date", draft.time),), residual=places(rest))


_OWN_ASPECT = re.compile(r"的[\u4e00-\u9fff]{1,4}?(?:是(?:什么|谁|几)|(?:是|有)?多[少大高重])")
_OF_VALUE = re.compile(r"\s+of (?:being |the |an? |my )*")
_OF = re.compile(r"\bof (?:the |my )?$")
_HAS = re.compile(r"['’]s\s+\w|\s+ha(?:ve|s)\b|的")


def _asks_for_part(draft: Draft) -> bool:
    """Whether something of a note is asked for, and not notes that have it as a value: "the risks of Kestrel"."""
    return any(
        _OF.search(draft.text, 0, place.start) or _HAS.match(draft.text, place.end)
        for _, place in draft.vocabulary.titles_in(draft.words)
    )


def _show_dates(draft: Draft) -> None:
    """Show the date properties of the selected notes, but for notes that are named by their day."""
    members = draft.members()
    if all(note.date is not None and note.date in note.title for note in members):
        return
    keys = date_keys(field for note in members for field in note.fields)
    own = [key for key in keys if key.casefold() not in RECORD_KEYS]
    draft.shown_keys[:0] = own or keys


def _titles(draft: Draft) -> list[tuple[Note, Place]]:
    """Notes that are named, but for those whose name is a word for a class of notes, a value or a property."""
    vocabulary = draft.vocabulary
    asks_for_several = draft.asks_many or draft.asks_when or draft.time is not None
    titles = []
    for note, place in vocabulary.titles_in(draft.words):
        written = draft.text[place.start : place.end]
        if not (
            (asks_for_several and written in vocabulary.values)
            or parts(written) in vocabulary.class_names
            or all(word in QUERY_WORDS for word in written.split())
            or (len(parts(written)) == 1 and written in vocabulary.key_names)
        ):
            titles.append((note, place))
    return titles
