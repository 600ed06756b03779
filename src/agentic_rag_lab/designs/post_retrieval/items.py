"""Post-retrieval, the memories, and the input and output of a step; converted from and to a service's result."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

import numpy as np

from agentic_rag.dates.instants import moment_of
from agentic_rag.errors import InputError
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.post_retrieval.config import UNKNOWN_SCORE, ActionStep
from agentic_rag_lab.designs.post_retrieval.tools import PostRetrievalTools

_KEYS = frozenset({"text", "score", "metadata", "entry_id", "embedding"})


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A memory during the steps. It is immutable; ``replace`` makes a changed copy."""

    text: str
    score: float | None
    """Higher is better; None if nothing ranked it."""
    metadata: Mapping[str, Any] | None
    entry_id: str
    """"" without an id: such a memory has no links and equals no other."""
    original_index: int
    """Its place in the retrieved list, from 0; numbers of joined memories follow."""
    embedding: tuple[float, ...] | None = None
    rest: Mapping[str, Any] = field(default_factory=dict)
    """Its other keys."""

    @property
    def value(self) -> float:
        """The memory's score, or UNKNOWN_SCORE."""
        return UNKNOWN_SCORE if self.score is None else self.score

    def get(self, name: str) -> Any:
        """A value of its metadata; None if missing."""
        return None if self.metadata is None else self.metadata.get(name)

    def with_metadata(self, **values: Any) -> MemoryItem:
        """A copy with additional metadata."""
        return replace(self, metadata={**(self.metadata or {}), **values})

    def get_timestamp(self, time_field: str) -> datetime | None:
        """The memory's time in UTC; None if its metadata have none."""
        return moment_of(self.get(time_field))


Items = tuple[MemoryItem, ...]


def read_memories(memories: Any) -> Items:
    """Items of memory dicts, in order; only ``text`` is required.

    Args:
        memories: from ``MemoryService.retrieve``.

    Raises:
        InputError: not a list, or an invalid memory; the message names it.
    """
    if isinstance(memories, str | bytes | Mapping) or not isinstance(memories, Iterable):
        raise InputError(f"memory_data is a list of memories, not {type(memories).__name__}")
    return tuple(_read(memory, n) for n, memory in enumerate(memories))


def as_memories(items: Sequence[MemoryItem]) -> list[Memory]:
    """Memory dicts of items, in order; ``embedding`` only if there is one."""
    return [
        cast(
            Memory,
            {
                "text": item.text,
                "metadata": None if item.metadata is None else dict(item.metadata),
                "entry_id": item.entry_id,
                "score": item.score,
                **item.rest,
            },
        )
        for item in items
    ]


def by_score(item: MemoryItem) -> tuple[float, str, int]:
    """Sort key: score descending, then id; without both, the place."""
    return -item.value, "" if item.score is None else item.entry_id, item.original_index


def best_first(items: Items) -> Items:
    """The memories by score, then id. Without any score the newest is first, because services then return the oldest first."""
    if all(item.score is None for item in items):
        return items[::-1]
    return tuple(sorted(items, key=by_score))


def kept_best(items: Items, most: int) -> Items:
    """The best ``most`` memories, in their order."""
    return in_place(items, best_first(items)[:most])


def in_place(items: Items, kept_items: Iterable[MemoryItem]) -> Items:
    """The kept items, in their order."""
    chosen = {id(item) for item in kept_items}
    return tuple(item for item in items if id(item) in chosen)


def _read(memory: Any, place: int) -> MemoryItem:
    if not isinstance(memory, Mapping):
        raise InputError(f"memory_data[{place}] is a mapping with a text, not {type(memory).__name__}")
    text = memory.get("text")
    if not isinstance(text, str):
        raise InputError(f"memory_data[{place}] has text {text!r:.80}; give a string")
    entry_id = memory.get("entry_id")
    if not isinstance(entry_id, str | None):
        raise InputError(f"memory_data[{place}] has entry_id {entry_id!r:.80}; give a string")
    metadata = memory.get("metadata")
    if not isinstance(metadata, Mapping | None):
        raise InputError(f"memory_data[{place}] has metadata {metadata!r:.80}; give an object or None")
    held = memory.get("embedding")
    given = held if held is not None or metadata is None else metadata.get("embedding")
    return MemoryItem(
        text=text,
        score=_number(memory.get("score"), place),
        metadata=metadata,
        entry_id="" if entry_id is None else entry_id,
        original_index=place,
        embedding=None if given is None else vector(given, f"memory_data[{place}] has an embedding"),
        rest={name: value for name, value in memory.items() if name not in _KEYS or name == "embedding"},
    )


