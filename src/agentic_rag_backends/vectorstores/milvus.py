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
from pymilvus import DataType, MilvusClient, MilvusException

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import InputError, StoreError, StoreLocked, first_line
from agentic_rag.stores.metadata_items import translate
from agentic_rag_backends.vectorstores.backend import NonTransactionalBackend, Row, Where, digests

CONNECT_FAILED = 2
"""Code of the client's error for a server that cannot be reached, also later."""
VARCHAR_BYTES = 65_535
ARRAY_MEMBERS = 4096
ROWS_PER_READ = 1000
STRONG = "Strong"
"""Consistency level at which a search finds all earlier writes."""
NO_PINGS = {"grpc.keepalive_time_ms": 2**31 - 1}
"""The client pings every ten seconds; Milvus Lite takes that ill, and drops a connection that was idle."""
for _logger in ("pymilvus", "milvus_lite"):
    logging.getLogger(_logger).setLevel(logging.CRITICAL + 1)  # they log what they also raise
_opening = threading.Lock()
_users: Counter[str] = Counter()
"""How many stores of this process use each Milvus Lite file: it has one server, and the last one stops it."""
_NOTHING, _EVERYTHING = 'pk == ""', 'pk != ""'


class Milvus(NonTransactionalBackend):
    """One Milvus database; its vector indexes are FLAT, which is exact."""

    name = "Milvus"
    widest = 64
    text_bytes = VARCHAR_BYTES

    def __init__(self, client: Any, place: str, file: str | None) -> None:
        self.description = f"{self.name} at {place}"
        self._client = client
        self._file = file

    @classmethod
    def open(cls, uri: str) -> Milvus:
        """Open a file whose name ends in ``.db``, or connect to ``http://user:password@host:port``."""
        server = urlsplit(uri)
        if server.hostname:
            address = urlunsplit((server.scheme, server.netloc.rpartition("@")[2], server.path, "", ""))
            try:
                client = MilvusClient(address, user=server.username or "", password=server.password or "")
            except Exception as error:
                raise cls.unusable(address, error) from error
            return cls(client, address, None)
        file = str(Path(uri).absolute())
        with _opening:
            client = _of_file(file)
            _users[file] += 1
        return cls(client, file, file)

    def close(self) -> None:
        self._client.close()
        if self._file is None:
            return
        with _opening:
            _users[self._file] -= 1
            if not _users[self._file]:
                server_manager_instance.release_server(self._file)

    @staticmethod
    def is_away(error: Exception) -> bool:
        return isinstance(error, MilvusException) and error.code == CONNECT_FAILED

    def prepare(self, collection: str, dimension: int, *, create: bool) -> bool:
        if not self._client.has_collection(collection):
            if not create:
                return False
            _create(self._client, collection, dimension)
        self._client.load_collection(collection)
        return True

    def rows(self, collection: str, where: Where, *, vectors: bool = False) -> list[Row]:
        fields = ["pk", "text", "name", "chunk", *(["vector"] if vectors else [])]
        return [_row(found) for found in self._query(collection, to_milvus(where), fields)]

    def count(self, collection: str) -> int:
        found = self._client.query(
            collection, filter="", output_fields=["count(*)"], consistency_level=STRONG
        )
        return int(found[0]["count(*)"])

    def names(self, collection: str, where: Where) -> list[str]:
        return [found["name"] for found in self._query(collection, to_milvus(where), ["name"])]

    def owned_ids(self, collection: str, owners: Sequence[str]) -> list[str]:
        return [found["pk"] for found in self._query(collection, f"document in {json.dumps(owners)}", ["pk"])]

    def nearest(
        self, collection: str, vector: FloatArray, limit: int, where: Where
    ) -> list[tuple[Row, float]]:
        found = self._client.search(
            collection,
            data=[vector.tolist()],
            limit=limit,
            filter=to_milvus(where),
            output_fields=["text", "name", "chunk"],
            consistency_level=STRONG,
        )
        return [(_row({"pk": hit["pk"], **hit["entity"]}), float(hit["distance"])) for hit in found[0]]

    def upsert(self, collection: str, rows: Sequence[Row]) -> None:
        self._client.upsert(collection, [_to_milvus(row) for row in rows])

    def delete(self, collection: str, ids: Sequence[str]) -> None:
        self._client.delete(collection, ids=list(ids))

    def optimize(self, collection: str) -> None:
        """Flush, so that rows lie in segments, which are searched faster; and compact the segments."""
        self._client.flush(collection)
        self._client.compact(collection)

    def _query(self, collection: str, where: str, fields: Sequence[str]) -> list[dict[str, Any]]:
        pages = self._client.query_iterator(
            collection,
            batch_size=ROWS_PER_READ,
            filter=where or _EVERYTHING,
            output_fields=fields,
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
        parts.append(f"date <= {where.until}")
    if where.ids is not None:
        parts.append(f"pk in {json.dumps(where.ids)}")
    return " and ".join(parts)


def _has_any(items: Sequence[str], is_negated: bool) -> str:
    if not items:
        return f"({_EVERYTHING if is_negated else _NOTHING})"
    found = f"array_contains_any(items, {json.dumps(digests(items))})"
    return f"(not {found})" if is_negated else found


def _all_of(parts: Sequence[str]) -> str:
    return f"({' and '.join(parts)})"


def _any_of(parts: Sequence[str]) -> str:
    return f"({' or '.join(parts)})"


def _to_milvus(row: Row) -> dict[str, Any]:
    """The row as Milvus takes it, with ``chunk`` in pieces that a field holds."""
    pieces = [row.chunk[start : start + VARCHAR_BYTES] for start in range(0, len(row.chunk), VARCHAR_BYTES)]
    if max(len(row.items), len(pieces)) > ARRAY_MEMBERS or len(row.name) > VARCHAR_BYTES:
        raise InputError(
            f"{row.name[:200]} has {len(row.items)} metadata values and {len(row.chunk)} bytes; Milvus "
            f"holds {ARRAY_MEMBERS} values and {ARRAY_MEMBERS * VARCHAR_BYTES} bytes in a chunk"
        )
    return {"pk": row.id, "text": row.text, "vector": row.vector, **row.fields(), "chunk": pieces}


def _row(row: dict[str, Any]) -> Row:
    vector = np.asarray(row["vector"], dtype=np.float32) if "vector" in row else None
    return Row(row["pk"], row["text"], row["name"], "".join(row["chunk"]), vector)


def _create(client: Any, name: str, dimension: int) -> None:
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("pk", DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("text", DataType.VARCHAR, max_length=VARCHAR_BYTES)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    schema.add_field("name", DataType.VARCHAR, max_length=VARCHAR_BYTES)
    schema.add_field("document", DataType.VARCHAR, max_length=64)
    schema.add_field("date", DataType.INT64)
    for field, length in (("chunk", VARCHAR_BYTES), ("items", 64)):
        schema.add_field(
            field,
            DataType.ARRAY,
            element_type=DataType.VARCHAR,
            max_capacity=ARRAY_MEMBERS,
            max_length=length,
        )
    client.create_collection(name, schema=schema, consistency_level=STRONG)
    indexes = client.prepare_index_params()
    indexes.add_index("vector", index_type="FLAT", metric_type="COSINE")
    client.create_index(name, indexes, sync=False)  # to wait is to sleep, and there is nothing to index yet


def _of_file(file: str) -> Any:
    """A client of the file that an absolute path names."""
    try:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        return MilvusClient(file, grpc_options=NO_PINGS)
    except Exception as error:
        if _is_locked(file):
            raise StoreLocked(
                f"another process has {file} open, and Milvus Lite serves one process; close it, or use a server"
            ) from error
        raise StoreError(
            f"cannot open Milvus at {file}: {first_line(error)}; vectors.uri must be a file that ends in .db and can be "
            "written, or http://host:port"
        ) from error


def _is_locked(file: str) -> bool:
    """Whether it is the lock that keeps a file from being opened; the client does not tell why."""
    try:
        MilvusLite(file).close()
    except DataDirLockedError:
        return True
    except (MilvusLiteError, OSError):
        pass
    return False
