"""Service ``vector_hash_memory``: bit signatures of the texts' vectors, nearest by Hamming distance."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from agentic_rag.domain.memory import DEFAULT_TOP_K, Memory
from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.ingest.values import valid_unicode
from agentic_rag.lab.services.entries import Entries, checked_top_k, checked_vector, memory_of
from agentic_rag.lab.services.parts import ServiceParts
from agentic_rag.lab.services.signatures import Bits, Hyperplanes, SignatureTable, nearest
from agentic_rag.settings.parameters import Section

WRONG_LENGTH = "set services.vector_hash_memory.dim to the length of your vectors"


class VectorHashMemorySettings(Section):
    dim: int | None = Field(
        None, ge=1, le=16_384, description="length of the vectors; unset: the embedding model's"
    )
    nbits: int = Field(128, ge=8, le=4096, multiple_of=8, description="bits of a signature")
    topk: int = Field(DEFAULT_TOP_K, ge=1, description="memories given back where a call does not say")


class VectorHashMemory:
    """``MemoryService`` by locality-sensitive hashing (see ``signatures``); the vectors are not kept.

    ``score`` is Hamming similarity in [0, 1]: 1 for the same signature, about 0.5 for vectors at a right
    angle. A text inserted without its vector is embedded right away, a question when it is asked.
    """

    def __init__(self, settings: VectorHashMemorySettings, embedding: Embedding, seed: int) -> None:
        self._dimension = embedding.dimension if settings.dim is None else settings.dim
        self._topk = settings.topk
        self._embedding = embedding
        self._planes = Hyperplanes(settings.nbits, self._dimension, seed)
        self._table = SignatureTable(settings.nbits)
        self._entries = Entries()
        # Embedding waits; in line, the same inserts get the same ids.
        self._inserting = asyncio.Lock()

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Remember a text.

        Raises:
            InputError: a vector of another length than ``dim``.
            ModelError: the text could not be embedded; nothing is kept.
        """
        async with self._inserting:
            if vector is None:
                vector = (await self._embedding.embed_passages([valid_unicode(text)]))[0]
            bits = self._planes.signature(checked_vector(vector, self._dimension, WRONG_LENGTH))
            entry = self._entries.add(text, metadata)
            self._table.add(entry.number, bits)
            return entry.id

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """The most similar signatures; [] for neither a vector nor a question with anything in it.

        Raises:
            InputError: a vector of another length than ``dim``.
            ModelError: the question could not be embedded.
        """
        wanted = checked_top_k(top_k, self._topk)
        if vector is None:
            if query is None or not query.strip() or not len(self._entries):
                return []
            vector = (await self._embedding.embed_queries([valid_unicode(query)]))[0]
        bits = self._planes.signature(checked_vector(vector, self._dimension, WRONG_LENGTH))
        return await self._nearest(bits, metadata, wanted)

    async def delete(self, entry_id: str) -> bool:
        entry = self._entries.remove(entry_id)
        if entry is None:
            return False
        self._table.remove(entry.number)
        return True

    async def neighbours(self, entry_id: str, *, top_k: int | None = None) -> list[Memory]:
        """The most similar other signatures; ``score`` as in ``retrieve``."""
        wanted = checked_top_k(top_k, self._topk)
        entry = self._entries.get(entry_id)
        if entry is None:
            return []
        found = await self._nearest(self._table.get(entry.number), None, wanted + 1)
        return [memory for memory in found if memory["entry_id"] != entry_id][:wanted]

    async def _nearest(self, bits: Bits, metadata: Mapping[str, Any] | None, limit: int) -> list[Memory]:
        matching = self._entries.matching(metadata)
        by_number = {entry.number: entry for entry in matching}
        among = self._table.snapshot(list(by_number) if metadata else None)
        found = await asyncio.to_thread(nearest, bits, among, limit=limit)
        return [memory_of(by_number[number], similarity) for number, similarity in found]


def build(settings: VectorHashMemorySettings, parts: ServiceParts) -> VectorHashMemory:
    return VectorHashMemory(settings, parts.embedding, parts.seed)
