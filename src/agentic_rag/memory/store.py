"""The memories of each user in the stores of the main graph: one dataset per user, which isolates the users.

A change removes its records from the graph, writes the chunk store in one step, and then writes the graph from
it. So the graph never holds a record that the chunk store lacks or has in another version. The step in the chunk store
decides whether a change has happened: if the graph lacks records after it, the next change writes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from agentic_rag.domain import Chunk, DocumentGraph, Entity, Fact, Mention, by_document
from agentic_rag.domain.filters import And, Comparison, Expression
from agentic_rag.domain.identity import chunk_id, entity_key, memory_dataset
from agentic_rag.domain.ports import (
    ChunkStore,
    EmbeddedDocument,
    Embedding,
    GraphStore,
    Restriction,
    TokenCounter,
)
from agentic_rag.errors import ManifestMismatch
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.facts.named_things import named_things
from agentic_rag.ingest.preparing import MAX_CHUNK_TOKENS, embedded_documents
from agentic_rag.memory.intents import Intents
from agentic_rag.memory.records import (
    CURRENT,
    TURN,
    MemoryRecord,
    from_chunks,
    to_document,
    whole_record,
    with_own_statements,
)
from agentic_rag.memory.schemas import MemoryType

Turn = Callable[[str], AbstractAsyncContextManager[None]]
"""A lock on a dataset for changes; its holder sees all earlier writes."""
MAX_ROWS = 1_000_000
IN_GRAPH = frozenset({MemoryType.EPISODIC, MemoryType.SEMANTIC})
MAX_NAME = 200
"""Maximum characters of an entity's name."""


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What a user's dataset needs besides reads and writes; each function takes its name."""

    turn: Turn
    renew: Callable[[str], Awaitable[None]] | None = None
    """Embeds it again if its vectors are of another model than the configured one, and removes the old vectors; None: the
    stores do not support it."""
    discard: Callable[[str], Awaitable[None]] | None = None
    """Deletes what a repair has set aside of it; ``StoreError`` if some stays; None: the stores are never repaired."""


@dataclass(frozen=True, slots=True)
class ChunkedRecord:
    """A record with its chunks, ready to be written."""

    record: MemoryRecord
    chunks: tuple[Chunk, ...]


