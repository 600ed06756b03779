"""The whole graph as links of chunks and entities, read from LanceDB and kept until it changes."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from agentic_rag.domain.identity import aliases
from agentic_rag.domain.ports import GraphLinks
from agentic_rag.stores.graphiti.known_links import NOTHING, Known, Updated, by_uuid
from agentic_rag.stores.graphiti.link_file import Assembled, LinkFile, State, labels_of
from agentic_rag.stores.graphiti.schemas import Kind
from agentic_rag.stores.graphiti.tables import GraphTables, rows_of

_LOGGER = logging.getLogger(__name__)
REST = 10.0
"""How many times longer than reading took what was read is used, however often a large graph changes."""
SMALL = 5_000
"""Chunks up to which the links are always those of the latest write: reading them takes some 50 ms at the
most, and what a conversation's memory answers must not depend on how fast the machine is."""
_WRITTEN_IN = "_row_last_updated_at_version"
"""Lance's own column. In a table that an earlier version of this package made it is 1 of every row."""
_KINDS: tuple[Kind, ...] = ("episodes", "entities", "mentions", "facts")


Called = tuple[str, tuple[str, ...]]
"""A document's title and aliases."""


@dataclass(slots=True)
class _Read:
    """What was read, of which state, and from when on it may be read again."""

    versions: tuple[int, ...]
    known: Known
    again_at: float
    updated: tuple[tuple[int, ...], Updated] | None = None
    """What was written since, as of these versions."""