def _number(value: Any, place: int) -> float | None:
    if value is None:
        return None
    try:
        number = math.nan if isinstance(value, str | bool | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"memory_data[{place}] has score {value!r:.80}; give a finite number or None")
    return number


def vector(value: Any, whose: str) -> tuple[float, ...]:
    """A list or array of finite numbers as plain floats.

    Raises:
        InputError: any other value; the message begins with ``whose``.
    """
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{whose} that is no list of numbers: {value!r:.80}") from error
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise InputError(f"{whose} that is no list of finite numbers: {value!r:.80}")
    return tuple(numbers.tolist())


# No space after the date and one after the colon, so that neither "(aside) see: this" nor "(photo)http://…" counts
# as a turn.
_TURN = re.compile(
    r"(?P<lead>\((?P<date>[^()\n]*)\)(?P<speaker>[^\s:][^:\n]{0,59}):(?=\s|\Z)[ \t]?)(?P<text>.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """One line of a memory's text: ``lead + text``."""

    text: str
    lead: str = ""
    """``(date)Speaker: ``, or "" if the line begins no turn."""
    speaker: str = ""
    date: str = ""
    """As written; "" without a date."""


def lines_of(text: str) -> list[MemoryLine]:
    """All lines, in order; joined by line feeds they give the text.

    >>> [(line.date, line.speaker, line.text) for line in lines_of("(2023-08-01)Alice: Hello")]
    [('2023-08-01', 'Alice', 'Hello')]
    """
    return [_line(line) for line in text.split("\n")]


def turns_of(text: str) -> list[MemoryLine]:
    """The lines with text, stripped; a line with only a name has no speaker."""
    return [
        replace(line, text=line.text.strip()) if line.text.strip() else MemoryLine(line.lead.strip())
        for line in lines_of(text)
        if (line.lead + line.text).strip()
    ]


def _line(line: str) -> MemoryLine:
    found = _TURN.fullmatch(line)
    if found is None:
        return MemoryLine(line)
    return MemoryLine(found["text"], found["lead"], found["speaker"].strip(), found["date"].strip())


@dataclass(frozen=True, slots=True)
class StepRequest:
    """The request, with the results of the earlier operators."""

    question: str
    tools: PostRetrievalTools
    query_embedding: tuple[float, ...] | None = None
    """From PreRetrieval; this operator does not embed."""
    reference_time: str | None = None
    """Time of the question, ISO 8601."""

    @classmethod
    def of(cls, data: Mapping[str, Any], tools: PostRetrievalTools) -> StepRequest:
        """The request in an operator's data; ``InputError`` if a value has the wrong type."""
        question, now = data.get("question", ""), data.get("reference_time")
        if not isinstance(question, str):
            raise InputError(f"question is a string, not {type(question).__name__}")
        if not isinstance(now, str | None):
            raise InputError(f"reference_time is an ISO 8601 string, not {type(now).__name__}")
        given = data.get("query_embedding")
        embedding = None if given is None else vector(given, "the data have a query_embedding")
        return cls(question, tools, embedding, now)


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The result of a step."""

    items: Items
    reason: str | None = None
    """Information for the report; always given if ``is_degraded``."""
    is_degraded: bool = False
    """The step did less than its settings require."""
    preface: str = ""
    """Text above all memories in history_text."""
    body: str | None = None
    """The text of all memories; None: each memory's text on its own line."""


Handler = Callable[[Any, Items, StepRequest], Awaitable[StepOutcome]]
"""The function of a step; its first argument is the action's section of the settings."""
Handlers = Mapping[str | None, Handler]
"""The functions of an action by type."""


@dataclass(frozen=True, slots=True)
class Action:
    """An entry of ``agentic_rag.actions``."""

    section: type[ActionStep]
    """Its settings; ``action`` is a ``Literal`` of the entry's name."""
    run: Handler


def joined_reasons(*reasons: str | None) -> str | None:
    """Reasons on one line; None without a reason."""
    return "; ".join(reason for reason in reasons if reason) or None
