"""Chroma, embedded or a server, through ``langchain_chroma.Chroma``."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import MissingExtra, StoreError
from agentic_rag.stores.metadata_items import AllOf, AnyOf, Condition, HasAny
from agentic_rag.stores.vectorstores.dialect import Collection, Row, Where, batches, first_line
from agentic_rag.stores.vectorstores.documents import DATE, DOCUMENT, ITEMS, NAME
from agentic_rag.stores.vectorstores.prepared import PreparedEmbeddings, prepared

if TYPE_CHECKING:
    from langchain_core.documents import Document

VECTOR = "vector"
"""The vector once more, as text. What Chroma gives back comes from its index, which another process's
writes leave out of step."""
VARIABLES = 5000
"""Ids or rows in one request; SQLite takes 32,766 variables, and a row needs several."""


class Chroma:
    """One Chroma database.

    Its only index is HNSW: approximate, and under a filter or for many results it returns fewer than asked
    for. So filters are Chroma's, and the vectors of what passes are compared in memory.
    """

    name = "Chroma"
    widest = 256
    text_bytes: int | None = None

    def __init__(self, client: Any) -> None:
        self._client = client

    @classmethod
    async def open(cls, uri: str) -> Chroma:
        """Open a folder, or connect to ``http://host:port``.

        Raises:
            MissingExtra: langchain-chroma is not installed.
            StoreError: the folder cannot be made, or the server cannot be reached.
        """
        return cls(await asyncio.to_thread(_client, uri))

    async def collection(self, name: str, dimension: int, *, create: bool) -> Collection | None:
        return await asyncio.to_thread(self._collection, name, create)

    async def close(self) -> None:
        await asyncio.to_thread(self._client.close)

    def _collection(self, name: str, create: bool) -> ChromaCollection | None:
        from langchain_chroma import Chroma as LangChainChroma

        if not create and name not in _collection_names(self._client):
            return None
        store = LangChainChroma(
            collection_name=name,
            embedding_function=PreparedEmbeddings(),
            client=self._client,
            collection_configuration={"hnsw": {"space": "cosine"}},
        )
        return ChromaCollection(store, self._client.get_collection(name, embedding_function=None))


class ChromaCollection:
    """One collection."""

    ranks = False

    def __init__(self, store: Any, collection: Any) -> None:
        self._store = store
        self._collection = collection  # LangChain's class does not count

    async def replace(
        self, documents: Sequence[Document], vectors: FloatArray, owners: Sequence[str]
    ) -> None:
        await asyncio.to_thread(self._replace, documents, vectors, owners)

    async def nearest(self, vector: FloatArray, limit: int, where: Where) -> list[tuple[Document, float]]:
        raise NotImplementedError("Chroma's own search is not exact")

    async def rows(self, where: Where, *, vectors: bool = False) -> list[Row]:
        return await asyncio.to_thread(lambda: [_row(*found) for found in self._get(where, ["documents"])])

    async def ids(self, where: Where) -> list[str]:
        return await asyncio.to_thread(self._ids, where)

    async def names(self, where: Where) -> dict[str, str]:
        return await asyncio.to_thread(
            lambda: {row_id: metadata[NAME] for row_id, metadata, _ in self._get(where)}
        )

    async def count(self) -> int:
        return int(await asyncio.to_thread(self._collection.count))

    async def optimize(self) -> None:
        """Chroma indexes as it writes and offers nothing more."""

    def _replace(self, documents: Sequence[Document], vectors: FloatArray, owners: Sequence[str]) -> None:
        ids = [str(document.id) for document in documents]
        rows = [_stored(document, vector) for document, vector in zip(documents, vectors, strict=True)]
        for start in range(0, len(rows), VARIABLES // 5):
            part = slice(start, start + VARIABLES // 5)
            with prepared(vectors[part]):
                self._store.add_documents(rows[part], ids=ids[part])
        for batch in batches(owners, VARIABLES):
            held = self._ids(Where(documents=batch))
            for gone in batches(sorted(set(held) - set(ids)), VARIABLES):
                self._store.delete(ids=list(gone))

    def _ids(self, where: Where) -> list[str]:
        ids = None if where.ids is None else list(where.ids)
        found: list[str] = self._store.get(ids=ids, where=to_chroma(where), include=[])["ids"]
        return found

    def _get(self, where: Where, include: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, Any], str]]:
        found = self._store.get(
            ids=None if where.ids is None else list(where.ids),
            where=to_chroma(where),
            include=["metadatas", *include],
        )
        texts = found["documents"] or [""] * len(found["ids"])
        return zip(found["ids"], found["metadatas"], texts, strict=True)


def to_chroma(where: Where) -> dict[str, Any] | None:
    """Chroma's filter for all of ``where`` but its ids; None: no filter."""
    parts: list[dict[str, Any]] = []
    if where.condition is not None:
        parts.append(_filter(where.condition))
    if where.until is not None:
        parts.append({DATE: {"$lte": where.until}})
    if where.documents is not None:
        parts.append({DOCUMENT: {"$in": list(where.documents)}})
    return _joined("$and", parts) if parts else None


def _filter(condition: Condition) -> dict[str, Any]:
    match condition:
        case AllOf(parts):
            return _joined("$and", [_filter(part) for part in parts])
        case AnyOf(parts):
            return _joined("$or", [_filter(part) for part in parts])
        case HasAny(items, negated):
            if not items:  # no row has the document "", every row has another one
                return {DOCUMENT: {"$ne" if negated else "$eq": ""}}
            one = "$not_contains" if negated else "$contains"
            return _joined("$and" if negated else "$or", [{ITEMS: {one: item}} for item in items])


def _joined(word: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return parts[0] if len(parts) == 1 else {word: parts}


def _stored(document: Document, vector: FloatArray) -> Document:
    """The row with its vector as text, and without ``items`` where it has none: Chroma takes no empty list."""
    text = base64.b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode("ascii")
    metadata = {key: value for key, value in document.metadata.items() if value != []}
    return document.model_copy(update={"metadata": {**metadata, VECTOR: text}})


def _row(row_id: str, metadata: dict[str, Any], text: str) -> Row:
    from langchain_core.documents import Document

    vector = np.frombuffer(base64.b64decode(metadata[VECTOR]), dtype="<f4").astype(np.float32)
    return Row(Document(id=row_id, page_content=text, metadata=metadata), vector)


def _collection_names(client: Any) -> set[str]:
    names: set[str] = set()
    while page := client.list_collections(limit=1000, offset=len(names)):
        names.update(collection.name for collection in page)
    return names


def _client(uri: str) -> Any:
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    try:
        import chromadb
        import langchain_chroma  # noqa: F401
        from chromadb.config import Settings
    except ImportError as error:
        raise MissingExtra("the Chroma backend", "chroma") from error
    settings = Settings(anonymized_telemetry=False)
    server = urlsplit(uri)
    try:
        if server.scheme in ("http", "https"):
            ssl = server.scheme == "https"
            port = server.port or (443 if ssl else 8000)
            return chromadb.HttpClient(host=server.hostname or "", port=port, ssl=ssl, settings=settings)
        Path(uri).mkdir(parents=True, exist_ok=True)
        return chromadb.PersistentClient(path=uri, settings=settings)
    except Exception as error:
        raise StoreError(f"cannot open Chroma at {_shown(uri)}: {first_line(error)}") from error


def _shown(uri: str) -> str:
    """The URI without what may be a login."""
    server = urlsplit(uri)
    return f"{server.scheme}://{server.hostname}:{server.port}" if server.hostname else uri
