"""Rerank models behind ``ports.Reranker``: a chat model, or a local cross-encoder (extra ``rerank``)."""

from __future__ import annotations

import asyncio
import importlib
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agentic_rag.errors import ConfigError, MissingExtra, ModelError
from agentic_rag.parameters import RerankParameters
from agentic_rag.ports import Chat, Reranker
from agentic_rag.prompts import RERANK_SYSTEM, fenced

LOADED = 2
"""Cross-encoders that stay loaded, the last used."""
PARALLEL = 8
_RATING = re.compile(
    r"\D{0,40}?(?<![-\d.])(?P<rating>\d+(?:\.\d+)?)(?:\s*(?:/|out of)\s*10)?\D*", re.IGNORECASE
)
"""One number with few words before it: ``7``, ``7/10``, ``Rating: 7 out of 10.``; not ``passage 1: 7``."""


class ConfiguredRerankers:
    """``rerank.model.Rerankers`` by what is configured.

    Args:
        chat: what the method ``chat`` asks.
        given: asked instead, whichever method asks for a model.
    """

    def __init__(self, chat: Chat | None = None, given: Reranker | None = None) -> None:
        self._chat = chat
        self._given = given
        self._loaded = lru_cache(maxsize=LOADED)(CrossEncoderReranker)

    def check(self, parameters: RerankParameters) -> None:
        if self._given is not None:
            return
        if parameters.method == "chat" and self._chat is None:
            raise ConfigError("rerank.method is 'chat' but no chat model is configured; set chat.base_url")
        if parameters.method == "cross_encoder" and parameters.model is None:
            raise ConfigError(
                "rerank.method is 'cross_encoder' but rerank.model is not set; name a model or its folder"
            )

    def model(self, parameters: RerankParameters) -> Reranker:
        self.check(parameters)
        if self._given is not None:
            return self._given
        if parameters.method == "chat" and self._chat is not None:
            return ChatReranker(self._chat)
        return self._loaded(str(parameters.model))


class ChatReranker:
    """Asks a chat model to rate each passage from 0 to 10; relevance is a tenth of it."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See ``ports.Reranker``; raises ``ModelError`` at the first passage that gets no rating."""
        free = asyncio.Semaphore(PARALLEL)
        try:
            async with asyncio.TaskGroup() as group:
                asked = [group.create_task(self._one(query, passage, free)) for passage in passages]
        except* ModelError as failures:  # the others were cancelled: one missing rating makes all useless
            failure: BaseException = failures.exceptions[0]
        else:
            return [task.result() for task in asked]
        raise failure

    async def _one(self, query: str, passage: str, free: asyncio.Semaphore) -> float:
        async with free:
            text = await self._chat.complete(RERANK_SYSTEM, f"{fenced([passage])}\n\nQuestion: {query}")
        found = _RATING.fullmatch(text)
        if found is None:
            # What it said may repeat the passage, so the error does not.
            raise ModelError(
                "the chat model was asked to rate a passage from 0 to 10 and did not answer with one number; "
                "use another chat.model, or set rerank.method to 'offline'"
            )
        return min(10.0, float(found["rating"])) / 10.0


class CrossEncoderReranker:
    """A sentence-transformers cross-encoder from a local folder or the hub's cache; nothing is downloaded.

    Args:
        model: name or folder.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        ModelError: the model is not on this machine, or cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        try:
            from sentence_transformers import CrossEncoder

            identity = importlib.import_module("torch.nn").Identity()
        except ImportError as error:
            raise MissingExtra("a cross-encoder", "rerank") from error
        self._name = model
        # Its own default differs from model to model (a sigmoid or none): take raw scores, squash them here.
        self._raw = identity
        try:
            self._model: Any = CrossEncoder(model, local_files_only=True)
        except Exception as error:
            raise ModelError(
                f"the cross-encoder {model!r} cannot be loaded from this machine ({type(error).__name__}); "
                "download it first, or give the folder it is in as rerank.model"
            ) from error

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See ``ports.Reranker``; the sigmoid of the model's raw score."""
        if not passages:
            return []
        pairs = [(query, passage) for passage in passages]
        try:
            raw = await asyncio.to_thread(
                self._model.predict, pairs, activation_fn=self._raw, show_progress_bar=False
            )
            scores = [_sigmoid(float(value)) for value in raw]
        except Exception as error:
            raise ModelError(
                f"the cross-encoder {self._name!r} gave no scores ({type(error).__name__}); "
                "it must give one number for a pair of texts"
            ) from error
        if len(scores) != len(passages) or any(math.isnan(score) for score in scores):
            raise ModelError(
                f"the cross-encoder {self._name!r} gave a missing score or one that is no number"
            )
        return scores


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value)))) if not math.isnan(value) else value
