"""The whole graph as links of chunks and entities, read from LanceDB and kept until it changes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from agentic_rag.domain.ports import GraphLinks
from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.link_assembly import (
    CHUNK_COLUMNS,
    ENTITY_COLUMNS,
    FACT_COLUMNS,
    MENTION_COLUMNS,
    Changes,
    Pairs,
    Titles,
    assemble_links,
    brought_up_to_date,
    by_documents,
    mentioned_in,
    stated_in,
)
from agentic_rag.stores.graph.link_columns import LinkColumns
from agentic_rag.stores.graph.link_file import LinkFile, Versions
from agentic_rag.stores.graph.link_index import NOTHING, LinkIndex
from agentic_rag.stores.graph.schemas import Kind, schema
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.lancedb.native_memory import trim_memory
from agentic_rag.stores.uninterrupted import left_running

logger = logging.getLogger(__name__)
MAX_LAG_SECONDS = 60.0
"""Seconds for which a large graph's loaded links are used, however often the graph changes."""
ALWAYS_FRESH_CHUNKS = 5_000
"""Chunks up to which the links are always those of the latest write: reading them takes some 50 ms at the
most, and what a conversation's memory answers must not depend on how fast the machine is."""
EPISODES_AT_ONCE = 25_000
"""Rows of episodes that are held at a time."""
MAX_CHANGED_DOCUMENTS = 2_000
"""Maximum documents whose mentions are read one by one; reading all mentions of 50,000 documents takes 4 s."""
_WRITTEN_IN = "_row_last_updated_at_version"
"""Lance's own column, in tables with stable row ids."""
_KINDS: tuple[Kind, ...] = ("episodes", "entities", "mentions", "facts")
_OF_CHUNKS = "chunk_id IS NOT NULL"


@dataclass(slots=True)
class _LoadedLinks:
    """The links of a group, the table versions they were read at, and when they may be read again."""

    versions: Versions
    index: LinkIndex
    again_at: float


