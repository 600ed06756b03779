"""The links of a graph made of its tables' columns, whole or of those made before and what was written since; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from agentic_rag.domain.identity import aliases
from agentic_rag.stores.graph.link_columns import LinkColumns

Titles = tuple[str, tuple[str, ...]]
"""A document's title and aliases."""
Pairs = NDArray[np.int64]
"""A pair of chunk and entity as one number, because one sorts ten times as fast as two: 2 · (chunk place · number
of entities + entity place), plus 1 if the pair comes from a fact and not from a mention."""
CHUNK_COLUMNS = ("uuid", "chunk_id", "chunk_date", "document_id", "metadata")
ENTITY_COLUMNS = ("uuid", "name", "labels")
MENTION_COLUMNS = ("chunk_id", "target_uuid")
FACT_COLUMNS = ("chunk_ids", "source_uuid", "target_uuid")
"""Columns that the functions here read, by table."""


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Rows of the tables that changed after the old links were read, and the tables that are needed whole."""

    all_chunks: pa.Table
    """``chunk_id`` and ``document_id`` of all chunks."""
    chunks: pa.Table
    """CHUNK_COLUMNS of the chunks written since."""
    uuids: pa.ChunkedArray
    """Of all entities."""
    entities: pa.Table
    """ENTITY_COLUMNS of the entities written since."""
    documents: Sequence[str]
    """Ids of the documents with a chunk or mention written since."""
    mentions: pa.Table
    """All mentions of these documents."""
    mention_rows: int
    """Number of mention rows in the table."""
    facts: pa.Table
    """All."""


def assemble_links(
    chunks: pa.Table,
    documents: Sequence[Titles],
    entities: pa.Table,
    pairs: Pairs,
    rows_of_chunks: NDArray[np.int32],
    other_rows: int,
) -> LinkColumns:
    """Args: chunks and documents as of ``by_documents``, sorted; entities sorted; pairs, some more than once; and see
    ``LinkColumns``."""
    labels, label_sets = _labels(entities["labels"])
    return LinkColumns(
        chunk_ids=chunks["chunk_id"].combine_chunks(),
        **_episodes(chunks["uuid"]),
        dates=pa.array(_dates(chunks)),
        documents=pa.array(chunks["document"].to_numpy(), pa.int32()),
        rows_of_chunks=pa.array(rows_of_chunks, pa.int32()),
        **_title_columns(documents),
        entities=entities["uuid"].combine_chunks(),
        names=entities["name"].combine_chunks(),
        labels=pa.array(labels, pa.int32()),
        label_sets=pa.array(label_sets, pa.list_(pa.string())),
        **_link_arrays(pairs, len(entities)),
        other_rows=pa.array([other_rows]),
    )


def brought_up_to_date(old: LinkColumns, since: Changes) -> LinkColumns | None:
    """The result of ``assemble_links`` on the present tables; None if the changes do not determine it."""
    all_chunks, uuids = since.all_chunks.sort_by("chunk_id"), since.uuids.take(pc.sort_indices(since.uuids))
    now_chunks, now_entities = all_chunks["chunk_id"].combine_chunks(), uuids.combine_chunks()
    chunks, called = by_documents(since.chunks)
    # New rows stand before old ones, and ``index_in`` takes the first.
    held = pc.index_in(now_chunks, value_set=_both(chunks["chunk_id"], old.chunk_ids))
    known = pc.index_in(now_entities, value_set=_both(since.entities["uuid"], old.entities))
    if held.null_count or known.null_count:
        return None  # not from a write, but from another embedding model's tables, say

    changed = pc.is_in(all_chunks["document_id"], value_set=pa.array(since.documents, pa.string()))
    unchanged = pc.if_else(changed, pa.scalar(None, pa.string()), all_chunks["chunk_id"]).combine_chunks()
    chunk_now = pc.index_in(old.chunk_ids, value_set=unchanged)
    stays = chunk_now.is_valid().to_numpy(zero_copy_only=False)
    rows_before, other_before = old.rows_of_chunks.to_numpy()[stays], old.other_rows[0].as_py()
    if since.mention_rows != rows_before.sum() + other_before + len(since.mentions):
        return None  # a mention of an unchanged document is gone
    new_pairs, rows_of_chunks = mentioned_in(since.mentions, now_chunks, now_entities)
    rows_of_chunks[chunk_now.drop_null().to_numpy()] += rows_before
    entity_now = pc.index_in(old.entities, value_set=now_entities)
    stated = stated_in(since.facts, now_chunks, now_entities)
    pairs = np.concatenate([_unchanged_pairs(old, chunk_now, entity_now, len(uuids)), new_pairs, stated])

    documents = np.concatenate([chunks["document"].to_numpy(), old.documents.to_numpy() + len(called)])
    used, of_chunks = np.unique(documents[held.to_numpy()], return_inverse=True)
    labels, label_sets = _joined_labels(since.entities["labels"], old)
    return LinkColumns(
        chunk_ids=now_chunks,
        **_episodes(_both(chunks["uuid"], old.episodes).take(held)),
        dates=pa.array(np.concatenate([_dates(chunks), old.dates.to_numpy()])).take(held),
        documents=pa.array(of_chunks, pa.int32()),
        rows_of_chunks=pa.array(rows_of_chunks, pa.int32()),
        **{
            name: _both(new, getattr(old, name)).take(pa.array(used))
            for name, new in _title_columns(called).items()
        },
        entities=now_entities,
        names=_both(since.entities["name"], old.names).take(known),
        labels=pa.array(labels, pa.int32()).take(known),
        label_sets=label_sets,
        **_link_arrays(pairs, len(uuids)),
        other_rows=pa.array([since.mention_rows - int(rows_of_chunks.sum())]),
    )


def by_documents(episodes: pa.Table, start: int = 0) -> tuple[pa.Table, list[Titles]]:
    """The chunks with the number of their document, and title and aliases of each document.

    ``start``: number of the first document.
    """
    encoded = episodes["document_id"].combine_chunks().dictionary_encode()
    _, firsts = np.unique(encoded.indices.to_numpy(), return_index=True)
    numbers = encoded.indices.to_numpy() + start
    noted = [json.loads(text) for text in episodes["metadata"].take(pa.array(firsts)).to_pylist()]
    chunks = episodes.select(["uuid", "chunk_id", "chunk_date"]).append_column("document", pa.array(numbers))
    return chunks, [(one["title"], _aliases(one)) for one in noted]


def mentioned_in(mentions: pa.Table, chunks: pa.Array, entities: pa.Array) -> tuple[Pairs, NDArray[np.int32]]:
    """Pairs of the mentions whose chunk and entity exist, and the number of mention rows of each chunk."""
    chunk = pc.index_in(mentions["chunk_id"], value_set=chunks)
    entity = pc.index_in(mentions["target_uuid"], value_set=entities)
    rows = np.bincount(chunk.drop_null().to_numpy(), minlength=len(chunks)).astype(np.int32)
    return _number_pairs(chunk, entity, len(entities)), rows


def stated_in(facts: pa.Table, chunks: pa.Array, entities: pa.Array) -> Pairs:
    """Pairs of the facts' chunks with both ends of the facts."""
    parents = pc.list_parent_indices(facts["chunk_ids"])
    chunk = pc.index_in(pc.list_flatten(facts["chunk_ids"]), value_set=chunks)
    ends = [
        pc.index_in(facts[end], value_set=entities).take(parents) for end in ("source_uuid", "target_uuid")
    ]
    return np.concatenate([_number_pairs(chunk, end, len(entities)) for end in ends]) + 1


