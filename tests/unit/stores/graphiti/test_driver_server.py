"""A graph server that is not configured is told by the settings' names."""

from __future__ import annotations

import pytest

from agentic_rag.errors import ConfigError
from agentic_rag.stores.graphiti.driver_server import server_driver


@pytest.mark.parametrize("backend", ["neo4j", "falkordb"])
@pytest.mark.parametrize(
    ("uri", "setting"), [(None, "graph.uri, such as"), ("bolt://127.0.0.1:1", "AGENTIC_RAG_GRAPH__PASSWORD")]
)
def test_a_missing_setting_is_named(backend: str, uri: str | None, setting: str) -> None:
    with pytest.raises(ConfigError, match=setting):
        server_driver(backend, uri, None, None, None)
