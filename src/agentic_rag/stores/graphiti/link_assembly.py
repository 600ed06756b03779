"""The links of a graph made of its tables' columns, whole or of those made before and what was written since; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from agentic_rag.domain.identity import aliases
from agentic_rag.domain.ports import GraphLinks

Called = tuple[str, tuple[str, ...]]
"""A document's title and aliases."""
Pairs = NDArray[np.int64]
"""Places of chunks and of the entities that they mention, as one number each: place of the chunk times the number of
entities, and place of the entity. One number sorts ten times as fast as two."""
CHUNK_COLUMNS = ("uuid", "chunk_id", "chunk_date", "document_id", "metadata")
ENTITY_COLUMNS = ("uuid", "name", "labels")
MENTION_COLUMNS = ("chunk_id", "target_uuid")
FACT_COLUMNS = ("chunk_ids", "source_uuid", "target_uuid")
"""What the functions here take of each table."""
TextPairs = list[tuple[Any, Any]]
"""Columns of chunk ids and of uuids of entities."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Assembled:
    """The links, chunks in the order of their ids and entities in that of their uuids."""

    links: GraphLinks
    episodes: pa.ChunkedArray
    """Uuids of the chunks' episodes, in the order of the chunks."""
    entities: pa.ChunkedArray
    """Uuids, sorted."""


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """What was written between the links as they were and now."""

    there: pa.Table
    """``chunk_id`` and ``document_id`` of all chunks."""
    chunks: pa.Table
    """Those that were written since: CHUNK_COLUMNS."""
    uuids: pa.ChunkedArray
    """Of all entities."""
    entities: pa.Table
    """Those that were written since: ENTITY_COLUMNS."""
    documents: Sequence[str]
    """Ids of those of which a chunk or a mention was written since."""
    mentions: pa.Table
    """Theirs, all."""
    facts: pa.Table
    """Theirs, and all that several chunks state."""


def assembled(chunks: pa.Table, documents: Sequence[Called], entities: pa.Table, pairs: Pairs) -> Assembled:
    """Args: chunks and documents as of ``by_documents``, sorted; entities sorted; pairs, some more than once."""
    of_chunks = [documents[number] for number in chunks["document"].to_numpy()]
    mentioning, mentioned = _apart(pairs, len(entities))
    links = GraphLinks(
        chunk_ids=chunks["chunk_id"].to_pylist(),
        titles=[title for title, _ in of_chunks],
        aliases=[called for _, called in of_chunks],
        dates=_dates(chunks),
        names=entities["name"].to_pylist(),
        labels=labels_of(entities["labels"]),
        mentioning=mentioning,
        mentioned=mentioned,
    )
    return Assembled(links, chunks["uuid"], entities["uuid"])


def brought_up_to_date(before: Assembled, since: Changes) -> Assembled:
    """What ``assembled`` would give now, if of a document that lost a mention something was written."""
    old = before.links
    there = since.there.sort_by("chunk_id")
    uuids = since.uuids.take(pc.sort_indices(since.uuids))
    chunks, titled = by_documents(since.chunks)
    called = [titled[number] for number in chunks["document"].to_numpy()]
    # What was written comes first, and counts.
    ids = pa.chunked_array([*chunks["chunk_id"].chunks, pa.array(old.chunk_ids, pa.string())], pa.string())
    held = pc.index_in(there["chunk_id"], value_set=ids.combine_chunks())
    there, held = there.filter(held.is_valid()), held.drop_null()
    names = pa.chunked_array([*since.entities["uuid"].chunks, *before.entities.chunks], pa.string())
    known = pc.index_in(uuids, value_set=names.combine_chunks())
    uuids, known = uuids.filter(known.is_valid()), known.drop_null()

    now_chunks, now_entities = there["chunk_id"].combine_chunks(), uuids.combine_chunks()
    changed = pc.is_in(there["document_id"], value_set=pa.array(since.documents, pa.string()))
    unchanged = pc.if_else(changed, pa.scalar(None, pa.string()), there["chunk_id"]).combine_chunks()
    chunk_now = pc.index_in(pa.array(old.chunk_ids, pa.string()), value_set=unchanged)
    entity_now = pc.index_in(before.entities, value_set=now_entities)
    pairs = [
        _numbered(
            chunk_now.take(pa.array(old.mentioning)), entity_now.take(pa.array(old.mentioned)), len(uuids)
        ),
        places(pairs_of_mentions(since.mentions), now_chunks, now_entities),
        places(pairs_of_facts(since.facts), now_chunks, now_entities),
    ]
    mentioning, mentioned = _apart(np.concatenate(pairs), len(uuids))

    links = GraphLinks(
        chunk_ids=now_chunks.to_pylist(),
        titles=_taken([title for title, _ in called], old.titles, held),
        aliases=_taken([other for _, other in called], old.aliases, held),
        dates=np.concatenate([_dates(chunks), old.dates])[held.to_numpy()],
        names=_taken(since.entities["name"].to_pylist(), old.names, known),
        labels=_taken(labels_of(since.entities["labels"]), old.labels, known),
        mentioning=mentioning,
        mentioned=mentioned,
    )
    episodes = pa.chunked_array([*chunks["uuid"].chunks, *before.episodes.chunks], pa.string())
    return Assembled(links, episodes.take(held), uuids)


