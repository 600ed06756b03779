"""Errors of a graph server that is not configured, or not up yet."""

from __future__ import annotations

import pytest
from neo4j.exceptions import Neo4jError

from agentic_rag.errors import ConfigError, StoreAway
from agentic_rag.stores.graphiti.driver_server import server_driver


@pytest.mark.parametrize("backend", ["neo4j", "falkordb"])
@pytest.mark.parametrize(
    ("uri", "setting"), [(None, "graph.uri, such as"), ("bolt://127.0.0.1:1", "AGENTIC_RAG_GRAPH__PASSWORD")]
)
def test_a_missing_setting_is_named(backend: str, uri: str | None, setting: str) -> None:
    with pytest.raises(ConfigError, match=setting):
        server_driver(backend, uri, None, None, None)


async def test_a_database_that_is_not_up_yet_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neo4j says so while it starts, after its port answers."""
    error = Neo4jError._hydrate_neo4j(
        code="Neo.TransientError.General.DatabaseUnavailable", message="database 'neo4j' is unavailable"
    )

    async def refused() -> None:
        raise error

    driver = server_driver("neo4j", "bolt://127.0.0.1:1", "ada", "secret", None)
    monkeypatch.setattr(driver.client, "verify_connectivity", refused)
    with pytest.raises(
        StoreAway, match=r"neo4j at 127\.0\.0\.1:1 cannot be used: .*is unavailable.*; start it"
    ):
        await driver.reach()
    await driver.close()
