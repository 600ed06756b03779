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
"""Places of chunks and of the entities that they mention, as one number each, for one number sorts ten times as fast as
two: place of the chunk times the number of entities, and place of the entity; doubled, and one more where a fact says
so and not a mention."""
CHUNK_COLUMNS = ("uuid", "chunk_id", "chunk_date", "document_id", "metadata")
ENTITY_COLUMNS = ("uuid", "name", "labels")
MENTION_COLUMNS = ("chunk_id", "target_uuid")
FACT_COLUMNS = ("chunk_ids", "source_uuid", "target_uuid")
"""What the functions here take of each table."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class MentionRows:
    """What of the links is said by rows of mentions: by it is told whether any of them is gone."""

    of_pairs: NDArray[np.bool_]
    """Of each pair of the links, whether a mention says it; a fact may say it as well."""
    of_chunks: NDArray[np.int32]
    """Rows of each chunk."""
    others: int
    """Rows of what is no chunk."""


@dataclass(frozen=True, slots=True, eq=False)
class Assembled:
    """The links, chunks in the order of their ids and entities in that of their uuids."""

    links: GraphLinks
    episodes: pa.ChunkedArray
    """Uuids of the chunks' episodes, in the order of the chunks."""
    entities: pa.ChunkedArray
    """Uuids, sorted."""
    mentions: MentionRows


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
    mention_rows: int
    """Of all documents."""
    facts: pa.Table
    """All."""


def assembled(
    chunks: pa.Table,
    documents: Sequence[Called],
    entities: pa.Table,
    pairs: Pairs,
    of_chunks: NDArray[np.int32],
    others: int,
) -> Assembled:
    """Args: chunks and documents as of ``by_documents``, sorted; entities sorted; pairs, some more than once; and see
    ``MentionRows``."""
    called = [documents[number] for number in chunks["document"].to_numpy()]
    mentioning, mentioned, of_pairs = _apart(pairs, len(entities))
    links = GraphLinks(
        chunk_ids=chunks["chunk_id"].to_pylist(),
        titles=[title for title, _ in called],
        aliases=[other for _, other in called],
        dates=_dates(chunks),
        names=entities["name"].to_pylist(),
        labels=labels_of(entities["labels"]),
        mentioning=mentioning,
        mentioned=mentioned,
    )
    return Assembled(links, chunks["uuid"], entities["uuid"], MentionRows(of_pairs, of_chunks, others))


def brought_up_to_date(before: Assembled, since: Changes) -> Assembled | None:
    """What ``assembled`` would give now; None where what was written since does not tell it."""
    old, said = before.links, before.mentions
    there, uuids = since.there.sort_by("chunk_id"), since.uuids.take(pc.sort_indices(since.uuids))
    chunks, titled = by_documents(since.chunks)
    called = [titled[number] for number in chunks["document"].to_numpy()]
    # What was written comes first, and counts.
    old_ids = pa.array(old.chunk_ids, pa.string())
    ids = pa.chunked_array([*chunks["chunk_id"].chunks, old_ids], pa.string())
    held = pc.index_in(there["chunk_id"], value_set=ids.combine_chunks())
    names = pa.chunked_array([*since.entities["uuid"].chunks, *before.entities.chunks], pa.string())
    known = pc.index_in(uuids, value_set=names.combine_chunks())
    if held.null_count or known.null_count:
        return None  # it came by another way than a write, as by the tables of another embedding model

    now_chunks, now_entities = there["chunk_id"].combine_chunks(), uuids.combine_chunks()
    changed = pc.is_in(there["document_id"], value_set=pa.array(since.documents, pa.string()))
    unchanged = pc.if_else(changed, pa.scalar(None, pa.string()), there["chunk_id"]).combine_chunks()
    chunk_now = pc.index_in(old_ids, value_set=unchanged)
    entity_now = pc.index_in(before.entities, value_set=now_entities).combine_chunks()
    stays = chunk_now.is_valid().to_numpy(zero_copy_only=False)
    if since.mention_rows != said.of_chunks[stays].sum() + said.others + len(since.mentions):
        return None  # of a document nothing was written, and a mention is gone
    kept = said.of_pairs & stays[old.mentioning]
    new_pairs, of_chunks = mentioned_in(since.mentions, now_chunks, now_entities)
    of_chunks[chunk_now.drop_null().to_numpy()] += said.of_chunks[stays]
    pairs = [
        _numbered(
            chunk_now.take(pa.array(old.mentioning[kept])),
            entity_now.take(pa.array(old.mentioned[kept])),
            len(uuids),
        ),
        new_pairs,
        stated_in(since.facts, now_chunks, now_entities),
    ]
    mentioning, mentioned, of_pairs = _apart(np.concatenate(pairs), len(uuids))
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
    others = since.mention_rows - int(of_chunks.sum())
    return Assembled(links, episodes.take(held), uuids, MentionRows(of_pairs, of_chunks, others))


