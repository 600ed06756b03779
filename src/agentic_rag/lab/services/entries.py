"""What a service holds: texts as they were inserted, counted, in order; and the checks all services share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentic_rag.domain.memory import Memory, matches_metadata
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import InputError


@dataclass(frozen=True, slots=True)
class Entry:
    """One inserted text."""

    number: int
    """From 1, by order of insertion."""
    text: str
    metadata: Mapping[str, Any] | None

    @property
    def id(self) -> str:
        """Padded, so that text order is order of insertion."""
        return f"m{self.number:08d}"


class Entries:
    """The entries of one service, oldest first; a number is never given twice."""

    def __init__(self) -> None:
        self._held: dict[str, Entry] = {}
        self._given = 0

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._held.values())

    def add(self, text: str, metadata: Mapping[str, Any] | None) -> Entry:
        """Keep a text; what the caller does to its metadata later changes nothing."""
        self._given += 1
        entry = Entry(self._given, text, None if metadata is None else deepcopy(dict(metadata)))
        self._held[entry.id] = entry
        return entry

    def get(self, entry_id: str) -> Entry | None:
        return self._held.get(entry_id)

    def remove(self, entry_id: str) -> Entry | None:
        """The entry that is forgotten; None where there is none of that id."""
        return self._held.pop(entry_id, None)

    def remove_oldest(self) -> None:
        del self._held[next(iter(self._held))]

    def matching(self, wanted: Mapping[str, Any] | None) -> list[Entry]:
        """Those whose metadata have these values, oldest first."""
        return [entry for entry in self if matches_metadata(entry.metadata, wanted)]


def memory_of(entry: Entry, score: float | None) -> Memory:
    """The entry as it is given back: a copy, for the caller to do with as it likes."""
    metadata = None if entry.metadata is None else deepcopy(dict(entry.metadata))
    return Memory(text=entry.text, metadata=metadata, entry_id=entry.id, score=score)


def checked_top_k(top_k: int | None, default: int) -> int:
    """How many memories are wanted.

    Raises:
        InputError: no whole number of at least 1.
    """
    if top_k is None:
        return default
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
        raise InputError(f"top_k must be a whole number of at least 1, not {top_k!r}")
    return top_k


def checked_vector(vector: FloatArray, dimension: int, cure: str) -> FloatArray:
    """The vector as float32, shape (dimension,).

    Args:
        vector: as it was given.
        dimension: what the service holds.
        cure: what to do about another length.

    Raises:
        InputError: it has another shape, is all zero, or holds what is no number.
    """
    made = np.asarray(vector, dtype=np.float32)
    if made.shape != (dimension,):
        length = len(made) if made.ndim == 1 else f"shape {made.shape}"
        raise InputError(f"a vector of length {length} was given to a memory of length {dimension}; {cure}")
    if not np.isfinite(made).all() or not made.any():
        raise InputError("a vector that is all zero, or holds NaN or infinity, points nowhere; give another")
    return made