class LinkReader:
    """Gives each group's links; one reader a store.

    Args:
        tables: what they are read from.
        folder: the data folder, where those of a large graph are kept for the next process; see ``keep``.
    """

    def __init__(self, tables: GraphTables, folder: Path) -> None:
        self._tables = tables
        self._folder = folder
        self._read: dict[str, _Read] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def links(self, group: str) -> GraphLinks | None:
        """See ``ports.GraphStore.links``."""
        known = await self._known(group)
        return None if known is NOTHING else known.links

    async def latest(self, group: str) -> Known | Updated:
        """The links by uuid as they are now. Of a large graph whose changes are not read again yet, a chunk that stays
        may be said to mention an entity that it mentions no more."""
        return await self._known(group, latest=True)

    async def _known(self, group: str, *, latest: bool = False) -> Known | Updated:
        """Of a large graph that changes all the time not the latest, unless nothing else will do."""
        async with self._locks.setdefault(group, asyncio.Lock()):
            kept = self._read.get(group)
            resting = kept is not None and time.monotonic() < kept.again_at
            if kept is not None and resting and not latest:
                return kept.known
            versions = tuple([await self._tables.version(group, kind) for kind in _KINDS])
            if kept is not None and kept.versions == versions:
                return kept.known
            if kept is not None and resting:
                if kept.updated is None or kept.updated[0] != versions:
                    kept.updated = versions, await self._since(group, kept)
                return kept.updated[1]
            started = time.monotonic()
            known = await self._read_now(group)
            ended = time.monotonic()
            small = len(known.links.chunk_ids) <= SMALL
            self._read[group] = _Read(versions, known, 0.0 if small else ended + REST * (ended - started))
            return known

    async def keep(self, group: str) -> None:
        """Write the links of a large graph to a file, from which a process that starts reads them in a quarter of the
        time; the caller is ``writing``. Of any other graph, and where it cannot be written, the file is removed."""
        file = self._file(group)
        is_large = await self._tables.count(group, "episodes") > SMALL
        as_of = await self._state(group) if is_large else None
        found = await self._from_tables(group) if as_of is not None else None
        await asyncio.to_thread(file.remove)
        if as_of is not None and found is not None:
            try:
                await asyncio.to_thread(file.write, as_of, *found)
            except OSError as error:
                _LOGGER.warning("the links of the graph are not kept for the next start: %s", error)

    async def _state(self, group: str) -> State | None:
        """Of each table its version and its number of rows; None where a table does not tell which rows are new."""
        found = []
        for kind in _KINDS:
            found.append((await self._tables.version(group, kind), await self._tables.count(group, kind)))
            if await self._tables.select(group, kind, f"{_WRITTEN_IN} <= 1", ["uuid"], limit=1):
                return None
        return tuple(found)

    async def _is_still(self, group: str, state: State) -> bool:
        """Whether the tables hold what they held; to compact them makes versions too."""
        for kind, (version, rows) in zip(_KINDS, state, strict=True):
            if await self._tables.version(group, kind) < version:  # it was made anew
                return False
            if await self._tables.count(group, kind) != rows:
                return False
            if await self._tables.select(group, kind, f"{_WRITTEN_IN} > {version}", ["uuid"], limit=1):
                return False
        return True

    def _file(self, group: str) -> LinkFile:
        return LinkFile(self._folder / f"links-{group}.cache")

    async def _since(self, group: str, kept: _Read) -> Updated:
        async def written(kind: Kind, select: Sequence[str]) -> pa.Table:
            return await read(kind, f"{_WRITTEN_IN} > {kept.versions[_KINDS.index(kind)]}", select)

        async def read(kind: Kind, where: str, select: Sequence[str]) -> pa.Table:
            found = await self._tables.arrow(group, kind, where, select)
            return (
                found if found is not None else pa.table({name: pa.array([], pa.string()) for name in select})
            )

        there, episodes, entities, mentions, facts = await asyncio.gather(
            read("episodes", "chunk_id IS NOT NULL", ["chunk_id"]),
            written("episodes", ["uuid", "chunk_id", "chunk_date"]),
            written("entities", ["uuid", "name"]),
            written("mentions", ["chunk_id", "chunk_date", "target_uuid"]),
            written("facts", ["chunk_ids", "chunk_date", "source_uuid", "target_uuid"]),
        )
        return await asyncio.to_thread(_updated, kept.known, there, episodes, entities, mentions, facts)

    async def _read_now(self, group: str) -> Known:
        file = self._file(group)
        as_of = await asyncio.to_thread(file.state)
        found = None
        if as_of is not None and await self._is_still(group, as_of):
            found = await asyncio.to_thread(file.read)
        found = found or await self._from_tables(group)
        return NOTHING if found is None else await asyncio.to_thread(by_uuid, *found)

    async def _from_tables(self, group: str) -> Assembled | None:
        episodes, entities = await asyncio.gather(
            self._tables.arrow(
                group,
                "episodes",
                "chunk_id IS NOT NULL",
                ["uuid", "chunk_id", "chunk_date", "document_id", "metadata"],
            ),
            self._tables.arrow(group, "entities", None, ["uuid", "name", "labels"]),
        )
        if episodes is None or entities is None:
            return None
        chunks, documents = await asyncio.to_thread(_by_documents, episodes)
        del episodes  # their metadata are more than all the rest
        # In id order, whatever order the rows lie in: the same graph gives the same walk.
        chunks, entities = chunks.sort_by("chunk_id"), entities.sort_by("uuid")
        pairs = await self._pairs(group, chunks["chunk_id"], entities["uuid"])
        found = await asyncio.to_thread(_assembled, chunks, documents, entities, pairs)
        pa.default_memory_pool().release_unused()
        return found

    async def _pairs(
        self, group: str, chunks: pa.ChunkedArray, entities: pa.ChunkedArray
    ) -> NDArray[np.int64]:
        """Places of chunks and of the entities that they mention, as one number each: place of the chunk times the
        number of entities, and place of the entity. Some come more than once."""
        among, entity_set = chunks.combine_chunks(), entities.combine_chunks()
        found = [np.zeros(0, np.int64)]
        async for some in self._tables.parts(group, "mentions", ["chunk_id", "target_uuid"]):
            pairs = [(some["chunk_id"], some["target_uuid"])]
            found.append(await asyncio.to_thread(_places, pairs, among, entity_set))
        ends = ["source_uuid", "target_uuid"]
        async for some in self._tables.parts(group, "facts", ["chunk_ids", *ends]):
            parents = pc.list_parent_indices(some["chunk_ids"])
            stated_in = pc.list_flatten(some["chunk_ids"])
            pairs = [(stated_in, some[end].take(parents)) for end in ends]
            found.append(await asyncio.to_thread(_places, pairs, among, entity_set))
        return np.concatenate(found)


