"""Rows by their keys through row ids: whatever is written, compacted or dropped meanwhile, the rows are the right ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from agentic_rag.stores.lancedb import row_ids
from agentic_rag.stores.lancedb.row_ids import RowIds

NewTable = Callable[[pa.Schema], Awaitable[Any]]
SCHEMA = pa.schema([pa.field("uuid", pa.string(), nullable=False), pa.field("text", pa.string())])


def rows(first: int, count: int, text: str = "tea") -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {"uuid": [f"{n:03}" for n in numbers], "text": [f"{text} {n}" for n in numbers]}, schema=SCHEMA
    )


@pytest.fixture
def of() -> RowIds:
    return RowIds("uuid")


@pytest.fixture
async def table(new_table: NewTable) -> Any:
    made = await new_table(SCHEMA)
    await made.add(rows(0, 50))
    await made.add(rows(50, 50))
    return made


async def texts(of: RowIds, table: Any, keys: list[str]) -> dict[str, str]:
    found = await of.rows(table, keys, ["text"])
    return dict(zip(found["uuid"].to_pylist(), found["text"].to_pylist(), strict=True))


async def test_each_row_that_is_there(of: RowIds, table: Any):
    asked = ["099", "001", "no such", "", "it's", "050", "001"]
    assert await texts(of, table, asked) == {"001": "tea 1", "050": "tea 50", "099": "tea 99"}
    assert await texts(of, table, ["no such"]) == {}
    assert await of.rows(table, [], ["text"]) is None
    assert (await of.rows(table, ["001"], ["uuid"])).column_names == ["uuid"]


@pytest.mark.parametrize("rest", [0.0, 1e9], ids=["read again", "read before"])
async def test_what_changed_meanwhile(of: RowIds, table: Any, rest: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(row_ids, "REST_FACTOR", rest)
    keys = ["010", "060", "070", "100"]
    assert set(await texts(of, table, keys)) == {"010", "060", "070"}

    await table.delete("uuid = '010' OR uuid = '011'")
    merge = table.merge_insert("uuid").when_matched_update_all().when_not_matched_insert_all()
    await merge.execute(rows(60, 1, "coffee"))
    await table.add(rows(100, 1))
    assert await texts(of, table, keys) == {"060": "coffee 60", "070": "tea 70", "100": "tea 100"}

    await table.optimize()
    assert await texts(of, table, keys) == {"060": "coffee 60", "070": "tea 70", "100": "tea 100"}
    assert len(await texts(of, table, [f"{n:03}" for n in range(101)])) == 99


async def test_keys_of_one_hash(table: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(row_ids, "_hashes", lambda keys: np.array([int(key[-1]) for key in keys], np.int64))
    assert await texts(RowIds("uuid"), table, ["001", "011", "099"]) == {
        "001": "tea 1",
        "011": "tea 11",
        "099": "tea 99",
    }
