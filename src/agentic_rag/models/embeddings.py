"""Embedding models behind ``ports.Embedding``: OpenAI-compatible endpoints, and any model of langchain-core."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.domain.usage import Usage
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.models import endpoint as endpoints
from agentic_rag.models.endpoint import (
    Endpoint,
    ModelAddress,
    Prices,
    Spending,
    failure_text,
    most_tokens,
    openai_client,
)
from agentic_rag.settings.addresses import without_login
from agentic_rag.settings.config import EmbeddingConfig

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


BATCH = 128
"""Maximum texts of an embedding request."""


EMBEDDING_SECONDS = 60.0
"""Time limit for one try of an embedding request."""


LENGTH_TOLD_BY = "How long is a vector?"
"""Text that is embedded once to determine an unknown dimension."""


class OpenAIEmbedding:
    """``ports.Embedding`` on an OpenAI-compatible ``/embeddings`` endpoint.

    Args:
        config: ``base_url`` and ``model`` are required.
        dimension: length of its vectors, which ``open`` asks for.
        spending: counts its usage.
    """

    def __init__(self, config: EmbeddingConfig, dimension: int, spending: Spending | None = None) -> None:
        if config.base_url is None or config.model is None:
            raise ConfigError("embedding.base_url needs embedding.model beside it")
        self._client = openai_client(config.base_url, config.api_key, EMBEDDING_SECONDS)
        self._endpoint = Endpoint(
            ModelAddress(config.model, config.base_url, "embeddings"),
            timeout_seconds=EMBEDDING_SECONDS,
            tries=endpoints.TRIES,
            prices=Prices(config.price),
            spending=spending,
        )
        self._model_name = f"the embedding model {config.model!r} at {without_login(config.base_url)}"
        self._config, self._model = config, config.model
        # The prefix of passages changes their vectors, so another prefix counts as another model.
        prefix = config.passage_prefix
        self.name = f"{config.model} after {prefix!r}" if prefix else config.model
        self.dimension = dimension

    @classmethod
    async def open(cls, config: EmbeddingConfig, spending: Spending | None = None) -> OpenAIEmbedding:
        """The model; one request determines the length of its vectors.

        Raises:
            ConfigError: ``base_url`` or ``model`` is unset.
            ModelError: the endpoint failed, or returned no vector.
        """
        model = cls(config, 1, spending)
        try:
            (row,) = await model._request_vectors([LENGTH_TOLD_BY])
        finally:
            await model.close()
        if not row:
            raise ModelError(f"{model._model_name} gave an empty vector; use another model")
        return cls(config, len(row), spending)

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
            # Many servers reject an empty input; a space is accepted.
            rows += await self._request_vectors([text or " " for text in texts[start : start + BATCH]])
        return unit(rows, len(texts), self.dimension, self._model_name)

    async def _request_vectors(self, texts: list[str]) -> list[list[float]]:
        """One request's vectors, in the order of its texts."""
        most = Usage(embedded_tokens=most_tokens(*texts))
        try:
            with self._endpoint.span():
                answer = await self._endpoint.call(
                    lambda: self._client.embeddings.create(
                        model=self._model, input=texts, encoding_format="float"
                    ),
                    most,
                    lambda reply: _reported_embedding_usage(reply, most),
                )
            given = list(answer.data)
            # Some servers omit the index or return 0 for all: then the vectors are in the order of the texts.
            if sorted(item.index for item in given if item.index is not None) == list(range(len(texts))):
                given.sort(key=lambda item: item.index)
            rows = [list(item.embedding) for item in given]
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(
                f"{self._model_name} {failure_text(error, 'embedding')}; unset embedding.base_url to use the bundled model"
            ) from error
        if len(rows) != len(texts):
            raise ModelError(f"{self._model_name} gave {len(rows)} vectors for {len(texts)} texts; try again")
        return rows


def _reported_embedding_usage(answer: Any, most: Usage) -> Usage:
    """The tokens of a request as the endpoint reports them, else their upper bound."""
    told = getattr(getattr(answer, "usage", None), "prompt_tokens", None)
    return replace(most, estimated=True) if told is None else Usage(embedded_tokens=told)


class LangChainEmbedding:
    """``ports.Embedding`` on a langchain-core ``Embeddings``.

    Args:
        embeddings: the model.
        name: identifies the model in the store's manifest.
        dimension: length of its vectors.
    """

    def __init__(self, embeddings: Embeddings, *, name: str, dimension: int) -> None:
        self._embeddings = embeddings
        self._model_name = f"the embedding model {name!r}"
        self.name = name
        self.dimension = dimension

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        async def one_by_one(queries: list[str]) -> list[list[float]]:
            return [await self._embeddings.aembed_query(query) for query in queries]

        return await self._embed(texts, one_by_one)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return await self._embed(texts, self._embeddings.aembed_documents)

    async def _embed(
        self, texts: Sequence[str], embed: Callable[[list[str]], Awaitable[list[list[float]]]]
    ) -> FloatArray:
        try:
            rows = await embed(list(texts)) if texts else []
        except Exception as error:
            raise ModelError(f"{self._model_name} {failure_text(error, 'embedding')}") from error
        return unit(rows, len(texts), self.dimension, self._model_name)


async def as_embedding(model: Embedding | Embeddings) -> Embedding:
    """An embedding model as this package uses it; a langchain-core model is wrapped and embeds one text as a probe.

    Raises:
        ConfigError: the model is of neither type.
        ModelError: the model failed.
    """
    if isinstance(model, Embedding):
        return model
    from langchain_core.embeddings import Embeddings

    if not isinstance(model, Embeddings):
        raise ConfigError(
            f"embedding is a {type(model).__name__}, not an embedding model; give a langchain-core embedding model, such as "
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
    rows: Sequence[Sequence[float]], count: int, dimension: int, model_name: str = "the embedding model"
) -> FloatArray:
    """Rows as unit vectors, float32, shape (count, dimension); ``model_name`` is the model's name in errors.

    Raises:
        ModelError: a wrong number or length of vectors, or a vector that is zero or not finite.
    """
    if count == 0:
        return np.zeros((0, dimension), dtype=np.float32)
    lengths = {len(row) for row in rows}
    if len(rows) != count or lengths != {dimension}:
        raise ModelError(
            f"{model_name} gave {len(rows)} vectors of {sorted(lengths)} dimensions for {count} texts instead of "
            f"{dimension} each; use a model whose vectors have one length"
        )
    try:
        vectors = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"{model_name} gave a vector that is not made of numbers; use another model"
        ) from error
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(norms)) or np.any(norms == 0):
        raise ModelError(f"{model_name} gave a vector that is zero or not finite; use another model")
    scaled: FloatArray = (vectors / norms).astype(np.float32)
    return scaled
