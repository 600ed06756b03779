"""Service ``vector_memory``: one vector per entry in the chunk store, searched by cosine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agentic_rag.domain import Chunk
from agentic_rag.domain.identity import chunk_id, dataset_name
from agentic_rag.domain.ports import (
    EmbeddedDocument,
    FloatArray,
    Restriction,
    ScoredChunk,
)
from agentic_rag.domain.progress import Meter
from agentic_rag.ingest.preparing import embed_texts, embedding_work
from agentic_rag.notes.values import valid_unicode
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.services.entries import (
    Entries,
    Entry,
    WriteBehind,
    checked_top_k,
    checked_vector,
    memory_of,
)
from agentic_rag_lab.designs.services.parts import RankedSettings, ServiceParts

WRONG_LENGTH = "give vectors of the configured embedding model"
WIDENING = 4
"""Factor on the limit if the metadata filter left too few results."""


class VectorMemory:
    """``MemoryService`` by dense search; ``score`` is cosine in [-1, 1], each memory is returned with its vector.

    Writes are deferred (see ``WriteBehind``); texts without a vector are then embedded together.
    """

    def __init__(self, settings: RankedSettings, parts: ServiceParts) -> None:
        self._topk = settings.topk
        self._chunks = parts.chunks
        self._namespace = dataset_name(parts.namespace)
        self._embedding = parts.embedding
        self._entries = Entries()
        self._given_vectors: dict[str, FloatArray] = {}
        self._behind = WriteBehind(self._clear, self._write)

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Remember a text."""
        given = None if vector is None else self._unit(vector)
        entry = self._entries.add(text, metadata)
        if given is not None:
            self._given_vectors[entry.id] = given
        self._behind.note(entry.id)
        return entry.id

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """The nearest by cosine; [] without a vector and without a non-blank question."""
        wanted = checked_top_k(top_k, self._topk)
        asked = None if vector is None else self._unit(vector)
        await self._behind.flush()
        matching = {entry.id: entry for entry in self._entries.matching(metadata)}
        if not matching:
            return []
        if asked is None:
            if query is None or not query.strip():
                return []
            asked = (await self._embedding.embed_queries([valid_unicode(query)]))[0]
        return await self._nearest(asked, matching, wanted)

    async def delete(self, entry_id: str) -> bool:
        """Raises ``StoreError`` or ``ModelError`` if earlier inserts cannot be written."""
        await self._behind.flush()
        if self._entries.pop(entry_id, None) is None:
            return False
        self._behind.note(entry_id)
        return True

    async def neighbours(self, entry_id: str, *, top_k: int | None = None) -> list[Memory]:
        """The nearest other entries; ``score`` is their cosine, 0 if it is negative."""
        wanted = checked_top_k(top_k, self._topk)
        await self._behind.flush()
        own = chunk_id(entry_id, "0")
        vectors = await self._chunks.get_vectors(self._namespace, [own])
        others = {entry.id: entry for entry in self._entries.values() if entry.id != entry_id}
        if own not in vectors or len(others) == len(self._entries) or not others:
            return []
        found = await self._nearest(vectors[own], others, wanted)
        for memory in found:
            memory["score"] = min(1.0, max(0.0, memory["score"] or 0.0))
        return sorted(found, key=lambda memory: (-(memory["score"] or 0.0), memory["entry_id"]))

    async def close(self) -> None:
        """Write pending changes."""
        await self._behind.flush()

    async def _nearest(self, vector: FloatArray, among: Mapping[str, Entry], limit: int) -> list[Memory]:
        asked_for = limit + 1
        while True:
            found = await self._chunks.search_dense(
                self._namespace, vector, limit=asked_for, restriction=Restriction()
            )
            kept = [scored for scored in found if scored.chunk.document_id in among][:limit]
            if len(kept) == limit or len(found) < asked_for:
                break
            asked_for *= WIDENING
        vectors = await self._vectors(kept)
        memories = []
        for scored in kept:
            memory = memory_of(among[scored.chunk.document_id], scored.score)
            memories.append(Memory(**memory, embedding=vectors[scored.chunk.id].tolist()))
        return memories

    async def _vectors(self, scored_chunks: Sequence[ScoredChunk]) -> dict[str, FloatArray]:
        read = {scored.chunk.id: scored.vector for scored in scored_chunks if scored.vector is not None}
        missing = [scored.chunk.id for scored in scored_chunks if scored.chunk.id not in read]
        return read | (await self._chunks.get_vectors(self._namespace, missing) if missing else {})

    async def _clear(self) -> None:
        await self._chunks.remove_documents(
            self._namespace, sorted(await self._chunks.document_ids(self._namespace))
        )

    async def _write(self, entry_ids: Sequence[str]) -> None:
        held = [entry for entry_id in entry_ids if (entry := self._entries.get(entry_id)) is not None]
        gone = [entry_id for entry_id in entry_ids if self._entries.get(entry_id) is None]
        missing = [entry for entry in held if entry.id not in self._given_vectors]
        texts = [valid_unicode(entry.text) for entry in missing]
        meter = Meter.silent()
        made = await embed_texts(self._embedding, texts, [embedding_work(text) for text in texts], meter)
        vectors = self._given_vectors | {
            entry.id: vector for entry, vector in zip(missing, made.vectors, strict=True)
        }
        if gone:
            await self._chunks.remove_documents(self._namespace, gone)
        await self._chunks.replace_documents(
            self._namespace,
            [EmbeddedDocument(entry.id, (_chunk(entry),), vectors[entry.id][None, :]) for entry in held],
        )
        for entry_id in entry_ids:
            self._given_vectors.pop(entry_id, None)

    def _unit(self, vector: FloatArray) -> FloatArray:
        checked = checked_vector(vector, self._embedding.dimension, WRONG_LENGTH)
        unit: FloatArray = checked / np.linalg.norm(checked)
        return unit


def _chunk(entry: Entry) -> Chunk:
    text = valid_unicode(entry.text)
    return Chunk(
        id=chunk_id(entry.id, "0"),
        document_id=entry.id,
        text=text,
        start=0,
        end=len(text),
        ordinal=0,
        title="",
        path=entry.id,
        kind="paragraph",
    )
