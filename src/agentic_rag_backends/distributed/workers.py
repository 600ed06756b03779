"""The engine ``ray``: ``agentic_rag.workers.Workers`` on a Ray cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from agentic_rag.domain.ports import ChunkStore, Embedding
from agentic_rag.opening import open_stores, opened_embedding, token_counter
from agentic_rag.settings.config import RagConfig
from agentic_rag_backends.distributed.cluster import open_cluster
from agentic_rag_backends.distributed.embedding import RayEmbedding, ray_embedding
from agentic_rag_backends.distributed.engine import RayEngine
from agentic_rag_backends.distributed.indexing import RayBuilder
from agentic_rag_backends.distributed.pool import Pool
from agentic_rag_backends.distributed.preparing import WorkerParts


class RayWorkers(Pool):
    """The workers of a cluster, for every kind of bulk work."""

    def ingest_engine(self, config: RagConfig, embedding: Embedding | None, chunks: ChunkStore) -> RayEngine:
        """Parses and prepares documents on the cluster; see ``workers.Workers``."""
        return RayEngine(self, partial(open_worker, config, embedding), chunks, RayBuilder(self._cluster))

    async def embedding(
        self, config: RagConfig, embedding: Embedding | None, here: Embedding
    ) -> RayEmbedding:
        """Embeds passages on the cluster; see ``workers.Workers``."""
        opened = partial(opened_embedding, config, embedding)
        return await asyncio.to_thread(ray_embedding, self._cluster, opened, here)


@asynccontextmanager
async def ray(address: str | None) -> AsyncIterator[RayWorkers]:
    """The entry ``ray`` of ``agentic_rag.engines``.

    Args:
        address: of the cluster's head (``HOST:6379``); None: one that is started on this machine.

    Raises:
        MissingExtra: Ray is not installed.
    """
    async with open_cluster(address) as cluster:
        yield RayWorkers(cluster)


@asynccontextmanager
async def open_worker(config: RagConfig, embedding: Embedding | None = None) -> AsyncIterator[WorkerParts]:
    """The parts with which a worker prepares documents; raises as ``open_rag``."""
    async with AsyncExitStack() as stack, opened_embedding(config, embedding) as model:
        stores = await open_stores(config, model, stack)
        yield WorkerParts(stores.chunks, stores.knowledge, model, token_counter())
