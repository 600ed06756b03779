"""Makes the answer from scored units: one that is to the point, or the list, steps or section that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentic_rag.answering.evidence import Candidate, SourceNote
from agentic_rag.notes.units import Unit
from agentic_rag.questions.question import Question

NEAR_TIE = 0.12
"""Units this near to the best one answer beside it."""
MAX_UNITS = 3
MAX_LINES = 30
"""Entries of a list, or steps, that are shown."""
SECTION = 3
"""Sentences of a section that are shown where its heading is asked for."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the answer, and the span of its note that says so."""

    text: str
    note: SourceNote
    start: int
    end: int
    headings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for the state: what a citation needs, and ``text``."""
        chunk = self.note.chunk_at(self.start)
        metadata = self.note.base.get("metadata", {})
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
            "page": metadata.get("page") if chunk is None else chunk.metadata.get("page"),
        }


def composed(question: Question, candidates: Sequence[Candidate]) -> list[Line]:
    """The lines of the answer; none where there is no unit.

    Args:
        question: as it was read.
        candidates: best first.
    """
    if not candidates:
        return []
    if question.form == "howto" and (steps := _steps(question, candidates)):
        return steps
    if question.form == "compare":
        return _both(question, candidates)
    best = candidates[0]
    if question.form == "list" and (listed := _whole_list(best)):
        return listed
    if not _adds(best) and not question.wants:
        return _section(best)
    return _pointed(question, candidates)


def _adds(one: Candidate) -> bool:
    """Whether the unit's own words express a term better than what stands above it."""
    return any(
        value > max(one.near.get(term, 0.0), one.above.get(term, 0.0)) for term, value in one.own.items()
    )


def _line(unit: Unit, note: SourceNote, text: str | None = None) -> Line:
    return Line(unit.shown() if text is None else text, note, unit.start, unit.end, unit.headings)


def _block(units: Sequence[Unit], note: SourceNote, texts: Sequence[str]) -> list[Line]:
    """Lines of one block, which is cited as a whole."""
    start, end = units[0].start, max(unit.end for unit in units)
    return [Line(text, note, start, end, units[0].headings) for text in texts[:MAX_LINES]]


def _steps(question: Question, candidates: Sequence[Candidate]) -> list[Line]:
    """The steps of the best note, in order: the ordered list, else the longest list, of its best section."""
    note = candidates[0].note
    support: dict[int, float] = {}
    size: dict[int, int] = {}
    for one in candidates:
        if one.note is note and one.unit.kind in ("step", "item", "task"):
            block = one.unit.block
            value = len(one.near) + 0.5 * len(one.own) + 1.5 * (one.unit.kind == "step")
            support[block] = max(support.get(block, 0.0), value)
            size[block] = size.get(block, 0) + 1
    if not support:
        return []
    best = max(support, key=lambda block: (support[block], size[block], -block))
    units = [unit for unit in note.reading.units if unit.block == best]
    return _block(units, note, _numbered(units))


def _numbered(units: Sequence[Unit]) -> list[str]:
    texts, count = [], 0
    for unit in units:
        if unit.depth == 0:
            count += 1
            texts.append(f"{count}. {unit.own()}")
        else:
            texts.append(f"{'   ' * unit.depth}- {unit.own()}")
    return texts


def _whole_list(best: Candidate) -> list[Line]:
    units = [unit for unit in best.note.reading.units if unit.block == best.unit.block]
    if best.unit.kind not in ("item", "task", "step") or len(units) < 2:
        return []
    texts = [f"{'  ' * unit.depth}- {_state(unit)}{unit.own()}" for unit in units]
    return _block(units, best.note, texts)


def _state(unit: Unit) -> str:
    shown = unit.shown()
    return f"{shown.split(' ', 1)[0]} " if unit.state is not None else ""


def _section(best: Candidate) -> list[Line]:
    """What stands under the heading that is asked for."""
    if listed := _whole_list(best):
        return listed
    units = [u for u in best.note.reading.units if u.headings == best.unit.headings and u.kind != "property"]
    units = units or [best.unit]
    if units[0].kind == "code":
        units = units[:1]
    return [_line(unit, best.note) for unit in units[:SECTION]]


def _both(question: Question, candidates: Sequence[Candidate]) -> list[Line]:
    """The best unit of each of the two notes or sections that are compared."""
    lines: list[Line] = []
    covered: set[str] = set()
    for one in candidates:
        names = {term.token for term in question.terms if term.is_name}
        matched = {term for term in names or {t.token for t in question.terms} if one.level(term) >= 0.5}
        if matched - covered or not lines:
            lines.append(_line(one.unit, one.note, _titled(one)))
            covered |= matched
        if len(lines) == 2:
            break
    return lines


def _titled(one: Candidate) -> str:
    shown = one.unit.shown()
    return shown if one.note.title.casefold() in shown.casefold() else f"{one.note.title}: {shown}"


def _pointed(question: Question, candidates: Sequence[Candidate]) -> list[Line]:
    best = candidates[0]
    near = [
        one
        for one in candidates
        if one.score >= best.score - NEAR_TIE and (one.note is best.note or set(one.own) >= set(best.own))
    ]
    chosen = near[:MAX_UNITS]
    lines = []
    for one in chosen:
        titled = one.unit.kind == "property" and not one.unit.headings
        lines.append(_line(one.unit, one.note, _titled(one) if titled else None))
    return lines


DAY = 5
"""Statements of a note that are shown where a day is asked for; fewer where there are many notes."""
DAYS = 30


def of_notes(notes: Sequence[SourceNote], candidates: Sequence[Candidate] = ()) -> list[Line]:
    """What each note says, by its date: the best unit where candidates are given, else its first statements."""
    ordered = sorted(notes, key=lambda note: (note.date or "", note.path))[:DAYS]
    each = max(1, DAY // max(1, len(ordered) // 2))
    lines = []
    for note in ordered:
        if candidates:
            units = [one.unit for one in candidates if one.note is note][:1]
        else:
            units = _statements(note)[:each]
        several = len(ordered) > 1
        lines += [_line(unit, note, f"{note.title}: {unit.shown()}" if several else None) for unit in units]
    return lines


def _statements(note: SourceNote) -> list[Unit]:
    """What a note states in its text; its properties where it has no text."""
    text = [unit for unit in note.reading.units if unit.kind != "property" or unit.headings]
    return text or list(note.reading.units)
