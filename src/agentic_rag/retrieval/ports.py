"""Protocols of the main graph's sources; ``GraphEngine``, ``RetrievalEngine`` and ``Memories`` implement them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from agentic_rag.domain import Chunk, Findings
from agentic_rag.domain.filters import Expression
from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.retrieval.config import Strategy
from agentic_rag.retrieval.schemas import JudgedResults
from agentic_rag.retrieval.term_likeness import TermLikeness

Filters = Mapping[str, Any] | Expression | None


@dataclass(frozen=True, slots=True)
class SourceQuery:
    """What every source is asked; a source passes over what it has no use for."""

    dataset: str
    text: str
    """What is searched for: the question, or its rewrite."""
    judged_as: str | None = None
    """The question itself, where ``text`` is a rewrite of it. Words that a rewrite added help to find, but what is
    found is judged by this, because they match the passages that they were taken from."""
    user_id: str | None = None
    filters: Expression | None = None
    as_of: datetime | None = None
    own_notes: bool = False
    """Include notes that the program wrote itself, see ``domain.is_own_note``."""
    strategy: Strategy | None = None
    """Of the vector store; None: ``hybrid``."""

    @property
    def question(self) -> str:
        """What is judged by."""
        return self.text if self.judged_as is None else self.judged_as


@runtime_checkable
class GraphSearch(Protocol):
    """Searches a knowledge graph."""

    async def ready(self) -> None:
        """What takes long once, before the first search."""

    async def find(self, query: SourceQuery, limit: int) -> Findings:
        """Up to ``limit`` hits, relevance in [0, 1] descending, then id; see ``GraphEngine.find``.

        Raises:
            StoreError, ModelError: something behind it failed.
        """


@runtime_checkable
class VectorSearch(Protocol):
    """Searches a vector store."""

    async def ready(self, strategy: Strategy | None = None) -> None:
        """What takes long once, before the first search."""

    async def find(self, query: SourceQuery, limit: int) -> JudgedResults:
        """Up to ``limit`` results, relevance in [0, 1] descending, then id; see ``RetrievalEngine.find``.

        Raises:
            StoreError, ModelError: something behind it failed.
        """

    async def chunks(self, dataset_id: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks that exist among the ids."""
        ...

    async def documents(self, dataset_id: str, document_ids: Sequence[str]) -> dict[str, list[Chunk]]:
        """All chunks of the documents that exist among the ids, in the order of the text."""
        ...

    async def likeness(self, dataset_id: str, question: str, chunks: Sequence[Chunk]) -> TermLikeness | None:
        """How nearly the chunks say each word of a question; None where the model tells no tokens."""

    async def why_nothing_passes(
        self, dataset_id: str, filters: Filters, as_of: datetime | None = None
    ) -> str | None:
        """The filter key, condition or date that excludes all chunks; None if some pass. See
        ``RetrievalEngine``."""


@runtime_checkable
class NoteCatalogue(Protocol):
    """All notes of a dataset as rows that can be compared."""

    async def snapshot(self, dataset: str, *, own_notes: bool = False) -> Snapshot:
        """The notes as of now, and their schema; none of an unknown dataset.

        ``own_notes``: include notes that the program wrote itself, see ``domain.is_own_note``.

        Raises:
            StoreError: they cannot be read.
        """


@runtime_checkable
class MemorySearch(Protocol):
    """Searches what is remembered of one user."""

    async def find(
        self,
        user_id: str,
        query: str,
        *,
        limit: int,
        as_of: datetime | None = None,
        judged_as: str | None = None,
    ) -> Findings:
        """Up to ``limit`` hits, best first, each with its relevance in [0, 1] where it is calibrated.

        ``Findings.question`` may have ``degraded``: names of agents that failed while others answered.

        Raises:
            InputError: a user id that cannot be one.
            StoreError, ModelError: nobody answered.
        """
