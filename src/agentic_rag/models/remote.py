"""Other embedding models behind ``ports.Embedding``: an OpenAI-compatible endpoint, or any langchain-core one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from agentic_rag.config import EmbeddingConfig
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.ports import FloatArray

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

BATCH = 128


class OpenAIEmbedding:
    """``ports.Embedding`` on an OpenAI-compatible ``/embeddings`` endpoint.

    Args:
        config: ``base_url``, ``model`` and ``dimension`` are needed.
    """

    def __init__(self, config: EmbeddingConfig) -> None:
        if config.base_url is None or config.model is None or config.dimension is None:
            raise ConfigError("embedding.base_url needs embedding.model and embedding.dimension beside it")
        from openai import AsyncOpenAI

        key = config.api_key.get_secret_value() if config.api_key else "none"
        self._client = AsyncOpenAI(base_url=config.base_url, api_key=key)
        self._config = config
        self.name = config.model
        self.dimension = config.dimension

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return await self._embed([self._config.query_prefix + text for text in texts])

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return await self._embed([self._config.passage_prefix + text for text in texts])

    async def _embed(self, texts: list[str]) -> FloatArray:
        from openai import OpenAIError

        rows: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            # An empty input is an error to many servers; a space is not.
            batch = [text or " " for text in texts[start : start + BATCH]]
            try:
                answer = await self._client.embeddings.create(
                    model=self.name, input=batch, encoding_format="float"
                )
            except OpenAIError as error:
                raise ModelError(
                    f"the embedding endpoint {self._config.base_url} failed: {type(error).__name__}: "
                    f"{str(error)[:300]}; check embedding.base_url, or unset it to use the bundled model"
                ) from error
            rows += [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
        return unit(rows, len(texts), self.dimension)


class LangChainEmbedding:
    """``ports.Embedding`` on a langchain-core ``Embeddings``.

    Args:
        embeddings: the model.
        name: identifies it in the store's manifest.
        dimension: length of its vectors.
    """

    def __init__(self, embeddings: Embeddings, *, name: str, dimension: int) -> None:
        self._embeddings = embeddings
        self.name = name
        self.dimension = dimension

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        try:
            rows = [await self._embeddings.aembed_query(text) for text in texts]
        except Exception as error:
            raise ModelError(f"the embedding model failed: {type(error).__name__}: {error}") from error
        return unit(rows, len(texts), self.dimension)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        if not texts:
            return unit([], 0, self.dimension)
        try:
            rows = await self._embeddings.aembed_documents(list(texts))
        except Exception as error:
            raise ModelError(f"the embedding model failed: {type(error).__name__}: {error}") from error
        return unit(rows, len(texts), self.dimension)


def unit(rows: Sequence[Sequence[float]], count: int, dimension: int) -> FloatArray:
    """Rows as unit vectors, float32, shape (count, dimension).

    Raises:
        ModelError: another number or length of vectors, or one that is zero or not finite.
    """
    if count == 0:
        return np.zeros((0, dimension), dtype=np.float32)
    lengths = {len(row) for row in rows}
    if len(rows) != count or lengths != {dimension}:
        raise ModelError(
            f"the embedding model gave {len(rows)} vectors of {sorted(lengths)} dimensions "
            f"for {count} texts; {dimension} dimensions are configured"
        )
    vectors = np.asarray(rows, dtype=np.float32)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(norms)) or np.any(norms == 0):
        raise ModelError("the embedding model gave a vector that is zero or not finite")
    scaled: FloatArray = vectors / norms
    return scaled
