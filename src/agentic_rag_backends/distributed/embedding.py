"""An embedding whose passages are embedded by the workers of a Ray cluster, for callers with many concurrent calls."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import cycle
from typing import Any

from agentic_rag.domain.ports import Embedding, FloatArray, PassageVectors, TokenEmbedding
from agentic_rag.domain.token_vectors import Places, QuestionTokens
from agentic_rag.errors import AgenticRagError
from agentic_rag.ingest.preparing import passages
from agentic_rag.models import bundled
from agentic_rag.workers import Open
from agentic_rag_backends.distributed.cluster import Cluster, translate_errors
from agentic_rag_backends.distributed.pool import THREADS, workers

CALLS = 2
"""Concurrent calls per worker: one is transferred while the worker works on the other."""


class EmbeddingWorker:
    """A Ray actor; returns expected errors as values, like ``pool.Worker``."""

    def __init__(self, open_embedding: Open[Embedding]) -> None:
        bundled.use_threads(THREADS)
        self._open = open_embedding
        self._opening = asyncio.Lock()
        self._exit_stack = AsyncExitStack()
        self._embedding: Embedding | None = None

    async def passages(self, texts: list[str], tokens: bool) -> PassageVectors | AgenticRagError:
        """Vectors of the texts, and their tokens if requested."""
        try:
            return await passages(await self._ensure_open(), texts, tokens=tokens)
        except AgenticRagError as error:
            return error

    async def _ensure_open(self) -> Embedding:
        async with self._opening:
            if self._embedding is None:
                self._embedding = await self._exit_stack.enter_async_context(self._open())
            return self._embedding


class RayEmbedding:
    """``ports.Embedding``: workers embed passages, each with its own model; the local model embeds questions."""

    def __init__(self, cluster: Cluster, open_embedding: Open[Embedding], here: Embedding) -> None:
        ray = cluster.connect()
        self.name, self.dimension = here.name, here.dimension
        self._here = here
        many, gpus = workers(ray, embed=True)
        made = ray.remote(
            num_cpus=1, num_gpus=gpus, max_restarts=-1, max_task_retries=-1, max_concurrency=CALLS
        )(EmbeddingWorker)
        self._workers = [made.remote(open_embedding) for _ in range(many)]
        self._turns = cycle(self._workers)

    @property
    def at_once(self) -> int:
        """Number of concurrent calls that keep all workers busy."""
        return CALLS * len(self._workers)

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return await self._here.embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return (await self._passages(texts, tokens=False)).vectors

    async def _passages(self, texts: Sequence[str], *, tokens: bool) -> PassageVectors:
        with translate_errors("embedding"):
            found: Any = await next(self._turns).passages.remote(list(texts), tokens)
        if isinstance(found, AgenticRagError):
            raise found
        made: PassageVectors = found
        return made


class RayTokenEmbedding(RayEmbedding):
    """``ports.TokenEmbedding``."""

    def __init__(self, cluster: Cluster, open_embedding: Open[Embedding], here: TokenEmbedding) -> None:
        super().__init__(cluster, open_embedding, here)
        self._telling = here

    async def embed_passage_tokens(self, texts: Sequence[str]) -> PassageVectors:
        return await self._passages(texts, tokens=True)

    async def question_tokens(self, text: str) -> QuestionTokens:
        return await self._telling.question_tokens(text)

    def token_places(self, texts: Sequence[str]) -> list[Places]:
        return self._telling.token_places(texts)


def ray_embedding(cluster: Cluster, open_embedding: Open[Embedding], here: Embedding) -> RayEmbedding:
    """An embedding of the same kind as the model. Takes seconds, so call it in a thread."""
    kind = RayTokenEmbedding if isinstance(here, TokenEmbedding) else RayEmbedding
    return kind(cluster, open_embedding, here)  # type: ignore[arg-type]
