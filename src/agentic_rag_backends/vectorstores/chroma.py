"""Chroma, embedded or a server."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import chromadb
import httpx
import numpy as np
from chromadb.config import Settings
from chromadb.errors import NotFoundError

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import StoreError, first_line
from agentic_rag.stores.metadata_items import translate
from agentic_rag_backends.vectorstores.backend import NonTransactionalBackend, Row, Where, digests

CONNECT_SECONDS = 10.0
VECTOR = "vector"
"""The vector once more, as text. What Chroma gives back comes from its index, which another process's
writes leave out of step."""


class Chroma(NonTransactionalBackend):
    """One Chroma database.

    Its only index is HNSW: approximate, and under a filter or for many results it returns fewer than asked
    for. So vectors are compared in memory.
    """

    name = "Chroma"
    widest = 256
    ranks = False

    def __init__(self, client: Any, place: str) -> None:
        self.description = f"{self.name} at {place}"
        self._client = client
        self._collections: dict[str, Any] = {}

    @classmethod
    def open(cls, uri: str) -> Chroma:
        """Open a folder, or connect to ``http://host:port``."""
        server = urlsplit(uri)
        if not server.hostname:
            return cls(_of_folder(uri), uri)
        port = server.port or (443 if server.scheme == "https" else 8000)
        place = f"{server.scheme}://{server.netloc.rpartition('@')[2].removesuffix(f':{port}')}:{port}"
        try:
            # The client would wait for ever for a server that does not answer.
            httpx.get(f"{place}/api/v2/heartbeat", timeout=CONNECT_SECONDS).raise_for_status()
            ssl = server.scheme == "https"
            client = chromadb.HttpClient(host=server.hostname, port=port, ssl=ssl, settings=_settings())
            return cls(client, place)
        except Exception as error:
            raise cls.unusable(place, error) from error

    def close(self) -> None:
        self._client.close()

    @staticmethod
    def is_away(error: Exception) -> bool:
        return isinstance(error, httpx.TransportError)

    def prepare(self, collection: str, dimension: int, *, create: bool) -> bool:
        try:
            found = self._client.get_collection(collection, embedding_function=None)
        except NotFoundError:
            if not create:
                return False
            found = self._client.get_or_create_collection(
                collection, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
        self._collections[collection] = found
        return True

    def rows(self, collection: str, where: Where, *, vectors: bool = False) -> list[Row]:
        found = self._get(collection, where, "documents")
        rows = zip(found["ids"], found["documents"], found["metadatas"], strict=True)
        return [
            Row(row_id, text, fields["name"], fields["chunk"], _unpack_vector(fields[VECTOR]))
            for row_id, text, fields in rows
        ]

    def count(self, collection: str) -> int:
        return int(self._collections[collection].count())

    def names(self, collection: str, where: Where) -> list[str]:
        return [fields["name"] for fields in self._get(collection, where)["metadatas"]]

    def owned_ids(self, collection: str, owners: Sequence[str]) -> list[str]:
        owned = {"document": {"$in": list(owners)}}
        found: list[str] = self._collections[collection].get(where=owned, include=[])["ids"]
        return found

    def upsert(self, collection: str, rows: Sequence[Row]) -> None:
        self._collections[collection].upsert(
            ids=[row.id for row in rows],
            embeddings=[row.vector for row in rows],
            documents=[row.text for row in rows],
            metadatas=[_metadata(row) for row in rows],
        )

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        self._collections[collection].delete(ids=list(ids))

    def optimize(self, collection: str) -> None:
        """Chroma indexes as it writes and offers nothing more."""

    def _get(self, collection: str, where: Where, *include: str) -> Any:
        return self._collections[collection].get(
            ids=None if where.ids is None else list(where.ids),
            where=to_chroma(where),
            include=["metadatas", *include],
        )


def to_chroma(where: Where) -> dict[str, Any] | None:
    """Chroma's filter for all of ``where`` but its ids; None: no filter."""
    parts: list[dict[str, Any]] = []
    if where.condition is not None:
        parts.append(translate(where.condition, _has_any, _all_of, _any_of))
    if where.until is not None:
        parts.append({"date": {"$lte": where.until}})
    return _all_of(parts) if parts else None


def _has_any(items: Sequence[str], is_negated: bool) -> dict[str, Any]:
    if not items:  # no row has the document "", every row has another one
        return {"document": {"$ne" if is_negated else "$eq": ""}}
    one = "$not_contains" if is_negated else "$contains"
    return (_all_of if is_negated else _any_of)([{"items": {one: item}} for item in digests(items)])


def _all_of(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return parts[0] if len(parts) == 1 else {"$and": parts}


def _any_of(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return parts[0] if len(parts) == 1 else {"$or": parts}


def _metadata(row: Row) -> dict[str, Any]:
    """The row's fields and vector, without an empty ``items``, which Chroma rejects."""
    vector = base64.b64encode(np.ascontiguousarray(row.vector, dtype="<f4").tobytes()).decode("ascii")
    return {**{name: value for name, value in row.fields().items() if value != []}, VECTOR: vector}


def _unpack_vector(vector: str) -> FloatArray:
    return np.frombuffer(base64.b64decode(vector), dtype="<f4").astype(np.float32)


def _of_folder(folder: str) -> Any:
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        return chromadb.PersistentClient(path=folder, settings=_settings())
    except Exception as error:
        raise StoreError(
            f"cannot open Chroma at {folder}: {first_line(error)}; vectors.uri must be a folder that can be written, "
            "or http://host:port"
        ) from error


def _settings() -> Settings:
    return Settings(anonymized_telemetry=False)
