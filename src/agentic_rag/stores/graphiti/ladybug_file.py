"""One LadybugDB file: opened once a process, one writer connection, a reader connection a thread."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentic_rag.errors import StoreError, StoreLocked

DEFAULT_BUFFER_POOL = 256 * 1024 * 1024
"""Bytes; LadybugDB itself would take 80 % of the memory."""
MOST_FREE, MOST_FREE_SHARE = 4 * 1024 * 1024, 1 / 3
"""Above both, in bytes and of the file, free pages are worth writing it anew: LadybugDB frees some with every write,
uses few of them again, and never gives one back."""

_LOGGER = logging.getLogger(__name__)
_LOCKED = re.compile(r"could not set lock", re.IGNORECASE)
_DAMAGED = re.compile(
    r"corrupt|not a valid|checksum|wal record|replay|storage version|different version", re.IGNORECASE
)
_COMPANIONS = ("", ".wal", ".shadow", ".tmp", ".lock", ".wal.checkpoint")

_SCHEMA = """
CREATE NODE TABLE IF NOT EXISTS Episodic (
    uuid STRING PRIMARY KEY, name STRING, group_id STRING, created_at TIMESTAMP, source STRING,
    source_description STRING, content STRING, valid_at TIMESTAMP, entity_edges STRING[]);
CREATE NODE TABLE IF NOT EXISTS Entity (
    uuid STRING PRIMARY KEY, name STRING, group_id STRING, labels STRING[], created_at TIMESTAMP,
    name_embedding FLOAT[], summary STRING, attributes STRING);
CREATE NODE TABLE IF NOT EXISTS Community (
    uuid STRING PRIMARY KEY, name STRING, group_id STRING, created_at TIMESTAMP,
    name_embedding FLOAT[], summary STRING);
CREATE NODE TABLE IF NOT EXISTS RelatesToNode_ (
    uuid STRING PRIMARY KEY, group_id STRING, created_at TIMESTAMP, name STRING, fact STRING,
    fact_embedding FLOAT[], episodes STRING[], expired_at TIMESTAMP, valid_at TIMESTAMP,
    invalid_at TIMESTAMP, reference_time TIMESTAMP, attributes STRING);
CREATE NODE TABLE IF NOT EXISTS Saga (
    uuid STRING PRIMARY KEY, name STRING, group_id STRING, created_at TIMESTAMP, summary STRING,
    first_episode_uuid STRING, last_episode_uuid STRING, last_summarized_at TIMESTAMP,
    last_summarized_episode_valid_at TIMESTAMP);
CREATE REL TABLE IF NOT EXISTS RELATES_TO (FROM Entity TO RelatesToNode_, FROM RelatesToNode_ TO Entity);
CREATE REL TABLE IF NOT EXISTS MENTIONS (
    FROM Episodic TO Entity, uuid STRING, group_id STRING, created_at TIMESTAMP);
CREATE REL TABLE IF NOT EXISTS HAS_MEMBER (
    FROM Community TO Entity, FROM Community TO Community, uuid STRING, group_id STRING,
    created_at TIMESTAMP);
CREATE REL TABLE IF NOT EXISTS HAS_EPISODE (
    FROM Saga TO Episodic, uuid STRING, group_id STRING, created_at TIMESTAMP);
CREATE REL TABLE IF NOT EXISTS NEXT_EPISODE (
    FROM Episodic TO Episodic, uuid STRING, group_id STRING, created_at TIMESTAMP);
"""
"""Tables and columns as Graphiti's queries name them; a fact is a node between two RELATES_TO."""
_KEYED = ("Episodic", "Entity", "Community", "RelatesToNode_", "Saga")
"""Node tables, which are looked up by ``uuid``."""

_open_paths: set[Path] = set()
_open_paths_lock = threading.Lock()


