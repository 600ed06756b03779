"""Documents to chunks: pieces of a size the model reads, cut where the author did, that partition the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import regex

from agentic_rag.domain import REGIONS, Block, BlockKind, Chunk, Document
from agentic_rag.domain.identity import chunk_id, digest
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.ports import TokenCounter
from agentic_rag.text.sentences import split_sentences

Span = tuple[int, int]
CountedSpan = tuple[int, int, int]
"""Start, end, tokens."""

TARGET_TOKENS = 200
"""A chunk is filled up to this many tokens: a few paragraphs, one thought."""
TINY_TOKENS = 30
"""Minimum length of a section; a shorter one is joined with the following text."""

MAX_WINDOW = 200_000
"""Code points that are divided together: the words of a line of 50 MB would take 4 GB."""

_ATX = re.compile(r"[ \t]{0,3}(#{1,6})(?=\s|$)")
_SETEXT_SECOND = re.compile(r"(?:\r\n?|\n)[ \t]{0,3}-+[ \t]*$")
_OWN_CHUNK = frozenset({"properties", "turn"})
_BY_LINE: frozenset[BlockKind] = frozenset({"code", "table", "list", "html", "properties"})
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)\s*|[^\r\n]+\Z")
_ELEMENT = re.compile(r"<(?:tr|li|p|div|h[1-6])\b", re.IGNORECASE)
"""What begins an element that stands for itself."""
_WORD = re.compile(r"\s*[^\s，、；：]+[\s，、；：]*|[\s，、；：]+")
_CLUSTER = regex.compile(r"\X")
"""What is seen as one character: a letter with its accents, an emoji sequence, CRLF."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block, or a part of one that was too long, with the white space behind it."""

    block: Block
    start: int
    end: int
    tokens: int

    @property
    def is_heading(self) -> bool:
        return self.block.kind == "heading"


def chunk_document(
    document: Document, *, max_tokens: int, count_tokens: TokenCounter, target_tokens: int = TARGET_TOKENS
) -> tuple[Chunk, ...]:
    """Chunks that partition the document's text; () for a document without a visible character.

    A section (heading of level 1 to 3, canvas group) starts a chunk unless the one before is tiny, a page of a file
    that has pages always; a heading goes with what follows it; properties and dialogue turns are chunks of their own; white space between
    chunks belongs to the one before. Pure: the same document gives the same chunks.

    Args:
        document: What a parser made.
        max_tokens: Hard limit of a chunk's text, at least 1, leaving the model room for title and heading path.
        count_tokens: Token numbers of a batch of texts.
        target_tokens: At least 1; where a chunk is full though more would fit.
    """
    if not document.text.strip():
        return ()
    packer = _Packer(document.text, max_tokens, min(target_tokens, max_tokens), count_tokens)
    for piece in _pieces(document, count_tokens):
        packer.add(piece)
    return _chunks(document, packer.finish())


def _pieces(document: Document, count_tokens: TokenCounter) -> list[_Piece]:
    """One piece a block, each reaching to the next block's start, the first from the text's start."""
    text = document.text
    blocks = document.blocks or (Block("paragraph", 0, len(text)),)
    starts = [0, *(block.start for block in blocks[1:]), len(text)]
    spans = list(pairwise(starts))
    counts = count_tokens([text[start:end] for start, end in spans])
    return [
        _Piece(block, start, end, tokens)
        for block, (start, end), tokens in zip(blocks, spans, counts, strict=True)
        if end > start
    ]


