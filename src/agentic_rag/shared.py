"""Stores and models of the main graph, kept open by a server between runs.

LangGraph's server asks for its graphs at every run, and loads a file anew for each graph that the file defines.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from contextlib import AsyncExitStack
from pathlib import Path

# Imported at module level: an import at first use would block the server's event loop.
import agentic_rag.ingest.pipeline
import agentic_rag.models.bundled
import agentic_rag.stores.graphiti.store
import agentic_rag.stores.lancedb.chunk_store  # noqa: F401
from agentic_rag.rag import Rag, open_rag
from agentic_rag.settings.config import RagConfig

logger = logging.getLogger(__name__)


class SharedRag:
    """Opens at the first ``get`` and stays open until ``close`` or the process ends."""

    def __init__(self, config: RagConfig) -> None:
        self._config = config
        self._rag: Rag | None = None
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()

    async def get(self) -> Rag:
        """The open ``Rag``; the same one for every caller."""
        async with self._opening:
            if self._rag is None:
                self._rag = await self._stack.enter_async_context(open_rag(self._config))
                # Imported modules and stores live until the end; collecting them sometimes costs a run 150 ms.
                gc.collect()
                gc.freeze()
                logger.info("opened stores and models of %s", self._config.data_dir)
            return self._rag

    async def close(self) -> None:
        """Close stores and models; the next ``get`` opens anew."""
        async with self._opening:
            self._rag = None
            await self._stack.aclose()


_RAGS: dict[Path, SharedRag] = {}


def shared_rag(config: RagConfig) -> SharedRag:
    """The shared instance of this process and data folder, for all graphs that use it."""
    return _RAGS.setdefault(config.data_dir.absolute(), SharedRag(config))
