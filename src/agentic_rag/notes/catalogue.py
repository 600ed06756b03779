"""A note's row of its dataset's catalogue, and the schema of all rows: what people made a database of by hand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, TypedDict

from agentic_rag.dates.instants import moment_of
from agentic_rag.domain import Document, folders_above, name_and_suffix, with_parent_tags
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.notes import Field, Note, Row
from agentic_rag.errors import FilterError
from agentic_rag.notes.bases import Base, read_base
from agentic_rag.notes.units import MAX_SHOWN_FIELDS, Unit, read_units

MAX_ROWS = 500
"""Entries of one note that are kept."""
MAX_FIELDS = 200
MAX_ITEMS, MAX_ITEM = 60, 60
"""Short list items that are kept of a note, and their code points: what a recipe needs, who was there."""
MAX_KEY = 24
MIN_SHARED_NOTES = 3
"""Notes that have a line ``Level: ★★★`` before it counts as a property."""
MAX_TEXT, MAX_VALUE = 200, 4_000
"""Code points of an entry's text, and of a property's value, which conditions compare whole."""
SHOWN_VALUES = 10
"""Values of a property that the schema names, the most frequent first."""
MAX_SHOWN = 60
"""Code points of a value that the schema names."""
_STATEMENTS = ("sentence", "item", "step", "code")


def note_of(document: Document) -> Note:
    """The catalogue's row of a document. Other kinds than Markdown have a name, a place, a date, tags and a canvas's
    properties alone; a base has its source."""
    units = read_units(document.text).units if document.kind in ("markdown", "canvas") else ()
    if document.kind == "canvas":
        units = tuple(unit for unit in units if unit.kind == "property")
    fields = [one for unit in units for one in _fields(unit)]
    rows = [_row(unit) for unit in units if _is_row(unit)]
    rows += [_row(unit) for unit in units if _is_item(unit)][:MAX_ITEMS]
    opening = next((unit for unit in units if unit.kind in _STATEMENTS and len(unit.text) > 1), None)
    links = dict.fromkeys(_name(link.target) for link in document.links if not link.embed)
    return Note(
        document_id=document.id,
        path=document.path,
        title=document.title,
        date=None if document.date is None else _moment_text(document.date.isoformat()),
        url=document.url,
        tags=document.tags,
        aliases=document.aliases,
        links=tuple(links)[:MAX_FIELDS],
        fields=tuple(fields[:MAX_FIELDS]),
        rows=tuple(rows[:MAX_ROWS]),
        opening=None if opening is None else (opening.start, opening.end),
        base=document.metadata["base"] if document.kind == "base" else None,
    )


def _moment_text(moment: str) -> str:
    return moment.removesuffix("T00:00:00+00:00")


def _name(target: str) -> str:
    return PurePosixPath(target).name.removesuffix(".md")


def _is_row(unit: Unit) -> bool:
    return unit.kind in ("task", "row") or (unit.kind in ("item", "step") and bool(unit.fields))


def _is_item(unit: Unit) -> bool:
    return unit.kind == "item" and not unit.fields and len(unit.own()) <= MAX_ITEM


def _fields(unit: Unit) -> list[Field]:
    """Statements about the note: its properties, and named values in its sentences."""
    if unit.kind == "property":
        return [Field(str(unit.key), _value(unit.value), unit.start, unit.end)]
    is_line = unit.kind in ("sentence", "item") and not unit.parents and len(unit.text) <= MAX_ITEM
    if unit.key is not None and len(unit.key) <= MAX_KEY and is_line:
        return [Field(unit.key, _value(_number(unit.text)), unit.start, unit.end, is_line=True)]
    if unit.kind == "sentence":
        return [Field(one.key, _value(one.value), unit.start, unit.end) for one in unit.fields]
    return []


def _row(unit: Unit) -> Row:
    own = [Field(one.key, _value(one.value), unit.start, unit.end) for one in unit.fields]
    own += [Field(name, _value(_number(cell)), unit.start, unit.end) for name, cell in unit.columns if name]
    text = unit.text if unit.fields or unit.columns else unit.own()
    for one in unit.fields[:MAX_SHOWN_FIELDS]:
        text = re.sub(rf"\s*[\[(]?{re.escape(one.key)}: {re.escape(str(one.value))}[\])]?", "", text)
    kind: Any = unit.kind if unit.kind in ("task", "row") else "item"
    return Row(kind, text[:MAX_TEXT], unit.start, unit.end, unit.headings, unit.state, tuple(own))


def _number(cell: str) -> Any:
    """A cell that is a number as such."""
    if not re.fullmatch(r"[-+]?\d{1,15}(?:\.\d+)?", cell):
        return cell
    return float(cell) if "." in cell else int(cell)


def _value(value: Any) -> Any:
    """Scalars and lists of them; what is nested deeper as text."""
    if isinstance(value, list):
        return [_value(member) for member in value if member is not None][:MAX_FIELDS]
    if isinstance(value, dict):
        return str(value)[:MAX_VALUE]
    return value[:MAX_VALUE] if isinstance(value, str) else value


@dataclass(frozen=True, slots=True)
class Key:
    """A property of a dataset."""

    name: str
    notes: int
    """How many have it with a value."""
    types: tuple[str, ...]
    """``number``, ``date``, ``boolean``, ``link`` or ``text``, the most frequent first."""
    values: tuple[tuple[Any, int], ...]
    """Values with the number of notes that have them, the most frequent first."""


class KeyValues(TypedDict):
    """A ``Key`` as JSON values, cut for people and tools."""

    name: str
    notes: int
    types: list[str]
    values: dict[str, int]
    """The first values as a filter writes them, with the number of notes that have them."""
    distinct: int
    range: list[str] | None
    """The least and the greatest, of numbers and dates."""


class SchemaValues(TypedDict):
    """A ``Schema`` as JSON values, cut for people and tools; numbers are of notes."""

    notes: int
    properties: list[KeyValues]
    tags: dict[str, int]
    folders: dict[str, int]
    tasks: dict[str, int]
    """Numbers of tasks by their mark."""
    entries: list[KeyValues]
    """Properties of list items and table rows."""
    more: dict[str, int]
    """By list, how many are not listed."""


@dataclass(frozen=True, slots=True)
class Schema:
    """What a dataset's notes state in a form that can be compared, with counts."""

    notes: int
    keys: tuple[Key, ...] = ()
    tags: tuple[tuple[str, int], ...] = ()
    folders: tuple[tuple[str, int], ...] = ()
    """Paths with the number of notes at or below them."""
    tasks: tuple[tuple[str, int], ...] = ()
    """Marks of tasks with their number."""
    row_keys: tuple[Key, ...] = ()
    """Of list items and table rows."""

    @classmethod
    def of(cls, notes: Sequence[Note]) -> Schema:
        """The schema of the notes."""
        return cls(
            len(notes),
            _keys((f.key, f.value) for note in notes for f in note.fields),
            _count_names(tag for note in notes if note.tags for tag in with_parent_tags(note.tags)),
            _count_names(folder for note in notes for folder in folders_above(note.path)),
            _count_names(row.state for note in notes for row in note.rows if row.state is not None),
            _keys((f.key, f.value) for note in notes for row in note.rows for f in row.fields),
        )

    def to_dict(self, most: int | None = None, values: int = SHOWN_VALUES) -> SchemaValues:
        """Plain values for people and tools: of each property its types, its count and its first values.

        Args:
            most: properties, tags, folders, marks and properties of entries that are listed, those of most notes
                first; ``more`` counts the others. None: all.
            values: of each property; its ``distinct`` counts all.
        """
        whole: Mapping[str, Sequence[object]] = {
            "properties": self.keys,
            "tags": self.tags,
            "folders": self.folders,
            "tasks": self.tasks,
            "entries": self.row_keys,
        }
        rest = {name: len(every[most:]) for name, every in whole.items()} if most is not None else {}
        return {
            "notes": self.notes,
            "properties": [_key_values(key, values) for key in self.keys[:most]],
            "tags": dict(self.tags[:most]),
            "folders": dict(self.folders[:most]),
            "tasks": dict(self.tasks[:most]),
            "entries": [_key_values(key, values) for key in self.row_keys[:most]],
            "more": {name: count for name, count in rest.items() if count},
        }


