"""The links of a graph as Arrow arrays; those of a large graph are memory-mapped, so that only used parts are
in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

import pyarrow as pa

T = TypeVar("T")
VALUES_AT_ONCE = 10_000
"""Values converted at a time when all are read."""
TYPES = {
    "chunk_ids": pa.string(),
    "episodes": pa.string(),
    "episode_order": pa.int32(),
    "dates": pa.int64(),
    "documents": pa.int32(),
    "rows_of_chunks": pa.int32(),
    "titles": pa.string(),
    "aliases": pa.list_(pa.string()),
    "entities": pa.string(),
    "names": pa.string(),
    "labels": pa.int32(),
    "label_sets": pa.list_(pa.string()),
    "mentioning": pa.int32(),
    "mentioned_entities": pa.int32(),
    "by_mention": pa.bool_(),
    "other_rows": pa.int64(),
}
"""Of each column of ``LinkColumns``, in its order."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinkColumns:
    """Which chunk mentions which entity, and all that is known of both."""

    chunk_ids: pa.Array
    """Sorted."""
    episodes: pa.Array
    """Of each chunk, its episode's uuid."""
    episode_order: pa.Array
    """Places of the chunks, in the order of their episodes' uuids."""
    dates: pa.Array
    """Of each chunk, numpy's number of microseconds."""
    documents: pa.Array
    """Of each chunk, the place of its document in ``titles``."""
    rows_of_chunks: pa.Array
    """Of each chunk, rows of its mentions."""
    titles: pa.Array
    """Of each document."""
    aliases: pa.Array
    """Of each document."""
    entities: pa.Array
    """Uuids, sorted."""
    names: pa.Array
    """Of each entity."""
    labels: pa.Array
    """Of each entity, the place of its labels in ``label_sets``."""
    label_sets: pa.Array
    """All that there are."""
    mentioning: pa.Array
    """Of each pair, the place of the chunk; ascending."""
    mentioned_entities: pa.Array
    """Of each pair, the place of the entity; ascending within a chunk."""
    by_mention: pa.Array
    """Of each pair, whether a row of mentions says it; a fact may say it as well."""
    other_rows: pa.Array
    """One number: mention rows without a chunk. It and ``rows_of_chunks`` show whether a row was deleted."""


class Values(Sequence[T]):
    """An Arrow array as a sequence that converts its values on access."""

    def __init__(self, array: pa.Array) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array)

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> Values[T]: ...

    def __getitem__(self, place: int | slice) -> T | Values[T]:
        found = self._array[place]
        if isinstance(place, slice):
            return Values(found)
        value: T = found.as_py()
        return value

    def __iter__(self) -> Iterator[T]:
        for start in range(0, len(self._array), VALUES_AT_ONCE):
            yield from self._array.slice(start, VALUES_AT_ONCE).to_pylist()