def _updated(
    before: Known,
    there: pa.Table,
    episodes: pa.Table,
    entities: pa.Table,
    mentions: pa.Table,
    facts: pa.Table,
) -> Updated:
    chunks = pa.array(before.links.chunk_ids, pa.string())
    stays = pc.is_in(chunks, there["chunk_id"].combine_chunks())
    written = [row for row in rows_of(episodes) if row["chunk_id"] is not None]
    mentioning: dict[str, dict[str, datetime | None]] = {}
    for row in rows_of(mentions):
        if row["chunk_id"] is not None:
            mentioning.setdefault(row["target_uuid"], {})[row["chunk_id"]] = row["chunk_date"]
    for row in rows_of(facts):
        for end in (row["source_uuid"], row["target_uuid"]):
            of_fact = dict.fromkeys(row["chunk_ids"], row["chunk_date"])
            mentioning[end] = of_fact | mentioning.get(end, {})
    return Updated(
        before=before,
        gone=frozenset(chunks.filter(pc.invert(stays)).to_pylist()),
        dates={row["chunk_id"]: row["chunk_date"] for row in written},
        chunks={row["uuid"]: row["chunk_id"] for row in written},
        called=dict(zip(entities["uuid"].to_pylist(), entities["name"].to_pylist(), strict=True)),
        mentioning=mentioning,
    )


def _assembled(
    chunks: pa.Table, documents: Sequence[Called], entities: pa.Table, pairs: NDArray[np.int64]
) -> Assembled:
    ordered = np.sort(pairs)  # np.unique hashes them, which takes ten times as long
    unique = ordered[np.diff(ordered, prepend=-1) > 0]
    mentioning, mentioned = (places.astype(np.int32) for places in np.divmod(unique, max(len(entities), 1)))
    of_chunks = [documents[number] for number in chunks["document"].to_numpy()]
    links = GraphLinks(
        chunk_ids=chunks["chunk_id"].to_pylist(),
        titles=[title for title, _ in of_chunks],
        aliases=[called for _, called in of_chunks],
        dates=chunks["chunk_date"].to_numpy().astype("datetime64[us]"),
        names=entities["name"].to_pylist(),
        labels=labels_of(entities["labels"]),
        mentioning=mentioning,
        mentioned=mentioned,
    )
    return links, chunks["uuid"], entities["uuid"]


def _by_documents(episodes: pa.Table) -> tuple[pa.Table, list[Called]]:
    """The chunks, each with the number of its document, and how the documents are called: read once a document."""
    encoded = episodes["document_id"].combine_chunks().dictionary_encode()
    numbers = encoded.indices.to_numpy()
    _, firsts = np.unique(numbers, return_index=True)
    noted = [json.loads(text) for text in episodes["metadata"].take(pa.array(firsts)).to_pylist()]
    chunks = episodes.select(["uuid", "chunk_id", "chunk_date"]).append_column("document", pa.array(numbers))
    return chunks, [(one["title"], _aliases(one)) for one in noted]


def _aliases(noted: Mapping[str, str]) -> tuple[str, ...]:
    properties = noted["metadata"]
    return aliases(json.loads(properties)) if "alias" in properties.casefold() else ()


def _places(pairs: list[tuple[Any, Any]], chunks: pa.Array, entities: pa.Array) -> NDArray[np.int64]:
    """See ``LinkReader._pairs``; without those that name something that is not there."""
    found = []
    for mentioning, mentioned in pairs:
        places = pa.table(
            [pc.index_in(mentioning, value_set=chunks), pc.index_in(mentioned, value_set=entities)],
            names=["chunk", "entity"],
        ).drop_null()
        # One number sorts ten times as fast as two.
        found.append(places["chunk"].to_numpy() * np.int64(len(entities)) + places["entity"].to_numpy())
    return np.concatenate(found)
