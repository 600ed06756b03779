"""Milvus Lite (a file) or a Milvus server."""

from __future__ import annotations

import json
import logging
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
from milvus_lite import DataDirLockedError, MilvusLite, MilvusLiteError
from milvus_lite.server_manager import server_manager_instance
from pymilvus import DataType, MilvusClient

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import InputError, StoreError, StoreLocked
from agentic_rag.stores.metadata_items import translate
from agentic_rag.stores.vectorstores.backend import (
    CHUNK,
    DATE,
    DOCUMENT,
    ITEMS,
    NAME,
    BackendWithoutTransactions,
    Row,
    Where,
    first_line,
)

ID, TEXT, VECTOR = "pk", "text", "vector"
VARCHAR_BYTES = 65_535
ARRAY_MEMBERS = 4096
ROWS_PER_READ = 1000
STRONG = "Strong"
"""Consistency under which what was written is found by the next search."""
NO_PINGS = {"grpc.keepalive_time_ms": 2**31 - 1}
"""The client pings every ten seconds; Milvus Lite takes that ill, and drops a connection that was idle."""
for _logger in ("pymilvus", "milvus_lite"):
    logging.getLogger(_logger).setLevel(logging.CRITICAL + 1)  # they log what they also raise
_NOTHING, _EVERYTHING = f'{ID} == ""', f'{ID} != ""'


class Milvus(BackendWithoutTransactions):
    """One Milvus database; its vector indexes are FLAT, which is exact."""

    name = "Milvus"
    widest = 64
    text_bytes = VARCHAR_BYTES

    def __init__(self, uri: str, client: Any) -> None:
        self._uri = uri
        self._client = client

    @classmethod
    def open(cls, uri: str) -> Milvus:
        """Open a file whose name ends in ``.db``, or connect to ``http://user:password@host:port``."""
        connection = _connection(uri)
        return cls(connection["uri"], _client(connection))

    def close(self) -> None:
        self._client.close()
        _released(self._uri)

    def prepare(self, collection: str, dimension: int, *, create: bool) -> bool:
        if not self._client.has_collection(collection):
            if not create:
                return False
            _create(self._client, collection, dimension)
        self._client.load_collection(collection)
        return True

    def rows(self, collection: str, where: Where, *, vectors: bool = False) -> list[Row]:
        fields = [TEXT, NAME, CHUNK, *([VECTOR] if vectors else [])]
        return [_row(found) for found in self._query(collection, where, fields)]

    def names(self, collection: str, where: Where) -> dict[str, str]:
        return {found[ID]: found[NAME] for found in self._query(collection, where, [NAME])}

    def nearest(
        self, collection: str, vector: FloatArray, limit: int, where: Where
    ) -> list[tuple[Row, float]]:
        found = self._client.search(
            collection,
            data=[vector.tolist()],
            limit=limit,
            filter=to_milvus(where),
            output_fields=[TEXT, NAME, CHUNK],
            consistency_level=STRONG,
        )
        return [(_row({ID: hit[ID], **hit["entity"]}), float(hit["distance"])) for hit in found[0]]

    def upsert(self, collection: str, rows: Sequence[Row]) -> None:
        self._client.upsert(collection, [_stored(row) for row in rows])

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        self._client.delete(collection, ids=list(ids))

    def optimize(self, collection: str) -> None:
        """Flush, so that rows lie in segments, which are searched faster; and compact the segments."""
        self._client.flush(collection)
        self._client.compact(collection)

    def _query(self, collection: str, where: Where, fields: Sequence[str]) -> list[dict[str, Any]]:
        pages = self._client.query_iterator(
            collection,
            batch_size=ROWS_PER_READ,
            filter=to_milvus(where) or _EVERYTHING,
            output_fields=[ID, *fields],
            consistency_level=STRONG,
        )
        found: list[dict[str, Any]] = []
        while page := pages.next():
            found.extend(page)
        pages.close()
        return found


def to_milvus(where: Where) -> str:
    """Milvus's filter; empty: no filter. It holds digests and whole numbers, nothing that a user wrote."""
    parts = []
    if where.condition is not None:
        parts.append(translate(where.condition, _has_any, _all_of, _any_of))
    if where.until is not None:
        parts.append(f"{DATE} <= {where.until}")
    if where.documents is not None:
        parts.append(f"{DOCUMENT} in {json.dumps(where.documents)}")
    if where.ids is not None:
        parts.append(f"{ID} in {json.dumps(where.ids)}")
    return " and ".join(parts)


