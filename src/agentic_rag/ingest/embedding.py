"""Embedding many texts in small calls, so that progress can be told and nobody waits for anybody."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

import numpy as np

from agentic_rag.ingest.report import Meter
from agentic_rag.ports import Embedding, FloatArray

EMBED_TEXTS = 32
"""Texts a call."""
CALLS = 2
"""Under way at a time: while one ends, the next keeps the model's workers busy."""
TEXT_OVERHEAD = 40
"""Bytes of text that take as long to embed as a text takes for being one more."""


def embedding_work(text: str) -> float:
    """How long a text takes to embed, in UTF-8 bytes: a Chinese character has three, and is about a token."""
    return float(len(text.encode("utf-8", "replace")) + TEXT_OVERHEAD)


async def embedded(
    embedding: Embedding, texts: Sequence[str], work: Sequence[float], meter: Meter
) -> FloatArray:
    """Vectors of stored texts, shape (len(texts), dimension); each text's work is told when it is done.

    Raises ``ModelError``.
    """
    parts: list[FloatArray] = [np.zeros((0, embedding.dimension), dtype=np.float32)]
    under_way: deque[tuple[asyncio.Future[FloatArray], float]] = deque()

    async def finish_first() -> None:
        vectors, done = under_way.popleft()
        parts.append(await vectors)
        meter.add(done)

    try:
        for start in range(0, len(texts), EMBED_TEXTS):
            part = slice(start, start + EMBED_TEXTS)
            call = asyncio.ensure_future(embedding.embed_passages(texts[part]))
            under_way.append((call, sum(work[part])))
            if len(under_way) == CALLS:
                await finish_first()
        while under_way:
            await finish_first()
    finally:
        for unfinished, _ in under_way:
            unfinished.cancel()
    return np.concatenate(parts)
