"""Service ``vector_hash_memory``: bit signatures of the texts' vectors, nearest by Hamming distance."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from agentic_rag.domain.ports import FloatArray
from agentic_rag.notes.values import valid_unicode
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.services.entries import Entries, Entry, checked_top_k, checked_vector, memory_of
from agentic_rag_lab.designs.services.parts import RankedSettings, ServiceParts

WRONG_LENGTH = "set services.vector_hash_memory.dim to the length of your vectors"


Bits = NDArray[np.uint8]
"""A packed signature, shape (nbits / 8,)."""


class VectorHashMemorySettings(RankedSettings):
    dim: int | None = Field(
        None, ge=1, le=16_384, description="length of the vectors; unset: the embedding model's"
    )
    nbits: int = Field(128, ge=8, le=4096, multiple_of=8, description="bits of a signature")


class Hyperplanes:
    """Locality-sensitive hashing for cosine: each bit is the side of a random hyperplane on which a vector lies.

    bit_i(v) = [r_i · v ≥ 0] with r_i drawn from N(0, I); two vectors at angle θ differ in a bit with probability θ / π.

    Args:
        nbits: bits of a signature, a multiple of 8.
        dimension: dimension of the vectors.
        seed: the same seed draws the same hyperplanes.

    Source: Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002, section 3.
    """

    def __init__(self, nbits: int, dimension: int, seed: int) -> None:
        drawn = np.random.default_rng(seed).standard_normal((nbits, dimension))
        self._normals: FloatArray = drawn.astype(np.float32)

    def signature(self, vector: FloatArray) -> Bits:
        """The signature of a vector, shape (dimension,); its norm does not matter."""
        return np.packbits(self._normals @ vector >= 0)


def nearest(bits: Bits, table: bytes, *, limit: int) -> list[tuple[int, float]]:
    """Indices in a table (concatenated signatures) with their Hamming similarity 1 - distance / nbits in [0, 1],
    descending, then by index; at most ``limit``."""
    signatures = np.frombuffer(table, dtype=np.uint8).reshape(-1, len(bits))
    distances = np.bitwise_count(signatures ^ bits).sum(axis=1, dtype=np.int64)
    order = np.argsort(distances, kind="stable")[:limit]
    return [(int(place), 1.0 - int(distances[place]) / (8 * len(bits))) for place in order]


class VectorHashMemory:
    """``MemoryService`` by locality-sensitive hashing (see ``Hyperplanes``); the vectors are not stored.

    ``score`` is Hamming similarity in [0, 1]: 1 for the same signature, about 0.5 for orthogonal vectors. A text
    without a vector is embedded at the insert, a question at the search.
    """

    def __init__(self, settings: VectorHashMemorySettings, parts: ServiceParts) -> None:
        self._dimension = parts.embedding.dimension if settings.dim is None else settings.dim
        self._topk = settings.topk
        self._embedding = parts.embedding
        self._planes = Hyperplanes(settings.nbits, self._dimension, parts.seed)
        self._entries = Entries()
        self._signatures: dict[str, bytes] = {}
        # Embedding is asynchronous; the lock gives the same inserts the same ids.
        self._inserting = asyncio.Lock()

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Remember a text."""
        async with self._inserting:
            if vector is None:
                vector = (await self._embedding.embed_passages([valid_unicode(text)]))[0]
            bits = self._planes.signature(checked_vector(vector, self._dimension, WRONG_LENGTH))
            entry = self._entries.add(text, metadata)
            self._signatures[entry.id] = bits.tobytes()
            return entry.id

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """The most similar signatures; [] without a vector and without a non-blank question."""
        wanted = checked_top_k(top_k, self._topk)
        if vector is None:
            if query is None or not query.strip() or not len(self._entries):
                return []
            vector = (await self._embedding.embed_queries([valid_unicode(query)]))[0]
        bits = self._planes.signature(checked_vector(vector, self._dimension, WRONG_LENGTH))
        return await self._nearest(bits, self._entries.matching(metadata), wanted)

    async def delete(self, entry_id: str) -> bool:
        self._signatures.pop(entry_id, None)
        return self._entries.pop(entry_id, None) is not None

    async def neighbours(self, entry_id: str, *, top_k: int | None = None) -> list[Memory]:
        """The most similar other signatures; ``score`` as in ``retrieve``."""
        wanted = checked_top_k(top_k, self._topk)
        if entry_id not in self._signatures:
            return []
        bits = np.frombuffer(self._signatures[entry_id], dtype=np.uint8)
        return await self._nearest(
            bits, [entry for entry in self._entries.values() if entry.id != entry_id], wanted
        )

    async def _nearest(self, bits: Bits, among: Sequence[Entry], limit: int) -> list[Memory]:
        table = b"".join(self._signatures[entry.id] for entry in among)
        found = await asyncio.to_thread(nearest, bits, table, limit=limit)
        return [memory_of(among[place], similarity) for place, similarity in found]
