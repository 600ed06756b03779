"""MemoryRetrieval: what the service is asked, and what comes back, in both modes of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from agentic_rag.domain.memory import DEFAULT_TOP_K, Memory
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import ConfigError, InputError, StoreError
from agentic_rag.lab.operators.memory_retrieval import MemoryRetrieval

HELD = [
    Memory(text="(2023-08-01)Alice: I work at Google", metadata=None, entry_id="m00000001", score=None),
    Memory(text="(2023-08-01)Bob: That's a great company!", metadata=None, entry_id="m00000002", score=None),
]


class Recording:
    """A memory that gives what it holds and notes how it was asked; or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[dict[str, Any]] = []
        self.error = error

    async def insert(self, *args: Any, **kwargs: Any) -> str | None:
        raise AssertionError("retrieval must not insert")

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        self.asked.append({"query": query, "vector": vector, "metadata": metadata, "top_k": top_k})
        if self.error is not None:
            raise self.error
        return list(HELD)


async def test_without_a_vector() -> None:
    service = Recording()
    written = await MemoryRetrieval(service, 3).execute(
        {"question": "Where does Alice work?", "answer": "Google"}
    )
    assert service.asked == [
        {"query": "Where does Alice work?", "vector": None, "metadata": None, "top_k": 3}
    ]
    assert written == {"memory_data": HELD}


async def test_with_a_vector() -> None:
    service = Recording()
    await MemoryRetrieval(service, None).execute({"question": "Where?", "query_embedding": [0.23, 0.45]})
    asked = service.asked[0]
    assert asked["top_k"] is None
    assert asked["vector"].dtype == np.float32
    np.testing.assert_allclose(asked["vector"], [0.23, 0.45], rtol=1e-6)


async def test_the_default_number() -> None:
    service = Recording()
    await MemoryRetrieval(service).execute({"question": "Where?"})
    assert service.asked[0]["top_k"] == DEFAULT_TOP_K


async def test_an_empty_question_is_asked_like_any_other() -> None:
    service = Recording()
    await MemoryRetrieval(service).execute({"question": ""})
    assert service.asked[0]["query"] == ""


@pytest.mark.parametrize("data", [{}, {"question": None}, {"question": 3}])
async def test_data_without_a_question(data: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="'question'"):
        await MemoryRetrieval(Recording()).execute(data)


async def test_a_broken_memory_is_an_error() -> None:
    with pytest.raises(StoreError, match="gone"):
        await MemoryRetrieval(Recording(StoreError("gone"))).execute({"question": "Where?"})


@pytest.mark.parametrize("top_k", [0, -1])
def test_top_k_below_one(top_k: int) -> None:
    with pytest.raises(ConfigError, match=f"at least 1, not {top_k}"):
        MemoryRetrieval(Recording(), top_k)
