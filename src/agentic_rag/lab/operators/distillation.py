"""Distillation, an action of PostInsert: what a new memory only says again becomes one memory with the old one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field

from agentic_rag.dates.instants import moment_of
from agentic_rag.domain.memory import Deletes, Memory, MemoryService, merged_sources, vector_of
from agentic_rag.domain.ports import Chat
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.lab.operators.duplicates import similarity, told_words
from agentic_rag.settings.parameters import Section
from agentic_rag.text.prompts import fenced


class Distillation(Section):
    """Near-duplicates are merged, by rule or by a chat model."""

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


@dataclass(slots=True)
class Distilled:
    """What became of one packet's memories."""

    merged: list[dict[str, Any]] = field(default_factory=list)
    """``entry_ids`` that stand for ``replaces``."""
    refused: int = 0
    """Texts a model wanted deleted that must stay: it was not shown them, or nothing would be left."""

    @property
    def gone(self) -> frozenset[str]:
        return frozenset(entry_id for one in self.merged for entry_id in one["replaces"])


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What to do with memories that say the same."""

    old: tuple[Memory, ...]
    new: tuple[Memory, ...]
    refused: int = 0


async def distil(
    settings: Distillation, service: MemoryService, chat: Chat | None, fresh: Sequence[Memory]
) -> Distilled:
    """Merge each new memory with those that say the same.

    By rule, the text with more telling words stays (then the longer one, then the older), with the sources of
    all and the latest timestamp; it is inserted anew, for a memory cannot be changed in place.

    Args:
        settings: how near, among how many, and by whom.
        service: the memory; it can delete.
        chat: judges where ``distillation_prompt`` is set.
        fresh: what was just inserted.

    Raises:
        ConfigError: the service cannot delete, or a prompt is set and there is no chat model.
        ModelError: the chat model failed, or replied something else than the JSON it was asked for.
    """
    deletes, judging = deleting(service, "distillation"), judging_by(settings, chat)
    done = Distilled()
    for memory in fresh:
        if memory["entry_id"] in done.gone:
            continue
        same = await _same(settings, service, memory, done.gone)
        if not same:
            continue
        # By id, so oldest first: what stays does not depend on how a service breaks ties.
        group = sorted([memory, *same], key=lambda one: one["entry_id"])
        verdict = _by_rule(group) if judging is None else await _by_chat(*judging, group)
        done.refused += verdict.refused
        if verdict.old or verdict.new:
            done.merged.append(await _carried_out(verdict, service, deletes))
    return done


def deleting(service: MemoryService, action: str) -> Deletes:
    """The service as one that can forget.

    Raises:
        ConfigError: it cannot.
    """
    if not isinstance(service, Deletes):
        raise ConfigError(
            f"operators.post_insert.action {action} needs a memory that can delete, "
            f"and {type(service).__name__} cannot; use another service, or action none"
        )
    return service


def judging_by(settings: Distillation, chat: Chat | None) -> tuple[str, Chat] | None:
    """Prompt and chat model that judge; None where the rule does.

    Raises:
        ConfigError: a prompt without a chat model.
    """
    if settings.distillation_prompt is None:
        return None
    if chat is None:
        raise ConfigError(
            "operators.post_insert.distillation_prompt needs a chat model; "
            "set runtime.base_url and runtime.model_name, or leave the prompt out"
        )
    return settings.distillation_prompt, chat


async def _same(
    settings: Distillation, service: MemoryService, memory: Memory, gone: frozenset[str]
) -> list[Memory]:
    # One more than asked for: the new memory finds itself.
    found = await service.retrieve(
        query=memory["text"],
        vector=vector_of(memory.get("embedding")),
        metadata=None,
        top_k=settings.distillation_topk + 1,
    )
    return [
        other
        for other in found
        if other["entry_id"] not in {memory["entry_id"], *gone}
        and similarity(other, memory["text"]) >= settings.distillation_threshold
    ]


def _by_rule(group: Sequence[Memory]) -> _Verdict:
    # Oldest first, and ``max`` takes the first of equals.
    best = max(group, key=lambda one: (told_words(one["text"]), len(one["text"])))
    kept: Memory = {**best, "metadata": {**(best["metadata"] or {}), **_joined(group)} or None}
    return _Verdict(tuple(group), (kept,))


async def _by_chat(prompt: str, chat: Chat, group: Sequence[Memory]) -> _Verdict:
    reply = await chat.complete(prompt, fenced([memory["text"] for memory in group]))
    to_delete, to_insert = read_verdict(reply)
    shown = {memory["text"] for memory in group}
    refused = len(to_delete - shown)
    texts = [text for text in to_insert if text not in shown - to_delete]
    if not texts and shown <= to_delete:
        return _Verdict((), (), refused + len(shown))
    old = tuple(memory for memory in group if memory["text"] in to_delete)
    metadata = {**(group[-1]["metadata"] or {}), **_joined(old or group)} or None
    new = tuple(Memory(text=text, metadata=metadata, entry_id="", score=None) for text in texts)
    return _Verdict(old, new, refused)


async def _carried_out(verdict: _Verdict, service: MemoryService, deletes: Deletes) -> dict[str, Any]:
    for memory in verdict.old:
        await deletes.delete(memory["entry_id"])
    inserted = [
        await service.insert(memory["text"], vector_of(memory.get("embedding")), memory["metadata"])
        for memory in verdict.new
    ]
    return {
        "entry_ids": [entry_id for entry_id in inserted if entry_id is not None],
        "replaces": [memory["entry_id"] for memory in verdict.old],
    }


def _joined(group: Sequence[Memory]) -> dict[str, Any]:
    """Sources of all, oldest memory first, each once; the latest timestamp."""
    every = [memory["metadata"] or {} for memory in group]
    sources = merged_sources(every)
    dated = [
        (moment, metadata["timestamp"])
        for metadata in every
        if (moment := moment_of(metadata.get("timestamp")))
    ]
    joined: dict[str, Any] = {"sources": sources} if sources else {}
    return {**joined, "timestamp": max(dated)[1]} if dated else joined


def read_verdict(reply: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """``to_delete`` and ``to_insert`` of a model's reply, each text once; what stands around the JSON is ignored.

    Raises:
        ModelError: no JSON object of these two lists of texts.
    """
    start, end = reply.find("{"), reply.rfind("}")
    try:
        verdict = json.loads(reply[start : end + 1]) if 0 <= start < end else None
    except ValueError as error:
        raise ModelError(_unreadable(reply)) from error
    if not isinstance(verdict, dict):
        raise ModelError(_unreadable(reply))
    to_delete, to_insert = _texts(verdict, "to_delete", reply), _texts(verdict, "to_insert", reply)
    return frozenset(to_delete), tuple(dict.fromkeys(text for text in to_insert if text.strip()))


def _texts(verdict: Mapping[str, Any], key: str, reply: str) -> list[str]:
    texts = verdict.get(key)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ModelError(_unreadable(reply))
    return texts


def _unreadable(reply: str) -> str:
    return (
        'the chat model must reply {"to_delete": [texts], "to_insert": [texts]} to distillation_prompt, '
        f"not {reply!r:.120}"
    )
