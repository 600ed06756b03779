"""Distillation, an action of PostInsert: merges a new memory with existing ones of the same content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentic_rag.dates.instants import moment_of
from agentic_rag.domain.memory import Deletes, Memory, MemoryService, merged_sources, vector_of
from agentic_rag.domain.ports import Chat
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.lab.operators.duplicates import similarity, wording
from agentic_rag.settings.parameters import Section
from agentic_rag.text.prompts import DATA, fenced


class Distillation(Section):
    """Settings: near-duplicates are merged, by rule or by a chat model."""

    action: Literal["distillation"] = "distillation"
    distillation_topk: int = Field(10, ge=1, le=1000, description="memories compared with each new one")
    distillation_threshold: float = Field(
        0.9,
        gt=0,
        le=1,
        description="similarity from which two are the same; mean of shared words and the service's score",
    )
    distillation_prompt: str | None = Field(
        None,
        min_length=1,
        description='system prompt for a chat model that replies {"to_delete": [texts], "to_insert": [texts]}; '
        "unset: the one that says more stays",
    )


@runtime_checkable
class DeletingMemory(MemoryService, Deletes, Protocol):
    """A memory that can delete entries."""


def deleting(service: MemoryService, action: str) -> DeletingMemory:
    """The service, if it can delete entries.

    Raises:
        ConfigError: it cannot.
    """
    if not isinstance(service, DeletingMemory):
        raise ConfigError(
            f"operators.post_insert.action {action} needs a memory that can delete, "
            f"and {type(service).__name__} cannot; use another service, or action none"
        )
    return service


@dataclass(frozen=True, slots=True)
class _Verdict:
    """The decision on memories with the same content."""

    old: Sequence[Memory]
    new: Sequence[Memory]
    refused: int = 0


class Distiller:
    """Merges each new memory with existing memories of the same content.

    By rule, the text with the most content words is kept (then the longest, then the oldest), with the sources of
    all and the latest timestamp; it is inserted again, because a memory cannot be changed in place. With a
    ``distillation_prompt`` the chat model decides.

    Raises:
        ConfigError: there is a prompt but no chat model.
    """

    def __init__(self, settings: Distillation, memory: DeletingMemory, chat: Chat | None) -> None:
        if settings.distillation_prompt is not None and chat is None:
            raise ConfigError(
                "operators.post_insert.distillation_prompt needs a chat model; "
                "set runtime.base_url and runtime.model_name, or leave the prompt out"
            )
        self._settings = settings
        self._memory = memory
        self._chat = chat

    async def distil(self, fresh: Sequence[Memory]) -> dict[str, Any]:
        """Merge the new memories. ``merged``: each with the ``entry_ids`` that replace those in ``replaces``;
        ``refused``: number of texts that the model wanted to delete but that stay, because it was not shown them
        or nothing would be left.

        Raises:
            ModelError: the chat model failed, or did not reply with the requested JSON.
        """
        merged: list[dict[str, Any]] = []
        gone: set[str] = set()
        refused = 0
        for memory in fresh:
            same = [] if memory["entry_id"] in gone else await self._same(memory, gone)
            if not same:
                continue
            # By id, so oldest first: the result does not depend on how a service breaks ties.
            verdict = await self._judged(sorted([memory, *same], key=lambda one: one["entry_id"]))
            refused += verdict.refused
            if verdict.old or verdict.new:
                merged.append(await self._carried_out(verdict))
                gone.update(merged[-1]["replaces"])
        return {"merged": merged, "refused": refused}

    async def _same(self, memory: Memory, gone: set[str]) -> list[Memory]:
        # One more than needed, because the new memory finds itself.
        found = await self._memory.retrieve(
            query=memory["text"],
            vector=vector_of(memory.get("embedding")),
            metadata=None,
            top_k=self._settings.distillation_topk + 1,
        )
        return [
            other
            for other in found
            if other["entry_id"] not in {memory["entry_id"], *gone}
            and similarity(other, memory["text"]) >= self._settings.distillation_threshold
        ]

    async def _judged(self, group: Sequence[Memory]) -> _Verdict:
        prompt = self._settings.distillation_prompt
        if prompt is None or self._chat is None:
            return _by_rule(group)
        texts = fenced([memory["text"] for memory in group])
        reply = await self._chat.complete(f"{prompt}\n{DATA}", texts)
        return _by_chat(read_verdict(reply), group)

    async def _carried_out(self, verdict: _Verdict) -> dict[str, Any]:
        for memory in verdict.old:
            await self._memory.delete(memory["entry_id"])
        inserted = [
            await self._memory.insert(memory["text"], vector_of(memory.get("embedding")), memory["metadata"])
            for memory in verdict.new
        ]
        return {
            "entry_ids": [entry_id for entry_id in inserted if entry_id is not None],
            "replaces": [memory["entry_id"] for memory in verdict.old],
        }


def _by_rule(group: Sequence[Memory]) -> _Verdict:
    # Oldest first, and ``max`` takes the first of equals.
    best = max(group, key=lambda one: (len(wording(one["text"]).telling), len(one["text"])))
    kept: Memory = {**best, "metadata": {**(best["metadata"] or {}), **_joined(group)} or None}
    return _Verdict(group, [kept])


def _by_chat(verdict: ChatVerdict, group: Sequence[Memory]) -> _Verdict:
    shown, to_delete = {memory["text"] for memory in group}, set(verdict.to_delete)
    refused = len(to_delete - shown)
    texts = [
        text for text in dict.fromkeys(verdict.to_insert) if text.strip() and text not in shown - to_delete
    ]
    if not texts and shown <= to_delete:
        return _Verdict([], [], refused + len(shown))
    old = [memory for memory in group if memory["text"] in to_delete]
    metadata = {**(group[-1]["metadata"] or {}), **_joined(old or group)} or None
    return _Verdict(
        old, [Memory(text=text, metadata=metadata, entry_id="", score=None) for text in texts], refused
    )


def _joined(group: Sequence[Memory]) -> dict[str, Any]:
    """The sources of all memories, the oldest memory's first, each once; and the latest timestamp."""
    every = [memory["metadata"] or {} for memory in group]
    sources = merged_sources(every)
    dated = [
        (moment, metadata["timestamp"])
        for metadata in every
        if (moment := moment_of(metadata.get("timestamp")))
    ]
    joined: dict[str, Any] = {"sources": sources} if sources else {}
    return {**joined, "timestamp": max(dated)[1]} if dated else joined


class ChatVerdict(BaseModel):
    """A chat model's reply to ``distillation_prompt``."""

    model_config = ConfigDict(strict=True)

    to_delete: list[str]
    to_insert: list[str]


def read_verdict(reply: str) -> ChatVerdict:
    """The JSON in a model's reply; text around it is ignored.

    Raises:
        ModelError: the reply has no JSON object with these two lists of texts.
    """
    written = re.search(r"\{.*\}", reply, re.DOTALL)
    try:
        return ChatVerdict.model_validate_json(written[0] if written is not None else "")
    except ValidationError as error:
        raise ModelError(
            'the chat model must reply {"to_delete": [texts], "to_insert": [texts]} to distillation_prompt, '
            f"not {reply!r:.120}"
        ) from error
