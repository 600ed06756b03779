"""Other embedding models behind ``ports.Embedding``: an OpenAI-compatible endpoint, or any langchain-core one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.models.endpoint import failure_text, without_login
from agentic_rag.settings.config import EmbeddingConfig

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

BATCH = 128
LENGTH_TOLD_BY = "How long is a vector?"
"""Embedded once where a model's dimension is not known."""
TIMEOUT_SECONDS = 60.0
"""For one request; the client's own default is ten minutes."""
MAX_RETRIES = 3
"""The client's own, for limits, server errors and lost connections; it honours Retry-After."""


class OpenAIEmbedding:
    """``ports.Embedding`` on an OpenAI-compatible ``/embeddings`` endpoint.

    Args:
        config: ``base_url``, ``model`` and ``dimension`` are needed; ``open`` asks for the last.
    """

    def __init__(self, config: EmbeddingConfig) -> None:
        if config.base_url is None or config.model is None or config.dimension is None:
            raise ConfigError(
                "embedding.base_url needs embedding.model beside it, and embedding.dimension (unset: asked for)"
            )
        from openai import AsyncOpenAI

        # An empty key would make the client look for one in the environment.
        key = (config.api_key.get_secret_value() if config.api_key else "") or "none"
        self._client = AsyncOpenAI(
            base_url=config.base_url, api_key=key, timeout=TIMEOUT_SECONDS, max_retries=MAX_RETRIES
        )
        self._called = f"the embedding model {config.model!r} at {without_login(config.base_url)}"
        self._config, self._model = config, config.model
        # What stored texts are prefixed with is in their vectors, so vectors of another prefix are of another model.
        prefix = config.passage_prefix
        self.name = f"{config.model} after {prefix!r}" if prefix else config.model
        self.dimension = config.dimension

    @classmethod
    async def open(cls, config: EmbeddingConfig) -> OpenAIEmbedding:
        """The model; where ``dimension`` is unset, one request tells it.

        Raises:
            ConfigError: ``base_url`` or ``model`` is unset.
            ModelError: the endpoint failed, or gave no vector.
        """
        if config.dimension is not None:
            return cls(config)
        model = cls(config.model_copy(update={"dimension": 1}))
        try:
            (row,) = await model._asked([LENGTH_TOLD_BY])
        finally:
            await model.close()
        if not row:
            raise ModelError(f"{model._called} gave an empty vector; set embedding.dimension, or use another")
        return cls(config.model_copy(update={"dimension": len(row)}))

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return await self._embed([self._config.query_prefix + text for text in texts])

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return await self._embed([self._config.passage_prefix + text for text in texts])

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _embed(self, texts: list[str]) -> FloatArray:
        rows: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            # An empty input is an error to many servers; a space is not.
            rows += await self._asked([text or " " for text in texts[start : start + BATCH]])
        return unit(rows, len(texts), self.dimension, self._called)

    async def _asked(self, texts: list[str]) -> list[list[float]]:
        """One request's vectors, in the order of its texts."""
        try:
            answer = await self._client.embeddings.create(
                model=self._model, input=texts, encoding_format="float"
            )
            given = list(answer.data)
            # Some servers leave the index out, or give 0 to all: then the order is the texts'.
            if sorted(item.index for item in given if item.index is not None) == list(range(len(texts))):
                given.sort(key=lambda item: item.index)
            rows = [list(item.embedding) for item in given]
        except Exception as error:
            raise ModelError(
                f"{self._called} {failure_text(error, 'embedding')}; unset embedding.base_url to use the bundled model"
            ) from error
        if len(rows) != len(texts):
            raise ModelError(f"{self._called} gave {len(rows)} vectors for {len(texts)} texts; try again")
        return rows


class LangChainEmbedding:
    """``ports.Embedding`` on a langchain-core ``Embeddings``.

    Args:
        embeddings: the model.
        name: identifies it in the store's manifest.
        dimension: length of its vectors.
    """

    def __init__(self, embeddings: Embeddings, *, name: str, dimension: int) -> None:
        self._embeddings = embeddings
        self._called = f"the embedding model {name!r}"
        self.name = name
        self.dimension = dimension

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        try:
            rows = [await self._embeddings.aembed_query(text) for text in texts]
        except Exception as error:
            raise ModelError(f"{self._called} {failure_text(error, 'embedding')}") from error
        return unit(rows, len(texts), self.dimension, self._called)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        if not texts:
            return unit([], 0, self.dimension)
        try:
            rows = await self._embeddings.aembed_documents(list(texts))
        except Exception as error:
            raise ModelError(f"{self._called} {failure_text(error, 'embedding')}") from error
        return unit(rows, len(texts), self.dimension, self._called)


async def as_embedding(model: Embedding | Embeddings) -> Embedding:
    """An embedding model as this package asks it; one of langchain-core's is wrapped, which embeds one text.

    Raises:
        ConfigError: it is neither.
        ModelError: it failed.
    """
    if isinstance(model, Embedding):
        return model
    from langchain_core.embeddings import Embeddings

    if not isinstance(model, Embeddings):
        raise ConfigError(
            f"embedding is no embedding model: {type(model).__name__}; give a langchain-core embedding model, such as "
            "OpenAIEmbeddings(model='…'), or see agentic_rag.domain.ports.Embedding"
        )
    names = (getattr(model, key, None) for key in ("model_name", "model", "model_id"))
    name = next((name for name in names if isinstance(name, str) and name), type(model).__name__)
    try:
        row = await model.aembed_query(LENGTH_TOLD_BY)
    except Exception as error:
        raise ModelError(f"the embedding model {name!r} {failure_text(error, 'embedding')}") from error
    return LangChainEmbedding(model, name=name, dimension=len(row))


def unit(
    rows: Sequence[Sequence[float]], count: int, dimension: int, called: str = "the embedding model"
) -> FloatArray:
    """Rows as unit vectors, float32, shape (count, dimension); ``called`` is how errors name the model.

    Raises:
        ModelError: another number or length of vectors, or one that is zero or not finite.
    """
    if count == 0:
        return np.zeros((0, dimension), dtype=np.float32)
    lengths = {len(row) for row in rows}
    if len(rows) != count or lengths != {dimension}:
        raise ModelError(
            f"{called} gave {len(rows)} vectors of {sorted(lengths)} dimensions for {count} texts, but "
            f"embedding.dimension is {dimension}; set it to what the model gives"
        )
    try:
        vectors = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{called} gave a vector that is not made of numbers") from error
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(norms)) or np.any(norms == 0):
        raise ModelError(f"{called} gave a vector that is zero or not finite")
    scaled: FloatArray = (vectors / norms).astype(np.float32)
    return scaled
