"""Questions for the rows and list items of notes, by their numbers, values and dates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentic_rag.domain.filters import Comparison, Expression
from agentic_rag.domain.notes import Note, Row
from agentic_rag.questions import comparisons
from agentic_rag.questions.draft import Draft
from agentic_rag.questions.query import Query
from agentic_rag.questions.values import compared, is_date, is_number, within
from agentic_rag.questions.words import Span, parts, stem

MAX_REST = 3
"""Words beside the conditions on entries; what says more asks for something else."""


def entries_of_named(draft: Draft, titles: Sequence[tuple[Note, Span]]) -> Query | None:
    """The rows or list items of a note that is named; None where the question states no condition on them."""
    if not draft.asks_many:
        return None
    for note, place in titles:
        rows = [row for row in note.rows if row.fields and row.state is None]
        conditions = _row_conditions(draft, rows) if len(rows) > 1 else []
        if conditions:
            draft.cover(place)
            where = (Comparison("path", "$eq", note.path),)
            return Query("entries", draft.list_or_count, (note.title,), where, tuple(conditions))
    return None


def _row_conditions(draft: Draft, rows: Sequence[Row]) -> list[Expression]:
    values: dict[str, list[Any]] = {}
    for row in rows:
        for one in row.fields:
            values.setdefault(one.key, []).append(one.value)
    numeric = {key: its for key, its in values.items() if sum(map(is_number, its)) * 2 >= len(its)}
    conditions: list[Expression] = []
    for number in comparisons.comparisons(draft.text):
        named = [
            key for key in numeric if draft.words.find(key) or stem(number.unit.casefold()) in parts(key)
        ]
        if named and number.operator != "$eq":
            conditions.append(compared(named[0], number, numeric[named[0]]))
    for key, its in values.items():
        texts = [value for value in dict.fromkeys(map(str, its)) if not is_number(value) and len(value) > 2]
        conditions += [Comparison(key, "$eq", value) for value in texts if draft.words.find(value)]
    dates = [key for key, its in values.items() if sum(map(is_date, its)) * 2 >= len(its)]
    if draft.time is not None and dates:
        conditions.append(within(dates[0], draft.time))
    return conditions


def entries_of_members(draft: Draft) -> Query | None:
    """List items or table rows that the conditions on entries select, of the class or note that is named."""
    if not draft.entry_conditions:
        return None
    conditions = list(draft.conditions)
    for note, place in draft.vocabulary.titles_in(draft.words):
        if any(row.fields for row in note.rows):
            conditions = [Comparison("path", "$eq", note.path)]
            draft.cover(place)
    if len(draft.rest()) > MAX_REST:
        return None
    return Query(
        "entries",
        draft.list_or_count,
        tuple(draft.classes),
        tuple(conditions),
        tuple(draft.entry_conditions),
        shown=tuple(draft.shown),
    )
