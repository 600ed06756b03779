"""An embedding that remembers: a conversation's sentences are compared with one question after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agentic_rag.ports import Embedding, FloatArray
from agentic_rag.text_cache import TextCache

REMEMBERED = 8192
"""Texts; with 384 dimensions some 12 MB."""


class RememberedEmbedding:
    """``ports.Embedding`` that embeds a passage once, as long as it is among the ``REMEMBERED`` last used.

    Args:
        embedding: whose vectors depend on the text alone, as the port has it: so nothing changes but the time.
    """

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding
        self._cache = TextCache[FloatArray](REMEMBERED)

    @property
    def name(self) -> str:
        return self._embedding.name

    @property
    def dimension(self) -> int:
        return self._embedding.dimension

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return await self._embedding.embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack(await self._cache.of(texts, self._embedding.embed_passages))
