"""Where the values of rows lie in Lance's data files, so that a question reads them by offset.

To take 20 rows through LanceDB costs 2 to 8 ms of processor time, to read their values at known offsets a tenth of one.
Compaction writes the offsets, by row id, into one file of the table's folder. A row id names the same values as long as
its row exists, since rows are exchanged and never changed. Taken through LanceDB are rows written since, and all where the
file is missing or Lance lays out a column in another way: rows of every page are compared with what Lance itself reads
before their offsets are written. The file can be deleted at any time, and goes with the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import zstandard
from numpy.typing import NDArray

from agentic_rag.stores.lancedb.rows import CHUNK, TOKENS, VECTOR

FILE = "rows.places"
NOWHERE = -1
"""Offset of a value that is read through LanceDB."""
SAMPLES = 3
"""Rows of a page that are compared with what Lance reads."""
_LENGTH_BYTES = 4
"""Before each value of a column of texts or bytes: its length."""
_SIZE_BYTES = 8
"""Before a compressed value: its length without compression."""

Offsets = NDArray[np.int64]
Lengths = NDArray[np.int32]


def _decoder(column: str) -> Callable[[bytes], bytes]:
    """What makes the column's value of its bytes in the file; for one thread."""
    if column == VECTOR:
        return bytes
    context = zstandard.ZstdDecompressor()

    def decompress(raw: bytes) -> bytes:
        size = int.from_bytes(raw[:_SIZE_BYTES], "little")
        return context.decompress(raw[_SIZE_BYTES:], max_output_size=size) if size else b""

    return decompress


@dataclass(frozen=True, slots=True)
class RowPlaces:
    """Offsets of the rows that a table had at its last compaction."""

    folder: Path
    """Of the table."""
    file_id: tuple[int, int]
    """Inode and time of the file that they were read from."""
    version: int
    """Of the table."""
    files: tuple[str, ...]
    """Names of the data files."""
    row_ids: NDArray[np.uint64]
    """Ascending."""
    file_of: NDArray[np.uint16]
    """Place in ``files`` of each row's."""
    offsets: Mapping[str, Offsets]
    """By column, of each row; NOWHERE where it is not known."""
    lengths: Mapping[str, Lengths]
    """The same, in bytes."""

    def read(self, row_ids: Sequence[int], columns: Sequence[str]) -> dict[int, tuple[bytes, ...]]:
        """The values of the columns, by row id; rows without a known place, or whose file is gone, are left out.

        A row that was deleted since may be among them. Blocks while the disk is read.
        """
        if not len(self.row_ids) or any(column not in self.offsets for column in columns):
            return {}
        wanted = np.array(row_ids, np.uint64)
        at = np.minimum(np.searchsorted(self.row_ids, wanted), len(self.row_ids) - 1)
        is_known = self.row_ids[at] == wanted
        for column in columns:
            is_known &= self.offsets[column][at] != NOWHERE
        at = np.unique(at[is_known])
        rows: dict[int, tuple[bytes, ...]] = {}
        for file in np.unique(self.file_of[at]).tolist():
            with suppress(FileNotFoundError):  # another process has compacted it since
                rows |= self._read_file(file, at[self.file_of[at] == file], columns)
        return rows

    def _read_file(
        self, file: int, at: NDArray[np.intp], columns: Sequence[str]
    ) -> dict[int, tuple[bytes, ...]]:
        name = self.files[file]
        descriptor = os.open(_data_file(self.folder, name), os.O_RDONLY)
        values = []
        try:
            for column in columns:
                decode = _decoder(column)
                spans = zip(self.lengths[column][at].tolist(), self.offsets[column][at].tolist(), strict=True)
                values.append([decode(os.pread(descriptor, length, offset)) for length, offset in spans])
        except (zstandard.ZstdError, MemoryError) as error:
            raise OSError(f"{self.folder.name}/data/{name} is corrupt: {error}") from error
        finally:
            os.close(descriptor)
        return dict(zip(self.row_ids[at].tolist(), zip(*values, strict=True), strict=True))


def read_places(folder: Path, previous: RowPlaces | None = None) -> RowPlaces | None:
    """The places of a table's rows; None where none are written, or not in this form.

    Args:
        folder: of the table.
        previous: what was read before, and is returned where it still holds.
    """
    file = folder / FILE
    try:
        file_id = (file.stat().st_ino, file.stat().st_mtime_ns)
        if previous is not None and previous.file_id == file_id:
            return previous
        with pa.memory_map(str(file)) as source:
            table = pa.ipc.open_file(source).read_all()
        files, columns = (table.schema.metadata[key].decode().split() for key in (b"files", b"columns"))
        values = {name: table[name].to_numpy() for name in table.column_names}
        return RowPlaces(
            folder=folder,
            file_id=file_id,
            version=int(table.schema.metadata[b"version"]),
            files=tuple(files),
            row_ids=values["row_id"],
            file_of=values["file"],
            offsets={name: values[f"{name} offset"] for name in columns},
            lengths={name: values[f"{name} length"] for name in columns},
        )
    except (OSError, ValueError, KeyError, TypeError):  # ArrowInvalid is a ValueError
        return None


