"""What is asked of a vector store, and what the rows of its collections hold.

A row's text is the chunk's, so that other tools can read the collection; its fields::

    name      JSON of [chunk id, document id]
    chunk     JSON of everything else that makes the chunk
    document  digest of the document id
    date      microseconds since 1970, UTC; far in the past where the chunk has no date
    items     digests of the chunk's metadata items (see ``stores.metadata_items``)

All JSON is ASCII, because no store takes every text. Ids, keys and values of users reach a filter only as
digests, hexadecimal and of one length, so nothing that is written in a note can be read as part of one.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Self, TypeVar

from agentic_rag.dates.instants import as_utc
from agentic_rag.domain import Chunk, filterable
from agentic_rag.domain.identity import digest
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import StoreAway, first_line
from agentic_rag.stores.batch import batches
from agentic_rag.stores.metadata_items import Condition, metadata_items

UNDATED_SECONDS = -(2**62)
IDS_PER_REQUEST = 4000
ROWS_PER_WRITE = 500
_CHUNK_FIELDS = [each.name for each in fields(Chunk) if each.name not in ("id", "document_id", "text")]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a collection. One that was read has neither ``document`` nor ``date`` nor ``items``."""

    id: str
    text: str
    name: str
    chunk: str
    vector: FloatArray | None = None
    """None if it was not requested."""
    document: str = ""
    date: int = UNDATED_SECONDS
    items: Sequence[str] = field(default_factory=list)

    @property
    def chunk_id(self) -> str:
        return chunk_and_document(self.name)[0]

    def fields(self) -> dict[str, object]:
        """What is kept of it beside its id, text and vector."""
        return {name: getattr(self, name) for name in ("name", "chunk", "document", "date", "items")}


@dataclass(frozen=True, slots=True)
class Where:
    """Which rows are meant; the parts hold together, and one that is None does not restrict."""

    condition: Condition | None = None
    """On metadata items, of which a row holds the ``digests``."""
    until: int | None = None
    """Greatest date, in microseconds."""
    ids: tuple[str, ...] | None = None
    """Row ids, at least one."""


EVERY_ROW = Where()


class VectorBackend(ABC):
    """One open store.

    Its methods block, are called from several threads at once, and may raise whatever the store's client raises.
    """

    name: ClassVar[str]
    """As messages call it."""
    cure: ClassVar[str] = "start it, or correct vectors.uri"
    """What to do where its server cannot be used."""
    description: str
    """Name and place, without a login."""
    widest: ClassVar[int]
    """Most items in a filter that the store handles well; a larger filter is resolved to row ids first."""
    ranks: ClassVar[bool] = True
    """Whether ``nearest`` is there and exact; if not, vectors are compared in memory."""
    text_bytes: ClassVar[int | None] = None
    """UTF-8 bytes that a row's text may have; None: any number."""

    @classmethod
    @abstractmethod
    def open(cls, uri: str) -> Self:
        """Open a folder or file, or connect to a server.

        Raises:
            MissingExtra: the store's package is not installed.
            ConfigError: not the URI of such a store.
            StoreLocked: another process has the file open, and only one may.
            StoreAway: its server cannot be reached, or refuses the login.
            StoreError: it cannot be opened.
        """

    @abstractmethod
    def close(self) -> None: ...

    @staticmethod
    def is_away(error: Exception) -> bool:
        """Whether the client raised this because the server cannot be reached."""
        return False

    @classmethod
    def unusable(cls, place: str, error: Exception) -> StoreAway:
        """What to say of a server, in one line."""
        return StoreAway(f"{cls.name} at {place} cannot be used: {first_line(error)}; {cls.cure}")

    @abstractmethod
    def prepare(self, collection: str, dimension: int, *, create: bool) -> bool:
        """Whether the collection is there, and now ready; a missing one is made if ``create``."""

    @abstractmethod
    def replace(self, collection: str, rows: Sequence[Row], owners: Sequence[str]) -> None:
        """Make the rows of the owners (document keys) exactly these; rows of other owners stay."""

    @abstractmethod
    def rows(self, collection: str, where: Where, *, vectors: bool = False) -> list[Row]:
        """Every row that is meant; at most ``IDS_PER_REQUEST`` are named by id."""

    @abstractmethod
    def count(self, collection: str) -> int:
        """Rows of the collection."""

    @abstractmethod
    def names(self, collection: str, where: Where) -> list[str]:
        """The field ``name`` of every row that is meant."""

    def nearest(
        self, collection: str, vector: FloatArray, limit: int, where: Where
    ) -> list[tuple[Row, float]]:
        """Up to ``limit`` rows with their cosine, the highest ones, in any order."""
        raise NotImplementedError(f"{self.name} has no exact search")

    @abstractmethod
    def optimize(self, collection: str) -> None:
        """What the store offers to make search faster."""


