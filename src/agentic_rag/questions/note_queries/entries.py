"""Questions for the rows and list items of notes, by their numbers, values and dates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from agentic_rag.domain.filters import Comparison, Expression, Or, matches
from agentic_rag.domain.notes import Note, Row
from agentic_rag.questions import comparisons
from agentic_rag.questions.forms import ONE, extreme_noun, head_noun, superlative_noun
from agentic_rag.questions.note_queries.draft import Draft, places
from agentic_rag.questions.note_queries.measures import is_of_concept
from agentic_rag.questions.note_queries.query import Query
from agentic_rag.questions.note_queries.values import (
    YEARS,
    bounding_years,
    comparison_on,
    has_unit_of_measure,
    is_date,
    is_number,
    measures_same,
    names_other_measure,
    unit_of,
    whole,
    within,
    within_years,
)
from agentic_rag.questions.note_queries.vocabulary import NoteClass
from agentic_rag.questions.words import Place, parts, stem
from agentic_rag.text import starts_cjk

MAX_REST = 3
"""Words beside the conditions on entries; what says more asks for something else."""


async def entries_of_named(draft: Draft, titles: Sequence[tuple[Note, Place]]) -> Query | None:
    """The rows or list items of a note that is named; None where the question states no condition on them.

    Without a word that asks for several, nothing else may be said: "pantry before 2024".
    """
    if not draft.asks_many and ONE.search(draft.text):
        return None
    for note, place in titles:
        if _is_property_of_another(draft, note, place):
            continue
        rows = [row for row in note.rows if row.fields and row.state is None]
        conditions, spans = await _row_conditions(draft, rows, place) if len(rows) > 1 else ([], [])
        rest = places(draft.rest(place, *spans))
        if conditions and (draft.asks_many or not rest):
            draft.cover(place)
            where = (Comparison("path", "$eq", note.path),)
            return Query(
                "entries", draft.list_or_count, (note.title,), where, tuple(conditions), residual=rest
            )
    return None


def _is_property_of_another(draft: Draft, note: Note, place: Place) -> bool:
    """Whether a title is meant as a property of another note that is named: "which languages does the goblin speak?"."""
    keys = {key for key, named in draft.vocabulary.keys_in(draft.words) if named.overlaps(place)}
    others = (one for one, _ in draft.vocabulary.titles_in(draft.words) if one is not note)
    return bool(keys) and any(keys.intersection(field.key for field in one.fields) for one in others)


async def entries_of_table(draft: Draft, titles: Sequence[tuple[Note, Place]]) -> Query | None:
    """The rows of the one table whose first column, heading or note is called by the noun that is asked for: "how many
    tools do I have?", "which tool cost the most?"; of a superlative without a noun, "what is the cheapest in Tools?", those
    of the named note. None where there is none, or the question says more."""
    superlative = comparisons.extreme(draft.text)
    noun = (superlative_noun(draft.text) if superlative else None) or head_noun(draft.text)
    noun = noun or extreme_noun(draft.text)
    titles = titles or draft.vocabulary.titles_in(draft.words)  # a title may be the value of a link as well
    if superlative is not None:
        titles = [one for one in titles if not one[1].overlaps(superlative.span)]
    if noun is None and (superlative is None or not titles):
        return None
    if superlative is None and noun is not None and _is_singular(draft.text[noun.start : noun.end]):
        return None  # "which boiler do we have?" asks for one thing, and not for the rows of its note
    paths = {note.path for note, place in titles if noun is None or not place.overlaps(noun)}
    name = None if noun is None else parts(draft.text[noun.start : noun.end])[-1]
    classes = [] if noun is None else _classes(draft, noun)
    if classes:  # whose notes are asked for, but for a superlative that none of them has a number for
        members = [] if superlative is None else _members(draft, classes)
        if not members or any(is_number(one.value) for note in members for one in note.fields):
            return None
        of_members = {note.path for note in members}
        if any(note.path in of_members for note, _ in draft.vocabulary.tables):
            paths, name = of_members, None
    tables = [
        (note, rows)
        for note, rows in draft.vocabulary.tables
        if (not paths or note.path in paths) and (name is None or _is_called(name, note.title, rows[0]))
    ]
    if len(tables) > 1:  # the one whose rows are called so, else the one whose note or heading is
        tables = [one for one in tables if parts(one[1][0].fields[0].key) == (name,)] or [
            (note, rows)
            for note, rows in tables
            if (name,) in (parts(note.title), *map(parts, rows[0].headings[-1:]))
        ]
    if len(tables) != 1:
        return None
    ((note, rows),) = tables
    conditions, spans = await _row_conditions(draft, rows)
    order = None
    if superlative is not None and not conditions:
        is_comparable = is_date if superlative.concept == "date" else is_number
        comparable: dict[str, list[Any]] = {}
        for field in (field for row in rows for field in row.fields if is_comparable(field.value)):
            comparable.setdefault(field.key, []).append(field.value)
        place, concept = superlative.span, superlative.concept
        is_of_worth = concept in comparisons.OF_WORTH
        if is_of_worth:
            comparable = {
                key: its
                for key, its in comparable.items()
                if not has_unit_of_measure(key, its)
                and (draft.words.find(key) or await is_of_concept(draft, key, concept))
            }
        # Its own words are of the script of the columns, those of its concept may not be.
        about = draft.text if concept == "size" else draft.text[place.start : place.end]
        key = await _column(draft, about, list(comparable))
        if is_of_worth and key is None:
            return None  # the best is not what has most pages; a line may say which it is
        order = None if key is None else (key, superlative.largest)
        spans.append(place)
    kind = [] if noun is None else [noun]
    rest = draft.rest(*kind, *(place for _, place in titles), *spans)
    if len(rest) > bool(conditions or order) or (noun is None and order is None):
        return None
    shown = conditions or [Comparison(rows[0].fields[0].key, "$exists", True)]
    ask = draft.list_or_count if order is None else "extreme"
    where = (Comparison("path", "$eq", note.path),)
    names = tuple(draft.text[one.start : one.end] for one in kind)
    return Query("entries", ask, names, where, tuple(shown), order=order, residual=places(rest))


def _is_singular(noun: str) -> bool:
    return noun.isascii() and not noun.endswith("s") and noun not in ("people", "children", "men", "women")


def _classes(draft: Draft, noun: Place) -> list[NoteClass]:
    return [one for one, place in draft.vocabulary.classes_in(draft.words) if place.overlaps(noun)]


def _members(draft: Draft, classes: Sequence[NoteClass]) -> list[Note]:
    """The notes of any of the classes."""
    snapshot = draft.vocabulary.snapshot
    return [
        note
        for note in snapshot.notes
        if any(matches(one.condition, snapshot.facts[note.document_id]) for one in classes)
    ]


def _label_column(row: Row) -> str:
    """The column that says what a row is: the first that does not number it."""
    return next((field.key for field in row.fields if not is_number(field.value)), row.fields[0].key)


_BEHIND_HEAD = re.compile(r"\s+(?:of|for|in|to|from|with|on|by)\s.*", re.IGNORECASE | re.DOTALL)


_HAN_LIST = re.compile(r"(?<=.)(?:名称?|[清书歌片账]?单|列表|记录|目录)$")
"""Ends of the Chinese names of lists, and of the columns that name what they list: 书单, 书名."""


def _is_called(name: str, title: str, row: Row) -> bool:
    """Whether the rows of a table are called by a noun."""
    names = _names(title, row)
    return name in names or name in (_HAN_LIST.sub("", one) for one in names if starts_cjk(one))


def _names(title: str, row: Row) -> tuple[str, ...]:
    """The words of what the rows of a table are called by; of a bag of beans they are no beans."""
    names = (_label_column(row), *row.headings[-1:], title)
    return parts(" ".join(_BEHIND_HEAD.sub("", name) for name in names))


_DIGITS = re.compile(r"\d+")


async def _row_conditions(
    draft: Draft, rows: Sequence[Row], title: Place | None = None
) -> tuple[list[Expression], list[Place]]:
    """The conditions on rows, and the words that they were read from; none are words of the title that names their note."""
    values: dict[str, list[Any]] = {}
    for row in rows:
        for one in row.fields:
            values.setdefault(one.key, []).append(one.value)
    numeric = {key: its for key, its in values.items() if sum(map(is_number, its)) * 2 >= len(its)}
    conditions: list[Expression] = []
    spans = [place for key in values if (place := draft.words.find(key)) is not None]
    column_places = [*spans]  # "how many rages …?" asks for a column and not for a value
    for number in comparisons.comparisons(draft.text):
        key = await _key_of(draft, number, numeric)
        is_in_name = key is not None and str(whole(number.value)) in _DIGITS.findall(key)  # "from 2027"
        if key is not None and not is_in_name:
            conditions.append(comparison_on(key, number, numeric[key]))
            spans.append(number.span)
    met: dict[Place, list[Comparison]] = {}
    for key, its in values.items():
        texts = [value for value in dict.fromkeys(map(str, its)) if not is_number(value) and len(value) > 2]
        place = draft.words.find(key)
        if place is not None and {str(one).casefold() for one in its} <= comparisons.YES | comparisons.NO:
            wanted = comparisons.answer_wanted(draft.text, place)
            conditions.append(
                Comparison(
                    key, "$in", tuple(dict.fromkeys(one for one in its if str(one).casefold() in wanted))
                )
            )
        for value, cells in _cells_by_value(texts).items():
            place = draft.words.find(value)
            is_column = place is not None and any(place.overlaps(one) for one in column_places)
            is_title = place is not None and title is not None and place.overlaps(title)
            if place is not None and not is_title and (value in texts or not is_column):
                met.setdefault(place, []).append(_of_cells(key, value, cells, texts))
    for place, of_place in met.items():
        exact = [one for one in of_place if one.operator == "$eq"] or of_place
        # "Is Bram second?" names the column.
        exact = [one for one in exact if draft.words.find(one.key)] or exact
        conditions.append(exact[0] if len(exact) == 1 else Or(tuple(exact)))
        spans.append(place)
    share = {key: sum(map(is_date, its)) / len(its) for key, its in values.items()}
    dates = [key for key, part in share.items() if part >= 0.5 or (part and draft.words.find(key))]
    years = [key for key, its in numeric.items() if all(isinstance(one, int) and one in YEARS for one in its)]
    if draft.time is not None and years and bounding_years(draft.time) is not None:
        conditions.append(within_years(years[0], draft.time))
        spans.append(draft.time.span)
    elif draft.time is not None and dates:
        named = [key for key in dates if draft.words.find(key)]
        conditions.append(within((named or dates)[0], draft.time))
        spans.append(draft.time.span)
    return conditions, spans


_BETWEEN_VALUES = re.compile(r"[,;]\s+|[、，；]")
_REMARK = re.compile(r"\s*[（(][^()（）]*[)）]")
_NAME_WITH_VERSION = re.compile(r"([^\W\d][^\d\s]{2,}) v?\d+(?:\.\d+)+")
"""A name with a version: ``Ubuntu 24.04``."""
MAX_VALUE = 40
"""Code points of one value among several of a cell."""


def _cells_by_value(cells: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The cells that have each value: whole ones, those that list it, ``Finesse, light, thrown (range 20/60)``, and those that
    have a version of it."""
    by_value: dict[str, list[str]] = {cell: [cell] for cell in cells}
    written: dict[str, str] = {}
    for value in by_value:
        written.setdefault(value.casefold(), value)
    for cell in cells:
        parts = _BETWEEN_VALUES.split(_REMARK.sub("", cell))
        parts += [match[1] for part in parts if (match := _NAME_WITH_VERSION.fullmatch(part))]
        for part in dict.fromkeys(parts if max(map(len, parts)) <= MAX_VALUE else ()):
            if len(part) > 2:
                having = by_value.setdefault(written.setdefault(part.casefold(), part), [])
                having += [cell] if cell not in having else []
    return {value: tuple(its) for value, its in by_value.items()}


