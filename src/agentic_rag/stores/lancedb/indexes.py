"""Index maintenance of every LanceDB table: creation by number of rows, compaction, statistics."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from agentic_rag.domain.ports import IndexStats, TableStats
from agentic_rag.errors import StoreError
from agentic_rag.stores.lancedb.compaction import compact, expected_pieces
from agentic_rag.stores.lancedb.connection import KEEP_NONE, KEEP_VERSIONS, translate_errors
from agentic_rag.stores.lancedb.manifests import of_generation
from agentic_rag.stores.lancedb.native_memory import trim_memory
from agentic_rag.stores.lancedb.rows import VECTOR
from agentic_rag.stores.lancedb.sizes import folder_bytes, needed_bytes

STALE_FACTOR = 1.5
"""A vector index is built anew once the table has this many times the rows it was built for: at a million rows
one built for half of them makes the slowest searches a quarter slower than one built for all."""
MAX_SEGMENTS = 8
"""Every tidying puts its rows into a segment of their own, and a search looks into all of them. A vector index of more is
built anew: at 215,000 chunks that takes 3 s, and nine segments made a search 22 ms instead of 15."""
UNINDEXED_ROWS = 1_000
"""Rows that are in no index are read and split into words for every question, which takes 50 ms then."""
REMOVED_SHARE = 0.1
"""Share of removed rows from which a full-text index is rebuilt; below it its document frequencies are nearly
right."""
MAX_PIECES = 16
"""Every write leaves its rows in a piece of their own, and every version lists all of them: after 300 writes of one
row each a search took 230 ms instead of 5, and files grew by the square of the writes."""
ROWS_A_PIECE = 50
"""Average rows per piece up to which a table is compacted without waiting for CARE_INTERVAL, since it has little
to copy. Three
thousand chunks take one to three seconds, for which the next edit would wait; 60 pieces cost a search some 40 ms."""
CARE_INTERVAL = timedelta(minutes=2.5)
"""Minimum time between two tidyings of a larger table by writes: each copies indexes, and a copy stays on disk as
long as old versions do."""
TRIES, FIRST_PAUSE = 5, 0.05
"""Tries of a compaction that conflicts with another process, and seconds before the second try, doubled each
time."""

logger = logging.getLogger(__name__)

_LABELS = "LabelList"
"""An index that Lance is slow to add to: 2,000 rows to 215,000 take 20 to 40 s, and building it anew 1 s."""
_BUILT_FOR = "vector_built_for_"
_KINDS = {"IVFSQ": "IVF_SQ", "IVFPQ": "IVF_PQ", "IVFFLAT": "IVF_FLAT", "LABELLIST": "LABEL_LIST"}


VECTOR_INDEX_FROM = 8_192
"""Rows from which a vector index pays: at 10,000 rows it is three times as fast as comparing all, at the same recall."""
NPROBES = 12
"""Partitions of a vector index that a search looks into, all up to 100,000 rows: recall@10 of .97 at a million."""
FILTERED_NPROBES = 40
"""The same where a filter lets pass only some rows: their nearest lie farther away, in other partitions. At a
million, where it also lets pass what is in another language than the question, 40 find .98 of the ten nearest, 24 .93."""
MIN_REFINED = 50
"""Minimum rows compared by their full vectors; for larger limits twice the limit. An index shortens vectors so
little that for 100 of 86,000 rows five times as many find no other row."""
PARTITION_ROWS = 8_192
"""LanceDB's own preference. When it adds rows it merges partitions below a quarter of this size; with smaller
partitions the first added note would leave a few large ones, and searches would be several times slower."""


def partitions(rows: int) -> int:
    """Number of partitions of a vector index, by the number of rows."""
    return max(rows // PARTITION_ROWS, 1)


def refine_factor(limit: int) -> int:
    """Rows compared by their full vectors, as a multiple of ``limit``."""
    return max(2, MIN_REFINED // limit)


def probes(where: str | None) -> int:
    """Partitions that a vector search under this condition looks into."""
    return FILTERED_NPROBES if where else NPROBES


@dataclass(frozen=True, slots=True)
class PlannedIndex:
    """An index that a table gets once it has enough rows."""

    column: str
    make: Callable[[], Any]
    """LanceDB's configuration; called when the index is built."""
    rows: int = 0


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """Every index a table is to have."""

    columns: tuple[PlannedIndex, ...] = ()
    vector_from: int | None = None
    """Rows from which an approximate vector index beats the exact scan; None: no vectors."""


