"""One LanceDB connection, its tables opened once, their old versions removed, its errors translated in one place."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from agentic_rag.errors import AgenticRagError, StoreAway, StoreError, first_line
from agentic_rag.settings.addresses import without_login
from agentic_rag.stores.batch import batches
from agentic_rag.stores.data_folder import REPAIR
from agentic_rag.stores.lancedb.compaction import clean
from agentic_rag.stores.lancedb.native_memory import return_freed_memory
from agentic_rag.stores.lancedb.places import RowPlaces, read_places
from agentic_rag.stores.lancedb.process_lock import MAKING_TABLES, in_use, is_alone, process_lock
from agentic_rag.stores.lancedb.sql import is_one_of
from agentic_rag.stores.lancedb.versions import has_data, is_blank, is_latest_gone

Prepare = Callable[[Any], Awaitable[None]]
STABLE_ROW_IDS = {"new_table_enable_stable_row_ids": "true"}
"""A row id found by a search still names the same row after a compaction."""
READ_CONSISTENCY = timedelta(seconds=1)
"""How long a reader may miss what another process wrote; None would mean forever."""
KEEP_VERSIONS = timedelta(minutes=1)
"""How long old versions stay for their readers. A reader looks for the latest version every second, and a read
takes seconds at most."""
KEEP_NONE = timedelta(milliseconds=1)
"""Every version but the latest is removed."""

INDEX_CACHE, METADATA_CACHE = 256 << 20, 64 << 20
"""Most bytes of indexes, and of what tables consist of, that are kept in memory. LanceDB's own 6 and 1 GB are filled by
the versions that a long ingest makes. Questions to 215,000 chunks are as quick with these as with twice as much."""
KEYS_PER_CONDITION = 4_000
"""Most texts that one condition names."""

_AWAY = re.compile(
    r"RetryError.*?uri: Some\((\w+://[^/)]+).*?HttpError \{ kind: (?:Connect|Timeout)|"
    r"Error performing \w+ (\w+://[^/\s]+).*?HTTP error: error sending request",
    re.DOTALL,
)

LATEST_GONE = "the manifest file of its latest version is missing"
LATEST_BLANK = "the manifest file of its latest version is blank"
_FAILURES = (RuntimeError, OSError, ValueError, KeyError, TypeError, NotImplementedError)
_PANIC = "RustPanic"
"""Of a class that has no importable name: Lance met a content that it does not expect."""
_DAMAGE = re.compile(
    r"Not found: .*\.(?:lance|manifest|arrow|bin)|invalid magic|fill whole buffer|file size is too small|"
    r"Invalid range \d+\.\.\d+ for object|panicked|[Cc]orrupt|LanceError\(Arrow\): (?:Io|Parser) error|"
    r"failed to decode Protobuf",
    re.DOTALL,
)
_IN_ITS_SOURCE = re.compile(r", /\S+\.rs:\d+:\d+|, /[^,\s]*$")
"""The place in the library's source at the end of a message, also when cut."""

logger = logging.getLogger(__name__)

# Read when LanceDB is imported; silences warnings about vector clusters that users cannot act on.
os.environ.setdefault("LANCEDB_LOG", "error")


