"""The links of a large graph in a file of the data folder: to assemble them from the tables takes seconds."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa

from agentic_rag.domain.ports import GraphLinks
from agentic_rag.stores.graphiti.link_assembly import Assembled, MentionRows, labels_of
from agentic_rag.stores.whole_file import write_whole

Versions = tuple[tuple[str, int], ...]
"""Of each table that the links are read from, its name and version."""
_TEXTS = pa.list_(pa.string())
_SCHEMA = pa.schema(
    [
        ("episodes", _TEXTS),
        ("chunk_ids", _TEXTS),
        ("titles", _TEXTS),
        ("aliases", pa.list_(_TEXTS)),
        ("dates", pa.list_(pa.timestamp("us"))),
        ("entities", _TEXTS),
        ("names", _TEXTS),
        ("labels", pa.list_(_TEXTS)),
        ("mentioning", pa.list_(pa.int32())),
        ("mentioned", pa.list_(pa.int32())),
        ("of_pairs", pa.list_(pa.bool_())),
        ("of_chunks", pa.list_(pa.int32())),
        ("others", pa.list_(pa.int64())),
    ]
)
"""One row: the columns differ in their lengths."""


class LinkFile:
    """A line of JSON and an Arrow stream; one that cannot be read counts as none, for the tables hold the same."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, as_of: Versions, found: Assembled) -> None:
        """Over what is there. Raises ``OSError``."""
        links = found.links
        values: list[Any] = [
            found.episodes.combine_chunks(),
            links.chunk_ids,
            links.titles,
            list(map(list, links.aliases)),
            links.dates,
            found.entities.combine_chunks(),
            links.names,
            list(map(list, links.labels)),
            links.mentioning,
            links.mentioned,
            found.mentions.of_pairs,
            found.mentions.of_chunks,
            [found.mentions.others],
        ]
        columns = [
            pa.ListArray.from_arrays([0, len(value)], pa.array(value, field.type.value_type))
            for value, field in zip(values, _SCHEMA, strict=True)
        ]
        made = pa.BufferOutputStream()
        with pa.ipc.new_stream(made, _SCHEMA, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
            stream.write_table(pa.Table.from_arrays(columns, schema=_SCHEMA))
        body = made.getvalue().to_pybytes()
        head = json.dumps({"as_of": as_of, "crc32": zlib.crc32(body)}).encode() + b"\n"
        write_whole(self._path, head + body)

    def as_of(self) -> Versions | None:
        """What the links were read from; None where there is no file."""
        try:
            with self._path.open("rb") as file:
                told = json.loads(file.readline())["as_of"]
            return tuple((str(name), int(version)) for name, version in told)
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def read(self) -> Assembled | None:
        """The links; None where there is no file, or one that is damaged or of another form."""
        try:
            head, _, body = self._path.read_bytes().partition(b"\n")
            if json.loads(head)["crc32"] != zlib.crc32(body):
                return None
            row = pa.ipc.open_stream(body).read_all()
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if not row.schema.equals(_SCHEMA):
            return None
        held = {name: row[name].combine_chunks().flatten() for name in _SCHEMA.names}
        links = GraphLinks(
            chunk_ids=held["chunk_ids"].to_pylist(),
            titles=held["titles"].to_pylist(),
            aliases=list(map(tuple, held["aliases"].to_pylist())),
            dates=held["dates"].to_numpy(zero_copy_only=False).astype("datetime64[us]"),
            names=held["names"].to_pylist(),
            labels=labels_of(pa.chunked_array([held["labels"]])),
            mentioning=held["mentioning"].to_numpy(),
            mentioned=held["mentioned"].to_numpy(),
        )
        episodes, entities = (pa.chunked_array([held[name]]) for name in ("episodes", "entities"))
        said = MentionRows(
            of_pairs=held["of_pairs"].to_numpy(zero_copy_only=False),
            of_chunks=held["of_chunks"].to_numpy(),
            others=held["others"][0].as_py(),
        )
        return Assembled(links, episodes, entities, said)

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)
