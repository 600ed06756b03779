"""Milvus Lite (a file) or a Milvus server, through ``langchain_milvus.Milvus``."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import InputError, MissingExtra, StoreError, StoreLocked
from agentic_rag.stores.metadata_items import AllOf, AnyOf, Condition, HasAny
from agentic_rag.stores.vectorstores.dialect import Collection, Row, Where, as_vector, batches, first_line
from agentic_rag.stores.vectorstores.documents import CHUNK, DATE, DOCUMENT, ITEMS, NAME, hexadecimal
from agentic_rag.stores.vectorstores.prepared import PreparedEmbeddings, prepared

if TYPE_CHECKING:
    from langchain_core.documents import Document

ID, TEXT, VECTOR = "pk", "text", "vector"
VARCHAR_BYTES = 65_535
ARRAY_MEMBERS = 4096
ROWS_PER_WRITE = 500
ROWS_PER_READ = 1000
IDS_PER_FILTER = 1000
STRONG = "Strong"
"""Consistency under which what was written is found by the next search."""
NO_PINGS = {"grpc.keepalive_time_ms": 2**31 - 1}
"""The client pings every ten seconds; Milvus Lite takes that ill, and drops a connection that was idle."""
_NOTHING, _EVERYTHING = f'{ID} == ""', f'{ID} != ""'


class Milvus:
    """One Milvus database."""

    name = "Milvus"
    widest = 64
    text_bytes: int | None = VARCHAR_BYTES

    def __init__(self, connection: dict[str, Any], client: Any) -> None:
        self._connection = connection
        self._client = client

    @classmethod
    async def open(cls, uri: str) -> Milvus:
        """Open a file whose name ends in ``.db``, or connect to ``http://user:password@host:port``.

        Raises:
            MissingExtra: langchain-milvus is not installed.
            StoreLocked: another process has the file open.
            StoreError: the file cannot be opened, or the server cannot be reached.
        """
        connection = _connection(uri)
        return cls(connection, await asyncio.to_thread(_client, connection))

    async def collection(self, name: str, dimension: int, *, create: bool) -> Collection | None:
        return await asyncio.to_thread(self._collection, name, dimension, create)

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _collection(self, name: str, dimension: int, create: bool) -> MilvusCollection | None:
        from langchain_milvus import Milvus as LangChainMilvus

        if not self._client.has_collection(name):
            if not create:
                return None
            _create(self._client, name, dimension)
        store = LangChainMilvus(
            embedding_function=PreparedEmbeddings(),
            collection_name=name,
            connection_args=dict(self._connection),
            consistency_level=STRONG,
            primary_field=ID,
            text_field=TEXT,
            vector_field=VECTOR,
        )
        return MilvusCollection(store, name)

    def _close(self) -> None:
        self._client.close()
        _released(self._connection["uri"])


class MilvusCollection:
    """One collection; its vector index is FLAT, which is exact."""

    ranks = True

    def __init__(self, store: Any, name: str) -> None:
        self._store = store
        self._name = name

    async def replace(
        self, documents: Sequence[Document], vectors: FloatArray, owners: Sequence[str]
    ) -> None:
        await asyncio.to_thread(self._replace, documents, vectors, owners)

    async def nearest(self, vector: FloatArray, limit: int, where: Where) -> list[tuple[Document, float]]:
        found = await asyncio.to_thread(
            self._store.similarity_search_with_score_by_vector,
            vector.tolist(),
            k=limit,
            expr=to_milvus(where),
            consistency_level=STRONG,
        )
        return [(_restored(document), float(score)) for document, score in found]

    async def rows(self, where: Where, *, vectors: bool = False) -> list[Row]:
        fields = [TEXT, NAME, CHUNK, *([VECTOR] if vectors else [])]
        return [_row(found) for found in await asyncio.to_thread(self._query, where, fields)]

    async def ids(self, where: Where) -> list[str]:
        return [row[ID] for row in await asyncio.to_thread(self._query, where, [])]

    async def names(self, where: Where) -> dict[str, str]:
        found = await asyncio.to_thread(self._query, where, [NAME])
        return {row[ID]: row[NAME] for row in found}

    async def count(self) -> int:
        found = await asyncio.to_thread(
            self._store.client.query,
            self._name,
            filter="",
            output_fields=["count(*)"],
            consistency_level=STRONG,
        )
        return int(found[0]["count(*)"])

    async def optimize(self) -> None:
        """Flush, so that rows lie in segments, which are searched faster; and compact the segments."""
        await asyncio.to_thread(self._store.client.flush, self._name)
        await asyncio.to_thread(self._store.client.compact, self._name)

    def _replace(self, documents: Sequence[Document], vectors: FloatArray, owners: Sequence[str]) -> None:
        ids = [str(document.id) for document in documents]
        rows = [_stored(document) for document in documents]
        for start in range(0, len(rows), ROWS_PER_WRITE):
            part = slice(start, start + ROWS_PER_WRITE)
            with prepared(vectors[part]):
                self._store.upsert(ids=ids[part], documents=rows[part])
        for batch in batches(owners, IDS_PER_FILTER):
            held = [row[ID] for row in self._query(Where(documents=batch), [])]
            for gone in batches(sorted(set(held) - set(ids)), IDS_PER_FILTER):
                self._store.client.delete(self._name, filter=to_milvus(Where(ids=gone)))

    def _query(self, where: Where, fields: Sequence[str]) -> list[dict[str, Any]]:
        # LangChain's search_by_metadata hides errors and stops at a limit.
        pages = self._store.client.query_iterator(
            self._name,
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
        parts.append(_filter(where.condition))
    if where.until is not None:
        parts.append(f"{DATE} <= {int(where.until)}")
    if where.documents is not None:
        parts.append(f"{DOCUMENT} in {_listed(where.documents)}")
    if where.ids is not None:
        parts.append(f"{ID} in {_listed(where.ids)}")
    return " and ".join(parts)


def _filter(condition: Condition) -> str:
    match condition:
        case AllOf(parts):
            return "(" + " and ".join(_filter(part) for part in parts) + ")"
        case AnyOf(parts):
            return "(" + " or ".join(_filter(part) for part in parts) + ")"
        case HasAny(items, negated):
            if not items:
                return f"({_EVERYTHING if negated else _NOTHING})"
            found = f"array_contains_any({ITEMS}, {_listed(items)})"
            return f"(not {found})" if negated else found


def _listed(keys: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{key}"' for key in hexadecimal(keys)) + "]"


def _stored(document: Document) -> Document:
    """The row with ``chunk`` in pieces that a field holds."""
    items, whole = document.metadata[ITEMS], document.metadata[CHUNK]
    pieces = [whole[start : start + VARCHAR_BYTES] for start in range(0, len(whole), VARCHAR_BYTES)]
    if max(len(items), len(pieces)) > ARRAY_MEMBERS or len(document.metadata[NAME]) > VARCHAR_BYTES:
        raise InputError(
            f"{document.metadata[NAME][:200]} has {len(items)} metadata values and {len(whole)} bytes; Milvus "
            f"holds {ARRAY_MEMBERS} values and {ARRAY_MEMBERS * VARCHAR_BYTES} bytes in a chunk"
        )
    return document.model_copy(update={"metadata": {**document.metadata, CHUNK: pieces}})


def _restored(document: Document) -> Document:
    whole = "".join(document.metadata[CHUNK])
    return document.model_copy(update={"metadata": {**document.metadata, CHUNK: whole}})


def _row(found: dict[str, Any]) -> Row:
    from langchain_core.documents import Document

    vector = as_vector(found[VECTOR]) if VECTOR in found else None
    metadata = {NAME: found[NAME], CHUNK: "".join(found[CHUNK])}
    return Row(Document(id=found[ID], page_content=found[TEXT], metadata=metadata), vector)


def _create(client: Any, name: str, dimension: int) -> None:
    from pymilvus import DataType

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
    client_of = _imported()
    uri = connection["uri"]
    try:
        if _is_file(uri):
            Path(uri).parent.mkdir(parents=True, exist_ok=True)
        with _opening:
            client = client_of(**connection)
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
            from milvus_lite.server_manager import server_manager_instance

            server_manager_instance.release_server(uri)


def _is_file(uri: str) -> bool:
    return "://" not in uri


def _is_locked(file: str) -> bool:
    """Whether it is the lock that keeps a file from being opened; the client does not tell why."""
    from milvus_lite import DataDirLockedError, MilvusLite, MilvusLiteError

    try:
        MilvusLite(file).close()
    except DataDirLockedError:
        return True
    except (MilvusLiteError, OSError):
        return False
    return False


def _imported() -> Any:
    """The client's class. Its library reads a ``.env`` when it is imported, and logs what it also raises."""
    before = dict(os.environ)
    try:
        import langchain_milvus  # noqa: F401
        import milvus_lite  # noqa: F401
        from pymilvus import MilvusClient
    except ImportError as error:
        raise MissingExtra("the Milvus backend", "milvus") from error
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)
    for logger in ("pymilvus", "milvus_lite", "langchain_milvus"):
        logging.getLogger(logger).setLevel(logging.CRITICAL + 1)
    return MilvusClient
