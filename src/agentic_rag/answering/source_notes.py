"""The notes of what was retrieved, each read into units: the whole note, of a long one the passages that were retrieved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any

from agentic_rag.domain import Chunk
from agentic_rag.domain.results import Passage
from agentic_rag.notes.units import Reading, Unit, headings_above, read_plain, read_units
from agentic_rag.text import fold

MAX_NOTE = 60_000
"""Code points of a note that are read whole; of a longer one the passages that were retrieved are read."""
_MARKDOWN = (".md", ".markdown", ".org", ".csv", ".docx", ".pptx", ".html", ".htm", ".epub")
"""Suffixes of what ingest reads as Markdown."""


@dataclass(frozen=True)
class SourceNote:
    """A note with a retrieved passage, and its units."""

    document_id: str | None
    title: str
    path: str
    url: str | None
    date: str | None
    tags: tuple[str, ...]
    order: int
    """Of its best passage in the ranking, from 0."""
    relevance: float
    """Of its best passage, in [0, 1]."""
    chunks: tuple[Chunk, ...]
    """In the order of the text, as far as they were read."""
    passages: Mapping[str, float]
    """Relevance of the retrieved chunks by id."""
    reading: Reading
    base: Passage = field(compare=False)
    """The retrieved result where it comes from no stored document (a memory), else the first chunk's place."""
    names: tuple[str, ...] = ()
    """Its title, folders, tags and the values of its properties."""

    def chunk_at(self, start: int) -> Chunk | None:
        """The chunk that a unit begins in; None where the note has no stored chunks."""
        n = bisect_right(self.chunks, start, key=_chunk_start) - 1
        return self.chunks[n] if n >= 0 and start < self.chunks[n].end else None

    def relevance_at(self, chunk: Chunk | None) -> float:
        """Relevance of one of its passages, in [0, 1]; half of the note's for one that was not retrieved."""
        return self.relevance if chunk is None else self.passages.get(chunk.id, 0.5 * self.relevance)

    def text(self, start: int, end: int) -> str:
        """The text of a span, as far as chunks of it were read."""
        if not self.chunks:
            return str(self.base["content"])[start - self.offset : end - self.offset]
        parts = [
            chunk.text[max(0, start - chunk.start) : max(0, end - chunk.start)]
            for chunk in self.chunks
            if chunk.start < end and start < chunk.end
        ]
        return "".join(parts)

    @cached_property
    def is_prose(self) -> bool:
        """Whether it is a document without markup, whose sentences say together what the units of a note say alone."""
        suffix = PurePosixPath(self.path).suffix.casefold()
        return bool(self.chunks) and suffix not in (*_MARKDOWN, ".canvas")

    @property
    def offset(self) -> int:
        """Start of the retrieved result in its document, in code points, where no chunks are stored."""
        return int(self.base["metadata"].get("start") or 0)


_chunk_start = attrgetter("start")


def source_notes(
    results: Sequence[Passage],
    relevance: Sequence[float],
    documents: Mapping[str, Sequence[Chunk]],
) -> list[SourceNote]:
    """The notes of the results, in the order of their best passage.

    Args:
        results: best first.
        relevance: of each, in [0, 1].
        documents: all chunks of the notes, as far as they could be read.
    """
    groups: dict[str, list[tuple[int, Passage, float]]] = {}
    for order, (result, known) in enumerate(zip(results, relevance, strict=True)):
        groups.setdefault(str(result["metadata"].get("document_id") or result["id"]), []).append(
            (order, result, known)
        )
    return [_source_note(group, documents.get(key, ())) for key, group in groups.items()]


def _source_note(group: Sequence[tuple[int, Passage, float]], chunks: Sequence[Chunk]) -> SourceNote:
    order, best, _ = group[0]
    passages = {str(result["id"]): known for _, result, known in group}
    if chunks:  # a result may be a fact, whose title is not its note's
        return replace(note_of_chunks(chunks, passages), order=order)
    metadata, reading = best["metadata"], _of_results(group)
    path, title = str(metadata.get("path") or ""), str(metadata.get("title") or "")
    return SourceNote(
        document_id=metadata.get("document_id"),
        title=title,
        path=path,
        url=metadata.get("url"),
        date=metadata.get("date"),
        tags=_tags(metadata),
        order=order,
        relevance=max(passages.values()),
        chunks=(),
        passages=passages,
        reading=reading,
        names=_names(title, path, reading),
        base=best,
    )


