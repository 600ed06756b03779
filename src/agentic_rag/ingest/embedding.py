"""Embedding many texts in small calls, so that progress can be told and nobody waits for anybody."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

import numpy as np

from agentic_rag.domain.ports import Embedding, PassageVectors, TokenEmbedding
from agentic_rag.domain.progress import Meter

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
    embedding: Embedding,
    texts: Sequence[str],
    work: Sequence[float],
    meter: Meter,
    *,
    tokens: bool = False,
) -> PassageVectors:
    """Vectors of stored texts; each text's work is told when it is done.

    ``tokens``: those of their tokens too, where the model tells them apart.

    Raises ``ModelError``.
    """
    parts = [PassageVectors(np.zeros((0, embedding.dimension), dtype=np.float32), ())]
    under_way: deque[tuple[asyncio.Future[PassageVectors], float]] = deque()

    async def call(part: Sequence[str]) -> PassageVectors:
        if tokens and isinstance(embedding, TokenEmbedding):
            return await embedding.embed_passage_tokens(part)
        return PassageVectors(await embedding.embed_passages(part), (b"",) * len(part))

    async def finish_first() -> None:
        part, done = under_way.popleft()
        parts.append(await part)
        meter.add(done)

    try:
        for start in range(0, len(texts), EMBED_TEXTS):
            part = slice(start, start + EMBED_TEXTS)
            under_way.append((asyncio.ensure_future(call(texts[part])), sum(work[part])))
            if len(under_way) == CALLS:
                await finish_first()
        while under_way:
            await finish_first()
    finally:
        for unfinished, _ in under_way:
            unfinished.cancel()
    return PassageVectors(
        np.concatenate([part.vectors for part in parts]),
        tuple(packed for part in parts for packed in part.tokens),
    )