class IndexBuilder(Protocol):
    """Builds the indexes of a table, here or on a cluster."""

    @property
    def least(self) -> float:
        """Unindexed rows from which an index is rebuilt; fewer are added to it."""

    async def build(self, table: Any, column: str, config: Any, name: str | None = None) -> None:
        """An index of all rows, in place of the one that the column has; ``config`` is LanceDB's."""


class _BuiltHere:
    """By LanceDB."""

    least = math.inf

    async def build(self, table: Any, column: str, config: Any, name: str | None = None) -> None:
        await table.create_index(column, config=config, replace=True, name=name)


BUILT_HERE: IndexBuilder = _BuiltHere()


async def tidy_table(
    table: Any,
    plan: IndexPlan,
    table_name: str,
    *,
    purge: bool = False,
    builder: IndexBuilder = BUILT_HERE,
) -> None:
    """Compact a table, index what was written since, and build or renew what pays now.

    ``purge``: also erase removed rows from the files, that is from older versions, pieces and indexes. A reader
    of an older version then fails.

    Search results stay correct throughout. A concurrent write has precedence: tidying retries TRIES times, then
    leaves the table to a later write.
    """
    for attempt in range(TRIES):
        try:
            with translate_errors(f"indexing {table_name}"):
                await _tidy(table, plan, purge, builder)
            await asyncio.to_thread(trim_memory)
            return
        except StoreError as error:
            if "conflict" not in str(error).lower():
                raise
        await asyncio.sleep(FIRST_PAUSE * 2**attempt)
        with translate_errors(f"indexing {table_name}"):
            await table.checkout_latest()
    logger.info("%s is written too often to be indexed now; a later write updates its indexes", table_name)


async def _tidy(table: Any, plan: IndexPlan, purge: bool, builder: IndexBuilder) -> None:
    if purge:
        key = (await table.schema()).names[0]
        if await table.count_rows():
            await table.update(updates_sql={key: key})
        else:
            # A version records the condition of its deletion; this condition reveals nothing about the rows.
            await table.delete(f"{key} IS NULL")
    found = await table.list_indices()
    stale = await _counting_removed(table, found)
    slow = [
        index
        for index in found
        if index.index_type == _LABELS or (index.num_unindexed_rows or 0) >= builder.least
    ]
    stale.update(index.columns[0] for index in slow if index.num_unindexed_rows)
    await compact(table, KEEP_VERSIONS, leaving=[index.name for index in slow])
    rows = await table.count_rows()
    have = {index.columns[0]: index.name for index in found}
    for planned in plan.columns:
        if rows >= planned.rows and (purge or planned.column not in have or planned.column in stale):
            await builder.build(table, planned.column, planned.make())
        elif purge and planned.column in have:
            await table.drop_index(have[planned.column])
    if plan.vector_from is not None and rows >= plan.vector_from:
        await _vector_index(table, rows, builder, anew=purge or VECTOR in stale)
    elif purge and VECTOR in have:
        await table.drop_index(have[VECTOR])
    if purge:
        await compact(table, KEEP_NONE)


async def _counting_removed(table: Any, indexes: Sequence[Any]) -> set[str]:
    """Columns whose full-text index still counts removed rows, REMOVED_SHARE of all or more, in its document
    frequencies. LanceDB corrects them when it indexes new rows, and not where there are none."""
    found = [index for index in indexes if str(index.index_type).upper() == "FTS"]
    found = [index for index in found if index.created_at is not None and not index.num_unindexed_rows]
    if not found:
        return set()
    versions = sorted(await table.list_versions(), key=lambda version: int(version["version"]))
    held = [int(version["metadata"].get("total_rows", 0)) for version in versions]
    made = [version["timestamp"].astimezone(UTC) for version in versions]
    rows = held[-1]

    def removed_since(moment: datetime) -> int:
        return sum(max(0, a - b) for (a, b), at in zip(pairwise(held), made[1:], strict=True) if at >= moment)

    return {
        index.columns[0]
        for index in found
        if (removed := removed_since(index.created_at)) and removed >= REMOVED_SHARE * (rows + removed)
    }


