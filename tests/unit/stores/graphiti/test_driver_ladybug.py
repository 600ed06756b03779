from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import ladybug
import pytest

from agentic_rag.errors import StoreError, StoreLocked
from agentic_rag.stores.graphiti import ladybug_file
from agentic_rag.stores.graphiti.driver_ladybug import LadybugDriver
from agentic_rag.stores.graphiti.library import (
    EntityEdge,
    EntityNode,
    EpisodeType,
    EpisodicEdge,
    EpisodicNode,
    SagaNode,
)

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
async def driver(tmp_path: Path):
    made = LadybugDriver(tmp_path / "graph.lbug")
    yield made
    await made.close()


async def values(driver: LadybugDriver, query: str) -> list[object]:
    rows, _, _ = await driver.execute_query(query)
    return [next(iter(row.values())) for row in rows]


async def test_does_not_open_before_the_first_query(tmp_path: Path) -> None:
    driver = LadybugDriver(tmp_path / "graph.lbug")
    await driver.build_indices_and_constraints()
    assert not (tmp_path / "graph.lbug").exists()
    await driver.execute_query("RETURN 1")
    assert (tmp_path / "graph.lbug").exists()
    await driver.close()


async def test_graphiti_s_own_queries_work_without_hooks(driver: LadybugDriver) -> None:
    oolong, fujian = (
        EntityNode(name=n, group_id="g", name_embedding=[0.1, 0.2]) for n in ("Oolong", "Fujian")
    )
    episode = EpisodicNode(
        name="e", group_id="g", source=EpisodeType.text, source_description="", content="…", valid_at=NOW
    )
    fact = EntityEdge(
        source_node_uuid=oolong.uuid,
        target_node_uuid=fujian.uuid,
        group_id="g",
        name="FROM",
        fact="Oolong comes from Fujian",
        fact_embedding=[0.3],
        created_at=NOW,
        valid_at=NOW,
    )
    for thing in (oolong, fujian, episode, fact):
        await thing.save(driver)
    mention = EpisodicEdge(
        source_node_uuid=episode.uuid, target_node_uuid=oolong.uuid, group_id="g", created_at=NOW
    )
    await mention.save(driver)
    await SagaNode(name="s", group_id="g", created_at=NOW).save(driver)

    found = await EntityEdge.get_by_uuid(driver, fact.uuid)
    assert (found.fact, found.valid_at, found.invalid_at) == (fact.fact, NOW, None)
    assert (await EpisodicNode.get_by_entity_node_uuid(driver, oolong.uuid))[0].uuid == episode.uuid
    await oolong.load_name_embedding(driver)
    assert oolong.name_embedding == pytest.approx([0.1, 0.2])
    await oolong.delete(driver)
    assert await values(driver, "MATCH (n:RelatesToNode_) RETURN n.uuid") == []


async def test_a_failed_transaction_leaves_nothing(driver: LadybugDriver) -> None:
    async def work(transaction: object) -> None:
        await transaction.run("CREATE (n:Entity {uuid: 'a'})")  # type: ignore[attr-defined]
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await driver.session().execute_write(work)
    assert await values(driver, "MATCH (n:Entity) RETURN n.uuid") == []


async def test_a_statement_that_fails_is_told_itself(driver: LadybugDriver) -> None:
    """LadybugDB rolls back by itself then, and refuses to do so again."""

    async def work(transaction: object) -> None:
        await transaction.run("CREATE (n:Entity {uuid: 'a'})")  # type: ignore[attr-defined]
        await transaction.run("CREATE (n:Entity {uuid: 'a'})")  # type: ignore[attr-defined]

    with pytest.raises(RuntimeError, match="duplicated primary key value a"):
        await driver.session().execute_write(work)
    assert await values(driver, "MATCH (n:Entity) RETURN n.uuid") == []
    await driver.execute_query("CREATE (n:Entity {uuid: 'b'})")
    assert await values(driver, "MATCH (n:Entity) RETURN n.uuid") == ["b"]


async def test_writers_take_turns_and_readers_see_whole_transactions(driver: LadybugDriver) -> None:
    await driver.execute_query("CREATE (n:Entity {uuid: 'n', name: '0'})")

    async def write(number: int) -> None:
        async with driver.transaction() as transaction:
            for suffix in ("x", "y"):
                await transaction.run("CREATE (n:Saga {uuid: $uuid, name: 's'})", uuid=f"{number}{suffix}")
                await asyncio.sleep(0)

    async def read() -> None:
        assert (await values(driver, "MATCH (n:Saga) RETURN count(*)"))[0] % 2 == 0  # type: ignore[operator]

    await asyncio.gather(*(write(n) for n in range(8)), *(read() for _ in range(16)))
    assert await values(driver, "MATCH (n:Saga) RETURN count(*)") == [16]


async def test_a_write_inside_a_transaction_joins_it(driver: LadybugDriver) -> None:
    async def work(transaction: object) -> None:
        await transaction.run("CREATE (n:Entity {uuid: 'a'})")  # type: ignore[attr-defined]
        await driver.execute_query("CREATE (n:Entity {uuid: 'b'})")
        assert len(await values(driver, "MATCH (n:Entity) RETURN n.uuid")) == 2
        raise ValueError("undo")

    with pytest.raises(ValueError, match="undo"):
        await driver.session().execute_write(work)
    assert await values(driver, "MATCH (n:Entity) RETURN n.uuid") == []


