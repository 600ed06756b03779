"""An embedding that blocks until released, so that a test can act, or stop, in the middle of an ingest."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agentic_rag.domain.ports import FloatArray
from agentic_rag.testing import HashingEmbedding


class HeldEmbedding(HashingEmbedding):
    """Sets ``begun`` when it is asked for passages, and waits for ``go_on``."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        self.begun.set()
        await self.go_on.wait()
        return await super().embed_passages(texts)