class LadybugFile:
    """Blocking access to one graph file; call it off the event loop.

    A second process that opens the file is refused by LadybugDB; a second ``LadybugFile`` in this
    process would not be, and would corrupt it, so it is refused here.
    """

    def __init__(self, path: Path, buffer_pool_size: int = DEFAULT_BUFFER_POOL) -> None:
        self.path = path
        self._buffer_pool_size = buffer_pool_size
        self._database: Any = None
        self._writer: Any = None
        self._readers: list[Any] = []
        self._local = threading.local()
        self._holds_path = False

    @property
    def is_open(self) -> bool:
        return self._database is not None

    def open(self) -> None:
        """Open or create; a damaged file is set aside and a new, empty one made.

        Raises ``StoreLocked`` when this or another process has it open, ``StoreError`` otherwise.
        """
        # Here and not when made: to ask for the current folder blocks, which LangGraph's server forbids its loop.
        self.path = self.path.resolve()
        with _open_paths_lock:
            if self.path in _open_paths:
                raise StoreLocked(
                    f"the graph file {self.path} is already open in this process; "
                    "close the other store first, or share it"
                )
            _open_paths.add(self.path)
            self._holds_path = True
        try:
            self._database = self._open_or_replace()
            self._writer = self._connect()
            self._make_tables()
        except BaseException:
            self.close()
            raise

    def write(self, statement: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Execute on the writer connection; only one thread may do so at a time."""
        return _execute(self._writer, statement, parameters)

    def read(self, statement: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Execute on this thread's own connection, in a transaction of its own."""
        if getattr(self._local, "connection", None) is None:
            self._local.connection = self._connect()
            self._readers.append(self._local.connection)
        return _execute(self._local.connection, statement, parameters)

    def is_mostly_free(self) -> bool:
        """Whether the file has so many free pages that it should be written anew."""
        query = "CALL disk_size_info() RETURN category, size_bytes AS size"
        sizes = {row["category"]: int(row["size"]) for row in self.write(query, {})}
        return sizes["free_space"] > max(MOST_FREE, MOST_FREE_SHARE * sizes["total"])

    def empty(self) -> None:
        """Replace the open file by an empty one.

        Raises ``StoreLocked`` where another process was quicker to open it.
        """
        self.close()
        for suffix in _COMPANIONS:
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self.open()

    def close(self) -> None:
        """Close everything; the file can be opened again."""
        for connection in (*self._readers, self._writer):
            if connection is not None:
                connection.close()
        if self._database is not None:
            self._database.close()
        self._readers, self._writer, self._database = [], None, None
        self._local = threading.local()
        if self._holds_path:
            self._holds_path = False
            with _open_paths_lock:
                _open_paths.discard(self.path)

    def _make_tables(self) -> None:
        """With ART indexes: the default hash index takes 3 MB a table before its first row, and is no faster.

        A file made with hash indexes keeps them, for a table can have but one of its key.
        """
        self.write("CALL enable_default_hash_index = false", {})
        self.write(_SCHEMA, {})
        indexed = {row["table_name"] for row in self.write("CALL show_indexes() RETURN table_name", {})}
        for label in _KEYED:
            if label not in indexed:
                self.write(f"CREATE ART INDEX {label}_key FOR (n:{label}) ON (n.uuid)", {})

    def _connect(self) -> Any:
        import ladybug

        return ladybug.Connection(self._database)

    def _open_or_replace(self) -> Any:
        try:
            return self._opened()
        except StoreLocked:
            raise
        except (RuntimeError, OSError) as error:
            if not _DAMAGED.search(str(error)):
                raise StoreError(f"cannot open the graph file {self.path}: {_told(error)}") from error
            kept = self._set_aside()
            _LOGGER.warning(
                "the graph file %s is damaged (%s); it was kept as %s and is rebuilt from LanceDB",
                self.path.name, _told(error), kept.name,
            )  # fmt: skip
        try:
            return self._opened()
        except StoreLocked:
            raise
        except (RuntimeError, OSError) as error:
            raise StoreError(f"cannot open the graph file {self.path}: {_told(error)}") from error

    def _opened(self) -> Any:
        import ladybug

        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return ladybug.Database(str(self.path), buffer_pool_size=self._buffer_pool_size)
        except RuntimeError as error:
            if _LOCKED.search(str(error)):
                raise StoreLocked(
                    f"another process is writing the graph file {self.path} ({_told(error)}); "
                    "wait until it ends, or stop it, then try again (asking works meanwhile)"
                ) from error
            raise

    def _set_aside(self) -> Path:
        number = 1
        while (kept := self.path.with_name(f"{self.path.name}.damaged-{number}")).exists():
            number += 1
        for suffix in _COMPANIONS:
            part = self.path.with_name(self.path.name + suffix)
            if part.exists():
                part.rename(kept.with_name(kept.name + suffix))
        return kept


def _execute(connection: Any, statement: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    result = connection.execute(statement, dict(parameters))
    results = result if isinstance(result, list) else [result]
    try:
        return [_aware(row) for one in results for row in one.rows_as_dict()]
    finally:
        for one in results:
            one.close()


def _aware(row: dict[str, Any]) -> dict[str, Any]:
    """LadybugDB gives UTC without saying so; Graphiti compares with datetimes that do."""
    return {
        name: value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value
        for name, value in row.items()
    }


def _told(error: BaseException) -> str:
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
