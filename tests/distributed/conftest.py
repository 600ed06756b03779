"""One cluster for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ray_nodes import ray_nodes


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Of a cluster of two nodes, each of one core."""
    with ray_nodes(2) as address:
        yield address
