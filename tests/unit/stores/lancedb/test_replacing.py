"""Rows of documents are made exactly the given ones, and those that stay as they are are not written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from agentic_rag.stores.lancedb.replacing import replace_rows

NewTable = Callable[[pa.Schema], Awaitable[Any]]
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("note", pa.string()),
        pa.field("text", pa.string()),
        pa.field("at", pa.timestamp("us", "UTC")),
        pa.field("tags", pa.list_(pa.string())),
        pa.field("vector", pa.list_(pa.float16(), 4), nullable=False),
        pa.field("tokens", pa.binary()),
    ]
)
NOW = datetime(2026, 7, 1, tzinfo=UTC)
Told = dict[str, tuple[str, str | None]]


def rows(note: str, *told: tuple[str, str | None], tags: list[str] | None = None) -> pa.Table:
    """Ids and texts."""
    vector = np.full(4, len(note), np.float16)
    return pa.Table.from_pylist(
        [
            {"id": i, "note": note, "text": t, "at": NOW, "tags": tags, "vector": vector, "tokens": b"\x00"}
            for i, t in told
        ],
        schema=SCHEMA,
    )


@pytest.fixture
async def table(new_table: NewTable) -> Any:
    made = await new_table(SCHEMA)
    await made.add(rows("tea", ("1", "oolong"), ("2", "sencha"), ("3", None)))
    await made.add(rows("milk", ("4", "white")))
    return made


async def held(table: Any) -> Told:
    found = (await table.query().to_arrow()).to_pylist()
    assert len({row["id"] for row in found}) == len(found)
    return {row["id"]: (row["note"], row["text"]) for row in found}


async def row_ids(table: Any) -> dict[str, int]:
    found = await table.query().select(["id"]).with_row_id().to_arrow()
    return dict(zip(found["id"].to_pylist(), found["_rowid"].to_pylist(), strict=True))


async def test_what_differs_is_written_and_the_rest_stays(table: Any) -> None:
    before = await row_ids(table)
    await replace_rows(table, rows("tea", ("2", "SENCHA"), ("3", None), ("5", "new")), "note = 'tea'")
    assert await held(table) == {
        "2": ("tea", "SENCHA"),
        "3": ("tea", None),
        "4": ("milk", "white"),
        "5": ("tea", "new"),
    }
    after = await row_ids(table)
    assert {"3", "4"} <= {i for i in after if before.get(i) == after[i]}


async def test_the_same_rows_again_make_no_version(table: Any) -> None:
    version = await table.version()
    await replace_rows(table, rows("tea", ("3", None), ("1", "oolong"), ("2", "sencha")), "note = 'tea'")
    assert await table.version() == version


@pytest.mark.parametrize("column", ["tags", "vector", "tokens", "at"])
async def test_every_column_counts(table: Any, column: str) -> None:
    given = rows("tea", ("1", "oolong"), ("2", "sencha"), ("3", None)).to_pylist()
    other = {"tags": ["a"], "vector": np.ones(4, np.float16), "tokens": b"\x01", "at": None}
    given[1][column] = other[column]
    await replace_rows(table, pa.Table.from_pylist(given, schema=SCHEMA), "note = 'tea'")
    found = await table.query().where("id = '2'").to_arrow()
    assert len(found) == 1
    assert found[column].to_pylist() == pa.array([other[column]], SCHEMA.field(column).type).to_pylist()


@pytest.mark.parametrize("left", [("2", "SENCHA"), ("2", "sencha")])
async def test_what_a_crash_left_beside_a_row_goes(table: Any, left: tuple[str, str]) -> None:
    await table.add(rows("tea", left))
    await replace_rows(table, rows("tea", ("1", "oolong"), ("2", "SENCHA"), ("3", None)), "note = 'tea'")
    assert await held(table) == {
        "1": ("tea", "oolong"),
        "2": ("tea", "SENCHA"),
        "3": ("tea", None),
        "4": ("milk", "white"),
    }


async def test_no_rows_remove_all(table: Any) -> None:
    await replace_rows(table, SCHEMA.empty_table(), "note = 'tea'")
    assert await held(table) == {"4": ("milk", "white")}
    await replace_rows(table, SCHEMA.empty_table(), "note = 'tea'")
    assert await held(table) == {"4": ("milk", "white")}