async def _vector_index(table: Any, rows: int, builder: IndexBuilder, *, anew: bool) -> None:
    """Build or rebuild the vector index. Its name records the rows it was built for, since added rows fit its
    clusters less and less."""
    from lancedb.index import IvfSq

    found = [index for index in await table.list_indices() if index.columns[0] == VECTOR]
    built = {index.name: _built_for(index.name) for index in found}
    best = max(built.values(), default=0)
    name = f"{_BUILT_FOR}{best}"
    segments = max((index.num_segments or 0 for index in found), default=0)
    if anew or rows > STALE_FACTOR * best or segments > MAX_SEGMENTS:
        name = f"{_BUILT_FOR}{rows}"
        config = IvfSq(distance_type="cosine", num_partitions=partitions(rows))
        await builder.build(table, VECTOR, config, name)
    for other in sorted(built.keys() - {name}):
        await table.drop_index(other)


def _built_for(name: str) -> int:
    number = name.removeprefix(_BUILT_FOR)
    return int(number) if number.isdecimal() else 0


async def tidied_when_due(table: Any, tidy: Callable[[], Awaitable[None]], table_name: str) -> None:
    """Tidy after a write if it is due; a failure is only logged, since the write is done."""
    try:
        with translate_errors(f"looking at the indexes of {table_name}"):
            due = await is_due(table)
        if due:
            await tidy()
    except StoreError as error:
        logger.warning("%s was stored, but not indexed: %s", table_name, error)


async def is_due(table: Any) -> bool:
    """Whether recent writes slow searches: too many pieces, or too many rows outside an index for a while.

    Takes about 1 ms.
    """
    found = await table.list_indices()
    made = [index.created_at for index in found if index.created_at is not None]
    rested = not made or datetime.now(UTC) - max(made) >= CARE_INTERVAL
    held = await table.stats()
    rows = held["num_rows"]
    pieces = held["fragment_stats"]["num_fragments"] - expected_pieces(held["total_bytes"])
    if pieces > MAX_PIECES and (rested or rows <= ROWS_A_PIECE * pieces):
        return True
    missing = max((index.num_unindexed_rows or 0 for index in found), default=0)
    return bool(rested and missing > UNINDEXED_ROWS)


async def table_stats(table: Any, uri: str, table_name: str) -> TableStats:
    """Statistics of a table; the size includes all versions, indexes and generations."""
    with translate_errors(f"looking at {table_name}"):
        rows = int(await table.count_rows())
        indexes = [_index_stats(index) for index in await table.list_indices()]
        versions = len(await table.list_versions())
        ordered = tuple(sorted(indexes, key=lambda index: (index.column, index.kind)))
        fragments = int((await table.stats())["fragment_stats"]["num_fragments"])
        needed = await needed_bytes(table, Path(uri) / f"{table.name}.lance")
    told = TableStats(table_name, rows, ordered, versions, needed, fragments=fragments)
    if "://" in uri:
        return told
    size = await asyncio.to_thread(_size, Path(uri), of_generation(table.name)[0])
    return replace(told, size_bytes=size, old_bytes=max(0, size - needed))


def _index_stats(index: Any) -> IndexStats:
    kind = str(index.index_type).upper()
    return IndexStats(
        column=index.columns[0],
        kind=_KINDS.get(kind, kind),
        indexed_rows=int(index.num_indexed_rows or 0),
        unindexed_rows=int(index.num_unindexed_rows or 0),
    )


def _size(database: Path, base: str) -> int:
    """Bytes of a table's files, of all its generations."""
    return sum(map(folder_bytes, (database / f"{base}.lance", *database.glob(f"{base}.*.lance"))))


def plan_indexes(columns: Sequence[str], make: Callable[[], Any], rows: int = 0) -> tuple[PlannedIndex, ...]:
    """The same index on several columns."""
    return tuple(PlannedIndex(column, make, rows) for column in columns)
