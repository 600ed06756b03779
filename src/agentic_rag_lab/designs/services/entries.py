"""The entries of a service, in order of insertion; deferred writes to a store; checks shared by all services."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import InputError
from agentic_rag_lab.designs.memory import Memory, matches_metadata

BATCH_DOCUMENTS = 64
"""Documents per write; limits the size of a store's transaction."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One inserted text."""

    id: str
    """Numbered from 1 and padded, so that sorting the ids gives the order of insertion."""
    text: str
    metadata: Mapping[str, Any] | None


class Entries(dict[str, Entry]):
    """The entries of one service by id, oldest first; ids are never reused."""

    def __init__(self) -> None:
        super().__init__()
        self._id_count = 0

    def add(self, text: str, metadata: Mapping[str, Any] | None) -> Entry:
        """Add a text; later changes to the caller's metadata have no effect."""
        self._id_count += 1
        held = None if metadata is None else deepcopy(dict(metadata))
        entry = Entry(f"m{self._id_count:08d}", text, held)
        self[entry.id] = entry
        return entry

    def matching(self, metadata: Mapping[str, Any] | None) -> list[Entry]:
        """Entries whose metadata have these values, oldest first."""
        return [entry for entry in self.values() if matches_metadata(entry.metadata, metadata)]


def memory_of(entry: Entry, score: float | None) -> Memory:
    """The entry as a service returns it: a copy that the caller may change."""
    metadata = None if entry.metadata is None else deepcopy(dict(entry.metadata))
    return Memory(text=entry.text, metadata=metadata, entry_id=entry.id, score=score)


def checked_top_k(top_k: int | None, default: int) -> int:
    """The validated number of requested memories.

    Raises:
        InputError: not a whole number of at least 1.
    """
    if top_k is None:
        return default
    if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
        raise InputError(f"top_k must be a whole number of at least 1, not {top_k!r}")
    return top_k


def checked_vector(vector: FloatArray, dimension: int, cure: str) -> FloatArray:
    """The vector as float32, shape (dimension,); ``cure`` is the remedy for another length in the error.

    Raises:
        InputError: it has another shape, is all zero, or contains NaN or infinity.
    """
    made = np.asarray(vector, dtype=np.float32)
    if made.shape != (dimension,):
        length = len(made) if made.ndim == 1 else f"shape {made.shape}"
        raise InputError(f"a vector of length {length} was given to a memory of length {dimension}; {cure}")
    if not np.isfinite(made).all() or not made.any():
        raise InputError("a vector is all zero, or holds NaN or infinity; give another")
    return made


class WriteBehind:
    """Documents of a namespace that differ from the store; they are written together before the next read.

    A store writes a hundred documents in about the time of one, and conversations are inserted turn by turn. This
    is safe because the store is only a projection of the service: nobody else reads the namespace, every read of
    the service writes pending documents first, and a killed run inserts again from the start (the namespace is
    cleared before the first write).

    Args:
        clear: removes the namespace's contents from an earlier run; called once, before the first write.
        write: makes the stores match these documents, or deletes them; called again after a failure.
    """

    def __init__(
        self, clear: Callable[[], Awaitable[None]], write: Callable[[Sequence[str]], Awaitable[None]]
    ) -> None:
        self._clear = clear
        self._write = write
        self._is_cleared = False
        self._pending_keys: dict[str, None] = {}
        self._writing = asyncio.Lock()

    def note(self, document_id: str) -> None:
        """Mark the document as changed or deleted."""
        self._pending_keys[document_id] = None

    async def flush(self) -> None:
        """Write the marked documents; each stays marked until it is written.

        Raises:
            StoreError, ModelError: ``write`` raised it; the next call tries again.
        """
        async with self._writing:
            if self._pending_keys and not self._is_cleared:
                await self._clear()
                self._is_cleared = True
            while self._pending_keys:
                batch = dict.fromkeys(list(self._pending_keys)[:BATCH_DOCUMENTS])
                # Removed first: a change during the write marks the document again.
                self._pending_keys = {key: None for key in self._pending_keys if key not in batch}
                try:
                    await self._write(list(batch))
                except BaseException:
                    self._pending_keys = batch | self._pending_keys
                    raise