def _has_any(items: Sequence[str], negated: bool) -> str:
    if not items:
        return f"({_EVERYTHING if negated else _NOTHING})"
    found = f"array_contains_any({ITEMS}, {json.dumps(items)})"
    return f"(not {found})" if negated else found


def _all_of(parts: Sequence[str]) -> str:
    return f"({' and '.join(parts)})"


def _any_of(parts: Sequence[str]) -> str:
    return f"({' or '.join(parts)})"


def _stored(row: Row) -> dict[str, Any]:
    """The row as Milvus takes it, with ``chunk`` in pieces that a field holds."""
    items, whole = row.fields[ITEMS], row.fields[CHUNK]
    pieces = [whole[start : start + VARCHAR_BYTES] for start in range(0, len(whole), VARCHAR_BYTES)]
    if max(len(items), len(pieces)) > ARRAY_MEMBERS or len(row.fields[NAME]) > VARCHAR_BYTES:
        raise InputError(
            f"{row.fields[NAME][:200]} has {len(items)} metadata values and {len(whole)} bytes; Milvus "
            f"holds {ARRAY_MEMBERS} values and {ARRAY_MEMBERS * VARCHAR_BYTES} bytes in a chunk"
        )
    return {ID: row.id, TEXT: row.text, VECTOR: row.vector, **row.fields, CHUNK: pieces}


def _row(found: dict[str, Any]) -> Row:
    vector = np.asarray(found[VECTOR], dtype=np.float32) if VECTOR in found else None
    return Row(found[ID], found[TEXT], {NAME: found[NAME], CHUNK: "".join(found[CHUNK])}, vector)


def _create(client: Any, name: str, dimension: int) -> None:
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field(ID, DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field(TEXT, DataType.VARCHAR, max_length=VARCHAR_BYTES)
    schema.add_field(VECTOR, DataType.FLOAT_VECTOR, dim=dimension)
    schema.add_field(NAME, DataType.VARCHAR, max_length=VARCHAR_BYTES)
    schema.add_field(DOCUMENT, DataType.VARCHAR, max_length=64)
    schema.add_field(DATE, DataType.INT64)
    for field, length in ((CHUNK, VARCHAR_BYTES), (ITEMS, 64)):
        schema.add_field(
            field,
            DataType.ARRAY,
            element_type=DataType.VARCHAR,
            max_capacity=ARRAY_MEMBERS,
            max_length=length,
        )
    client.create_collection(name, schema=schema, consistency_level=STRONG)
    indexes = client.prepare_index_params()
    indexes.add_index(VECTOR, index_type="FLAT", metric_type="COSINE")
    client.create_index(name, indexes, sync=False)  # to wait is to sleep, and there is nothing to index yet


_opening = threading.Lock()
_users: Counter[str] = Counter()
"""How many stores of this process use each Milvus Lite file: it has one server, and the last one stops it."""


def _connection(uri: str) -> dict[str, Any]:
    server = urlsplit(uri)
    if not server.hostname:
        return {"uri": str(Path(uri).absolute()), "grpc_options": NO_PINGS}
    address = server.netloc.rpartition("@")[2]
    login = {"user": server.username or "", "password": server.password or ""} if server.username else {}
    return {"uri": urlunsplit((server.scheme, address, server.path, "", "")), **login}


def _client(connection: dict[str, Any]) -> Any:
    uri = connection["uri"]
    try:
        if _is_file(uri):
            Path(uri).parent.mkdir(parents=True, exist_ok=True)
        with _opening:
            client = MilvusClient(**connection)
            _users[uri] += 1
    except Exception as error:
        if _is_file(uri) and _is_locked(uri):
            raise StoreLocked(
                f"another process has {uri} open, and Milvus Lite serves one process; close it, or use a server"
            ) from error
        raise StoreError(f"cannot open Milvus at {uri}: {first_line(error)}") from error
    return client


def _released(uri: str) -> None:
    with _opening:
        _users[uri] -= 1
        if _users[uri] == 0 and _is_file(uri):
            server_manager_instance.release_server(uri)


def _is_file(uri: str) -> bool:
    return "://" not in uri


def _is_locked(file: str) -> bool:
    """Whether it is the lock that keeps a file from being opened; the client does not tell why."""
    try:
        MilvusLite(file).close()
    except DataDirLockedError:
        return True
    except (MilvusLiteError, OSError):
        pass
    return False
