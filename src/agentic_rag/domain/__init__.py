"""The words every stage shares: documents, their chunks, the graph derived from them, and the hits found among them.

All are frozen values. Offsets are code points, half-open, into ``Document.text``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from typing import Any, Literal

from agentic_rag.domain.json_values import Json
from agentic_rag.domain.results import GraphFact, Passage

BlockKind = Literal[
    "properties", "heading", "paragraph", "list", "code", "table", "callout", "quote", "html", "turn", "card"
]
Metadata = Mapping[str, Any]
"""User metadata: JSON values only (str, int, float, bool, None, lists and objects of them)."""
REGIONS = "regions"
"""Metadata of blocks and chunks that OCR read: for each line its start and end in the document, and left, top, right and
bottom of its place on the page, in shares of width and height."""


@dataclass(frozen=True, slots=True)
class Block:
    """A structural piece of a document: the smallest thing chunking keeps whole when it can."""

    kind: BlockKind
    start: int
    end: int
    heading_path: tuple[str, ...] = ()
    key: str | None = None
    """Stable local key the source itself gives (a dialogue turn's ``D1:3``, a canvas node's id)."""
    date: datetime | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Link:
    """A reference written by the author: wikilink, embed, Markdown link to a file, property link."""

    target: str
    """As written, without heading, block and alias: ``Note``, ``folder/Note``, ``picture.png``."""
    start: int
    end: int
    heading: str | None = None
    block: str | None = None
    alias: str | None = None
    embed: bool = False
    relation: str | None = None
    """Property key or Dataview field the link stands under (``author:: [[Kevin Kelly]]``)."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation the author drew: a labelled canvas edge, a group that holds a card.

    ``source`` and ``target`` name things: a note name as a wikilink would, or free text of a card.
    """

    source: str
    target: str
    name: str
    """Label as written (``causes``), or ``LINKS_TO`` / ``CONTAINS`` where the author gave none."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A note, file, canvas, record or conversation session, parsed."""

    id: str
    """Unique within a dataset: path relative to the ingested root (POSIX, NFC), BEIR ``_id``, or ``conv-26/session_1``."""
    path: str
    title: str
    text: str
    kind: Literal["markdown", "text", "canvas", "session", "record", "base"]
    """``base``: a ``.base`` file of Obsidian, which has no text: its source is ``metadata["base"]``."""
    blocks: tuple[Block, ...]
    """In order, without overlap; together they cover the text up to white space."""
    metadata: Metadata = field(default_factory=dict)
    date: datetime | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    relations: tuple[Relation, ...] = ()
    url: str | None = None
    """Opens the document where it lives (``obsidian://open?…`` for a vault note)."""
    warnings: tuple[str, ...] = ()
    """What of it could not be read, for the report."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit of retrieval. ``document.text[start:end] == text``; a document's chunks partition its text."""

    id: str
    """``<document id>#<local key>``: unique in a dataset, unchanged while its own text and heading path are."""
    document_id: str
    text: str
    start: int
    end: int
    ordinal: int
    """Position in the document, from 0."""
    title: str
    path: str
    kind: str
    heading_path: tuple[str, ...] = ()
    date: datetime | None = None
    url: str | None = None
    metadata: Metadata = field(default_factory=dict)


def by_document(chunks: Iterable[Chunk]) -> dict[str, list[Chunk]]:
    """Chunks by their document's id, in the order of the text."""
    documents: dict[str, list[Chunk]] = {}
    for chunk in sorted(chunks, key=lambda chunk: (chunk.document_id, chunk.ordinal)):
        documents.setdefault(chunk.document_id, []).append(chunk)
    return documents


OWN_NOTE = "agentic-rag"
"""Property of a note that ``check`` wrote: what somebody got wrong. Only weak-point clustering reads those."""


def is_own_note(metadata: Metadata) -> bool:
    """Whether the program wrote the note, as a record of a mistake: evidence for nothing else."""
    return metadata.get(OWN_NOTE) is not None


def filterable(chunk: Chunk) -> Json:
    """What filters see: the chunk's place in its source, and its metadata, which go before where both have a key.

    ``date`` is ISO 8601, of a day alone where it is one's beginning in UTC. ``folder`` and ``tags`` are lists with all
    that they lie under: see ``folders_above`` and ``with_parent_tags``.
    """
    place = {
        "document_id": chunk.document_id,
        "path": chunk.path,
        "folder": folders_above(chunk.path),
        "title": chunk.title,
        "heading_path": list(chunk.heading_path),
        "kind": chunk.kind,
        "date": None if chunk.date is None else written_date(chunk.date),
    }
    own = {key: value for key, value in chunk.metadata.items() if value is not None}
    if "tags" in own:
        own["tags"] = with_parent_tags(own["tags"])
    return {**place, **own}


def folders_above(path: str) -> list[str]:
    """The folders that a path lies in, innermost first: ``a/b/note.md`` is in ``a/b`` and ``a``."""
    return _with_prefixes(path.rpartition("/")[0])


def name_and_suffix(path: str) -> tuple[str, str]:
    """The name of a file without its suffix, and the suffix: ``b`` and ``.md`` of ``a/b.md``.

    As ``PurePosixPath`` has them, which takes ten times as long; each question's process reads those of all notes.
    """
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return (name[:dot], name[dot:]) if 0 < dot < len(name) - 1 else (name, "")


