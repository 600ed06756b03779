"""The whole graph as links of chunks and entities, read from LanceDB and kept until it changes."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from agentic_rag.domain.identity import aliases
from agentic_rag.domain.ports import GraphLinks
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


DatedChunk = tuple[str, datetime | None]
"""A chunk's id and date."""
Called = tuple[str, tuple[str, ...]]
"""A document's title and aliases."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The links, by the uuids that Graphiti's results hold: what is here need not be looked up in the tables."""

    links: GraphLinks
    episodes: Places
    """Places in ``links.chunk_ids``."""
    entities: Places
    """Places in ``links.names``."""
    _mentioning: NDArray[np.int32]
    """Places of chunks, those of one entity after those of the one before it, each entity's in id order."""
    _ends: NDArray[np.intp]
    """Of each entity, where its chunks end in ``_mentioning``."""

    def names(self, entities: Collection[str]) -> dict[str, str]:
        """Names of those that are known."""
        return {uuid: self.links.names[place] for uuid, place in self.entities.of(entities)}

    def chunks_of_episodes(self, episodes: Collection[str]) -> dict[str, DatedChunk]:
        """The chunks that are known episodes."""
        return {uuid: self._chunk(place) for uuid, place in self.episodes.of(episodes)}

    def chunks_of_entities(self, entities: Collection[str]) -> dict[str, Iterator[DatedChunk]]:
        """The chunks that mention known entities, in id order; read one by one, for a tag is on every note."""
        found: dict[str, Iterator[DatedChunk]] = {}
        for uuid, place in self.entities.of(entities):
            start = int(self._ends[place - 1]) if place else 0
            found[uuid] = map(self._chunk, self._mentioning[start : self._ends[place]].tolist())
        return found

    def _chunk(self, place: int) -> DatedChunk:
        date = self.links.dates[place].item()
        return self.links.chunk_ids[place], None if date is None else date.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False)
class Updated:
    """The links as they were read, and what was written since: reading all of a large graph takes seconds."""

    before: Known
    gone: frozenset[str]
    """Chunks that are not there any more."""
    dates: Mapping[str, datetime | None]
    """Of the chunks that were written since."""
    chunks: Mapping[str, str]
    """Episode uuid → chunk id, of the same."""
    called: Mapping[str, str]
    """Entity uuid → name, where it was written since."""
    mentioning: Mapping[str, Mapping[str, datetime | None]]
    """Entity uuid → chunks that were found to mention it since."""

    def names(self, entities: Collection[str]) -> dict[str, str]:
        """Names of those that are known."""
        written = {uuid: self.called[uuid] for uuid in entities if uuid in self.called}
        return self.before.names(entities) | written

    def chunks_of_episodes(self, episodes: Collection[str]) -> dict[str, DatedChunk]:
        """The chunks that are known episodes."""
        known = self.before.chunks_of_episodes(episodes)
        kept = {uuid: self._now(chunk) for uuid, chunk in known.items() if chunk[0] not in self.gone}
        written = {uuid: self.chunks[uuid] for uuid in episodes if uuid in self.chunks}
        return kept | {uuid: (chunk, self.dates[chunk]) for uuid, chunk in written.items()}

    def chunks_of_entities(self, entities: Collection[str]) -> dict[str, Iterator[DatedChunk]]:
        """The chunks that mention known entities, in id order, each once."""
        known = self.before.chunks_of_entities(entities)
        written = {uuid: self.mentioning[uuid] for uuid in entities if uuid in self.mentioning}
        return {
            uuid: self._joined(known.get(uuid, iter(())), written.get(uuid, {}))
            for uuid in known.keys() | written.keys()
        }

    def _joined(
        self, before: Iterator[DatedChunk], since: Mapping[str, datetime | None]
    ) -> Iterator[DatedChunk]:
        kept = (self._now(one) for one in before if one[0] not in self.gone and one[0] not in since)
        written = sorted(self._now(one) for one in since.items() if one[0] not in self.gone)
        return merge(kept, written, key=itemgetter(0))

    def _now(self, chunk: DatedChunk) -> DatedChunk:
        return chunk[0], self.dates.get(chunk[0], chunk[1])


class Places:
    """Where uuids stand in a sequence, found by bisection: a dictionary of half a million takes 60 MB.

    Args:
        uuids: distinct.
    """

    def __init__(self, uuids: pa.ChunkedArray) -> None:
        order = pc.sort_indices(uuids)
        self._sorted = uuids.take(order).combine_chunks()
        self._places = order.to_numpy()

    def of(self, uuids: Iterable[str]) -> Iterator[tuple[str, int]]:
        """Those that are there, each with its place."""
        for uuid in uuids:
            found = bisect_left(self._sorted, uuid, key=_text)
            if found < len(self._sorted) and self._sorted[found].as_py() == uuid:
                yield uuid, int(self._places[found])


def _text(value: pa.Scalar) -> str:
    text: str = value.as_py()
    return text


_NOBODY = Places(pa.chunked_array([], pa.string()))
_NOTHING = Known(
    GraphLinks(
        (), (), (), np.zeros(0, "datetime64[us]"), (), (), np.zeros(0, np.int32), np.zeros(0, np.int32)
    ),
    _NOBODY,
    _NOBODY,
    np.zeros(0, np.int32),
    np.zeros(0, np.intp),
)
"""Of a group without tables, or where nothing in memory is of use."""


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
        return None if known is _NOTHING else known.links

    async def latest(self, group: str) -> Known | Updated:
        """The links by uuid as they are now. Of a large graph whose changes are not read again yet, a chunk that stays
        may be said to mention an entity that it mentions no more."""
        return await self._known(group, latest=True)

    @overload
    async def _known(self, group: str) -> Known: ...
    @overload
    async def _known(self, group: str, *, latest: Literal[True]) -> Known | Updated: ...

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
        return _NOTHING if found is None else await asyncio.to_thread(_by_uuid, *found)

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
            mentioning.setdefault(end, {}).update(dict.fromkeys(row["chunk_ids"], row["chunk_date"]))
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


def _by_uuid(links: GraphLinks, episodes: pa.ChunkedArray, entities: pa.ChunkedArray) -> Known:
    return Known(
        links,
        Places(episodes),
        Places(entities),
        links.mentioning[np.argsort(links.mentioned, kind="stable")],
        np.bincount(links.mentioned, minlength=len(links.names)).cumsum(),
    )


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