def _tags(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    tags = metadata.get("tags") or ()
    return tuple(str(tag) for tag in ([tags] if isinstance(tags, str) else tags))


def _names(title: str, path: str, reading: Reading) -> tuple[str, ...]:
    return (title, *PurePosixPath(path).parts, *(unit.text for unit in reading.properties))


def note_of_chunks(chunks: Sequence[Chunk], passages: Mapping[str, float] | None = None) -> SourceNote:
    """The note that these stored chunks make.

    Args:
        chunks: all of its chunks, at least one, in the order of the text.
        passages: relevance of the retrieved ones by id; None: it was selected, and all of it is as relevant.
    """
    first = chunks[0]
    if passages is None:
        passages = {chunk.id: 1.0 for chunk in chunks}
    reading = _reading(first.path, chunks, passages)
    return SourceNote(
        document_id=first.document_id,
        title=first.title,
        path=first.path,
        url=first.url,
        date=None if first.date is None else first.date.isoformat(),
        tags=_tags(first.metadata),
        order=0,
        relevance=max(passages.values()),
        chunks=tuple(chunks),
        passages=passages,
        reading=reading,
        names=_names(first.title, first.path, reading),
        base={
            "id": first.id,
            "metadata": {"path": first.path, "title": first.title, "start": first.start},
            "content": first.text,
            "facts": [],
        },
    )


def _reading(path: str, chunks: Sequence[Chunk], passages: Mapping[str, float]) -> Reading:
    """The units of a note; of a long one those of the retrieved passages and of their neighbours.

    Text without markup has its headings (a canvas its groups) in its chunks alone.
    """
    markdown = PurePosixPath(path).suffix.casefold() in _MARKDOWN
    is_long = chunks[-1].end - chunks[0].start > MAX_NOTE
    if markdown and not is_long:
        return _read("".join(chunk.text for chunk in chunks), chunks[0].start, (), True)
    places = {n for n, chunk in enumerate(chunks) if chunk.id in passages or not is_long}
    wanted = sorted({near for n in places for near in (n - 1, n, n + 1) if 0 <= near < len(chunks)})
    units: list[Unit] = []
    for n in wanted:
        chunk = chunks[n]
        read = _read(
            chunk.text,
            chunk.start,
            headings_above(chunk.text, chunk.heading_path) if markdown else chunk.heading_path,
            markdown,
        )
        units += [replace(unit, block=unit.block + 1_000 * n) for unit in read.units]
    return Reading(tuple(units))


def _of_results(group: Sequence[tuple[int, Passage, float]]) -> Reading:
    """Units of passages without a stored document: memories, facts without a chunk."""
    units: list[Unit] = []
    for _, result, _ in group:
        metadata = result["metadata"]
        headings = tuple(str(part) for part in metadata.get("heading_path") or ())
        units += _read(str(result["content"]), int(metadata.get("start") or 0), headings, False).units
    return Reading(tuple(units))


@lru_cache(maxsize=512)
def _read(text: str, start: int, headings: tuple[str, ...], markdown: bool) -> Reading:
    read = read_units if markdown else read_plain
    return read(text, start=start, headings=headings)


def vocabulary_of(notes: Sequence[SourceNote]) -> str:
    """All that the notes say, for looking up runs of Chinese characters."""
    return "\n".join(cached_fold(text) for note in notes for text in (*note.names, *_all_texts(note.reading)))


def _all_texts(reading: Reading) -> Iterator[str]:
    for unit in reading.units:
        yield unit.own()
        yield from unit.headings[-1:]


cached_fold = lru_cache(maxsize=16_384)(fold)
