"""The links of a large graph in a file of the data folder: to assemble them from the tables takes seconds."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from agentic_rag.stores.graph.link_columns import TYPES, LinkColumns
from agentic_rag.stores.whole_file import whole_file

Versions = tuple[tuple[str, int], ...]
"""Of each table that the links are read from, its name and version."""
_SCHEMA = pa.schema([(name, pa.list_(of)) for name, of in TYPES.items()])
"""One row: the columns differ in their lengths."""
_TAIL = 4_096
"""Bytes among which the last line is looked for."""
_AT_ONCE = 1 << 20
"""Bytes per read for the checksum, because a read through the map would stay in memory."""


class LinkFile:
    """An Arrow stream that can be mapped, and a line of JSON after it; one that cannot be read counts as none, for the
    tables hold the same."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, as_of: Versions, columns: LinkColumns) -> None:
        """Replace the file; processes that have mapped the old one keep it. Raises ``OSError``."""
        values = [getattr(columns, name) for name in TYPES]
        row = [pa.ListArray.from_arrays([0, len(value)], value) for value in values]
        with whole_file(self._path) as file:
            summed = _ChecksumFile(file)
            with pa.ipc.new_stream(pa.PythonFile(summed, "w"), _SCHEMA) as stream:
                stream.write_batch(pa.RecordBatch.from_arrays(row, schema=_SCHEMA))
            trailer = {"as_of": as_of, "bytes": summed.length, "crc32": summed.crc32}
            file.write(b"\n" + json.dumps(trailer).encode())

    def as_of(self) -> Versions | None:
        """The sources of the links in the file; None without a file."""
        trailer = self._trailer()
        return None if trailer is None else trailer[0]

    def read(self) -> LinkColumns | None:
        """The links; None if the file is missing, damaged or of another format."""
        trailer = self._trailer()
        if trailer is None or not self._is_whole(*trailer[1:]):
            return None
        try:
            with pa.memory_map(str(self._path)) as file:
                stream = pa.ipc.open_stream(file)
                if not stream.schema.equals(_SCHEMA):
                    return None
                row = stream.read_next_batch()
        except (OSError, ValueError, StopIteration):
            return None
        return LinkColumns(*(column.values for column in row.columns))

    def _trailer(self) -> tuple[Versions, int, int] | None:
        """What the last line says: versions, bytes of the stream and their checksum."""
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, self._path.stat().st_size - _TAIL))
                trailer = json.loads(file.read().rpartition(b"\n")[2])
            as_of = tuple((str(name), int(version)) for name, version in trailer["as_of"])
            return as_of, int(trailer["bytes"]), int(trailer["crc32"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _is_whole(self, length: int, crc32: int) -> bool:
        found = 0
        try:
            with self._path.open("rb") as file:
                while length > 0 and (some := file.read(min(length, _AT_ONCE))):
                    found, length = zlib.crc32(some, found), length - len(some)
        except OSError:
            return False
        return length == 0 and found == crc32

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)


class _ChecksumFile:
    """A file opened for writing, with the checksum of the written bytes."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.length = self.crc32 = 0

    def write(self, some: bytes) -> int:
        self.crc32 = zlib.crc32(some, self.crc32)
        written = self._file.write(some)
        self.length += written
        return written

    def flush(self) -> None:
        """All goes to the disk when the file is whole."""