async def test_the_lock_is_not_taken_before_the_first_statement(driver: LadybugDriver) -> None:
    async with driver.transaction():
        await asyncio.wait_for(asyncio.create_task(_create(driver)), 10)
    assert await values(driver, "MATCH (n:Entity) RETURN n.uuid") == ["other"]


async def _create(driver: LadybugDriver) -> None:
    await driver.execute_query("CREATE (n:Entity {uuid: 'other'})")


async def test_dates_come_back_in_utc(driver: LadybugDriver) -> None:
    await driver.execute_query("CREATE (n:Entity {uuid: 'a', created_at: $now})", now=NOW)
    assert await values(driver, "MATCH (n:Entity) RETURN n.created_at") == [NOW]


async def test_a_second_store_in_this_process_is_refused(driver: LadybugDriver, tmp_path: Path) -> None:
    await driver.execute_query("RETURN 1")
    second = LadybugDriver(tmp_path / "graph.lbug")
    with pytest.raises(StoreLocked, match="already open in this process"):
        await second.execute_query("RETURN 1")
    await second.close()
    third = LadybugDriver(tmp_path / "graph.lbug")
    with pytest.raises(StoreLocked):
        await third.execute_query("RETURN 1")
    await third.close()


async def test_closing_lets_another_open(tmp_path: Path) -> None:
    for times in (1, 2):
        driver = LadybugDriver(tmp_path / "graph.lbug")
        await driver.execute_query("CREATE (n:Entity {uuid: $uuid})", uuid=str(times))
        assert len(await values(driver, "MATCH (n:Entity) RETURN n.uuid")) == times
        await driver.close()


async def test_another_process_is_refused_and_told_what_to_do(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import ladybug, sys, time\n"
            f"database = ladybug.Database({str(tmp_path / 'graph.lbug')!r}, buffer_pool_size=1 << 26)\n"
            "print('open', flush=True)\n"
            "time.sleep(60)",
        ],
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        driver = LadybugDriver(tmp_path / "graph.lbug")
        with pytest.raises(StoreLocked, match="wait until it ends"):
            await driver.execute_query("RETURN 1")
        await driver.close()
    finally:
        holder.kill()
        holder.communicate()


@pytest.mark.parametrize("content", [b"not a graph" * 1000, b""])
async def test_a_damaged_file_is_kept_aside(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "graph.lbug"
    path.write_bytes(content)
    driver = LadybugDriver(path)
    with caplog.at_level(logging.WARNING):
        assert await values(driver, "MATCH (n:Entity) RETURN n.uuid") == []
    await driver.close()
    if content:
        assert (tmp_path / "graph.lbug.damaged-1").read_bytes() == content
        assert "damaged" in caplog.text


async def test_a_damaged_wal_is_kept_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "graph.lbug"
    driver = LadybugDriver(path)
    await driver.execute_query("RETURN 1")
    await driver.close()
    (tmp_path / "graph.lbug.wal").write_bytes(b"\x07garbage" * 500)
    driver = LadybugDriver(path)
    with caplog.at_level(logging.WARNING):
        await driver.execute_query("RETURN 1")
    await driver.close()
    assert "rebuilt from LanceDB" in caplog.text
    assert (tmp_path / "graph.lbug.damaged-1.wal").exists()


async def test_a_file_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    driver = LadybugDriver(tmp_path / "file" / "graph.lbug")
    with pytest.raises(StoreError):
        await driver.execute_query("RETURN 1")
    await driver.close()


async def test_keys_are_indexed_in_little_space(tmp_path: Path) -> None:
    path = tmp_path / "graph.lbug"
    for _ in range(2):  # made, then opened again
        driver = LadybugDriver(path)
        await driver.execute_query(
            "CREATE (n:Entity {uuid: 'a'}), (m:Episodic {uuid: 'b'}), (s:Saga {uuid: 'c'})"
        )
        rows, _, _ = await driver.execute_query("CALL show_indexes() RETURN table_name AS t, index_type AS i")
        tables = ["Community", "Entity", "Episodic", "RelatesToNode_", "Saga"]
        assert sorted((row["t"], row["i"]) for row in rows) == [(table, "ART") for table in tables]
        await driver.execute_query("MATCH (n) DETACH DELETE n")
        await driver.close()
    assert path.stat().st_size < 500_000


async def test_a_file_with_hash_indexes_goes_on(tmp_path: Path) -> None:
    """As files were made before, with the indexes that LadybugDB makes by itself."""
    path = tmp_path / "graph.lbug"
    database = ladybug.Database(str(path))
    connection = ladybug.Connection(database)
    connection.execute(ladybug_file._SCHEMA)
    connection.execute("CREATE (n:Entity {uuid: 'old', name: 'Tea'})")
    connection.close()
    database.close()
    driver = LadybugDriver(path)
    assert set(await values(driver, "CALL show_indexes() RETURN index_type")) == {"HASH"}
    await driver.execute_query("CREATE (n:Entity {uuid: 'new', name: 'Leaf'})")
    assert await values(driver, "MATCH (n:Entity) WHERE n.uuid = 'old' RETURN n.name") == ["Tea"]
    assert await values(driver, "MATCH (n:Entity) WHERE n.uuid = 'new' RETURN n.name") == ["Leaf"]
    with pytest.raises(RuntimeError, match="duplicated primary key"):
        await driver.execute_query("CREATE (n:Entity {uuid: 'old'})")
    await driver.close()