class LinkReader:
    """Gives each group's links; one reader a store.

    Args:
        tables: what they are read from.
        folder: the data folder, where those of a large graph are kept for the next process; see ``keep``.
    """

    def __init__(self, tables: GraphTables, folder: Path) -> None:
        self._tables = tables
        self._folder = folder
        self._loaded_links: dict[str, _LoadedLinks] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def links(self, group: str) -> GraphLinks | None:
        """See ``ports.GraphStore.links``."""
        index = await left_running(self._index(group))
        return None if index is NOTHING else index.links

    async def latest(self, group: str) -> LinkIndex:
        """The links by uuid as they are now; NOTHING while the changes of a large graph are not read again."""
        return await left_running(self._index(group, latest=True))

    async def _index(self, group: str, *, latest: bool = False) -> LinkIndex:
        """The links; of a large graph up to MAX_LAG_SECONDS old unless ``latest``.

        The read goes on if a question stops waiting, so that the next question need not start again.
        """
        async with self._locks.setdefault(group, asyncio.Lock()):
            kept = self._loaded_links.get(group)
            resting = kept is not None and time.monotonic() < kept.again_at
            if kept is not None and resting and not latest:
                return kept.index
            versions = await self._versions(group)
            if kept is not None and kept.versions == versions:
                return kept.index
            if kept is not None and resting:
                return NOTHING
            index = await self._read_now(group, versions, kept)
            small = len(index.links.chunk_ids) <= ALWAYS_FRESH_CHUNKS
            self._loaded_links[group] = _LoadedLinks(
                versions, index, 0.0 if small else time.monotonic() + MAX_LAG_SECONDS
            )
            return index

    async def keep(self, group: str) -> None:
        """Write the links of a large graph to a file, from which a process that starts reads them in a quarter of the
        time; the caller is ``writing``. Of any other graph, and where it cannot be written, the file is removed."""
        file = self._file(group)
        found = None
        chunks = await self._tables.count(group, "episodes")
        if chunks > ALWAYS_FRESH_CHUNKS:
            versions = await self._versions(group)
            found = await self._from_file(group, versions)
            if found is not None and await asyncio.to_thread(file.as_of) == versions:
                return
            found = found or await self._from_tables(group)
        await asyncio.to_thread(file.remove)
        if found is not None:
            try:
                await asyncio.to_thread(file.write, versions, found)
            except OSError as error:
                logger.warning(
                    "the links of the graph cannot be saved, so the next start reads them again: %s", error
                )

    def _file(self, group: str) -> LinkFile:
        return LinkFile(self._folder / f"links-{group}.cache")

    async def _versions(self, group: str) -> Versions:
        return tuple([await self._tables.version(group, kind) for kind in _KINDS])

    async def _read_now(self, group: str, versions: Versions, before: _LoadedLinks | None) -> LinkIndex:
        """Links from the file if it has the tables' versions, else from memory or the file brought up to date,
        else from the tables."""
        found = None
        if before is None or await asyncio.to_thread(self._file(group).as_of) == versions:
            found = await self._from_file(group, versions)
        if found is None and before is not None and len(before.index.links.chunk_ids) > ALWAYS_FRESH_CHUNKS:
            columns = before.index.columns
            found = await self._brought_up_to_date(group, before.versions, lambda: columns, versions)
        found = found or await self._from_tables(group)
        return NOTHING if found is None else LinkIndex(found)

    async def _from_file(self, group: str, versions: Versions) -> LinkColumns | None:
        file = self._file(group)
        as_of = await asyncio.to_thread(file.as_of)
        return None if as_of is None else await self._brought_up_to_date(group, as_of, file.read, versions)

    async def _brought_up_to_date(
        self, group: str, as_of: Versions, read_links: Callable[[], LinkColumns | None], versions: Versions
    ) -> LinkColumns | None:
        """The links with the changes since ``as_of``. None if they cannot be read, if a table was created anew,
        or if so much changed that a full read is as quick."""
        if as_of == versions:
            return await asyncio.to_thread(read_links)
        if any(
            name != known or now < then for (name, now), (known, then) in zip(versions, as_of, strict=True)
        ):
            return None
        before, changes = await asyncio.gather(asyncio.to_thread(read_links), self._changes(group, as_of))
        if before is None or changes is None:
            return None
        found = await asyncio.to_thread(brought_up_to_date, before, changes)
        await asyncio.to_thread(trim_memory)
        return found

    async def _changes(self, group: str, as_of: Versions) -> Changes | None:
        """The changes since these versions; None if they concern more than MAX_CHANGED_DOCUMENTS documents."""
        new, read = _written_after(as_of), partial(_columns, self._tables, group)
        chunks, mentioned = await asyncio.gather(
            read("episodes", f"{_OF_CHUNKS} AND {new['episodes']}", CHUNK_COLUMNS),
            read("mentions", new["mentions"], ["document_id"]),
        )
        both = pa.concat_tables([chunks.select(["document_id"]), mentioned])
        documents = pc.unique(both["document_id"]).drop_null().to_pylist()
        if len(documents) > MAX_CHANGED_DOCUMENTS:
            return None
        theirs = sql.is_in("document_id", documents)
        all_chunks, uuids, entities, mentions, count, facts = await asyncio.gather(
            read("episodes", _OF_CHUNKS, ["chunk_id", "document_id"]),
            read("entities", None, ["uuid"]),
            read("entities", new["entities"], ENTITY_COLUMNS),
            read("mentions", theirs, MENTION_COLUMNS),
            self._tables.count(group, "mentions"),
            read("facts", None, FACT_COLUMNS),
        )
        return Changes(all_chunks, chunks, uuids["uuid"], entities, documents, mentions, count, facts)

    async def _from_tables(self, group: str) -> LinkColumns | None:
        entities = await self._tables.arrow(group, "entities", None, ENTITY_COLUMNS)
        read: list[pa.Table] = []
        documents: list[Titles] = []
        # Each chunk repeats its document's metadata, most of the bytes, so episodes are read in parts.
        async for some in self._tables.parts(group, "episodes", CHUNK_COLUMNS, EPISODES_AT_ONCE):
            chunks, called = await asyncio.to_thread(_chunks_by_documents, some, len(documents))
            read.append(chunks)
            documents += called
        if entities is None or not read:
            return None
        # In id order, whatever order the rows lie in: the same graph gives the same walk.
        chunks, entities = pa.concat_tables(read).sort_by("chunk_id"), entities.sort_by("uuid")
        said = await self._pairs(group, chunks["chunk_id"], entities["uuid"])
        found = await asyncio.to_thread(assemble_links, chunks, documents, entities, *said)
        await asyncio.to_thread(trim_memory)
        return found

    async def _pairs(
        self, group: str, chunks: pa.ChunkedArray, entities: pa.ChunkedArray
    ) -> tuple[Pairs, NDArray[np.int32], int]:
        """Pairs, mention rows by chunk, and the number of other mention rows, as arguments for ``assemble_links``."""
        among, entity_set = chunks.combine_chunks(), entities.combine_chunks()
        rows, of_chunks = 0, np.zeros(len(among), np.int32)
        found = [np.zeros(0, np.int64)]
        async for some in self._tables.parts(group, "mentions", MENTION_COLUMNS):
            pairs, its = await asyncio.to_thread(mentioned_in, some, among, entity_set)
            found.append(pairs)
            rows, of_chunks = rows + len(some), of_chunks + its
        async for some in self._tables.parts(group, "facts", FACT_COLUMNS):
            found += [await asyncio.to_thread(stated_in, some, among, entity_set)]
        return np.concatenate(found), of_chunks, rows - int(of_chunks.sum())


def _chunks_by_documents(episodes: pa.Table, offset: int) -> tuple[pa.Table, list[Titles]]:
    """``by_documents`` of the episodes that are chunks."""
    return by_documents(episodes.filter(episodes["chunk_id"].is_valid()), offset)


async def _columns(
    tables: GraphTables, group: str, kind: Kind, where: str | None, select: Sequence[str]
) -> pa.Table:
    """The columns, empty without a table."""
    found = await tables.arrow(group, kind, where, select)
    if found is not None:
        return found
    fields = schema(kind, dimension=tables.dimension)
    return pa.schema([fields.field(name) for name in select]).empty_table()


def _written_after(versions: Versions) -> dict[Kind, str]:
    """By kind, the condition on rows that were written after these versions."""
    return {kind: f"{_WRITTEN_IN} > {version}" for kind, (_, version) in zip(_KINDS, versions, strict=True)}
