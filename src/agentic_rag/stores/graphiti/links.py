"""The whole graph as links of chunks and entities, read from LanceDB and kept until it changes."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from agentic_rag.domain import Entity
from agentic_rag.domain.identity import aliases, entity_key
from agentic_rag.domain.ports import GraphLinks
from agentic_rag.stores.graphiti.chunks import is_chunk
from agentic_rag.stores.graphiti.schemas import Kind
from agentic_rag.stores.graphiti.tables import GraphTables

REST = 10.0
"""How many times longer than reading took what was read is used, however often a large graph changes."""
SMALL = 5_000
"""Chunks up to which the links are always those of the latest write: reading them takes some 50 ms at the
most, and what a conversation's memory answers must not depend on how fast the machine is."""
_KINDS: tuple[Kind, ...] = ("episodes", "entities", "mentions", "facts")


DatedChunk = tuple[str, datetime | None]
"""A chunk's id and date."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The links, by the uuids that Graphiti's results hold: what is here need not be looked up in the tables."""

    links: GraphLinks
    episodes: Mapping[str, int]
    """Places in ``links.chunk_ids``."""
    entities: Mapping[str, int]
    """Places in ``links.entities``."""
    _mentioning: NDArray[np.int32]
    """Places of chunks, those of one entity after those of the one before it, each entity's in id order."""
    _ends: NDArray[np.intp]
    """Of each entity, where its chunks end in ``_mentioning``."""

    def names(self, entities: Collection[str]) -> dict[str, str]:
        """Names of those that are known."""
        return {uuid: self.links.entities[place].name for uuid, place in _among(entities, self.entities)}

    def chunks_of_episodes(self, episodes: Collection[str]) -> dict[str, DatedChunk]:
        """The chunks that are known episodes."""
        return {uuid: self._chunk(place) for uuid, place in _among(episodes, self.episodes)}

    def chunks_of_entities(self, entities: Collection[str]) -> dict[str, list[DatedChunk]]:
        """The chunks that mention known entities, in id order."""
        found = {}
        for uuid, place in _among(entities, self.entities):
            start = int(self._ends[place - 1]) if place else 0
            found[uuid] = [self._chunk(int(chunk)) for chunk in self._mentioning[start : self._ends[place]]]
        return found

    def _chunk(self, place: int) -> DatedChunk:
        date = self.links.dates[place].item()
        return self.links.chunk_ids[place], None if date is None else date.replace(tzinfo=UTC)


def _among(uuids: Collection[str], places: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(uuid, places[uuid]) for uuid in uuids if uuid in places]


