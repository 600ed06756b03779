"""Rerank models behind ``ports.Reranker``: a chat model, or a local cross-encoder (extra ``rerank``)."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Sequence
from typing import Any

from agentic_rag.errors import MissingExtra, ModelError
from agentic_rag.ports import Chat
from agentic_rag.prompts import RERANK_SYSTEM, fenced

PARALLEL = 8
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


class ChatReranker:
    """Asks a chat model to rate each passage from 0 to 10; relevance is a tenth of it."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._free = asyncio.Semaphore(PARALLEL)

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        return list(await asyncio.gather(*(self._one(query, passage) for passage in passages)))

    async def _one(self, query: str, passage: str) -> float:
        async with self._free:
            text = await self._chat.complete(RERANK_SYSTEM, f"{fenced([passage])}\n\nQuestion: {query}")
        found = _NUMBER.search(text)
        if found is None:
            raise ModelError(f"the chat model was asked for a number from 0 to 10 and said {text[:80]!r}")
        return min(10.0, float(found.group())) / 10.0


class CrossEncoderReranker:
    """A sentence-transformers cross-encoder, from a local folder or the hub's cache.

    Args:
        model: name or folder.

    Raises:
        MissingExtra: sentence-transformers is not installed.
    """

    def __init__(self, model: str) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise MissingExtra("a cross-encoder", "rerank") from error
        try:
            self._model: Any = CrossEncoder(model)
        except Exception as error:
            raise ModelError(f"the cross-encoder {model!r} cannot be loaded: {error}") from error

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        if not passages:
            return []
        pairs = [(query, passage) for passage in passages]
        raw = await asyncio.to_thread(self._model.predict, pairs)
        return [1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, float(value))))) for value in raw]
