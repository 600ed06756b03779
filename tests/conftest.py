"""Makes ``local_openai_server`` importable and hands one out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from local_openai_server import LocalOpenAIServer, running


@pytest.fixture
def model_server() -> Iterator[LocalOpenAIServer]:
    """A local server that speaks the OpenAI protocol."""
    with running() as server:
        yield server
