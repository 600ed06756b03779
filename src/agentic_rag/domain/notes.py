"""A note as a row of the database that people make by hand: its properties, tags, folder, dates and tasks.

One ``Note`` per document is kept by ingest (``retrieval.ports.NoteCatalogue``), so that a question about many notes reads all of
them and not the nearest few. Offsets are code points, half-open, into the document's decoded text.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter

from agentic_rag.domain import folders_above, name_and_suffix, with_parent_tags
from agentic_rag.text import fold

RowKind = Literal["task", "item", "row"]
ITEMS = "items"
"""What the lists of a note name, among its facts."""
TEXT = "text"
"""What an entry says, among its facts."""
HEADINGS = "headings"
"""The headings that an entry stands under, among its facts."""
_TASK_DATE = re.compile(r"(?P<sign>[📅⏳🛫✅➕❌])\ufe0f?\s*(?P<day>\d{4}-\d\d-\d\d)")
_SIGNS = {"📅": "due", "⏳": "scheduled", "🛫": "start", "✅": "done", "➕": "created", "❌": "cancelled"}
"""What the day behind a sign tells of a task, as the plugin Tasks writes it."""


@dataclass(frozen=True, slots=True)
class Field:
    """One statement ``key: value`` of a note: a property, an inline field, or a cell of a table row."""

    key: str
    value: Any
    """JSON: a scalar, or a list of scalars. Nested properties have a dotted key (``wellbeing.mood``)."""
    start: int
    """Of the whole statement, as it is quoted: ``rating: 5``."""
    end: int
    is_line: bool = False
    """Whether it is a line of the text that only looks like a property (``Level: ★★★``): one where notes share it."""


@dataclass(frozen=True, slots=True)
class Row:
    """An entry of a note that can be asked for by itself: a task, a list item with fields, a row of a table."""

    kind: RowKind
    text: str
    """As it is shown, without markup and fields: ``500g oatmeal``, ``call plumber``."""
    start: int
    end: int
    headings: tuple[str, ...] = ()
    """The headings above it, outermost first."""
    state: str | None = None
    """Of a task, the mark in its box: a space, ``x``, ``/``, ``-`` …; None for other rows."""
    fields: tuple[Field, ...] = ()

    def signed_days(self) -> dict[str, str]:
        """The days behind a task's signs, in ISO form, by what they tell: ``due``, ``done`` …"""
        return {_SIGNS[match["sign"]]: match["day"] for match in _TASK_DATE.finditer(self.text)}

    def facts(self) -> dict[str, Any]:
        """What conditions on entries compare: its fields by name, ``signed_days``, its ``text`` and ``headings``."""
        headings = [fold(one) for one in self.headings]
        return {
            TEXT: fold(self.text),
            HEADINGS: headings,
            **self.signed_days(),
            **{field.key: field.value for field in self.fields},
        }


@dataclass(frozen=True, slots=True)
class Note:
    """What a note is called, where it lies, and what it states in a form that can be compared."""

    document_id: str
    path: str
    title: str
    date: str | None = None
    """ISO 8601; a day alone where the note states no time."""
    url: str | None = None
    tags: tuple[str, ...] = ()
    """As written, without ``#``, in properties and text."""
    aliases: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    """Names of the notes that it links to, in order, each once."""
    fields: tuple[Field, ...] = ()
    """In order of place; a key may come several times. Fields of ``rows`` are not among them."""
    rows: tuple[Row, ...] = ()
    opening: tuple[int, int] | None = None
    """Span of its first statement; None where it has none."""
    base: str | None = None
    """Of a ``.base`` file its source, which selects notes and is none; None for a note."""

    def facts(self) -> dict[str, Any]:
        """What filters compare (see ``domain.filters``): properties by name, and ``path``, ``title``, ``folder``,
        ``tags``, ``links``, ``date``, ``document_id``; a property goes before a place of its name.

        ``file.name`` (without suffix), ``file.folder`` (the innermost alone, ``/`` at the root) and ``file.ext`` are
        Obsidian's names, which no property hides. ``links`` are those of the note and what a property ``links`` has.
        ``items`` are the texts of its list items, tasks and table rows. ``folder`` has each folder above the note (``a/b``, ``a``), ``tags`` each tag and those it lies under, so that
        ``folder=a`` and ``tags=recipe`` select what lies below too. A key that comes several times has all values; one
        with an empty list is left out, so that a note without tags is one that has none.
        """
        found: dict[str, Any] = {}
        for field in self.fields:
            known = found.get(field.key)
            values = [] if known is None else known if isinstance(known, list) else [known]
            values = [*values, *(field.value if isinstance(field.value, list) else [field.value])]
            found[field.key] = values[0] if len(values) == 1 and not isinstance(field.value, list) else values
        folders, (name, suffix) = folders_above(self.path), name_and_suffix(self.path)
        place = {
            "document_id": self.document_id,
            "path": self.path,
            "title": self.title,
            "date": self.date,
            "folder": folders,
        }
        own = found.get("links")
        links = [*self.links, *(own if isinstance(own, list) else [] if own is None else [own])]
        facts = {
            **place,
            **found,
            "tags": with_parent_tags(self.tags),
            "links": links,
            ITEMS: [row.text for row in self.rows],
            "file.name": name,
            "file.folder": next(iter(folders), "/"),
            "file.ext": suffix.removeprefix("."),
        }
        return {key: value for key, value in facts.items() if value not in ([], ())}

    def pack(self) -> bytes:
        """Compressed JSON, as the ledger keeps it; see ``unpack``."""
        return zlib.compress(json.dumps(asdict(self), ensure_ascii=True, separators=(",", ":")).encode())

    @classmethod
    def unpack(cls, packed_note: bytes) -> Note:
        """The inverse of ``pack``."""
        return _json().validate_json(zlib.decompress(packed_note))


@cache
def _json() -> TypeAdapter[Note]:
    return TypeAdapter(Note)
