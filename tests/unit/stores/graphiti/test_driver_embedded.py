from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextvars import Context
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from graph_fixtures import in_tables, note, opened

from agentic_rag.errors import StoreError
from agentic_rag.stores.graphiti.library import EntityNode
from agentic_rag.stores.graphiti.store import GraphitiStore
from agentic_rag.testing import HashingEmbedding


@pytest.fixture
async def store(tmp_path: Path, embedding: HashingEmbedding) -> AsyncIterator[GraphitiStore]:
    async with opened(tmp_path, embedding) as made:
        yield made


async def values(store: GraphitiStore, query: str, **parameters: Any) -> list[Any]:
    rows, _, _ = await store.graphiti.driver.execute_query(query, **parameters)
    return [next(iter(row.values())) for row in rows]


async def test_cypher_reads_what_was_written(store: GraphitiStore) -> None:
    date = datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert await values(store, "MATCH (n) RETURN count(*)") == [0]
    await store.replace_documents("notes", [note("one", "tea", "milk", date=date)])
    await store.replace_documents("笔记", [note("two", "tea")])
    fact = "MATCH (s:Entity)-[:RELATES_TO]->(e:RelatesToNode_)-[:RELATES_TO]->(t:Entity) "
    assert await values(store, f"{fact} RETURN s.name + e.fact + t.name") == [
        "teatea relates to milk in one.milk"
    ]
    dates = "MATCH (e:Episodic) WHERE e.content STARTS WITH $start RETURN e.valid_at"
    assert await values(store, dates, start="one") == [date]
    assert await values(store, "MATCH (:Episodic)-[m:MENTIONS]->(:Entity) RETURN count(*)") == [3]
    await store.remove_documents("notes", ["one"])
    assert await values(store, "MATCH (n:Entity) RETURN n.name") == ["tea"]


async def test_cypher_that_writes_is_refused(store: GraphitiStore) -> None:
    await store.replace_documents("notes", [note("one", "tea")])
    with pytest.raises(StoreError, match=r"only reads .*CREATE \(n:Entity.*write through Graphiti's methods"):
        await values(store, "CREATE (n:Entity {uuid: 'a'})")
    with pytest.raises(RuntimeError, match="MATHC"):
        await values(store, "MATHC (n) RETURN n")
    assert await values(store, "MATCH (n:Entity) RETURN n.name") == ["tea"]


async def test_the_copy_is_made_when_asked_for_and_leaves_nothing(
    tmp_path: Path, embedding: HashingEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    async with opened(tmp_path, embedding) as store:
        await store.replace_documents("notes", [note("one", "tea")])
        assert not any((tmp_path / "tmp").iterdir())
        await asyncio.gather(*(values(store, "MATCH (n) RETURN count(*)") for _ in range(4)))
        assert len(list((tmp_path / "tmp").iterdir())) == 1
    assert not any((tmp_path / "tmp").iterdir())


async def test_a_cancelled_query_leaves_the_next_one_whole(store: GraphitiStore) -> None:
    for number in range(5):
        await store.replace_documents("notes", [note("one", "tea", f"t{number}")])
        cancelled = asyncio.create_task(values(store, "MATCH (n) RETURN count(*)"))
        await asyncio.sleep(0.01 * number)
        cancelled.cancel()
        names = await values(store, "MATCH (n:Entity) RETURN n.name ORDER BY n.name")
        assert names == [f"t{number}", "tea"]
        assert cancelled.cancelled() or cancelled.done()


async def test_a_failed_transaction_leaves_nothing(store: GraphitiStore) -> None:
    driver = store.graphiti.driver

    async def work(transaction: Any) -> None:
        await EntityNode(name="Ann", group_id="g").save(driver)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await driver.session().execute_write(work)
    assert not any((await in_tables(store)).values())
    await EntityNode(name="Bob", group_id="g").save(driver)
    assert len((await in_tables(store))["entities"]) == 1


async def test_a_write_inside_a_transaction_joins_it(store: GraphitiStore) -> None:
    driver = store.graphiti.driver

    async def work(transaction: Any) -> None:
        await transaction.begin()
        await EntityNode(name="Ann", group_id="g").save(driver)
        assert (await in_tables(store))["entities"] == set()

    await driver.session().execute_write(work)
    assert len((await in_tables(store))["entities"]) == 1


async def test_the_turn_is_not_taken_before_the_first_write(store: GraphitiStore) -> None:
    driver = store.graphiti.driver
    async with driver.transaction():
        write = store.replace_documents("notes", [note("one", "tea")])
        other = asyncio.create_task(write, context=Context())  # else it would join this transaction
        await asyncio.wait_for(other, 10)
        assert (await store.counts("notes")).episodes == 1
