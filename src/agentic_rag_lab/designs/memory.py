"""What a memory is: insert text, retrieve what a question needs. All that is remembered goes through this port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NotRequired, Protocol, runtime_checkable

import numpy as np
from typing_extensions import TypedDict

from agentic_rag.domain.json_values import Json
from agentic_rag.domain.ports import FloatArray

DEFAULT_TOP_K = 10


class Memory(TypedDict):
    """One remembered text. Plain values, so that it can stand in a graph's state."""

    text: str
    """As it was inserted."""
    metadata: Json | None
    """As it was inserted."""
    entry_id: str
    """Unique within the service; the same for the same inserts in the same order."""
    score: float | None
    """The service's own, higher is better; None where it ranks nothing."""
    embedding: NotRequired[list[float]]
    """Its vector, where the service keeps one."""


@runtime_checkable
class MemoryService(Protocol):
    """A memory of one conversation (or user). What is inserted is visible to the next ``retrieve``.

    Retrieving changes nothing: asked twice, it answers the same. Work runs off the event loop.
    A service raises ``StoreError`` or ``ModelError`` when the thing behind it fails, ``InputError``
    for what it cannot take (a vector of another length).
    """

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str | None:
        """Remember a text; its entry id, or None where nothing is kept.

        Args:
            text: what to remember; one without a letter or digit is kept like any other.
            vector: of the text, shape (dimension,); a service that needs one and gets none makes it itself.
            metadata: JSON values, given back as they are. Services and operators read ``timestamp`` (ISO
                8601), ``session_id``, ``dialog_id``, ``speaker`` and ``importance`` where they are there.
        """

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """Best first (by score, then entry id), or, where nothing is ranked, oldest first.

        [] for an empty memory. Any query text is accepted; one that says nothing may find nothing.

        Args:
            query: the question.
            vector: of the question, where the caller has it.
            metadata: only memories whose metadata have these values; None or {} for all.
            top_k: most memories, at least 1; None: the service's own default.
        """


@runtime_checkable
class Deletes(Protocol):
    """A service that can forget."""

    async def delete(self, entry_id: str) -> bool:
        """Forget a memory; False where there is none of that id."""


@runtime_checkable
class Neighbours(Protocol):
    """A service that knows which memories are linked."""

    async def neighbours(self, entry_id: str, *, top_k: int | None = None) -> list[Memory]:
        """Memories linked to one, strongest link first; ``score`` is the link's strength in [0, 1].

        [] for an unknown id. The memory itself is not among them.
        """


@runtime_checkable
class NeighboursOfMany(Protocol):
    """A service that is asked for the links of many memories at once, where each question costs."""

    async def neighbours_of(self, entry_ids: Sequence[str], *, top_k: int) -> dict[str, list[Memory]]:
        """For each of the ids, the result of ``Neighbours.neighbours``."""


@runtime_checkable
class ReturnsAll(Protocol):
    """A service that returns all it holds, whatever ``top_k`` is; all returned memories are scored."""

    @property
    def returns_all(self) -> bool: ...


@runtime_checkable
class Closes(Protocol):
    """A service that holds something open."""

    async def close(self) -> None: ...


def matches_metadata(metadata: Mapping[str, Any] | None, wanted_metadata: Mapping[str, Any] | None) -> bool:
    """Whether a memory's metadata have all the wanted values."""
    return not wanted_metadata or all(
        (metadata or {}).get(name) == value for name, value in wanted_metadata.items()
    )


def merged_sources(every: Iterable[Mapping[str, Any] | None]) -> list[Any]:
    """``sources`` of several memories' metadata, in order, each once."""
    sources: list[Any] = []
    for metadata in every:
        held = (metadata or {}).get("sources")
        sources += [source for source in (held if isinstance(held, list) else []) if source not in sources]
    return sources


def vector_of(vector: Sequence[float] | FloatArray | None) -> FloatArray | None:
    """A vector as float32, whatever kind of sequence it came as."""
    return None if vector is None else np.asarray(vector, dtype=np.float32)
