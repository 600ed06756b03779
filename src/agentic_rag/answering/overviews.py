"""Renders an overview of all notes: their number, folders, tags and time, then first statements, each cited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentic_rag.answering.forms.lines import Line, heading
from agentic_rag.answering.source_notes import note_of_chunks
from agentic_rag.domain import Chunk
from agentic_rag.domain.results import AnswerLine
from agentic_rag.domain.selection import EntryValues, OverviewValues, SelectionValues
from agentic_rag.notes.readable import readable

MAX_STATEMENT = 240
"""Code points of a statement that are shown; the whole is cited."""


def overview_lines(
    selection: SelectionValues, documents: Mapping[str, Sequence[Chunk]], *, is_chinese: bool
) -> tuple[AnswerLine, ...]:
    """Lines of the answer in order; those on the whole are headings and are not cited.

    Args:
        selection: as ``select_notes`` wrote it for a question about everything.
        documents: all chunks of the notes of its entries.
        is_chinese: the language of the headings.
    """
    facts = selection["overview"]
    heads = [_extent(facts, is_chinese=is_chinese)]
    heads += _name_counts("文件夹" if is_chinese else "Folders", facts["folders"], is_chinese=is_chinese)
    heads += _name_counts(
        "标签" if is_chinese else "Tags", [[f"#{tag}", n] for tag, n in facts["tags"]], is_chinese=is_chinese
    )
    statements = [
        line for entry in selection["entries"] if (line := _statement(entry, documents)) is not None
    ]
    return (*map(heading, heads), *statements)


def _extent(facts: OverviewValues, *, is_chinese: bool) -> str:
    """``103 notes in 7 folders, from 2023-07 to 2024-03``."""
    notes, folders = facts["notes"], facts["folder_count"]
    first, last = facts["dates"] or (None, None)
    if is_chinese:
        time = (
            "" if first is None else f"，时间为 {first}" if first == last else f"，时间从 {first} 到 {last}"
        )
        return f"共 {notes} 篇笔记" + (f"，分布在 {folders} 个文件夹" if folders else "") + time
    where = f" in {folders} folder{'s' * (folders != 1)}" if folders else ""
    time = "" if first is None else f", of {first}" if first == last else f", from {first} to {last}"
    return f"{notes} note{'s' * (notes != 1)}{where}{time}"


def _name_counts(what: str, names: Sequence[Sequence[Any]], *, is_chinese: bool) -> list[str]:
    if not names:
        return []
    if is_chinese:
        return [f"{what}：{'、'.join(f'{name}（{count}）' for name, count in names)}"]
    return [f"{what}: {', '.join(f'{name} ({count})' for name, count in names)}"]


def _statement(entry: EntryValues, documents: Mapping[str, Sequence[Chunk]]) -> AnswerLine | None:
    """``- Title: first statement``, cited; None where its note cannot be read."""
    chunks = documents.get(entry["document_id"], ())
    if not chunks:
        return None
    note = note_of_chunks(chunks)
    start, end = entry["start"] or 0, entry["end"] or 0
    text = readable(note.text(start, end))
    shown = text if len(text) <= MAX_STATEMENT else f"{text[:MAX_STATEMENT].rstrip()}…"
    line = Line(f"- {entry['text']}: {shown}", note, start, end, tuple(entry["headings"]))
    return line.to_dict()