def write_places(dataset: Any, folder: Path) -> None:
    """Write where the rows of a table's latest version lie; the caller is ``writing``.

    Args:
        dataset: the table, as Lance's data set.
        folder: of the table.
    """
    columns = [name for name in (CHUNK, VECTOR, TOKENS) if name in dataset.schema.names]
    parts = [
        part for fragment in dataset.get_fragments() for part in _parts(dataset, fragment, columns, folder)
    ]
    arrays: dict[str, NDArray[Any]] = {
        "row_id": _concat(np.uint64, (part.row_ids for part in parts)),
        "file": np.repeat(np.arange(len(parts), dtype=np.uint16), [len(part.row_ids) for part in parts]),
    }
    for name in columns:
        arrays[f"{name} offset"] = _concat(np.int64, (part.offsets[name] for part in parts))
        arrays[f"{name} length"] = _concat(np.int32, (part.lengths[name] for part in parts))
    order = np.argsort(arrays["row_id"])
    table = pa.table({name: values[order] for name, values in arrays.items()}).replace_schema_metadata(
        {
            "version": str(dataset.version),
            "files": " ".join(part.file for part in parts),
            "columns": " ".join(columns),
        }
    )
    temporary = folder / f"{FILE}.new"
    with pa.ipc.new_file(str(temporary), table.schema) as sink:
        sink.write_table(table)
    temporary.replace(folder / FILE)


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of one data file, in its order."""

    file: str
    row_ids: NDArray[np.uint64]
    offsets: dict[str, Offsets]
    lengths: dict[str, Lengths]


def _parts(dataset: Any, fragment: Any, columns: Sequence[str], folder: Path) -> Iterator[_Part]:
    """The rows of a fragment; none where they do not lie in one file."""
    from lance.file import LanceFileReader

    files = fragment.data_files()
    if len(files) != 1:
        return
    path = _data_file(folder, files[0].path)
    metadata = LanceFileReader(str(path)).metadata()
    rows = fragment.scanner(columns=[], with_row_id=True, with_row_address=True).to_table()
    in_file = (rows["_rowaddr"].to_numpy() & np.uint64(0xFFFF_FFFF)).astype(np.int64)
    part = _Part(files[0].path, rows["_rowid"].to_numpy(), {}, {})
    for name in columns:
        before = 0 if name == VECTOR else _LENGTH_BYTES
        pages = metadata.columns[metadata.schema.names.index(name)].pages
        bounds = [_bounds(path, page, dataset.schema.field(name).type) for page in pages]
        offsets, lengths = np.full(len(in_file), NOWHERE), np.zeros(len(in_file), np.int32)
        if sum(len(some) - 1 for some in bounds) != metadata.num_rows:
            bounds = []
        first = 0
        for some in bounds:
            page_rows = np.flatnonzero((in_file >= first) & (in_file < first + len(some) - 1))
            in_page = in_file[page_rows] - first
            first += len(some) - 1
            if not len(page_rows):
                continue
            offsets[page_rows] = some[in_page] + before
            lengths[page_rows] = some[in_page + 1] - offsets[page_rows]
            sample = page_rows[np.linspace(0, len(page_rows) - 1, SAMPLES, dtype=int)]
            if not _is_read_alike(fragment, name, sample.tolist(), path, offsets, lengths):
                offsets[page_rows] = NOWHERE
        part.offsets[name], part.lengths[name] = offsets, lengths
    yield part


def _bounds(path: Path, page: Any, value_type: pa.DataType) -> Offsets:
    """Where the values of a page begin, and the end of the last; one number where it is laid out in another way."""
    unknown = np.zeros(1, np.int64)
    if pa.types.is_fixed_size_list(value_type) and len(page.buffers) == 1:
        values, width = page.buffers[0], value_type.list_size * value_type.value_type.bit_width // 8
        return np.arange(values.position, values.position + values.size + 1, width, dtype=np.int64)
    if len(page.buffers) != 2:
        return unknown
    values, index = page.buffers
    for width in (2, 4, 8):
        if index.size % width == 0:
            ends = np.fromfile(path, f"<u{width}", index.size // width, offset=index.position).astype(
                np.int64
            )
            if (
                ends[0] == 0
                and ends[-1] == values.size
                and np.diff(ends).min(initial=_LENGTH_BYTES) >= _LENGTH_BYTES
            ):
                bounds: Offsets = values.position + ends
                return bounds
    return unknown


def _is_read_alike(
    fragment: Any, column: str, rows: Sequence[int], path: Path, offsets: Offsets, lengths: Lengths
) -> bool:
    """Whether the bytes at these places are the values that Lance reads."""
    values = fragment.take(rows, columns=[column])[column]
    if pa.types.is_fixed_size_list(values.type):
        expected = [value.values.to_numpy().tobytes() for value in values]
    else:
        expected = [value.cast(pa.binary()).as_py() for value in values]
    decode = _decoder(column)
    with path.open("rb") as file:
        for row, value in zip(rows, expected, strict=True):
            file.seek(offsets[row])
            try:
                if decode(file.read(lengths[row])) != value:
                    return False
            except (zstandard.ZstdError, MemoryError, OverflowError):
                return False
    return True


def _data_file(folder: Path, name: str) -> Path:
    return folder / "data" / name


def _concat(kind: type[np.generic], parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *parts])