class NonTransactionalBackend(VectorBackend):
    """A store that replaces rows by writing the new ones before it deletes the old: a reader misses none."""

    @abstractmethod
    def owned_ids(self, collection: str, owners: Sequence[str]) -> list[str]:
        """Ids of the rows of at most ``IDS_PER_REQUEST`` owners."""

    @abstractmethod
    def upsert(self, collection: str, rows: Sequence[Row]) -> None:
        """Write at most ``ROWS_PER_WRITE`` rows, over those of the same id."""

    @abstractmethod
    def delete(self, collection: str, ids: Sequence[str]) -> None:
        """Delete at most ``IDS_PER_REQUEST`` rows."""

    def replace(self, collection: str, rows: Sequence[Row], owners: Sequence[str]) -> None:
        for part in batches(rows, ROWS_PER_WRITE):
            self.upsert(collection, part)
        kept = {row.id for row in rows}
        for owner_keys in batches(owners, IDS_PER_REQUEST):
            gone = sorted(set(self.owned_ids(collection, owner_keys)) - kept)
            for ids in batches(gone, IDS_PER_REQUEST):
                self.delete(collection, ids)


def row_id(chunk_id: str) -> str:
    """Id of a chunk's row, 32 hexadecimal digits."""
    return digest("chunk", chunk_id)


def document_key(document_id: str) -> str:
    """What a row holds of its document's id, 32 hexadecimal digits."""
    return digest("document", document_id)


def digests(items: Iterable[str]) -> list[str]:
    """What a row holds of its metadata items, and a filter asks for."""
    return sorted({digest("item", item) for item in items})


def microseconds(moment: datetime) -> int:
    """Since 1970 in UTC; exact."""
    return (as_utc(moment) - _EPOCH) // timedelta(microseconds=1)


def to_row(chunk: Chunk, vector: FloatArray, most_bytes: int | None) -> Row:
    """A chunk as a row.

    Args:
        chunk: the chunk.
        vector: of the chunk.
        most_bytes: UTF-8 bytes of text that the store holds; a longer text is whole in the field ``chunk``.
    """
    shown = _storable_text(chunk.text, most_bytes)
    kept: dict[str, object] = {name: getattr(chunk, name) for name in _CHUNK_FIELDS}
    kept["date"] = chunk.date.isoformat() if chunk.date is not None else None
    kept["metadata"] = dict(chunk.metadata)
    if shown != chunk.text:
        kept["text"] = chunk.text
    return Row(
        id=row_id(chunk.id),
        text=shown,
        name=json.dumps([chunk.id, chunk.document_id]),
        chunk=json.dumps(kept),
        document=document_key(chunk.document_id),
        date=microseconds(chunk.date) if chunk.date is not None else UNDATED_SECONDS,
        items=digests(metadata_items(filterable(chunk))),
        vector=vector,
    )


def to_chunk(row: Row) -> Chunk:
    """The chunk that a row was made from."""
    chunk_id, document_id = chunk_and_document(row.name)
    kept = {"text": row.text, **json.loads(row.chunk)}
    kept["heading_path"] = tuple(kept["heading_path"])
    kept["date"] = datetime.fromisoformat(kept["date"]) if kept["date"] is not None else None
    return Chunk(id=chunk_id, document_id=document_id, **kept)


def chunk_and_document(name: str) -> tuple[str, str]:
    """Chunk id and document id, from the field ``name``."""
    chunk_id, document_id = json.loads(name)
    return chunk_id, document_id


def _storable_text(text: str, most_bytes: int | None) -> str:
    """The text in a form that every store accepts: without NUL, and cut to the maximum length."""
    shown = text.replace("\0", "\ufffd")
    return shown if most_bytes is None else shown.encode("utf-8")[:most_bytes].decode("utf-8", "ignore")