def by_documents(episodes: pa.Table, start: int = 0) -> tuple[pa.Table, list[Called]]:
    """The chunks, each with the number of its document, and how the documents are called: read once a document.

    ``start``: number of the first document.
    """
    encoded = episodes["document_id"].combine_chunks().dictionary_encode()
    _, firsts = np.unique(encoded.indices.to_numpy(), return_index=True)
    numbers = encoded.indices.to_numpy() + start
    noted = [json.loads(text) for text in episodes["metadata"].take(pa.array(firsts)).to_pylist()]
    chunks = episodes.select(["uuid", "chunk_id", "chunk_date"]).append_column("document", pa.array(numbers))
    return chunks, [(one["title"], _aliases(one)) for one in noted]


def mentioned_in(mentions: pa.Table, chunks: pa.Array, entities: pa.Array) -> tuple[Pairs, NDArray[np.int32]]:
    """The pairs among the chunks and entities, without those that name something that is not there; and of each chunk
    its rows."""
    chunk = pc.index_in(mentions["chunk_id"], value_set=chunks)
    entity = pc.index_in(mentions["target_uuid"], value_set=entities)
    rows = np.bincount(chunk.drop_null().to_numpy(), minlength=len(chunks)).astype(np.int32)
    return _numbered(chunk, entity, len(entities)), rows


def stated_in(facts: pa.Table, chunks: pa.Array, entities: pa.Array) -> Pairs:
    """The same of both ends of facts."""
    parents = pc.list_parent_indices(facts["chunk_ids"])
    chunk = pc.index_in(pc.list_flatten(facts["chunk_ids"]), value_set=chunks)
    ends = [
        pc.index_in(facts[end], value_set=entities).take(parents) for end in ("source_uuid", "target_uuid")
    ]
    return np.concatenate([_numbered(chunk, end, len(entities)) for end in ends]) + 1


def labels_of(labels: pa.ChunkedArray) -> list[tuple[str, ...]]:
    """Of each entity; the same ones are one tuple, for there are few that differ."""
    joined = pc.binary_join(labels.combine_chunks(), "\0").fill_null("").dictionary_encode()
    distinct = [tuple(text.split("\0")) if text else () for text in joined.dictionary.to_pylist()]
    return [distinct[place] for place in joined.indices.to_numpy()]


def _numbered(chunks: Any, entities: Any, count: int) -> Pairs:
    """Of mentions."""
    both = pa.table([chunks, entities], names=["chunk", "entity"]).drop_null()
    found: Pairs = 2 * (both["chunk"].to_numpy() * np.int64(count) + both["entity"].to_numpy())
    return found


def _apart(pairs: Pairs, count: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
    """Places of chunks and of entities, each pair once, in order; and whether a mention says it."""
    ordered = np.sort(pairs)  # np.unique hashes them, which takes ten times as long
    both, by_fact = np.divmod(ordered, 2)
    first = np.r_[True, both[1:] != both[:-1]] if len(both) else np.zeros(0, bool)
    chunks, entities = np.divmod(both[first], max(count, 1))
    return chunks.astype(np.int32), entities.astype(np.int32), by_fact[first] == 0


def _taken(written: Sequence[T], before: Sequence[T], places: pa.ChunkedArray) -> list[T]:
    both = [*written, *before]
    return [both[place] for place in places.to_numpy()]


def _dates(chunks: pa.Table) -> NDArray[np.datetime64]:
    dates: NDArray[np.datetime64] = chunks["chunk_date"].to_numpy().astype("datetime64[us]")
    return dates


def _aliases(noted: Mapping[str, str]) -> tuple[str, ...]:
    properties = noted["metadata"]
    return aliases(json.loads(properties)) if "alias" in properties.casefold() else ()
