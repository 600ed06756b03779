"""Errors of a graph server that is not configured, or not up yet."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from urllib.parse import SplitResult

import pytest
from neo4j.exceptions import Neo4jError

from agentic_rag.errors import ConfigError, StoreAway
from agentic_rag.settings.config import GraphConfig
from agentic_rag.stores.graph.servers import graph_server
from agentic_rag_backends.graphservers.drivers import _DRIVERS, server_driver


def configured(backend: str, uri: str) -> GraphConfig:
    return GraphConfig.model_validate({"backend": backend, "uri": uri, "password": "secret"})


@pytest.mark.parametrize("backend", ["neo4j", "falkordb"])
@pytest.mark.parametrize(
    ("uri", "setting"), [(None, "graph.uri, such as"), ("bolt://127.0.0.1:1", "AGENTIC_RAG_GRAPH__PASSWORD")]
)
def test_a_missing_setting_is_named(backend: str, uri: str | None, setting: str) -> None:
    with pytest.raises(ConfigError, match=setting):
        server_driver(GraphConfig.model_validate({"backend": backend, "uri": uri}), None)


def test_a_server_that_no_package_adds_is_named() -> None:
    with pytest.raises(
        ConfigError, match=r"unknown graph\.backend 'oracle'; use one of: embedded, falkordb, neo4j"
    ):
        graph_server("oracle")


async def test_a_database_that_is_not_up_yet_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neo4j says so while it starts, after its port answers."""
    error = Neo4jError._hydrate_neo4j(
        code="Neo.TransientError.General.DatabaseUnavailable", message="database 'neo4j' is unavailable"
    )

    async def refused() -> None:
        raise error

    driver = server_driver(configured("neo4j", "bolt://ada@127.0.0.1:1"), None)
    monkeypatch.setattr(driver.client, "verify_connectivity", refused)
    with pytest.raises(
        StoreAway, match=r"neo4j at 127\.0\.0\.1:1 cannot be used: .*is unavailable.*; start it"
    ):
        await driver.reach()
    await driver.close()


@pytest.mark.parametrize(
    ("backend", "uri", "user"),
    [
        ("neo4j", "bolt://h:7687", "neo4j"),
        ("neo4j", "bolt://ada%40x@h:7687", "ada@x"),
        ("falkordb", "redis://h:1", None),
        ("falkordb", "redis://ada@h:1", "ada"),
    ],
)
def test_a_user_may_stand_in_the_address(
    backend: str, uri: str, user: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def driver(address: SplitResult, *login: str | None) -> Any:
        return SimpleNamespace(address=address.geturl(), login=login)

    monkeypatch.setitem(_DRIVERS, backend, driver)
    opened = server_driver(configured(backend, uri), None)
    assert opened.login == (user, "secret")
    assert "@" not in opened.address + opened.description
