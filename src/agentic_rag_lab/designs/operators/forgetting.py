"""Forgetting, an action of PostInsert: memories decay with time unless they are repeated."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import Field

from agentic_rag.dates.instants import moment_of
from agentic_rag.errors import ConfigError
from agentic_rag.settings.parameters import Section
from agentic_rag.text import content_tokens, fold, tokens
from agentic_rag_lab.designs.memory import Deletes, Memory, MemoryService

_DATE = re.compile(r"^\([^()\n]*\)", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CAPITALISED_WORD = re.compile(r"\b[A-ZÀ-ÖØ-ÞА-Я][\w-]*")
_NEGATION = re.compile(r"\b(?:not|no|never|cannot|without|\w+n['’]t)\b|[不没未无别]", re.IGNORECASE)


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


class Forgetting(Section):
    """Settings: memories whose retention has fallen below a threshold are deleted."""

    action: Literal["forgetting"] = "forgetting"
    retention_threshold: float = Field(
        0.05, gt=0, lt=1, description="retention under which a memory is forgotten"
    )
    strength_days: float = Field(
        90.0,
        gt=0,
        le=1_000_000,
        description="days after which a memory of strength 1 has faded to 1/e; with the threshold of 0.05 it is "
        "forgotten after 270",
    )
    reinforce_threshold: float = Field(
        0.8, gt=0, le=1, description="share of telling words from which saying it again reinforces a memory"
    )


@dataclass(frozen=True, slots=True)
class _Trace:
    """The decay state of one memory."""

    wording: Wording
    since: datetime
    """Time of the last repetition, UTC."""
    strength: float
    importance: float


def retention(days: float, strength: float, *, strength_days: float = 90.0, importance: float = 0.0) -> float:
    """Retention of a memory, in (0, 1], higher is more: R = exp(-t / S).

    S = strength · strength_days · (1 + importance); t in days, a negative one counts as 0.

    Source: Ebbinghaus, 1885; Zhong et al., "MemoryBank", AAAI 2024, section 3.3.
    """
    return math.exp(-max(days, 0.0) / (strength * strength_days * (1.0 + importance)))


class Forgetter:
    """Records the last repetition and the strength of each memory; one object per memory service.

    A memory starts with strength 1; each new memory of the same content adds 1 and resets the time. A retrieval
    changes nothing, because tests must not change the memory. Times are those of the conversation. Memories from
    before this object's creation are unknown to it and never forgotten.
    """

    def __init__(self, settings: Forgetting, memory: Deletes) -> None:
        self._settings = settings
        self._memory = memory
        self._traces: dict[str, _Trace] = {}

    def note(self, fresh: Sequence[Memory]) -> None:
        """Record new memories, and reinforce those they repeat; a memory without a date is never forgotten."""
        for memory in fresh:
            since = moment_of((memory["metadata"] or {}).get("timestamp"))
            if since is None:
                continue
            said = wording(memory["text"])
            self._reinforce(said, since)
            importance = _importance((memory["metadata"] or {}).get("importance"))
            self._traces[memory["entry_id"]] = _Trace(said, since, 1.0, importance)

    async def forget(self, now: datetime) -> list[str]:
        """Delete memories whose retention at an instant is below the threshold; sorted ids of those that existed."""
        settings, forgotten = self._settings, []
        faded = [
            entry_id
            for entry_id, trace in self._traces.items()
            if retention(
                (now - trace.since) / timedelta(days=1),
                trace.strength,
                strength_days=settings.strength_days,
                importance=trace.importance,
            )
            < settings.retention_threshold
        ]
        for entry_id in sorted(faded):
            if await self._memory.delete(entry_id):
                forgotten.append(entry_id)
            del self._traces[entry_id]
        return forgotten

    def _reinforce(self, wording: Wording, now: datetime) -> None:
        for entry_id, trace in self._traces.items():
            if word_overlap(trace.wording, wording) >= self._settings.reinforce_threshold:
                self._traces[entry_id] = replace(
                    trace, strength=trace.strength + 1.0, since=max(trace.since, now)
                )


def _importance(value: Any) -> float:
    """The number, if it is at least 0; else 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return max(float(value), 0.0)


@dataclass(frozen=True, slots=True)
class Wording:
    """The features of a text for the comparison, computed once for many comparisons."""

    text: str
    """Without the dates before its lines."""
    telling: frozenset[str]
    tokens: frozenset[str]
    capitalised_words: frozenset[str]
    numbers: tuple[str, ...]
    negations: int


def wording(text: str) -> Wording:
    """The text in the form that ``word_overlap`` compares."""
    said = _DATE.sub("", text)
    plain = fold(said)
    return Wording(
        text=said,
        telling=frozenset(content_tokens(said)),
        tokens=frozenset(tokens(said)),
        capitalised_words=frozenset(
            token for word in _CAPITALISED_WORD.findall(said) for token in tokens(word)
        ),
        numbers=tuple(sorted(_NUMBER.findall(plain))),
        negations=len(_NEGATION.findall(plain)),
    )


def word_overlap(one: Wording, other: Wording) -> float:
    """|A ∩ B| / |A ∪ B| of the texts' content words, in [0, 1].

    0 if a different number, name or negation changes the meaning. The date in front of a line of dialogue is
    ignored.
    """
    either = len(one.telling | other.telling)
    both = len(one.telling & other.telling) / either if either else float(one.text == other.text)
    return both if both and not _turned_around(one, other) else 0.0


def _turned_around(one: Wording, other: Wording) -> bool:
    renamed = one.capitalised_words - other.tokens and other.capitalised_words - one.tokens
    return bool(renamed) or (one.numbers, one.negations) != (other.numbers, other.negations)
