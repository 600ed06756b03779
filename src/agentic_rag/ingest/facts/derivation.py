"""What people wrote becomes a graph: links, properties, tags, drawn relations, mentions, who talks about what.

No model and no guess: every fact is a sentence, a property or a drawn line of its document. Times are those
of the document or turn, unless the author states an interval (see ``dates.stated``); relative dates ("last week")
are not resolved.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

import regex

from agentic_rag.dates.spans import Interval
from agentic_rag.dates.stated import holding_interval
from agentic_rag.domain import Chunk, Document, DocumentGraph, Entity, Fact, Link, Mention
from agentic_rag.domain.identity import entity_key
from agentic_rag.ingest.facts.named_things import NamedThing, named_things
from agentic_rag.ingest.facts.names import Target, TitleIndex, TitleMatch, is_mentionable
from agentic_rag.ingest.facts.properties import (
    is_subject,
    named_values,
    note_interval,
    relation_name,
    tag_names,
)
from agentic_rag.ingest.facts.prose import is_attachment, link_name, prose

MAX_FACTS = 2_000
"""Of one document; links come first, then drawn relations, properties, tags, mentions."""
MAX_CHUNK_FACTS = 60
MAX_CHUNK_THINGS = 40
"""Named things of one chunk, in order of place."""
MAX_THINGS = 1_500
"""Named things of one document, counted once a chunk."""
MAX_TAGS = 64
MAX_HEADINGS = 40
MAX_CANDIDATES = 3
"""A name shared by more documents is taken for none of them."""
MAX_NAME = 120

_ADDRESS_END = re.compile(r"\s*(?:[,.!?;:~)，。！？；]|-\s|\Z)")
"""Behind the name of one who takes part, this calls them ("Thanks, Anna!") and is no talk about them."""
_QUOTES = ('"', "“", "《", "「", "『", "«")
_LABELS = {"markdown": "Note", "text": "Note", "canvas": "Canvas", "session": "Session", "record": "Record"}


def derive_graph(document: Document, chunks: Sequence[Chunk], titles: TitleIndex) -> DocumentGraph:
    """Entities, facts and mentions one document contributes; pure, the same input gives the same graph.

    Args:
        document: What a parser made.
        chunks: All of its chunks; each of them mentions the document's own entity.
        titles: Names of all documents of the dataset, this one too.
    """
    if not chunks:
        return DocumentGraph(document.id, ())
    return _Derivation(document, chunks, titles).graph()


class _Derivation:
    """One document's graph under construction."""

    def __init__(self, document: Document, chunks: Sequence[Chunk], titles: TitleIndex) -> None:
        self._document = document
        self._given_chunks = tuple(chunks)
        self._chunks = sorted(chunks, key=lambda chunk: (chunk.start, chunk.ordinal))
        self._starts = [chunk.start for chunk in self._chunks]
        self._titles = titles
        self._prose = prose(document)
        self._interval = note_interval(document.metadata)
        self._entities: dict[str, tuple[str, dict[str, None]]] = {}
        self._mentions: dict[Mention, None] = {}
        self._facts: dict[tuple[str, str, str, str, str], Fact] = {}
        self._counts: Counter[str] = Counter()
        self._statements: set[tuple[str, str, str, str]] = set()
        self._links: set[tuple[int, str]] = set()
        target = titles.target(document.id)
        title = document.title.strip() or document.id
        if target is not None and target.key == entity_key(title):
            title = target.name
        self._title = title[:MAX_NAME]
        self._own = self._entity(title, _LABELS[document.kind])

    def graph(self) -> DocumentGraph:
        for chunk in self._chunks:
            self._mention(self._own, chunk)
        self._add_links()
        self._add_relations()
        self._add_properties()
        self._add_tags()
        self._add_headings()
        self._add_running_text()
        entities = tuple(Entity(key, name, tuple(labels)) for key, (name, labels) in self._entities.items())
        return DocumentGraph(
            self._document.id,
            self._given_chunks,
            entities,
            tuple(self._facts.values()),
            tuple(self._mentions),
        )

    def _add_links(self) -> None:
        for link in self._document.links:
            if len(self._facts) >= MAX_FACTS:
                return
            resolved, name = self._titles.resolve(link.target, self._document.id), link_name(link.target)
            # A note may be called as a file is: Node.js, Report.pdf.
            if not name or (resolved is None and is_attachment(link.target)):
                continue
            target = self._target(resolved, name)
            self._links.add((self._prose.span_at(link.start)[0], target))
            chunk = self._chunk_at(link.start)
            relation = relation_name(link.relation) if link.relation else "LINKS_TO"
            text, stated = self._link_text(link, chunk)
            self._fact(self._own, target, relation, text, chunk, stated)

    def _link_text(self, link: Link, chunk: Chunk) -> tuple[str, Interval | None]:
        """The sentence that holds the link, and the interval it states."""
        shown = link.alias or link_name(link.target)
        if link.relation and self._is_property(link.start):
            return f"{self._title}: {link.relation}: {shown}", None
        sentence, stated = self._sentence(link.start, chunk)
        if link.relation:
            return f"{self._title}: {sentence}", None
        return self._said_of(sentence, shown), stated

    def _sentence(self, position: int, chunk: Chunk) -> tuple[str, Interval | None]:
        within = (chunk.start, chunk.end)
        sentence = self._prose.sentence_at(position, within=within)
        return sentence, holding_interval(self._prose.words_at(position, within=within))

    def _said_of(self, sentence: str, name: str) -> str:
        """The sentence; one that is only the name is preceded by the title."""
        return sentence if len(sentence) > len(name) + 2 else f"{self._title}: {sentence or name}"

    def _is_property(self, position: int) -> bool:
        blocks = self._document.blocks
        return bool(blocks) and blocks[0].kind == "properties" and position < blocks[0].end

    def _add_relations(self) -> None:
        for relation in self._document.relations:
            source = self._card(relation.source)
            target = self._card(relation.target)
            chunk = self._chunk_at(relation.start)
            text = self._prose.sentence_at(relation.start, within=(relation.start, relation.end))
            if relation.name == "CONTAINS":
                text = f"{relation.source}: {text}"
            self._fact(source, target, relation_name(relation.name), text, chunk, None)

    def _card(self, name: str) -> str:
        resolved = self._titles.resolve(name, self._document.id)
        return self._target(resolved, name, label="Card")

    def _add_properties(self) -> None:
        if self._document.kind not in ("markdown", "canvas"):
            return
        for key, name, meant in named_values(self._document.metadata, self._titles):
            target = self._target(meant, name, label="Thing")
            chunk = self._chunk_at(_property_place(self._document.text, key, name))
            self._fact(self._own, target, relation_name(key), f"{self._title}: {key}: {name}", chunk, None)

    def _add_tags(self) -> None:
        for tag in self._document.tags[:MAX_TAGS]:
            chunk = self._chunk_at(_tag_place(self._document.text, tag))
            for name in tag_names(tag):
                self._fact(
                    self._own, self._entity(name, "Tag"), "HAS_TAG", f"{self._title} {name}", chunk, None
                )

    def _add_headings(self) -> None:
        """Headings of the first three levels as entities of the chunks with and below them; no fact says so."""
        placed = [(path, chunk) for chunk in self._chunks for path in chunk.heading_path[:3]]
        placed += [
            (block.heading_path[-1], self._chunk_at(block.start))
            for block in self._document.blocks
            if block.kind == "heading" and 0 < len(block.heading_path) <= 3
        ]
        seen: set[str] = set()
        for heading, chunk in placed:
            if is_subject(heading) and self._titles.document_named(heading) is None:
                seen.add(heading)
                if len(seen) > MAX_HEADINGS:
                    return
                self._mention(self._entity(heading, "Heading"), chunk)

    def _add_running_text(self) -> None:
        seen = 0
        speakers = {name for chunk in self._chunks if (name := _speaker(self._document, chunk))}
        for chunk in self._chunks:
            start, speaker = chunk.start, _speaker(self._document, chunk)
            source = self._own
            if speaker:
                source = self._entity(speaker, "Person")
                self._mention(source, chunk)
                if chunk.text.startswith(f"{speaker}:"):
                    start += len(speaker) + 1
            text = self._prose.text[start : chunk.end]
            things = named_things(text)
            matches = [m for m in self._titles.mentions(text) if not _inside_quoted(m, things, text)]
            for match in matches:
                self._add_title(match, start, chunk, source, speaker)
            room = min(MAX_CHUNK_THINGS, MAX_THINGS - seen)
            for thing in self._new_things(things, matches, room):
                seen += 1
                person = _participant(thing.name, speakers)
                if person is not None and _ADDRESS_END.match(text, thing.end):
                    continue
                key = (
                    self._entity(person, "Person")
                    if person is not None
                    else self._target(self._titles.document_named(thing.name), thing.name, label="Thing")
                )
                self._mention(key, chunk)
                if speaker:
                    self._talks(source, key, start + thing.start, chunk, speaker)

    def _new_things(
        self, things: Sequence[NamedThing], matches: Sequence[TitleMatch], room: int
    ) -> Iterator[NamedThing]:
        """Named things outside the titles found, each name once."""
        seen: set[str] = set()
        for thing in things:
            if len(seen) >= room:
                return
            key = entity_key(thing.name)
            if key in seen or any(thing.start < match.end and match.start < thing.end for match in matches):
                continue
            # "the Index" is not the note Index; such names count where they are linked.
            if self._titles.document_named(thing.name) is not None and not is_mentionable(thing.name):
                continue
            seen.add(key)
            yield thing

    def _add_title(
        self, match: TitleMatch, offset: int, chunk: Chunk, source: str, speaker: str | None
    ) -> None:
        keys = {target.key for target in match.targets}
        if self._own in keys or len(keys) > MAX_CANDIDATES:
            return
        for target in match.targets:
            self._mention(self._target(target, target.name), chunk)
        if match.ambiguous:
            return
        key, position = match.targets[0].key, offset + match.start
        if speaker:
            self._talks(source, key, position, chunk, speaker)
        elif (self._prose.span_at(position)[0], key) not in self._links:
            sentence, stated = self._sentence(position, chunk)
            text = self._said_of(sentence, match.targets[0].name)
            self._once(source, key, "MENTIONS", text, chunk, stated)

    def _talks(self, source: str, target: str, position: int, chunk: Chunk, speaker: str) -> None:
        within = (chunk.start, chunk.end)
        sentence = self._prose.sentence_at(position, within=within).removeprefix(f"{speaker}:").lstrip()
        # The fact is the talk, which took place on the turn's date whatever time it is about.
        self._once(source, target, "TALKS_ABOUT", f"{speaker}: {sentence}", chunk, (self._date(chunk), None))

    def _once(
        self, source: str, target: str, name: str, text: str, chunk: Chunk, interval: Interval | None
    ) -> None:
        """Add a fact unless the chunk already has this relation between the two."""
        seen = (chunk.id, source, name, target)
        if seen not in self._statements:
            self._statements.add(seen)
            self._fact(source, target, name, text, chunk, interval)

    def _fact(
        self, source: str, target: str, name: str, text: str, chunk: Chunk, interval: Interval | None
    ) -> None:
        self._mention(target, chunk)
        self._mention(source, chunk)
        full = len(self._facts) >= MAX_FACTS or self._counts[chunk.id] >= MAX_CHUNK_FACTS
        identity = (chunk.id, source, name, target, text)
        if source == target or not text or full or identity in self._facts:
            return
        self._counts[chunk.id] += 1
        start, end = interval if interval is not None else self._holds(chunk)
        self._facts[identity] = Fact(source, target, name, text, chunk.id, start, end)

    def _holds(self, chunk: Chunk) -> Interval:
        """From the note's stated start, or its date, to its stated end."""
        start, end = self._interval
        begins = start if start is not None else self._date(chunk)
        if begins is not None and end is not None and begins >= end:
            begins = None  # written after it ended: since when it held is not known
        return begins, end

    def _date(self, chunk: Chunk) -> datetime | None:
        return chunk.date if chunk.date is not None else self._document.date

    def _mention(self, key: str, chunk: Chunk) -> None:
        self._mentions.setdefault(Mention(key, chunk.id))

    def _target(self, target: Target | None, name: str, *, label: str = "Unwritten") -> str:
        if target is not None:
            return self._entity(target.name, target.label)
        return self._entity(name, label)

    def _entity(self, name: str, label: str) -> str:
        """Note an entity and give its key; a name seen before keeps its first spelling and gains the label."""
        key = entity_key(name)
        shown = " ".join(unicodedata.normalize("NFC", name).split())[:MAX_NAME]
        _, labels = self._entities.setdefault(key, (shown, {}))
        if not (labels and label in ("Thing", "Unwritten")):  # which say only that nothing more is known
            labels.setdefault(label)
        return key

    def _chunk_at(self, position: int) -> Chunk:
        return self._chunks[max(0, bisect_right(self._starts, position) - 1)]


