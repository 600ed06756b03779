"""The distinct metadata values of each dataset, against which ranges are resolved."""

from __future__ import annotations

import json
import time
from typing import Any

import pyarrow as pa

from agentic_rag.domain.identity import group_id
from agentic_rag.stores.lancedb.connection import READ_CONSISTENCY, LanceConnection, quoted, translated
from agentic_rag.stores.lancedb.indexes import IndexPlan, tidied
from agentic_rag.stores.lancedb.process_lock import RECORDING_VALUES, process_lock
from agentic_rag.stores.metadata_items import metadata_item, stored_key

PER_DELETE = 4_000
MOST_REMEMBERED = 256
"""Keys whose values are kept for the next search."""

_SCHEMA = pa.schema(
    [pa.field("item", pa.string(), nullable=False), pa.field("key", pa.string(), nullable=False)]
)


class MetadataValues:
    """Tables ``values_<group id>`` of value items (see ``metadata_items``) and the key each is about.

    What this process has written is seen at once, what another has within a second.
    """

    def __init__(self, connection: LanceConnection) -> None:
        self._connection = connection
        self._remembered: dict[tuple[str, str], tuple[float, list[str]]] = {}

    async def record(self, dataset: str, rows: pa.Table) -> None:
        """Note the values of rows that are about to be written; one too many does no harm."""
        items = sorted({item for meta in rows["meta"].to_pylist() for item in meta})
        items = [item for item in items if len(json.loads(item)) == 2]
        if not items:
            return
        values = await self._connection.create_table(_name(dataset), _SCHEMA, "item")
        data = pa.Table.from_pylist(
            [{"item": item, "key": stored_key(item)} for item in items], schema=_SCHEMA
        )
        with translated(f"recording metadata values of {dataset!r}"):
            await values.merge_insert("item").when_not_matched_insert_all().execute(data)
        self._remembered.clear()

    async def of(self, dataset: str, key: str) -> list[str]:
        """The value items that the dataset holds under a key, among them some that it held lately."""
        place = (group_id(dataset), key)
        asked, known = self._remembered.get(place, (0.0, []))
        if time.monotonic() - asked < READ_CONSISTENCY.total_seconds():
            return known
        table = await self._connection.table(_name(dataset))
        if table is None:
            return []
        began = time.monotonic()
        with translated(f"reading the values of {key!r}"):
            query = table.query().where(f"key = {quoted(stored_key(metadata_item(key)))}")
            rows = await query.select(["item"]).to_arrow()
        items: list[str] = rows["item"].to_pylist()
        if items == known:
            items = known  # one list for all who keep it, see ``FilterSql``
        if len(self._remembered) >= MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[place] = (began, items)
        return items

    async def keys(self, dataset: str) -> set[str]:
        """The keys under which the dataset holds a value, among them some that it held lately."""
        table = await self._connection.table(_name(dataset))
        if table is None:
            return set()
        with translated(f"reading what {dataset!r} can be filtered by"):
            rows = await table.query().select(["key"]).to_arrow()
        return {json.loads(key) for key in rows["key"].unique().to_pylist()}

    async def tidy(self, dataset: str, chunks: Any) -> None:
        """Forget values that no row of the chunk table has any more: they tell what removed notes said."""
        values = await self._connection.table(_name(dataset))
        if values is None:
            return
        with translated(f"tidying the values of {dataset!r}"):
            async with process_lock(self._connection.uri, RECORDING_VALUES):
                await _drop_unused(values, chunks)
        await tidied(values, IndexPlan(), f"the values of {dataset!r}")


async def _drop_unused(values: Any, chunks: Any) -> None:
    await chunks.checkout_latest()
    held = (await chunks.query().select(["meta"]).to_arrow())["meta"].combine_chunks().flatten().unique()
    known = (await values.query().select(["item"]).to_arrow())["item"]
    unused = sorted(set(known.to_pylist()) - set(held.to_pylist()))
    for start in range(0, len(unused), PER_DELETE):
        listed = ", ".join(quoted(item) for item in unused[start : start + PER_DELETE])
        await values.delete(f"item IN ({listed})")


def _name(dataset: str) -> str:
    return f"values_{group_id(dataset)}"