def _of_cells(key: str, value: str, cells: Sequence[str], column: Sequence[str]) -> Comparison:
    """The condition that a cell has a value, whole or among others."""
    if list(cells) == [value]:
        return Comparison(key, "$eq", value)
    containing = [cell for cell in column if value.casefold() in cell.casefold()]
    return (
        Comparison(key, "$contains", value)
        if set(containing) == set(cells)
        else Comparison(key, "$in", tuple(cells))
    )


async def _key_of(
    draft: Draft, number: comparisons.Comparison, columns: Mapping[str, Sequence[Any]]
) -> str | None:
    """The column that a number is compared with: named, of its unit, else what the comparative compares. One whose values
    are all written with units that are not the number's, ``2 kg`` where 10 € are meant, is none."""
    keys = [
        key
        for key, its in columns.items()
        if not number.unit
        or any(unit_of(value) in ("", number.unit) for value in its)
        or measures_same(number.unit, key, its)
    ]
    if number.unit:  # "15 kg" is no week 15
        keys = [key for key in keys if not names_other_measure(number.unit, key)]
        keys = [key for key in keys if any(unit_of(value) == number.unit for value in columns[key])] or keys
    named = [key for key in keys if draft.words.find(key)]
    named = named or [key for key in keys if number.unit and stem(number.unit.casefold()) in parts(key)]
    if named:
        return named[0] if number.operator != "$eq" or number.unit or draft.words.find(named[0]) else None
    return await _column(draft, number.about, keys)


