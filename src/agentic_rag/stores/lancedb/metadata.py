"""Filters on arbitrary user metadata: as exact LanceDB SQL, and the distinct values against which ranges are resolved.

A chunk's items (see ``stores.metadata_items``) are stored as ``meta``, a list of texts with a label-list
index; a condition on them is ``array_has_any``, joined by AND and OR.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from agentic_rag.domain.filters import Expression
from agentic_rag.domain.identity import group_id
from agentic_rag.stores.lancedb.connection import (
    READ_CONSISTENCY,
    LanceConnection,
    delete_keys,
    translate_errors,
)
from agentic_rag.stores.lancedb.indexes import IndexPlan, tidy_table
from agentic_rag.stores.lancedb.process_lock import RECORDING_VALUES, process_lock
from agentic_rag.stores.lancedb.sql import quote
from agentic_rag.stores.metadata_items import condition, metadata_item, range_keys, stored_key, translate

MAX_REMEMBERED = 256
"""Number of keys whose values, and of filters whose SQL, are cached."""
NOTHING = "(chunk_id IS NULL)"
"""Never true: the key column is not nullable. A literal ``false`` is not accepted everywhere."""

_SCHEMA = pa.schema(
    [pa.field("item", pa.string(), nullable=False), pa.field("key", pa.string(), nullable=False)]
)


class MetadataValues:
    """Tables ``values_<group id>`` of value items (see ``metadata_items``) and the key each is about.

    What this process has written is seen at once, what another has within a second.
    """

    def __init__(self, connection: LanceConnection) -> None:
        self._connection = connection
        self._cached_values: dict[tuple[str, str], tuple[float, list[str]]] = {}

    async def record(self, dataset: str, items: Sequence[str]) -> None:
        """Note the ``value_items`` of rows that are about to be written; one too many does no harm."""
        if not items:
            return
        values = await self._connection.create_table(_name(dataset), _SCHEMA, "item")
        data = pa.Table.from_pylist(
            [{"item": item, "key": stored_key(item)} for item in items], schema=_SCHEMA
        )
        with translate_errors(f"recording metadata values of {dataset!r}"):
            await values.merge_insert("item").when_not_matched_insert_all().execute(data)
        self._cached_values.clear()

    async def filter_sql(self, dataset: str, expression: Expression) -> str:
        """The filter as SQL, ranges resolved against what the dataset holds."""
        values = {key: await self.of(dataset, key) for key in sorted(range_keys(expression))}
        # A range or a part of a text compares each value that the dataset holds.
        return await asyncio.to_thread(to_sql, expression, values)

    async def of(self, dataset: str, key: str) -> list[str]:
        """The value items that the dataset holds under a key, among them some that it held lately."""
        place = (group_id(dataset), key)
        asked, known = self._cached_values.get(place, (0.0, []))
        if time.monotonic() - asked < READ_CONSISTENCY.total_seconds():
            return known
        table = await self._connection.table(_name(dataset))
        if table is None:
            return []
        began = time.monotonic()
        with translate_errors(f"reading the values of {key!r}"):
            query = table.query().where(f"key = {quote(stored_key(metadata_item(key)))}")
            rows = await query.select(["item"]).to_arrow()
        items: list[str] = rows["item"].to_pylist()
        if len(self._cached_values) >= MAX_REMEMBERED:
            self._cached_values.clear()
        self._cached_values[place] = (began, items)
        return items

    async def keys(self, dataset: str) -> set[str]:
        """The keys under which the dataset holds a value, among them some that it held lately."""
        table = await self._connection.table(_name(dataset))
        if table is None:
            return set()
        with translate_errors(f"reading what {dataset!r} can be filtered by"):
            rows = await table.query().select(["key"]).to_arrow()
        return {json.loads(key) for key in rows["key"].unique().to_pylist()}

    async def tidy(self, dataset: str, chunks: Any, *, purge: bool = False) -> None:
        """Delete values that no row of the chunk table has any more: they could reveal the content of removed notes."""
        values = await self._connection.table(_name(dataset))
        if values is None:
            return
        with translate_errors(f"tidying the values of {dataset!r}"):
            async with process_lock(self._connection.locks, RECORDING_VALUES):
                await _drop_unused(values, chunks)
        await tidy_table(values, IndexPlan(), f"the values of {dataset!r}", purge=purge)


def value_items(rows: pa.Table) -> list[str]:
    """The values that the chunks of these rows can be filtered by, each once, sorted."""
    items = sorted({item for meta in rows["meta"].to_pylist() for item in meta})
    return [item for item in items if len(json.loads(item)) == 2]


async def _drop_unused(values: Any, chunks: Any) -> None:
    await chunks.checkout_latest()
    held = (await chunks.query().select(["meta"]).to_arrow())["meta"].combine_chunks().flatten().unique()
    known = (await values.query().select(["item"]).to_arrow())["item"]
    await delete_keys(values, "item", set(known.to_pylist()) - set(held.to_pylist()))


def _name(dataset: str) -> str:
    return f"values_{group_id(dataset)}"


def to_sql(expression: Expression, values: Mapping[str, Sequence[str]]) -> str:
    """A boolean SQL expression that is true exactly where ``filters.matches`` is.

    NOT stands only before items: LanceDB refuses a NOT of a NOT, and takes exponential time for many. The SQL is
    cached, because filters recur and a range compares every value.

    Args:
        expression: the filter.
        values: for each of ``range_keys(expression)``, the value items the dataset holds under it.
    """
    # Spelled out, because 1, 1.0 and True are equal, and not the same filter.
    return _cached_values(repr(expression), expression, tuple((key, *held) for key, held in values.items()))


@lru_cache(MAX_REMEMBERED)
def _cached_values(_terms: str, expression: Expression, values: tuple[tuple[str, ...], ...]) -> str:
    wanted = condition(expression, {key: held for key, *held in values})
    return translate(wanted, _has_any, _all_of, _any_of)


def _has_any(items: Sequence[str], is_negated: bool) -> str:
    found = NOTHING
    if items:
        found = f"array_has_any(meta, [{', '.join(quote(item) for item in items)}])"
    return f"(NOT {found})" if is_negated else found


def _all_of(parts: Sequence[str]) -> str:
    return f"({' AND '.join(parts)})"


def _any_of(parts: Sequence[str]) -> str:
    return f"({' OR '.join(parts)})"