def _property_place(text: str, key: str, name: str) -> int:
    """Place of a property's value: in a Dataview field, else its first occurrence, because properties come first."""
    if "::" in text:
        field = re.search(rf"{re.escape(key)}[*_]{{0,2}}::[^\r\n]*?(?P<name>{re.escape(name)})", text)
        if field is not None:
            return field.start("name")
    return max(text.find(name), 0)


def _tag_place(text: str, tag: str) -> int:
    """Where a tag is written as a whole (#tea is not in #teapot), else where the properties name it."""
    whole = rf"{re.escape(tag)}(?![\w/-])"
    written = regex.search(f"#{whole}", text) or regex.search(rf"(?<![\w/-]){whole}", text)
    return 0 if written is None else written.start()


def _participant(name: str, speakers: Collection[str]) -> str | None:
    """The one speaker of the session who is called so, or so for short (Mel for Melanie)."""
    key = entity_key(name)
    called = [speaker for speaker in speakers if entity_key(speaker) == key]
    if not called and len(key) >= 3:
        called = [speaker for speaker in speakers if entity_key(speaker).startswith(key)]
    return called[0] if len(called) == 1 else None


def _inside_quoted(match: TitleMatch, things: Sequence[NamedThing], text: str) -> bool:
    """Whether the match is only a part of a quoted title: "All for You" does not speak of For You."""
    return any(
        thing.start <= match.start
        and match.end <= thing.end
        and (thing.start, thing.end) != (match.start, match.end)
        and text[: thing.start].rstrip()[-1:] in _QUOTES
        for thing in things
    )


def _speaker(document: Document, chunk: Chunk) -> str | None:
    """Who says a turn; a note may have a property of that name, which means something else."""
    if document.kind != "session":
        return None
    speaker = chunk.metadata.get("speaker")
    return " ".join(speaker.split()) or None if isinstance(speaker, str) else None
