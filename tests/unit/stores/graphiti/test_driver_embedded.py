from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextvars import Context
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import ConfigError
from agentic_rag.stores.graphiti.library import EntityNode, EpisodeType, EpisodicNode
from agentic_rag.stores.graphiti.store import GraphitiStore
from agentic_rag.testing import HashingEmbedding
from graph_fixtures import in_tables, note, opened

NOW = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture
async def store(tmp_path: Path, embedding: HashingEmbedding) -> AsyncIterator[GraphitiStore]:
    async with opened(tmp_path, embedding) as made:
        yield made


async def test_cypher_is_refused_with_the_setting_that_allows_it(store: GraphitiStore) -> None:
    """As Graphiti asks for communities and sagas, too; what was written stays."""
    await store.replace_documents("notes", [note("one", "tea")])
    from graphiti_core.search.search_config_recipes import COMMUNITY_HYBRID_SEARCH_RRF

    graphiti = await store.graphiti()
    driver = graphiti.driver
    before = await in_tables(store)
    for asked in (
        lambda: driver.execute_query("MATCH (n) RETURN count(*)"),
        lambda: driver.session().run("MATCH (n) RETURN count(*)"),
        lambda: driver.session().execute_write(lambda transaction: transaction.run("CREATE (n:Entity)")),
        lambda: EntityNode(name="Ann", group_id="notes").save(driver),
        lambda: EntityNode.delete_by_group_id(driver, "notes"),
        lambda: graphiti.build_communities(["notes"]),
        lambda: graphiti.search_("tea", COMMUNITY_HYBRID_SEARCH_RRF, ["notes"]),
        lambda: graphiti.retrieve_episodes(NOW, group_ids=["notes"], saga="week"),
    ):
        with pytest.raises(ConfigError, match=r"Cypher needs a graph server.* set graph\.backend"):
            await asked()
    with pytest.raises(NotImplementedError, match="entity"):
        _ = graphiti.nodes.entity
    assert await in_tables(store) == before


def episode(name: str) -> EpisodicNode:
    return EpisodicNode(
        name=name,
        group_id="g",
        source=EpisodeType.message,
        source_description="chat",
        content=name,
        valid_at=NOW,
    )


async def test_a_failed_transaction_leaves_nothing(store: GraphitiStore) -> None:
    driver = (await store.graphiti()).driver

    async def work(transaction: Any) -> None:
        await episode("Ann").save(driver)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await driver.session().execute_write(work)
    assert not any((await in_tables(store)).values())
    await episode("Bob").save(driver)
    assert len((await in_tables(store))["episodes"]) == 1


async def test_a_write_inside_a_transaction_joins_it(store: GraphitiStore) -> None:
    driver = (await store.graphiti()).driver

    async def work(transaction: Any) -> None:
        await transaction.begin()
        await episode("Ann").save(driver)
        assert (await in_tables(store))["episodes"] == set()

    await driver.session().execute_write(work)
    assert len((await in_tables(store))["episodes"]) == 1


async def test_the_turn_is_not_taken_before_the_first_write(store: GraphitiStore) -> None:
    driver = (await store.graphiti()).driver
    async with driver.transaction():
        write = store.replace_documents("notes", [note("one", "tea")])
        other = asyncio.create_task(write, context=Context())  # else it would join this transaction
        await asyncio.wait_for(other, 10)
        assert (await store.counts("notes")).episodes == 1
