"""Fakes for tests of what is built on this package: deterministic, offline, instant."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from agentic_rag.ports import FloatArray
from agentic_rag.text import tokens


class HashingEmbedding:
    """``ports.Embedding`` that hashes words: texts that share words are near, no model is needed.

    ``embedded`` lists every text that was embedded, in order, so that a test can say what was saved.
    """

    def __init__(self, dimension: int = 64) -> None:
        self._dimension = dimension
        self.embedded: list[str] = []

    @property
    def name(self) -> str:
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return self._vectors(texts)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> FloatArray:
        self.embedded.extend(texts)
        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for token in tokens(text) or [""]:
                raw = blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                vectors[row, int.from_bytes(raw[:4], "big") % self._dimension] += 1.0 if raw[4] % 2 else -1.0
            if not vectors[row].any():  # words that cancel each other
                vectors[row, 0] = 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if len(texts) else vectors