async def _column(draft: Draft, concept: str, keys: Sequence[str]) -> str | None:
    """The column that is named, else the one that is nearest to a concept."""
    named = [key for key in keys if draft.words.find(key)]
    if named or not keys or not concept:
        return named[0] if named else None
    near = await draft.nearest(concept, keys)
    return max(near, key=lambda name: near[name])


def entries_of_members(draft: Draft) -> Query | None:
    """List items or table rows that the conditions on entries select, of the class or note that is named."""
    if not draft.entry_conditions:
        return None
    conditions = list(draft.conditions)
    for note, place in draft.vocabulary.titles_in(draft.words):
        if any(row.fields for row in note.rows):
            conditions = [Comparison("path", "$eq", note.path)]
            draft.cover(place)
    rest = draft.rest()
    if len(rest) > MAX_REST or (rest and not draft.classes and _are_of_several(draft, conditions)):
        return None
    return Query(
        "entries",
        draft.list_or_count,
        tuple(draft.classes),
        tuple(conditions),
        tuple(draft.entry_conditions),
        shown_keys=tuple(draft.shown_keys),
        residual=places(rest),
    )


def _are_of_several(draft: Draft, conditions: Sequence[Expression]) -> bool:
    """Whether several notes have entries that the conditions select: what else the question says tells which are meant."""
    notes = (
        note
        for note in replace(draft, conditions=[*conditions]).members()
        if any(all(matches(one, row.facts()) for one in draft.entry_conditions) for row in note.rows)
    )
    return len(list(islice(notes, 2))) > 1
