"""Which datasets a store holds: name, manifest and version, as rows of one more collection."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from langchain_core.documents import Document

from agentic_rag.domain.identity import dataset_name, group_id
from agentic_rag.stores.vectorstores.dialect import EVERY_ROW, Collection, VectorDialect, Where
from agentic_rag.stores.vectorstores.documents import CHUNK, DATE, DOCUMENT, ITEMS, NAME, UNDATED
from agentic_rag.stores.vectorstores.documents import document_key as key_of
from agentic_rag.stores.vectorstores.documents import row_id as row_id_of

CATALOG = "agentic_rag_datasets"
_VECTOR = np.array([[1.0, 0.0]], dtype=np.float32)
"""A collection needs vectors; these are never searched."""


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One dataset."""

    group: str
    name: str
    manifest: dict[str, Any]
    version: str
    """Another one whenever the dataset is written, so that other processes read it again."""


class Catalog:
    """The datasets of one store."""

    def __init__(self, dialect: VectorDialect) -> None:
        self._dialect = dialect
        self._collection: Collection | None = None

    async def entries(self) -> list[CatalogEntry]:
        """All datasets that were ever written."""
        collection = await self._opened(create=False)
        if collection is None:
            return []
        return [_entry(row.document) for row in await collection.rows(EVERY_ROW)]

    async def entry(self, dataset: str) -> CatalogEntry | None:
        """One of them."""
        collection = await self._opened(create=False)
        if collection is None:
            return None
        rows = await collection.rows(Where(ids=(row_id_of(group_id(dataset)),)))
        return _entry(rows[0].document) if rows else None

    async def create(self, dataset: str, manifest: dict[str, Any]) -> CatalogEntry:
        """The dataset's entry; an existing one stays."""
        existing = await self.entry(dataset)
        if existing is not None:
            return existing
        entry = CatalogEntry(group_id(dataset), dataset_name(dataset), manifest, uuid.uuid4().hex)
        await self._put(entry)
        return entry

    async def touch(self, entry: CatalogEntry) -> None:
        """Give the dataset another version."""
        await self._put(replace(entry, version=uuid.uuid4().hex))

    async def _put(self, entry: CatalogEntry) -> None:
        collection = await self._opened(create=True)
        if collection is None:
            raise LookupError(f"collection {CATALOG} was not made")
        document = _document(entry)
        await collection.replace([document], _VECTOR, [document.metadata[DOCUMENT]])

    async def _opened(self, *, create: bool) -> Collection | None:
        if self._collection is None:
            self._collection = await self._dialect.collection(CATALOG, _VECTOR.shape[1], create=create)
        return self._collection


def _document(entry: CatalogEntry) -> Document:
    return Document(
        id=row_id_of(entry.group),
        page_content=entry.name,
        metadata={
            NAME: json.dumps([entry.group, entry.name]),
            CHUNK: json.dumps({"manifest": entry.manifest, "version": entry.version}),
            DOCUMENT: key_of(entry.group),
            DATE: UNDATED,
            ITEMS: [],
        },
    )


def _entry(document: Document) -> CatalogEntry:
    group, name = json.loads(document.metadata[NAME])
    return CatalogEntry(group, name, **json.loads(document.metadata[CHUNK]))
