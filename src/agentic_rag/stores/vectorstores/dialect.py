"""What differs between stores: opening, the filter language, scores, listing, deletion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import AgenticRagError, StoreError
from agentic_rag.stores.metadata_items import Condition

if TYPE_CHECKING:
    from langchain_core.documents import Document


@dataclass(frozen=True, slots=True)
class Where:
    """Which rows are meant; the parts hold together, and one that is None does not restrict."""

    condition: Condition | None = None
    """On the digests of metadata items that a row holds."""
    until: int | None = None
    """Greatest date, in microseconds."""
    documents: tuple[str, ...] | None = None
    """Document keys, at least one."""
    ids: tuple[str, ...] | None = None
    """Row ids, at least one."""


EVERY_ROW = Where()


@dataclass(frozen=True, slots=True)
class Row:
    """A stored document and, where it was asked for, its vector."""

    document: Document
    vector: FloatArray | None = None


class Collection(Protocol):
    """One collection of one store. Every method may raise whatever the store's client raises."""

    ranks: bool
    """Whether ``nearest`` is there and exact; if not, the adapter compares vectors itself."""

    async def replace(
        self, documents: Sequence[Document], vectors: FloatArray, owners: Sequence[str]
    ) -> None:
        """Make the rows of the owners (document keys) exactly these; rows of other owners stay."""
        ...

    async def nearest(self, vector: FloatArray, limit: int, where: Where) -> list[tuple[Document, float]]:
        """Up to ``limit`` rows with their cosine, the highest ones, in any order."""
        ...

    async def rows(self, where: Where, *, vectors: bool = False) -> list[Row]:
        """Every row that is meant, whole."""
        ...

    async def ids(self, where: Where) -> list[str]:
        """Row id of every row that is meant."""
        ...

    async def names(self, where: Where) -> dict[str, str]:
        """``name`` by row id of every row that is meant."""
        ...

    async def count(self) -> int: ...

    async def optimize(self) -> None:
        """What the store offers to make search faster."""
        ...


class VectorDialect(Protocol):
    """One store, open."""

    name: str
    """As messages call it."""
    widest: int
    """Items in one filter that the store answers well; a wider one is resolved to row ids first."""
    text_bytes: int | None
    """UTF-8 bytes that a page content may have; None: any number."""

    async def collection(self, name: str, dimension: int, *, create: bool) -> Collection | None:
        """The collection; one that is missing is made, or None without ``create``."""
        ...

    async def close(self) -> None: ...


@contextmanager
def translated(store: str, doing: str) -> Iterator[None]:
    """Turn whatever a store's client raises into ``StoreError``; our own errors pass."""
    try:
        yield
    except AgenticRagError:
        raise
    except Exception as error:
        raise StoreError(f"{store} failed while {doing}: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """The first line of an error's message, cut; its type where it has none."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


def batches(ids: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    """The ids in turn, at most ``size`` at a time."""
    for start in range(0, len(ids), size):
        yield tuple(ids[start : start + size])


def as_vector(numbers: object) -> FloatArray:
    """float32, shape (dimension,)."""
    return np.asarray(numbers, dtype=np.float32)
