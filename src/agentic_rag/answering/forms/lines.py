"""The lines of an answer, with the spans of notes that say so, and what the forms of answers share."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from agentic_rag.answering.citations import region
from agentic_rag.answering.evidence import Candidate
from agentic_rag.answering.source_notes import SourceNote
from agentic_rag.answering.term_levels import CLEAR
from agentic_rag.domain.results import AnswerLine
from agentic_rag.notes.units import COLONS, LIST_KINDS, Unit
from agentic_rag.questions.question import Question
from agentic_rag.text import fold, tokens

NEAR_TIE = 0.08
"""Units this near to the best one answer beside it."""
NEAR = 0.5
"""The same where the best unit leaves something open."""
MAX_LINES = 30
"""Entries of a list, or steps, that are shown."""
SLIGHT = 0.05
"""Difference of levels that tells nothing."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the answer, and the span of its note that says so."""

    text: str
    note: SourceNote
    start: int
    end: int
    headings: tuple[str, ...]

    def to_dict(self) -> AnswerLine:
        """Plain values, for the state: what a citation needs, and ``text``."""
        chunk = self.note.chunk_at(self.start)
        metadata = self.note.base["metadata"]
        own = metadata if chunk is None else chunk.metadata
        return {
            "text": self.text,
            "chunk_id": self.note.base["id"] if chunk is None else chunk.id,
            "document_id": self.note.document_id,
            "path": metadata.get("path"),
            "title": metadata.get("title"),
            "heading_path": list(self.headings),
            "start": self.start,
            "end": self.end,
            "quote": self.note.text(self.start, self.end),
            "score": self.note.relevance,
            "url": self.note.url,
            "page": own.get("page"),
            "region": region(own, self.start, self.end),
        }


def heading(text: str) -> AnswerLine:
    """A line that is not cited."""
    return cast(AnswerLine, {"text": text, "document_id": None})


AGGREGATES = {"average": ("average", "平均"), "sum": ("total", "合计")}
"""Names of what is computed, in English and Chinese."""


def count_text(count: int, target: str, *, is_chinese: bool) -> str:
    """The line above notes, tasks or entries that are counted: ``3 entries:``, ``共 3 项:``."""
    if is_chinese:
        return f"共 {count} {'项' if target != 'notes' else '篇'}:"
    noun = {"notes": "note", "tasks": "task", "entries": "entry"}[target]
    plural = "entries" if noun == "entry" else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}:"


def more_text(count: int, *, is_chinese: bool) -> str:
    """The line below those that are shown."""
    return f"… 另有 {count} 条" if is_chinese else f"… and {count} more"


@dataclass(frozen=True, slots=True)
class ComposedAnswer:
    """An answer, and the units that it stands on."""

    lines: tuple[Line, ...] = ()
    basis: tuple[Candidate, ...] = ()
    is_definition: bool = False
    """Whether it is the unit that defines what the question asks for."""
    head: str = ""
    """What is computed of the lines, which stands above them without a citation of its own."""
    tail: str = ""
    """How many more lines there are than are shown."""
    is_whole: bool = False
    """Whether the lines together say all that the question does, whatever each says."""


ADDRESSES = frozenset({"permalink", "slug"})
"""Names of the properties that hold where a site shows a note: its title in other letters."""


def is_title(unit: Unit, note: SourceNote) -> bool:
    """Whether a property only repeats the note's title, or is its address."""
    if unit.kind != "property":
        return False
    return str(unit.key).casefold() in ADDRESSES or unit.text.casefold() == note.title.casefold()


TAGS = frozenset({"tags", "tag"})
"""Names of the property that holds a note's tags."""


def line_of(unit: Unit, note: SourceNote, text: str | None = None) -> Line:
    """The line of a unit, as it is shown, or with another ``text``."""
    return Line(unit.display_text() if text is None else text, note, unit.start, unit.end, unit.headings)


def block_of(units: Sequence[Unit], note: SourceNote, texts: Sequence[str]) -> tuple[Line, ...]:
    """Lines of one block, which is cited as a whole."""
    start, end = units[0].start, max(unit.end for unit in units)
    return tuple(Line(text, note, start, end, units[0].headings) for text in texts)


def clear_terms(levels: Mapping[str, float]) -> set[str]:
    """The terms that are clearly expressed."""
    return {term for term, level in levels.items() if level >= CLEAR}


def introduced_text(unit: Unit) -> str | None:
    """A list item behind the line with a colon that introduces its list, ``Never use: a heater``; None for other units."""
    lead = (unit.lead or "") if unit.kind in LIST_KINDS and unit.state is None else ""
    return f"{lead} {unit.display_text()}" if lead.endswith(COLONS) else None


def titled_text(one: Candidate) -> str:
    """The unit with the name of what it speaks of before it, where it does not say it itself: its heading's, if that
    or its note is asked for, else its note's."""
    shown = one.unit.display_text()
    if one.unit.parents:
        return shown
    name = one.unit.headings[-1] if one.unit.headings and (one.near or one.above) else one.note.title
    return shown if not name or name.casefold() in shown.casefold() else f"{name}: {shown}"


WHO = re.compile(r"\bwho\b|谁", re.IGNORECASE)


def is_named(question: Question, note: SourceNote) -> bool:
    """Whether a question names the note's title, of a person a part of it, and nothing else."""
    title = fold(note.title).casefold()
    words = set(tokens(title))
    named = question.specific_tokens
    is_person = bool(named) and len(words) > 1 and WHO.search(question.text) is not None
    return (is_person or title in fold(question.text).casefold()) and all(
        token in words or token in title for token in named
    )


def stripped_span(note: SourceNote, place: tuple[int, int]) -> tuple[int, int]:
    """A span without the white space behind it."""
    start, end = place
    return start, start + len(note.text(start, end).rstrip())


def entry_text(unit: Unit) -> str:
    """A list item as it is shown in its list, with its depth and the state of a task."""
    state = f"{unit.display_text().split(' ', 1)[0]} " if unit.state is not None else ""
    return f"{'  ' * unit.depth}- {state}{unit.own()}"


def with_led(units: Sequence[Unit], note: SourceNote) -> list[Line]:
    """The lines of units, below one that only stands over a list the list's items."""
    lines: list[Line] = []
    shown: set[int] = set()
    for unit in units:
        if unit.start in shown:
            continue
        is_item = unit.kind in LIST_KINDS and unit.key is None
        lines.append(line_of(unit, note, entry_text(unit) if is_item else None))
        led = [
            one
            for one in note.reading.units
            if one.lead == unit.text and one.kind in LIST_KINDS and one.headings == unit.headings
        ]
        lines += [line_of(one, note, entry_text(one)) for one in led]
        shown |= {one.start for one in led}
    return lines


def statements(note: SourceNote) -> list[Unit]:
    """What a note states in its text; its properties where it has no text."""
    text = [unit for unit in note.reading.units if unit.kind != "property" or unit.headings]
    return text or list(note.reading.units)