def with_parent_tags(tags: Any) -> list[Any]:
    """Each tag without ``#``, as it is written, and those it lies under: ``food/pasta`` is ``food`` too.

    Args:
        tags: of a property: one or a list. What is no text stays as it is.
    """
    written = tags if isinstance(tags, list | tuple) else [tags]
    names = [
        name for tag in written if isinstance(tag, str) for name in _with_prefixes(tag.removeprefix("#"))
    ]
    return [*dict.fromkeys(names), *(tag for tag in written if not isinstance(tag, str))]


def _with_prefixes(name: str) -> list[str]:
    """``a/b`` and ``a`` of ``a/b``."""
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1) if parts[count - 1]]


def written_date(date: datetime) -> str:
    """A date as filters compare it, in UTC: a day where it has no time of day, else a moment; ISO 8601."""
    moment = date if date.tzinfo is None else date.astimezone(UTC)
    return moment.date().isoformat() if moment.time() == time() else moment.isoformat()


def search_text(chunk: Chunk) -> str:
    """What full text and the embedding read: title, heading path, text; joined as the model likes it."""
    return _under(chunk.title, chunk.heading_path, chunk.text)


def result_text(result: Passage) -> str:
    """``search_text`` of a result's ``content`` and ``metadata``: the text alone seldom says what it is about."""
    metadata = result["metadata"]
    return _under(metadata.get("title"), metadata.get("heading_path") or (), result["content"])


def _under(title: str | None, headings: Iterable[str], text: str) -> str:
    return ". ".join([*(str(part) for part in (title, *headings) if part), text.strip()])


@dataclass(frozen=True, slots=True)
class Entity:
    """Something the documents speak of. ``key`` identifies it within a dataset (see ``entity_key``)."""

    key: str
    name: str
    labels: tuple[str, ...] = ()
    """``Note``, ``Tag``, ``Person``, ``Thing``, ``Heading``, ``Card``, …"""


@dataclass(frozen=True, slots=True)
class Fact:
    """A relation between two entities with the sentence that says so, from one chunk."""

    source: str
    target: str
    name: str
    """``LINKS_TO``, ``MENTIONS``, ``HAS_TAG``, a property key or canvas label in UPPER_SNAKE, …"""
    text: str
    """The sentence, as written."""
    chunk_id: str
    valid_at: datetime | None = None
    invalid_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A chunk speaks of an entity (Graphiti's episodic edge)."""

    entity: str
    chunk_id: str


@dataclass(frozen=True, slots=True)
class DocumentGraph:
    """What one document contributes to the knowledge graph. Entities named here may be shared with others."""

    document_id: str
    chunks: tuple[Chunk, ...]
    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()
    mentions: tuple[Mention, ...] = ()
    moved_from: str | None = None
    """Previous id of a moved document, under which the vectors of its facts are stored."""

    def all_mentions(self) -> tuple[Mention, ...]:
        """The given mentions and those of the facts, whose chunks mention both ends; each once."""
        of_facts = (Mention(end, fact.chunk_id) for fact in self.facts for end in (fact.source, fact.target))
        return tuple(dict.fromkeys((*self.mentions, *of_facts)))


HitKind = Literal["node", "edge", "episode", "community", "document"]


@dataclass(frozen=True, slots=True)
class FactHit:
    """One fact that the graph's search found, before it is projected to chunks."""

    id: str
    """Graphiti uuid."""
    name: str
    """Of the relation."""
    text: str
    """The fact's sentence."""
    rank: int
    """From 1, as Graphiti's own reranker ordered it."""
    cosine: float | None
    """Cosine of query and sentence in [-1, 1]; None where no vector was compared."""
    bm25: float | None
    chunk_ids: tuple[str, ...]
    """Chunks of the episodes it came from, in id order; empty for a fact of no chunk."""
    source_name: str | None = None
    target_name: str | None = None
    valid_at: datetime | None = None
    invalid_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What one source found for a question."""

    hits: list[Hit]
    """Best first."""
    question: dict[str, Any]
    """What the source knows of the question itself: ``names`` and ``specificity`` of the graph, ``familiarity`` of the
    vector store. Plain values."""
    reason: str | None = None
    """Why there are no hits, for a person; None: no hit was relevant, or there are some."""


class Hit(Passage):
    """One source's result, projected to the chunk it supports. Plain JSON values."""

    type: str
    """``node``, ``edge``, ``episode``, ``community`` or ``document``."""
    rank: int
    """From 1 within the source."""
    score: float | None
    """The source's own, higher is better; None where it gave none."""
    evidence: Mapping[str, Any]
    """What the source's judgement rests on: ``legs`` and ``tokens`` of the vector store, ``walk`` and
    ``entities`` of the graph."""


def new_hit(
    identity: str,
    content: str,
    kind: HitKind,
    *,
    rank: int = 0,
    score: float | None = None,
    metadata: Metadata | None = None,
    evidence: Mapping[str, Any] | None = None,
    facts: list[GraphFact] | None = None,
) -> Hit:
    """A hit with what is given; rank 0 stands for one that is not ranked yet."""
    return {
        "id": identity,
        "content": content,
        "type": kind,
        "rank": rank,
        "score": score,
        "metadata": metadata or {},
        "evidence": evidence or {},
        "facts": facts or [],
    }
