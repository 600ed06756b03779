"""PreRetrieval: the question, optionally with its embedding; MemoryRetrieval: the service's input and output."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import InputError
from agentic_rag.testing import HashingEmbedding
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.operators import NoAction, OperatorTools
from agentic_rag_lab.designs.operators.memory_retrieval import (
    EmbedQuestion,
    MemoryRetrieval,
    PreRetrieval,
)
from word_counts import count_words

ASKED = {
    "question": "Where does Alice work?",
    "answer": "Google",
    "task_id": "conv-26",
    "session_id": 12,
    "question_id": 5,
}


async def test_only_the_embedding_action_embeds_the_question() -> None:
    embedding = HashingEmbedding()
    tools = OperatorTools(embedding, None, count_words)
    assert await PreRetrieval(NoAction(), tools).execute(ASKED) == {}
    assert embedding.embedded_texts == []
    written = await PreRetrieval(EmbedQuestion(), tools).execute(ASKED)
    assert embedding.embedded_texts == ["Where does Alice work?"]
    (vector,) = await embedding.embed_queries(["Where does Alice work?"])
    assert written == {"query_embedding": [float(value) for value in vector]}
    assert json.loads(json.dumps(written)) == written


@pytest.mark.parametrize("settings", [NoAction(), EmbedQuestion()])
async def test_a_question_without_text_is_not_embedded(settings: Any) -> None:
    operator = PreRetrieval(settings, OperatorTools(HashingEmbedding(), None, count_words))
    with pytest.raises(InputError, match="'question'"):
        await operator.execute({"answer": "Google"})


HELD = [
    Memory(text="(2023-08-01)Alice: I work at Google", metadata=None, entry_id="m00000001", score=None),
    Memory(text="(2023-08-01)Bob: That's a great company!", metadata=None, entry_id="m00000002", score=None),
]


class Recording:
    """A memory that gives what it holds and notes how it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        self.asked.append({"query": query, "vector": vector, "metadata": metadata, "top_k": top_k})
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


@pytest.mark.parametrize("data", [{}, {"question": None}, {"question": 3}])
async def test_data_without_a_question(data: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="'question'"):
        await MemoryRetrieval(Recording(), None).execute(data)