@contextmanager
def translate_errors(doing: str) -> Iterator[None]:
    """Turn whatever LanceDB raises into ``StoreError``; our own errors pass."""
    try:
        yield
    except AgenticRagError:
        raise
    except Exception as error:
        if not isinstance(error, _FAILURES) and type(error).__name__ != _PANIC:
            raise
        kind = StoreAway if _AWAY.search(str(error)) else StoreError
        raise kind(f"LanceDB failed while {doing}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """The library's words, and what to do: of an object store that does not answer, and of damaged files."""
    away = _AWAY.search(str(error))
    if away is not None:
        return f"the object store at {away[1] or away[2]} cannot be reached; start it, or correct lancedb_uri and storage_options"
    reason = _IN_ITS_SOURCE.sub("", first_line(error))
    is_damaged = type(error).__name__ == _PANIC or _DAMAGE.search(str(error))
    return f"{reason}; run: {REPAIR}" if is_damaged else reason


def address(uri: str) -> str:
    """What LanceDB opens: it takes a relative path that begins with ``db`` for an address of its cloud."""
    return uri if "://" in uri or Path(uri).is_absolute() else f"./{uri}"


class LanceConnection:
    """A lazily opened database; ``table`` and ``create_table`` hand out open tables, cached by name."""

    def __init__(
        self, uri: str, storage_options: Mapping[str, str] | None = None, *, locks: str | None = None
    ) -> None:
        self.uri = uri
        self.locks = (locks or uri) if "://" in uri else uri
        """The folder of the locks of its writers: an object store has none, so they share one beside it."""
        self._storage_options = dict(storage_options or {})
        self._database: Any = None
        self._is_closed = False
        self._using: IO[bytes] | None = None
        self._tables: dict[str, Any] = {}
        self._stale: set[str] = set()
        """Names of open tables that are brought up to date before they are used again."""
        self.refreshes = 0
        """Number of calls of ``refresh``."""
        self._versions: dict[str, int] = {}
        """Of each table when it was opened; 0 for one that was made here."""
        self._places: dict[str, tuple[float, RowPlaces | None]] = {}
        """By table, and when they were read."""
        self._opening = asyncio.Lock()
        self._making = asyncio.Lock()

    async def database(self) -> Any:
        """The open database.

        Raises:
            StoreError: it cannot be opened, or was closed.
        """
        if self._is_closed:
            raise StoreError(
                f"{without_login(self.uri)} was closed; ask within its `async with open_rag(…)`, or open it again"
            )
        async with self._opening:
            if self._database is None:
                import lancedb

                return_freed_memory()
                with translate_errors(f"opening {without_login(self.uri)}"):
                    self._using = self._using or await in_use(self.uri)
                    self._database = await lancedb.connect_async(
                        address(self.uri),
                        read_consistency_interval=READ_CONSISTENCY,
                        storage_options=self._storage_options or None,
                        session=lancedb.Session(INDEX_CACHE, METADATA_CACHE),
                    )
            return self._database

    async def table(self, name: str) -> Any | None:
        """The open table, or None where there is none yet.

        Raises:
            StoreError: it cannot be opened, or its latest version is gone or blank.
        """
        if name not in self._tables:
            database = await self.database()
            with translate_errors(f"opening table {name}"):
                if await self._of_files(name, is_latest_gone):
                    raise StoreError(f"table {name}: {LATEST_GONE}; run: {REPAIR}")
                try:
                    opened = await database.open_table(name)
                    if await is_blank(opened):
                        raise StoreError(f"table {name}: {LATEST_BLANK}; run: {REPAIR}")
                    self._versions.setdefault(name, await opened.version())
                    self._tables[name] = opened
                except ValueError as error:
                    if "not found" not in str(error):
                        raise
                    if await self._of_files(name, has_data):
                        raise StoreError(
                            f"table {name} has data files but no manifest file; run: {REPAIR}"
                        ) from error
                    return None
        table = self._tables[name]
        if name in self._stale:
            with translate_errors(f"reading the latest version of {name}"):
                await table.checkout_latest()
            self._stale.discard(name)
        return table

    async def places(self, table: Any) -> RowPlaces | None:
        """Where the rows of an open table lie in its files, as of a second ago at the most; None in an object store, and
        where that was not noted yet, or for a later version than the one that is there (an older copy was put back)."""
        if "://" in self.uri or os.name != "posix":
            return None
        asked, known = self._places.get(table.name, (-math.inf, None))
        now = time.monotonic()
        if now - asked >= READ_CONSISTENCY.total_seconds():
            known = await asyncio.to_thread(read_places, Path(self.uri, f"{table.name}.lance"), known)
            if known is not None and known.version > await table.version():
                known = None
            self._places[table.name] = now, known
        return known

    async def _of_files(self, name: str, tells: Callable[[Path], bool]) -> bool:
        """The result of ``tells`` for a table's folder; False in an object store."""
        return "://" not in self.uri and await asyncio.to_thread(tells, Path(self.uri, f"{name}.lance"))

    async def create_table(
        self, name: str, schema: pa.Schema, key: str, prepare: Prepare | None = None
    ) -> Any:
        """The table, made where it was missing, with its primary key; safe against another process.

        Args:
            name: of the table.
            schema: its columns.
            key: name of the column that merging matches; concurrent inserts of one key leave one row.
            prepare: called with a table that was just made, before another process can make it too.
        """
        existing = await self.table(name)
        if existing is not None:
            return existing
        database = await self.database()
        with translate_errors(f"creating table {name}"):
            async with self._making, process_lock(self.locks, MAKING_TABLES):
                existing = await self.table(name)
                if existing is not None:
                    return existing
                table = await database.create_table(
                    name, schema=_with_primary_key(schema, key), exist_ok=True, storage_options=STABLE_ROW_IDS
                )
                if prepare is not None:
                    await prepare(table)
                self._versions[name] = 0
                self._tables[name] = table
        return table

    async def ready(self) -> None:
        """Do what a question would have to wait for: here nothing, for tables open quickly.

        Raises:
            StoreError: the database cannot be read.
        """

    def refresh(self) -> None:
        """Read what others have written until now, at once and not within ``READ_CONSISTENCY``."""
        self._stale.update(self._tables)
        self.refreshes += 1

    async def drop_table(self, name: str) -> None:
        """Delete a table with its rows; one that is not there is ignored."""
        database = await self.database()
        self._tables.pop(name, None)
        self._places.pop(name, None)
        with translate_errors(f"dropping table {name}"):
            await database.drop_table(name, ignore_missing=True)

    async def reach(self) -> None:
        """Raises ``StoreError`` where the database cannot be listed."""
        database = await self.database()
        with translate_errors("listing tables"):
            await database.list_tables(limit=1)

    async def table_names(self) -> list[str]:
        database = await self.database()
        with translate_errors("listing tables"):
            names: list[str] = []
            token: str | None = None
            while True:
                page = await database.list_tables(page_token=token)
                names.extend(page.tables)
                token = page.page_token
                if not token:
                    return sorted(names)

    async def close(self) -> None:
        """Close for good; reopening it would lock the database for others.

        The last user of the database removes the old versions of the changed tables. No table is closed, here or when it is
        dropped: LanceDB panics where one is read that was closed, and work that was left running may still read it.
        """
        self._is_closed = True
        if self._using is not None:
            if is_alone(self._using):
                await self._clean_up()
            self._using.close()
            self._using = None
        self._tables.clear()
        if self._database is not None:
            self._database.close()
            self._database = None

    async def _clean_up(self) -> None:
        for name, table in list(self._tables.items()):  # work that was left running may open one meanwhile
            try:
                with translate_errors(f"removing old versions of {name}"):
                    await table.checkout_latest()
                    if await table.version() != self._versions[name]:
                        await clean(table, KEEP_NONE)
            except StoreError as error:
                logger.warning("%s; a later run removes them", error)


@asynccontextmanager
async def lance_connection(
    uri: str, storage_options: Mapping[str, str] | None = None, *, locks: str | None = None
) -> AsyncIterator[LanceConnection]:
    """A connection that closes itself."""
    connection = LanceConnection(uri, storage_options, locks=locks)
    try:
        yield connection
    finally:
        await connection.close()


def _with_primary_key(schema: pa.Schema, key: str) -> pa.Schema:
    """The schema with its primary key, as LanceDB itself marks one; marked afterwards, two processes
    that make one table would collide."""
    index = schema.get_field_index(key)
    marked = schema.field(index).with_metadata({"lance-schema:unenforced-primary-key:position": "1"})
    return schema.set(index, marked)


async def upsert(table: Any, key: str, rows: pa.Table) -> None:
    """Insert rows, or overwrite those with the same key, as one version of the table. Without an index on the key it
    reads the keys of all stored rows."""
    merge = table.merge_insert(key).when_matched_update_all().when_not_matched_insert_all()
    await merge.execute(rows)


async def delete_keys(table: Any, column: str, keys: Iterable[str]) -> None:
    """Delete the rows with these keys."""
    for some in batches(sorted(keys), KEYS_PER_CONDITION):
        await table.delete(is_one_of(column, some))