def _number_pairs(chunks: Any, entities: Any, count: int) -> Pairs:
    """Pairs from places of chunks and entities, marked as mentions; rows with a null are left out."""
    both = pa.table([chunks, entities], names=["chunk", "entity"]).drop_null()
    found: Pairs = 2 * (both["chunk"].to_numpy() * np.int64(count) + both["entity"].to_numpy())
    return found


def _unchanged_pairs(old: LinkColumns, chunk_now: pa.Array, entity_now: pa.Array, count: int) -> Pairs:
    """Mention pairs of the unchanged chunks, renumbered to the new places."""
    staying = chunk_now.is_valid().take(old.mentioning)
    kept = pc.and_(staying, old.by_mention)
    chunks, entities = (
        now.take(places.filter(kept))
        for now, places in ((chunk_now, old.mentioning), (entity_now, old.mentioned_entities))
    )
    return _number_pairs(chunks, entities, count)


def _link_arrays(pairs: Pairs, entities: int) -> dict[str, pa.Array]:
    """The columns that say which chunk mentions which entity, each pair once, in order; ``pairs`` is changed."""
    pairs.sort()  # np.unique hashes them, which takes ten times as long
    both = pairs >> 1
    once = pairs[np.r_[True, both[1:] != both[:-1]] if len(both) else np.zeros(0, bool)]
    mentioning, mentioned = (
        places.astype(np.int32) for places in np.divmod(once >> 1, np.int64(max(entities, 1)))
    )
    return {
        "mentioning": pa.array(mentioning),
        "mentioned_entities": pa.array(mentioned),
        "by_mention": pa.array(once & 1 == 0),
    }


def _episodes(uuids: pa.Array | pa.ChunkedArray) -> dict[str, pa.Array]:
    order = pc.sort_indices(uuids).cast(pa.int32())
    return {"episodes": _whole(uuids), "episode_order": order}


def _title_columns(documents: Sequence[Titles]) -> dict[str, pa.Array]:
    return {
        "titles": pa.array([title for title, _ in documents], pa.string()),
        "aliases": pa.array([others for _, others in documents], pa.list_(pa.string())),
    }


def _labels(labels: pa.ChunkedArray) -> tuple[NDArray[np.int32], list[list[str]]]:
    """For each entity the place of its label set, and the distinct label sets."""
    joined = pc.binary_join(labels.combine_chunks(), "\0").fill_null("").dictionary_encode()
    sets = [text.split("\0") if text else [] for text in joined.dictionary.to_pylist()]
    return joined.indices.to_numpy(), sets


def _joined_labels(written_rows: pa.ChunkedArray, old: LinkColumns) -> tuple[NDArray[np.int32], pa.Array]:
    """``_labels`` of the written entities followed by the old ones."""
    numbers, sets = _labels(written_rows)
    places: dict[tuple[str, ...], int] = {}
    place = np.array(
        [places.setdefault(tuple(one), len(places)) for one in (*sets, *old.label_sets.to_pylist())], np.int32
    )
    both = np.concatenate([numbers, old.labels.to_numpy() + np.int32(len(sets))])
    return place[both], pa.array(list(map(list, places)), pa.list_(pa.string()))


def _both(written_rows: pa.Array | pa.ChunkedArray, before: pa.Array) -> pa.Array:
    return pa.concat_arrays([_whole(written_rows), before])


def _whole(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _dates(chunks: pa.Table) -> NDArray[np.int64]:
    dates: NDArray[np.int64] = chunks["chunk_date"].to_numpy().astype("datetime64[us]").view(np.int64)
    return dates


def _aliases(attributes: Mapping[str, str]) -> tuple[str, ...]:
    properties = attributes["metadata"]
    return aliases(json.loads(properties)) if "alias" in properties.casefold() else ()