def by_documents(episodes: pa.Table) -> tuple[pa.Table, list[Called]]:
    """The chunks, each with the number of its document, and how the documents are called: read once a document."""
    encoded = episodes["document_id"].combine_chunks().dictionary_encode()
    numbers = encoded.indices.to_numpy()
    _, firsts = np.unique(numbers, return_index=True)
    noted = [json.loads(text) for text in episodes["metadata"].take(pa.array(firsts)).to_pylist()]
    chunks = episodes.select(["uuid", "chunk_id", "chunk_date"]).append_column("document", pa.array(numbers))
    return chunks, [(one["title"], _aliases(one)) for one in noted]


def pairs_of_mentions(mentions: pa.Table) -> TextPairs:
    return [(mentions["chunk_id"], mentions["target_uuid"])]


def pairs_of_facts(facts: pa.Table) -> TextPairs:
    """Of both ends."""
    parents = pc.list_parent_indices(facts["chunk_ids"])
    stated_in = pc.list_flatten(facts["chunk_ids"])
    return [(stated_in, facts[end].take(parents)) for end in ("source_uuid", "target_uuid")]


def places(pairs: TextPairs, chunks: pa.Array, entities: pa.Array) -> Pairs:
    """Of the pairs in the chunks and entities, without those that name something that is not there."""
    found = []
    for mentioning, mentioned in pairs:
        chunk = pc.index_in(mentioning, value_set=chunks)
        entity = pc.index_in(mentioned, value_set=entities)
        found.append(_numbered(chunk, entity, len(entities)))
    return np.concatenate(found)


def labels_of(labels: pa.ChunkedArray) -> list[tuple[str, ...]]:
    """Of each entity; the same ones are one tuple, for there are few that differ."""
    joined = pc.binary_join(labels.combine_chunks(), "\0").fill_null("").dictionary_encode()
    distinct = [tuple(text.split("\0")) if text else () for text in joined.dictionary.to_pylist()]
    return [distinct[place] for place in joined.indices.to_numpy()]


def _numbered(chunks: Any, entities: Any, count: int) -> Pairs:
    both = pa.table([chunks, entities], names=["chunk", "entity"]).drop_null()
    found: Pairs = both["chunk"].to_numpy() * np.int64(count) + both["entity"].to_numpy()
    return found


def _apart(pairs: Pairs, count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Places of chunks and of entities, each pair once, in order."""
    ordered = np.sort(pairs)  # np.unique hashes them, which takes ten times as long
    unique = ordered[np.r_[True, ordered[1:] != ordered[:-1]]] if len(ordered) else ordered
    chunks, entities = np.divmod(unique, max(count, 1))
    return chunks.astype(np.int32), entities.astype(np.int32)


def _taken(written: Sequence[T], before: Sequence[T], places: pa.ChunkedArray) -> list[T]:
    both = [*written, *before]
    return [both[place] for place in places.to_numpy()]


def _dates(chunks: pa.Table) -> NDArray[np.datetime64]:
    dates: NDArray[np.datetime64] = chunks["chunk_date"].to_numpy().astype("datetime64[us]")
    return dates


def _aliases(noted: Mapping[str, str]) -> tuple[str, ...]:
    properties = noted["metadata"]
    return aliases(json.loads(properties)) if "alias" in properties.casefold() else ()