class _Packer:
    """Fills one chunk after the other; ``current`` is the one being filled."""

    def __init__(self, text: str, limit: int, target: int, count_tokens: TokenCounter) -> None:
        self._text = text
        self._limit = limit
        self._target = target
        self._count_tokens = count_tokens
        self._current: list[_Piece] = []
        self._finished_groups: list[list[_Piece]] = []

    def add(self, piece: _Piece) -> None:
        if piece.block.kind in _OWN_CHUNK:
            self._flush()
            for part in self._parts(piece, self._limit):
                self._current = [part]
                self._flush()
            return
        if self._current and piece.block.metadata.get("page") != self._current[-1].block.metadata.get("page"):
            self._flush()
        tiny = min(TINY_TOKENS, self._target)
        if self._current and self._tokens() >= tiny and self._starts_section(piece):
            self._flush_body()
        if self._current and not self._fits(piece):
            self._flush_body()
        room = self._limit - self._tokens() if self._only_headings() else self._limit
        if piece.tokens > room and room < max(1, self._limit // 4):
            self._flush()
            room = self._limit
        for number, part in enumerate(self._parts(piece, room)):
            if number > 0:
                self._flush()
            self._current.append(part)

    def finish(self) -> list[list[_Piece]]:
        self._flush()
        return self._held_to_limit()

    def _held_to_limit(self) -> list[list[_Piece]]:
        """Count full chunks as one text: a sum of parts can be a token or two below what the whole has."""
        full = [
            index
            for index, group in enumerate(self._finished_groups)
            if sum(piece.tokens for piece in group) > self._limit * 3 // 4
        ]
        texts = [
            self._text[self._finished_groups[index][0].start : self._finished_groups[index][-1].end]
            for index in full
        ]
        counts = dict(zip(full, self._count_tokens(texts) if texts else (), strict=True))
        held: list[list[_Piece]] = []
        for index, group in enumerate(self._finished_groups):
            held += [group] if counts.get(index, 0) <= self._limit else self._halve(group)
        return held

    def _halve(self, group: list[_Piece]) -> list[list[_Piece]]:
        kind, target = group[-1].block.kind, max(1, self._limit // 2)
        spans = self._split(group[0].start, group[-1].end, kind, limit=self._limit, target=target)
        blocks = {start: next(p.block for p in reversed(group) if p.start <= start) for start, _, _ in spans}
        return [[_Piece(blocks[start], start, end, tokens)] for start, end, tokens in spans]

    def _tokens(self) -> int:
        return sum(piece.tokens for piece in self._current)

    def _only_headings(self) -> bool:
        return bool(self._current) and all(piece.is_heading for piece in self._current)

    def _parts(self, piece: _Piece, limit: int) -> list[_Piece]:
        if piece.tokens <= limit:
            return [piece]
        target = min(self._target, limit)
        spans = self._split(piece.start, piece.end, piece.block.kind, limit=limit, target=target)
        return [_Piece(piece.block, start, end, tokens) for start, end, tokens in spans]

    def _split(self, start: int, end: int, kind: BlockKind, *, limit: int, target: int) -> list[CountedSpan]:
        return split_span(self._text, start, end, kind, PartSize(limit, target, self._count_tokens))

    def _starts_section(self, piece: _Piece) -> bool:
        if piece.is_heading:
            return not self._only_headings() and _level(self._text, piece.block) <= 3
        before = self._current[-1].block
        return piece.block.kind == "card" and piece.block.heading_path != before.heading_path

    def _fits(self, piece: _Piece) -> bool:
        total = self._tokens() + piece.tokens
        if total > self._limit:
            return False
        # A heading waits for what follows it, and a scrap is not worth a chunk.
        scrap = TINY_TOKENS if self._target // 4 >= TINY_TOKENS else 0
        return (
            total <= self._target
            or self._only_headings()
            or self._tokens() < scrap
            or (piece.tokens < scrap and total <= self._target + scrap)
        )

    def _flush_body(self) -> None:
        """End the chunk; headings at its end wait for what comes, unless they are all it has."""
        kept = len(self._current)
        while kept > 0 and self._current[kept - 1].is_heading:
            kept -= 1
        if kept > 0:
            waiting = self._current[kept:]
            self._current = self._current[:kept]
            self._flush()
            self._current = waiting

    def _flush(self) -> None:
        if self._current:
            self._finished_groups.append(self._current)
        self._current = []


def _level(text: str, block: Block) -> int:
    line = text[block.start : block.end]
    atx = _ATX.match(line)
    if atx is not None:
        return len(atx.group(1))
    return 2 if _SETEXT_SECOND.search(line) else 1


def _chunks(document: Document, groups: list[list[_Piece]]) -> tuple[Chunk, ...]:
    shared = dict(document.metadata)
    if document.tags:
        shared["tags"] = list(document.tags)
    keys = _Keys()
    chunks = []
    for ordinal, group in enumerate(_visible(document.text, groups)):
        start, end = group[0].start, group[-1].end
        path = _heading_path(group)
        text = document.text[start:end]
        chunks.append(
            Chunk(
                id=chunk_id(document.id, keys.take(group[0].block, path, text)),
                document_id=document.id,
                text=text,
                start=start,
                end=end,
                ordinal=ordinal,
                title=document.title,
                path=document.path,
                kind=_kind(group),
                heading_path=path,
                date=next(
                    (piece.block.date for piece in group if piece.block.date is not None), document.date
                ),
                url=document.url,
                metadata=_merge_metadata(shared, group),
            )
        )
    return tuple(chunks)


def _visible(text: str, groups: list[list[_Piece]]) -> list[list[_Piece]]:
    """Give a chunk of nothing but white space to its neighbour before, or the first one to the next."""
    kept: list[list[_Piece]] = []
    start = groups[0][0].start
    for first, *rest in groups:
        end = (rest or [first])[-1].end
        if text[first.start : end].strip():
            kept.append([replace(first, start=first.start if kept else start), *rest])
        elif kept:
            kept[-1][-1] = replace(kept[-1][-1], end=end)
    return kept


def _heading_path(group: list[_Piece]) -> tuple[str, ...]:
    """What the chunk's text stands under: the common headings of its blocks, headings aside if it can."""
    paths = [piece.block.heading_path for piece in group if not piece.is_heading]
    paths = paths or [piece.block.heading_path for piece in group]
    first, last = min(paths), max(paths)  # what these share, all between them share
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:length]


def _kind(group: list[_Piece]) -> str:
    kinds = {piece.block.kind for piece in group if not piece.is_heading} or {"heading"}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _merge_metadata(shared_metadata: Mapping[str, Any], group: list[_Piece]) -> Json:
    merged = dict(shared_metadata)
    for piece in group:
        merged.update(piece.block.metadata)
    if REGIONS in merged:
        merged[REGIONS] = [line for piece in group for line in piece.block.metadata.get(REGIONS, ())]
    return merged


class _Keys:
    """Local keys of one document's chunks: a turn's own, else a digest that an edit elsewhere leaves alone."""

    def __init__(self) -> None:
        self._used_keys: set[str] = set()
        self._counts: dict[tuple[tuple[str, ...], str], int] = {}

    def take(self, block: Block, path: tuple[str, ...], text: str) -> str:
        if block.kind == "turn" and block.key is not None:
            return self._free(block.key)
        stripped = text.strip()
        occurrence = self._counts.get((path, stripped), 0) + 1
        self._counts[path, stripped] = occurrence
        return self._free(digest(*path, "", stripped, str(occurrence), size=6))

    def _free(self, key: str) -> str:
        candidate, number = key, 1
        while candidate in self._used_keys:
            number += 1
            candidate = f"{key}~{number}"
        self._used_keys.add(candidate)
        return candidate


@dataclass(frozen=True, slots=True)
class PartSize:
    """How long the parts of a text may be, in tokens."""

    limit: int
    """At least 1; only a single character of more tokens is longer."""
    target: int
    """Parts are about this long, at most ``limit``."""
    count_tokens: TokenCounter


def split_span(text: str, start: int, end: int, kind: BlockKind, size: PartSize) -> list[CountedSpan]:
    """Parts of text[start:end] that touch each other, cover it, and are of the size.

    They are about equally long, so that no scrap is left at the end.
    """
    parts: list[CountedSpan] = []
    for first, last in _windows(text, start, end):
        parts += _split_window(text, first, last, kind, size)
    return parts


def _windows(text: str, start: int, end: int) -> Iterator[Span]:
    """Parts of at most ``MAX_WINDOW``, each ending behind a line, else a word, where there is one."""
    while end - start > MAX_WINDOW:
        last = start + MAX_WINDOW
        cut = text.rfind("\n", start, last) + 1 or text.rfind(" ", start, last) + 1 or last
        yield start, cut
        start = cut
    yield start, end


def _split_window(text: str, start: int, end: int, kind: BlockKind, size: PartSize) -> list[CountedSpan]:
    levels = [_lines, _sentences, _words] if kind in _BY_LINE else [_sentences, _words]
    if kind == "html":  # Dataview's output is one line
        levels.insert(1, _elements)
    pieces = [(start, end)]
    done: list[CountedSpan] = []
    for level in levels:
        pieces = [span for piece in pieces for span in level(text, *piece)]
        done, pieces = _sorted_out(text, pieces, done, size)
        if not pieces:
            break
    for piece in pieces:
        done += _characters(text, *piece, size)
    return _pack(sorted(done), size.limit, size.target)


def _sorted_out(
    text: str, pieces: list[Span], finished_spans: list[CountedSpan], size: PartSize
) -> tuple[list[CountedSpan], list[Span]]:
    """Those that fit, with their tokens, added to ``finished_spans``; and those still too long."""
    counts = size.count_tokens([text[start:end] for start, end in pieces])
    counted = [(start, end, tokens) for (start, end), tokens in zip(pieces, counts, strict=True)]
    fitting = [piece for piece in counted if piece[2] <= size.limit]
    return finished_spans + fitting, [(start, end) for start, end, tokens in counted if tokens > size.limit]


def _pack(pieces: list[CountedSpan], limit: int, target: int) -> list[CountedSpan]:
    """Join neighbours to as many parts as the target asks for, each within the limit."""
    total = sum(tokens for _, _, tokens in pieces)
    parts = max(1, -(-total // limit), round(total / target))
    packed: list[CountedSpan] = []
    filled = 0
    for start, end, tokens in pieces:
        # A piece joins while more of it lies before this part's share of the whole than behind it.
        share = total * len(packed) / parts
        if packed and packed[-1][2] + tokens <= limit and filled + tokens / 2 <= share:
            first, _, before = packed.pop()
            packed.append((first, end, before + tokens))
        else:
            packed.append((start, end, tokens))
        filled += tokens
    return packed


def _lines(text: str, start: int, end: int) -> list[Span]:
    return _touching([match.start() for match in _LINE.finditer(text, start, end)], start, end)


def _elements(text: str, start: int, end: int) -> list[Span]:
    return _touching([start, *(match.start() for match in _ELEMENT.finditer(text, start, end))], start, end)


def _sentences(text: str, start: int, end: int) -> list[Span]:
    return _touching([start + first for first, _ in split_sentences(text[start:end])], start, end)


def _words(text: str, start: int, end: int) -> list[Span]:
    return _touching([match.start() for match in _WORD.finditer(text, start, end)], start, end)


def _touching(starts: list[int], start: int, end: int) -> list[Span]:
    """Spans from each start to the next; what lies before the first start goes to the first span."""
    cuts = [start, *(cut for cut in starts[1:] if start < cut < end), end]
    return list(pairwise(cuts))


def _characters(text: str, start: int, end: int, size: PartSize) -> list[CountedSpan]:
    """Cut one endless word into equal parts by its token density, and halve parts that are still too long."""
    done: list[CountedSpan] = []
    pieces = [(start, end)]
    while pieces:
        counts = size.count_tokens([text[first:last] for first, last in pieces])
        remaining: list[Span] = []
        for (first, last), tokens in zip(pieces, counts, strict=True):
            if tokens <= size.limit or last - first == 1:
                done.append((first, last, tokens))
            else:
                remaining += _equal_parts(text, first, last, max(2, -(-tokens // size.target)))
        pieces = remaining
    return done


def _equal_parts(text: str, start: int, end: int, parts: int) -> list[Span]:
    """At least two, cut between clusters; an endless cluster of marks is halved, as the limit comes before its looks."""
    size = -(-(end - start) // parts)
    cuts = [start]
    for cluster in _CLUSTER.finditer(text, start, end):
        if cluster.end() - cuts[-1] >= size:
            cuts.append(cluster.end())
    if cuts[-1] < end:
        cuts.append(end)
    return list(pairwise(cuts if len(cuts) > 2 else [start, (start + end) // 2, end]))
