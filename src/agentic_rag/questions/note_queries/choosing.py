"""Carries a query out over all notes of a catalogue: exhaustive, in a total order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from agentic_rag.dates.names import date_in_name
from agentic_rag.domain.filters import Comparison, matches
from agentic_rag.domain.notes import ITEMS, Field, Note, Row
from agentic_rag.notes.catalogue import MAX_TEXT
from agentic_rag.notes.units import STATES
from agentic_rag.questions.comparisons import MARKS, state
from agentic_rag.questions.computations import is_total_entry
from agentic_rag.questions.note_queries.query import Entry, Query, Selection
from agentic_rag.questions.note_queries.values import is_date, magnitude
from agentic_rag.questions.note_queries.vocabulary import value_name

_LANE_MARKS = {"doing": "/", "done": "x", "cancelled": "-"}
"""The mark of a task whose box is empty, by the lane of a board that it lies in."""
MAX_LANE = 3
"""Words of a heading that is no more than a state."""
Facts = Mapping[str, Mapping[str, Any]]


def choose(query: Query, notes: Sequence[Note], facts: Facts) -> Selection:
    """The notes or entries that a query selects.

    Ordered by the query's property, else by the note's path and the entry's place.

    Args:
        query: as it was read.
        notes: those that may be selected.
        facts: what filters compare of each, by document id.
    """
    chosen = [note for note in notes if _passes(query, facts[note.document_id])]
    if query.target == "notes":
        entries = [_of_note(query, note) for note in chosen]
    else:
        entries = [_of_row(query, note, row) for note in chosen for row in note.rows if _fits(query, row)]
    if query.order is not None:
        entries = _sort_entries(entries, descending=query.order[1])[: query.limit]
    selection = Selection(query, tuple(entries))
    return (
        selection
        if entries
        else replace(selection, nearest=_nearest(query, [facts[n.document_id] for n in notes]))
    )


def _passes(query: Query, facts: Mapping[str, Any]) -> bool:
    return all(matches(one, facts) for one in query.conditions)


def _fits(query: Query, row: Row) -> bool:
    if query.target == "tasks" and (
        row.state is None or (query.state is not None and not _has_state(row, query.state))
    ):
        return False
    if query.target == "entries" and not (row.fields and _is_single(row)):
        return False
    facts = row.facts()
    return all(matches(one, facts) for one in query.entry_conditions)


def _is_single(row: Row) -> bool:
    """Whether a row is not the total of the others."""
    return not is_total_entry(str(row.fields[0].value))


def _has_state(row: Row, name: str) -> bool:
    """Whether a task is in a state: by the mark in its box, or by the lane of a board that it lies in."""
    lane = _lane(row)
    if lane is None or row.state != " ":
        return row.state in MARKS[name]
    return lane == name or (name == "open" and lane == "doing")


def _lane(row: Row) -> str | None:
    """The state that the lane or heading right above a task names, by itself: ``Doing``, ``In progress``."""
    heading = row.headings[-1] if row.headings else ""
    stated = state(heading) if len(heading.split()) <= MAX_LANE else None
    return None if stated is None else stated[0]


def _of_note(query: Query, note: Note) -> Entry:
    fields = [
        field for field in note.fields if field.key in query.shown_keys and field.value not in (None, "", [])
    ]
    shown = "; ".join(f"{field.key}: {_display_text(field.value)}" for field in fields)
    value = None
    if query.order is not None:
        key = query.order[0]
        value = note.date if key == "date" else next((f.value for f in note.fields if f.key == key), None)
    item = _item_of(query, note)
    if item is not None:
        shown = "; ".join(filter(None, [shown, item.text]))
    span = ((item.start, item.end) if item else None) or _span(fields) or note.opening
    title = (
        note.title
        if note.date is None or query.order is None or query.order[0] != "date"
        else f"{note.title} ({note.date})"
    )
    return Entry(
        note.document_id, note.path, note.title, note.url, f"{title} — {shown}" if shown else title,
        None if span is None else span[0], None if span is None else span[1], value=value,
        named=_is_called_by_day(note),
    )  # fmt: skip


def _item_of(query: Query, note: Note) -> Row | None:
    """The list item that makes a note fit, where one is asked for."""
    for condition in query.conditions:
        if isinstance(condition, Comparison) and condition.key == ITEMS:
            return next((row for row in note.rows if matches(condition, {ITEMS: row.text})), None)
    return None


_OF_ITSELF = frozenset({"date", "day", "when", "start", "日期"})


def _is_called_by_day(note: Note) -> bool:
    """Whether a note is of its day, and not merely written on it."""
    if date_in_name(note.title) is not None or date_in_name(PurePosixPath(note.path).stem) is not None:
        return True
    return any(field.key.casefold() in _OF_ITSELF and field.value for field in note.fields)


def _display_text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_display_text, value))
    text = str(value).lower() if isinstance(value, bool) else value_name(value)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


def _span(fields: Iterable[Field]) -> tuple[int, int] | None:
    first = next(iter(fields), None)
    return None if first is None else (first.start, first.end)


def _of_row(query: Query, note: Note, row: Row) -> Entry:
    shown = "; ".join(f"{field.key}: {_display_text(field.value)}" for field in row.fields)
    text = f"{row.text} ({shown})" if shown and row.kind != "row" else shown or row.text
    if row.state is not None:
        mark = _LANE_MARKS.get(_lane(row) or "", " ") if row.state == " " else row.state
        text = f"{STATES.get(mark, f'[{mark}]')} {text}"
    value = None if query.order is None else row.facts().get(query.order[0])
    return Entry(
        note.document_id, note.path, note.title, note.url, text, row.start, row.end, row.headings, value
    )


def _sort_entries(entries: Sequence[Entry], *, descending: bool) -> list[Entry]:
    """By value; numbers, shares and measures before other texts, those without a value left out."""
    valued = [entry for entry in entries if entry.value not in (None, "", [])]
    sizes = [(size, entry) for entry in valued if (size := magnitude(entry.value)) is not None]
    if sizes and not any(is_date(entry.value) for entry in valued):
        return [entry for _, entry in sorted(sizes, key=lambda pair: pair[0], reverse=descending)]
    texts = [entry for entry in valued if isinstance(entry.value, str)]
    return sorted(texts, key=lambda entry: entry.value, reverse=descending)


def _nearest(query: Query, notes: Sequence[Mapping[str, Any]]) -> str | None:
    """The query without its last condition that selects something, and how many notes that selects."""
    for count in range(len(query.conditions) - 1, 0, -1):
        wider = replace(
            query, conditions=query.conditions[:count], entry_conditions=(), target="notes", order=None
        )
        chosen = sum(_passes(wider, note) for note in notes)
        if chosen:
            return f"{wider.text()}: {chosen}"
    return None
