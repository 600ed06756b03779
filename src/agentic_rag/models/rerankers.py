"""Rerank models behind ``ports.Reranker``: a chat model, or a local cross-encoder (extra ``rerank``)."""

from __future__ import annotations

import asyncio
import importlib
import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from agentic_rag.domain.ports import Chat, Reranker
from agentic_rag.errors import ConfigError, ModelError, needing
from agentic_rag.models.chats import without_thoughts
from agentic_rag.settings.parameters import RerankParameters
from agentic_rag.text.prompts import RERANK_SYSTEM, fence_passages

MAX_LOADED_MODELS = 2
"""Number of cross-encoders that stay loaded, the last used ones."""
PARALLEL = 8
"""Concurrent batches of a chat model."""
BATCH = 10
"""Passages rated in one call of a chat model. Ten of the longest have about 4000 tokens, which fits a context of
8000; the default depth takes two calls, which run at once."""
BEST = 10.0
"""The highest rating; the lowest is 0."""
_LIST = re.compile(r"[^\d\[\]]*\[([^\[\]]+)\][^\d\[\]]*")
"""A reply with exactly one list and no other number: ``[7, 3]``, ``Ratings: [7, 3]``; not ``[1] 7``."""
_PARTS = re.compile(r"[\n,;]")
_RATING = re.compile(
    r"(?:- )?"
    r"(?:(?:passage )?[\[(#]?(?P<passage>\d{1,4})(?:[\])] ?[:=]?|\.(?= )| ?[:=]| -(?= )) ?)?"
    r"(?:(?:rating|score|relevance) ?[:=]? ?)?"
    r"(?P<rating>\d{1,2}(?:\.\d{1,9})?)(?: ?(?:/|out of) ?10)?"
    r"(?:\.| ?[-(]\D*)?",
    re.IGNORECASE,
)
"""A rating, with the number of its passage if given: ``7``, ``3: 7``, ``[1] 7/10``, ``Passage 2: 7 out of 10.``,
``4. 7 (says it in part)``."""


class ConfiguredRerankers:
    """``rerank.Rerankers`` by what is configured.

    Args:
        chat: the model of the method ``chat``.
        reranker: used instead, for any method with a model.
    """

    def __init__(self, chat: Chat | None = None, reranker: Reranker | None = None) -> None:
        self._chat = chat
        self._reranker = reranker
        self._load_model = lru_cache(maxsize=MAX_LOADED_MODELS)(CrossEncoderReranker)

    def check(self, parameters: RerankParameters) -> None:
        if self._reranker is not None:
            return
        if parameters.method == "chat" and self._chat is None:
            raise ConfigError("rerank.method is 'chat' but no chat model is configured; set chat.base_url")
        if parameters.method == "cross_encoder" and parameters.model is None:
            raise ConfigError(
                "rerank.method is 'cross_encoder' but rerank.model is not set; name a model or its folder"
            )

    def model(self, parameters: RerankParameters) -> Reranker:
        self.check(parameters)
        if self._reranker is not None:
            return self._reranker
        if parameters.method == "chat" and self._chat is not None:
            return ChatReranker(self._chat)
        return self._load_model(str(parameters.model))


class ChatReranker:
    """Asks a chat model to rate passages from 0 to 10, ``BATCH`` per call; relevance is a tenth of the rating."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """See ``ports.Reranker``; raises ``ModelError`` at the first batch without a rating for every passage."""
        free = asyncio.Semaphore(PARALLEL)
        batches = [passages[start : start + BATCH] for start in range(0, len(passages), BATCH)]
        try:
            async with asyncio.TaskGroup() as group:
                asked = [group.create_task(self._batch(query, batch, free)) for batch in batches]
        except* ModelError as failures:  # one missing rating makes all useless: the others were cancelled
            failure: BaseException = failures.exceptions[0]
        else:
            return [score for task in asked for score in task.result()]
        raise failure

    async def _batch(self, query: str, passages: Sequence[str], free: asyncio.Semaphore) -> list[float]:
        async with free:
            text = await self._chat.complete(
                RERANK_SYSTEM, f"{fence_passages(passages)}\n\nQuestion: {query}"
            )
        found = _ratings(without_thoughts(text), len(passages))
        if found is None:
            # The reply may contain a passage, so the error does not repeat it.
            raise ModelError(
                "the chat model was asked to rate passages from 0 to 10 and did not answer with one number for "
                "each; use another chat.model, or set rerank.method to 'offline'"
            )
        return [rating / BEST for rating in found]


class CrossEncoderReranker:
    """A sentence-transformers cross-encoder from a local folder or the hub's cache; nothing is downloaded.

    Args:
        model: name or folder.

    Raises:
        MissingExtra: sentence-transformers is not installed.
        ModelError: the model is not on this machine, or cannot be loaded.
    """

    def __init__(self, model: str) -> None:
        with needing("a cross-encoder", "rerank"):
            from sentence_transformers import CrossEncoder

            identity = importlib.import_module("torch.nn").Identity()
        self._name = model
        # The default activation differs between models (a sigmoid or none): take raw scores and apply the sigmoid
        # here.
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


def _ratings(reply: str, count: int) -> list[float] | None:
    """The ratings of ``count`` passages, in their order; None unless each has exactly one in [0, ``BEST``].

    Either all ratings name their passage, or none does and they are in order. Lines without a digit are skipped.
    """
    listed = _LIST.fullmatch(reply)
    # Markup that models put around the ratings.
    bare = re.sub(r"[*`\"'{}]", "", reply if listed is None else listed[1])
    parts = [" ".join(part.split()) for part in _PARTS.split(bare)]
    found = [_RATING.fullmatch(part) for part in parts if any(character.isdigit() for character in part)]
    rated = [(match["passage"], float(match["rating"])) for match in found if match is not None]
    if not len(found) == len(rated) == count or any(rating > BEST for _, rating in rated):
        return None
    if all(passage is None for passage, _ in rated):
        return [rating for _, rating in rated]
    told = {int(passage): rating for passage, rating in rated if passage is not None}
    if told.keys() != set(range(1, count + 1)):
        return None
    return [rating for _, rating in sorted(told.items())]


def _sigmoid(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value)))) if not math.isnan(value) else value