class MemoryStore:
    """Reads and changes the memories of users.

    Args:
        chunks, graph: the stores.
        embedding: the model for the chunks.
        count_tokens: counts the model's tokens in a batch of texts.
        upkeep: locks, renews and clears a user's dataset.
        data: the data folder, for the notes of calls under way; see ``Intents``.
    """

    def __init__(
        self,
        chunks: ChunkStore,
        graph: GraphStore,
        embedding: Embedding,
        count_tokens: TokenCounter,
        upkeep: Upkeep,
        data: Path | None = None,
    ) -> None:
        self._chunks = chunks
        self._graph = graph
        self._embedding = embedding
        self._count_tokens = count_tokens
        self._upkeep = upkeep
        self.intents = Intents(data)

    def changing(self, user_id: str) -> AbstractAsyncContextManager[None]:
        """Held while a user's memories are read and then changed accordingly."""
        return self._upkeep.turn(memory_dataset(user_id))

    async def renew(self, user_id: str) -> None:
        """Embed the memories again if their vectors are of another model; the caller holds ``changing``."""
        if self._upkeep.renew is not None:
            await self._upkeep.renew(memory_dataset(user_id))

    async def read(self, user_id: str, ids: Collection[str]) -> dict[str, MemoryRecord]:
        """The existing records among the ids."""
        wanted = Comparison("document_id", "$in", tuple(sorted(ids)))
        return {record.id: record for record in await self._matching(user_id, wanted)} if ids else {}

    async def of_types(
        self, user_id: str, types: Collection[MemoryType], *, current: bool = False
    ) -> list[MemoryRecord]:
        """All records of some kinds, in the order of their messages; ``current`` leaves out ended facts."""
        parts: list[Expression] = [_of_types(types)]
        if current:
            parts.append(Comparison("status", "$eq", CURRENT))
        return in_order(await self._matching(user_id, And(tuple(parts))))

    async def of_slots(self, user_id: str, slots: Collection[str]) -> list[MemoryRecord]:
        """All facts of some slots (see ``records.slot_key``), ended ones included."""
        if not slots:
            return []
        return in_order(await self._matching(user_id, Comparison("slot", "$in", tuple(sorted(slots)))))

    async def next_order(self, user_id: str) -> int:
        """The order number of the user's next message, from 1."""
        dataset = memory_dataset(user_id)
        episodic = Restriction(_of_types({MemoryType.EPISODIC}))
        ids = await self._chunks.matching_chunk_ids(dataset, episodic, limit=MAX_ROWS)
        # Ids begin with the order number, padded to a fixed width.
        return int(ids[-1].split("-")[1]) + 1 if ids else 1

    async def count(self, user_id: str) -> int:
        """Number of stored passages, of any model; 0 for an unknown user."""
        dataset = memory_dataset(user_id)
        try:
            return await self._chunks.count(dataset)
        except ManifestMismatch:
            return sum(table.rows for table in (await self._chunks.stats(dataset)).tables[:1])

    async def change(
        self, user_id: str, put: Sequence[MemoryRecord] = (), remove: Collection[str] = ()
    ) -> None:
        """Store records, replacing those with the same ids, and remove others; the caller holds ``changing``.

        Raises:
            StoreError, ModelError: something failed, before or after the chunk store was written.
        """
        dataset = memory_dataset(user_id)
        gone = sorted(set(remove) - {record.id for record in put})
        now = datetime.now(UTC)
        made = await asyncio.to_thread(lambda: [self._chunk(record, now) for record in put])
        stored = await self._chunks.get_chunks(dataset, [chunk.id for one in made for chunk in one.chunks])
        by_id = {one.record.id: one.chunks for one in made}
        documents = await embedded_documents(self._chunks, self._embedding, dataset, by_id, stored)
        await self._write_graph(dataset, only_if_incomplete=True)  # after a crash
        if differing := {*gone, *(chunk.document_id for chunk in stored.values())}:
            await self._graph.remove_documents(dataset, sorted(differing))
        if documents:
            no_vectors = np.zeros((0, self._embedding.dimension), np.float32)
            emptied = [EmbeddedDocument(name, (), no_vectors) for name in gone]
            await self._chunks.replace_documents(dataset, [*documents, *emptied])
        elif gone:
            await self._chunks.remove_documents(dataset, gone)
        # The first Chinese text loads a dictionary.
        await self._graph.replace_documents(dataset, await asyncio.to_thread(graphs_of, made))

    async def stored_ids(self, user_id: str, ids: Collection[str]) -> set[str]:
        """The ids of which either store still has data."""
        dataset = memory_dataset(user_id)
        first = {chunk_id(name, TURN): name for name in ids}
        episodes = await self._graph.get_chunks(dataset, sorted(first))
        return (set(ids) & await self._chunks.document_ids(dataset)) | {first[name] for name in episodes}

    async def tidy(self, user_id: str) -> None:
        """Compact and index the written data, and delete what a repair has set aside; afterwards no file contains removed
        records."""
        dataset = memory_dataset(user_id)
        if self._upkeep.discard is not None:
            await self._upkeep.discard(dataset)
        await self._chunks.optimize(dataset, purge=True)
        await self._graph.optimize(dataset, purge=True)

    async def rebuild_graph(self, user_id: str) -> None:
        """Write all records of the chunk store to the graph; the caller holds ``changing``."""
        await self._write_graph(memory_dataset(user_id))

    async def _write_graph(self, dataset: str, *, only_if_incomplete: bool = False) -> None:
        held = await self._chunks.matching_chunk_ids(
            dataset, Restriction(_of_types(IN_GRAPH)), limit=MAX_ROWS
        )
        if only_if_incomplete and (await self._graph.counts(dataset)).episodes == len(held):
            return
        documents = by_document((await self._chunks.get_chunks(dataset, held)).values())
        whole = [ChunkedRecord(whole_record(parts), tuple(parts)) for parts in documents.values()]
        await self._graph.replace_documents(dataset, await asyncio.to_thread(graphs_of, whole))

    async def _matching(self, user_id: str, condition: Expression) -> list[MemoryRecord]:
        dataset = memory_dataset(user_id)
        ids = await self._chunks.matching_chunk_ids(dataset, Restriction(condition), limit=MAX_ROWS)
        chunks = await self._chunks.get_chunks(dataset, ids)
        return await asyncio.to_thread(from_chunks, chunks.values())

    def _chunk(self, record: MemoryRecord, now: datetime) -> ChunkedRecord:
        document = to_document(record, now)
        chunks = chunk_document(document, max_tokens=MAX_CHUNK_TOKENS, count_tokens=self._count_tokens)
        return ChunkedRecord(record, tuple(with_own_statements(chunk, record) for chunk in chunks))


def in_order(records: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """The records in the order of their messages, then by id."""
    return sorted(records, key=lambda record: (record.details.get("order", 0), record.id))


def graphs_of(records: Sequence[ChunkedRecord]) -> list[DocumentGraph]:
    """The records' contribution to the graph: an episode per passage, and the facts of slots."""
    return [_graph_of(one) for one in records if one.record.memory_type in IN_GRAPH]


def _graph_of(one: ChunkedRecord) -> DocumentGraph:
    record = one.record
    entities: dict[str, Entity] = {}

    def entity(name: str, label: str) -> str:
        key = entity_key(name[:MAX_NAME])
        entities.setdefault(key, Entity(key, name[:MAX_NAME], (label,)))
        return key

    person = record.details.get("speaker") or record.details.get("subject")
    mentions = []
    for chunk in one.chunks:
        keys = [entity(person, "Person")] if person else []
        keys += [entity(thing.name, "Thing") for thing in named_things(chunk.text)]
        mentions += [Mention(key, chunk.id) for key in dict.fromkeys(keys)]
    facts: tuple[Fact, ...] = ()
    if record.slot is not None and record.details.get("value"):
        subject = entity(record.details["subject"], "Person")
        value = entity(str(record.details["value"]), "Thing")
        if subject != value:
            facts = (
                Fact(
                    subject,
                    value,
                    record.details["slot"].upper().replace(" ", "_"),
                    record.content,
                    one.chunks[0].id,
                    record.valid_at,
                    record.invalid_at,
                ),
            )
    return DocumentGraph(record.id, one.chunks, tuple(entities.values()), facts, tuple(mentions))


def _of_types(types: Collection[MemoryType]) -> Expression:
    return Comparison("memory_type", "$in", tuple(sorted(kind.value for kind in types)))
