"""Post-retrieval, the memories, and what every step takes and gives: read from a service's answer, given back whole."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

import numpy as np

from agentic_rag.dates.instants import moment_of
from agentic_rag.domain.memory import Memory
from agentic_rag.errors import InputError
from agentic_rag.post_retrieval.config import UNKNOWN_SCORE
from agentic_rag.post_retrieval.tools import PostRetrievalTools

_KEYS = frozenset({"text", "score", "metadata", "entry_id", "embedding"})


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A memory on its way through the steps. Nothing in it is changed; ``replace`` makes another."""

    text: str
    score: float | None
    """Higher is better; None where nothing ranked it."""
    metadata: Mapping[str, Any] | None
    entry_id: str
    """"" where it has none: such a memory has no links and equals no other."""
    original_index: int
    """Its place in what was retrieved, from 0; what joined later counts on."""
    embedding: tuple[float, ...] | None = None
    rest: Mapping[str, Any] = field(default_factory=dict)
    """Other keys it came with."""

    @property
    def value(self) -> float:
        """Its score, or the middle where it has none."""
        return UNKNOWN_SCORE if self.score is None else self.score

    def get(self, name: str) -> Any:
        """A value of its metadata; None where there is none."""
        return None if self.metadata is None else self.metadata.get(name)

    def with_metadata(self, **values: Any) -> MemoryItem:
        """With some metadata more."""
        return replace(self, metadata={**(self.metadata or {}), **values})

    def get_timestamp(self, time_field: str) -> datetime | None:
        """When it was said, UTC; None where its metadata do not tell."""
        return moment_of(self.get(time_field))


Items = tuple[MemoryItem, ...]


def read_memories(memories: Any) -> Items:
    """Items of memory dicts, in order; only ``text`` must be there.

    Args:
        memories: as ``MemoryService.retrieve`` gives them.

    Raises:
        InputError: no list, or a memory that cannot be read; the message says which.
    """
    if isinstance(memories, str | bytes | Mapping) or not isinstance(memories, Iterable):
        raise InputError(f"memory_data is a list of memories, not {type(memories).__name__}")
    return tuple(_read(memory, n) for n, memory in enumerate(memories))


def as_memories(items: Sequence[MemoryItem]) -> list[Memory]:
    """Memory dicts of items, in order; ``embedding`` only where there is one."""
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
    """Sorts by score descending, then id; what has neither by its place."""
    return -item.value, "" if item.score is None else item.entry_id, item.original_index


def best_first(items: Items) -> Items:
    """By score, then id. Where nothing is ranked, services give the oldest first: then the newest is best."""
    if all(item.score is None for item in items):
        return items[::-1]
    return tuple(sorted(items, key=by_score))


def kept_best(items: Items, most: int) -> Items:
    """The best so many, in the order they have."""
    return in_place(items, best_first(items)[:most])


def in_place(items: Items, kept: Iterable[MemoryItem]) -> Items:
    """Those of the items that are kept, in the order they have."""
    chosen = {id(item) for item in kept}
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
        InputError: anything else; begins with ``whose``.
    """
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{whose} that is no list of numbers: {value!r:.80}") from error
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise InputError(f"{whose} that is no list of finite numbers: {value!r:.80}")
    return tuple(numbers.tolist())


# No space behind the date and one behind the colon, so that neither "(aside) see: this" nor "(photo)http://…" is a
# turn of somebody.
_TURN = re.compile(
    r"(?P<lead>\((?P<date>[^()\n]*)\)(?P<speaker>[^\s:][^:\n]{0,59}):(?=\s|\Z)[ \t]?)(?P<text>.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """One line of a memory's text; ``lead + text`` is the line."""

    text: str
    lead: str = ""
    """``(date)Speaker: ``, or "" where the line does not begin a turn."""
    speaker: str = ""
    date: str = ""
    """As written; "" where the line has none."""


def lines_of(text: str) -> list[MemoryLine]:
    """All lines, in order; joined by line feeds they are the text.

    >>> [(line.date, line.speaker, line.text) for line in lines_of("(2023-08-01)Alice: Hello")]
    [('2023-08-01', 'Alice', 'Hello')]
    """
    return [_line(line) for line in text.split("\n")]


def turns_of(text: str) -> list[MemoryLine]:
    """The lines that say something, without the white space around it; a name alone is said by nobody."""
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
    """What was asked, as the operators before have it."""

    question: str
    tools: PostRetrievalTools
    query_embedding: tuple[float, ...] | None = None
    """Made by PreRetrieval; this operator makes none."""
    reference_time: str | None = None
    """The question's now, ISO 8601."""

    @classmethod
    def of(cls, data: Mapping[str, Any], tools: PostRetrievalTools) -> StepRequest:
        """The request in an operator's data; ``InputError`` where a value is of the wrong kind."""
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
    """What a step made of the memories."""

    items: Items
    reason: str | None = None
    """What is worth knowing; always there where ``degraded``."""
    degraded: bool = False
    """Less was done than the step is for."""
    preface: str = ""
    """Stands above all memories in history_text."""
    body: str | None = None
    """All memories, written; None: each memory's text on its own line."""


Handlers = Mapping[str | None, Callable[[Any, Items, StepRequest], Awaitable[StepOutcome]]]
"""What carries out an action, by type; the first argument is that action's section of the settings."""


def joined_reasons(*reasons: str | None) -> str | None:
    """Reasons on one line; None where there is none."""
    return "; ".join(reason for reason in reasons if reason) or None