def _bases(rows: Iterable[Note]) -> dict[str, Base]:
    bases: dict[str, Base] = {}
    for row in rows:
        if row.base is None:
            continue
        name = name_and_suffix(row.path)[0].casefold()
        if name not in bases:
            # Ingest refuses what cannot be read; a row may be of a version that read more.
            with suppress(FilterError):
                bases[name] = read_base(row.base, row.path)
    return bases


def _key_values(key: Key, most: int) -> KeyValues:
    values: Counter[str] = Counter()
    for value, count in key.values[:most]:
        values[_short(value)] += count
    return {
        "name": key.name,
        "notes": key.notes,
        "types": list(key.types),
        "values": dict(values),
        "distinct": len(key.values),
        "range": _range(key),
    }


def _short(value: Any) -> str:
    """A value as it is written in a filter, cut."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


def _range(key: Key) -> list[str] | None:
    """The least and the greatest value of a property that is mostly numbers or dates."""
    kind = key.types[0] if key.types else None
    if kind not in ("number", "date"):
        return None
    same = [value for value, _ in key.values if value_type(value) == kind]
    return [_short(min(same)), _short(max(same))]


def _count_names(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(names).items(), key=lambda one: (-one[1], one[0])))


@dataclass(slots=True)
class _Column:
    count: int = 0
    types: Counter[str] = field(default_factory=Counter)
    values: Counter[Any] = field(default_factory=Counter)


def _keys(statements: Iterable[tuple[str, Any]]) -> tuple[Key, ...]:
    columns: dict[str, _Column] = {}
    for name, value in statements:
        members = [one for one in (value if isinstance(value, list) else [value]) if one not in (None, "")]
        column = columns.setdefault(name, _Column())
        column.count += bool(members)
        for member in members:
            column.types[value_type(member)] += 1
            column.values[member] += 1
    keys = (
        Key(
            name,
            column.count,
            tuple(kind for kind, _ in column.types.most_common()),
            tuple(sorted(column.values.items(), key=lambda one: (-one[1], str(one[0])))),
        )
        for name, column in columns.items()
    )
    return tuple(sorted(keys, key=lambda key: (-key.notes, key.name)))


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?(?:[T ].*)?")


def value_type(value: Any) -> str:
    """``number``, ``boolean``, ``date``, ``link`` or ``text``."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if _DATE.fullmatch(str(value)):
        return "date"
    return "link" if str(value).startswith("[[") else "text"


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All notes of a dataset at one moment, and their schema. Equal to itself alone, so that caches can hold by it."""

    notes: tuple[Note, ...] = ()
    bases: Mapping[str, Base] = field(default_factory=dict)
    """Selections of notes that people named, by the name of the file without suffix, case folded; of one name the first
    by path. They are not among the notes."""
    documents: int = 0
    """Of the dataset, notes and others."""
    pending: int = 0
    """Those of them that an ingest has yet to write: it is running, or was interrupted."""

    @classmethod
    def of(cls, rows: Iterable[Note], documents: int = 0, pending: int = 0) -> Snapshot:
        """The notes, and the bases, in the order of their paths."""
        ordered = sorted(rows, key=lambda note: note.path)
        notes = [note for note in ordered if note.base is None]
        lines = Counter(key for note in notes for key in {f.key for f in note.fields if f.is_line})
        shared = {key for key, count in lines.items() if count >= MIN_SHARED_NOTES}
        stated = tuple(_with_stated(note, shared) for note in notes)
        snapshot = cls(stated, _bases(ordered), documents, pending)
        _ = snapshot.schema  # is made here, in the thread that reads the notes
        return snapshot

    @cached_property
    def facts(self) -> Mapping[str, Json]:
        """What filters compare of each note, by document id; each note's are made when they are first asked for."""
        return _Facts(self.notes)

    @cached_property
    def schema(self) -> Schema:
        """What the notes state, with counts."""
        return Schema.of(self.notes)

    @cached_property
    def days(self) -> frozenset[date]:
        """Days of the notes."""
        return frozenset(date.fromisoformat(note.date[:10]) for note in self.notes if note.date is not None)

    @cached_property
    def stated_days(self) -> frozenset[date]:
        """Days that properties, tasks and rows of tables state."""
        own = (field.value for note in self.notes for field in note.fields)
        rows = [row for note in self.notes for row in note.rows]
        of_tasks = (day for row in rows for day in (row.text, *row.signed_days().values()))
        of_rows = (field.value for row in rows for field in row.fields)
        written = {text for value in (*own, *of_tasks, *of_rows) if _DAY.fullmatch(text := str(value))}
        moments = map(moment_of, written)  # None of a day that no month has
        return frozenset(moment.date() for moment in moments if moment is not None)

    @cached_property
    def _places_by_title(self) -> Mapping[str, Sequence[int]]:
        """Places of the notes by the title that filters compare."""
        places: dict[str, list[int]] = {}
        for place, note in enumerate(self.notes):
            title = self.facts[note.document_id].get("title")
            for one in title if isinstance(title, list) else [title]:
                places.setdefault(str(one), []).append(place)
        return places

    def having_title(self, titles: Iterable[str]) -> list[Note]:
        """The notes that have one of the titles, in their order: some of many thousands, without a look at each."""
        places = {place for title in titles for place in self._places_by_title.get(title, ())}
        return [self.notes[place] for place in sorted(places)]

    def notes_by_title(self) -> Mapping[str, Note]:
        """Notes by title and alias, case folded; the first of a name."""
        named: dict[str, Note] = {}
        for note in self.notes:
            for name in (note.title, *note.aliases, name_and_suffix(note.path)[0]):
                named.setdefault(name.casefold(), note)
        return named


class _Facts(Mapping[str, Json]):
    """The facts of notes by document id, each made once."""

    def __init__(self, notes: Sequence[Note]) -> None:
        self._notes = {note.document_id: note for note in notes}
        self._by_id: dict[str, Json] = {}

    def __getitem__(self, document_id: str) -> Json:
        if document_id not in self._by_id:
            self._by_id[document_id] = self._notes[document_id].facts()
        return self._by_id[document_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._notes)

    def __len__(self) -> int:
        return len(self._notes)


def _with_stated(note: Note, shared_keys: Set[str]) -> Note:
    """The note with the lines that count as properties alone."""
    stated = tuple(field for field in note.fields if not field.is_line or field.key in shared_keys)
    return note if len(stated) == len(note.fields) else replace(note, fields=stated)