_NOTHING = Known(
    GraphLinks((), (), (), np.zeros(0, "datetime64[us]"), (), np.zeros(0, np.int32), np.zeros(0, np.int32)),
    {},
    {},
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


class LinkReader:
    """Gives each group's links; one reader a store."""

    def __init__(self, tables: GraphTables) -> None:
        self._tables = tables
        self._read: dict[str, _Read] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def links(self, group: str) -> GraphLinks | None:
        """See ``ports.GraphStore.links``."""
        known = await self._known(group)
        return None if known is _NOTHING else known.links

    async def latest(self, group: str) -> Known:
        """The links by uuid as they are now; nothing while a large graph has changed and is not read again yet."""
        return await self._known(group, latest=True)

    async def _known(self, group: str, *, latest: bool = False) -> Known:
        """Of a large graph that changes all the time not the latest, unless nothing else will do."""
        async with self._locks.setdefault(group, asyncio.Lock()):
            kept = self._read.get(group)
            resting = kept is not None and time.monotonic() < kept.again_at
            if kept is not None and resting and not latest:
                return kept.known
            versions = tuple([await self._tables.version(group, kind) for kind in _KINDS])
            if kept is not None and kept.versions == versions:
                return kept.known
            if resting:
                return _NOTHING
            started = time.monotonic()
            known = await self._read_now(group)
            ended = time.monotonic()
            small = len(known.links.chunk_ids) <= SMALL
            self._read[group] = _Read(versions, known, 0.0 if small else ended + REST * (ended - started))
            return known

    async def _read_now(self, group: str) -> Known:
        episodes, entities, mentions, facts = await asyncio.gather(
            self._tables.arrow(group, "episodes", None, ["uuid", "chunk_id", "chunk_date", "metadata"]),
            self._tables.arrow(group, "entities", None, ["uuid", "name", "labels"]),
            self._tables.arrow(group, "mentions", None, ["chunk_id", "target_uuid"]),
            self._tables.arrow(group, "facts", None, ["chunk_ids", "source_uuid", "target_uuid"]),
        )
        if episodes is None or entities is None:
            return _NOTHING
        return await asyncio.to_thread(_assembled, episodes, entities, mentions, facts)


def _assembled(
    episodes: pa.Table, entities: pa.Table, mentions: pa.Table | None, facts: pa.Table | None
) -> Known:
    metadata = [json.loads(text) if text else None for text in episodes["metadata"].to_pylist()]
    titles = [noted.get("title", "") if is_chunk(noted) else None for noted in metadata]
    called = [_aliases(noted) if is_chunk(noted) else () for noted in metadata]
    episodes = episodes.append_column("title", pa.array(titles, pa.string()))
    episodes = episodes.append_column("aliases", pa.array(called, pa.list_(pa.string())))
    # In id order, whatever order the rows lie in: the same graph gives the same walk.
    episodes = episodes.filter(pc.is_valid(episodes["title"])).sort_by("chunk_id")
    entities = entities.sort_by("uuid")
    pairs = [] if mentions is None else [(mentions["chunk_id"], mentions["target_uuid"])]
    if facts is not None:
        parents = pc.list_parent_indices(facts["chunk_ids"])
        stated_in = pc.list_flatten(facts["chunk_ids"])
        pairs += [(stated_in, facts[end].take(parents)) for end in ("source_uuid", "target_uuid")]
    mentioning, mentioned = _places(pairs, episodes["chunk_id"], entities["uuid"])
    named = zip(entities["name"].to_pylist(), entities["labels"].to_pylist(), strict=True)
    links = GraphLinks(
        chunk_ids=episodes["chunk_id"].to_pylist(),
        titles=episodes["title"].to_pylist(),
        aliases=[tuple(names) for names in episodes["aliases"].to_pylist()],
        dates=episodes["chunk_date"].to_numpy().astype("datetime64[us]"),
        entities=[Entity(entity_key(name), name, tuple(labels or ())) for name, labels in named],
        mentioning=mentioning,
        mentioned=mentioned,
    )
    return Known(
        links,
        {uuid: place for place, uuid in enumerate(episodes["uuid"].to_pylist())},
        {uuid: place for place, uuid in enumerate(entities["uuid"].to_pylist())},
        mentioning[np.argsort(mentioned, kind="stable")],
        np.bincount(mentioned, minlength=len(links.entities)).cumsum(),
    )


def _aliases(noted: Mapping[str, str]) -> tuple[str, ...]:
    properties = noted["metadata"]
    return aliases(json.loads(properties)) if "alias" in properties.casefold() else ()


def _places(pairs: list[tuple[Any, Any]], chunks: Any, entities: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:  # fmt: skip
    """The pairs as places in both lists, each once, without those that name something that is not there."""
    chunk_list, entity_list = chunks.combine_chunks(), entities.combine_chunks()
    found = [np.zeros((0, 2), dtype=np.int64)]
    for mentioning, mentioned in pairs:
        places = pa.table(
            [
                pc.index_in(mentioning, value_set=chunk_list),
                pc.index_in(mentioned, value_set=entity_list),
            ],
            names=["chunk", "entity"],
        ).drop_null()
        found.append(
            np.column_stack([places["chunk"].to_numpy(), places["entity"].to_numpy()]).astype(np.int64)
        )
    unique = np.unique(np.concatenate(found), axis=0).astype(np.int32)
    return unique[:, 0], unique[:, 1]
