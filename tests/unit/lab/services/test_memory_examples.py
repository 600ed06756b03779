"""The examples of the memory test pipeline's page, and what each service does in its own way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from agentic_rag.errors import AllSourcesFailed, InputError, ModelError, StoreError, UnknownDataset
from agentic_rag.testing import FakeGraphEngine, HashingEmbedding
from agentic_rag_lab.designs.memory import Deletes
from agentic_rag_lab.designs.services import build_service
from agentic_rag_lab.designs.services.parts import ServiceParts

DIALOGS = [
    "(2023-08-01)Alice: Hello\n(2023-08-01)Bob: Hi",
    "(2023-08-01)Alice: I work at Google",
    "(2023-08-01)Bob: That's a great company!",
    "(2023-08-01)Alice: Yes, I love it there",
]


class Answering:
    """A retrieval graph that ends in a given state, or raises; ``requests`` holds what it was asked."""

    def __init__(self, state: dict[str, Any] | Exception) -> None:
        self.state = state
        self.asked: list[dict[str, Any]] = []

    async def ainvoke(self, state: Any, config: Any = None, /, *, context: Any = None) -> dict[str, Any]:
        self.asked.append(state)
        if isinstance(self.state, Exception):
            raise self.state
        return self.state


async def test_short_term_memory_gives_back_the_last_three(parts: ServiceParts) -> None:
    service = build_service("short_term_memory", {}, parts)
    for text in DIALOGS:
        await service.insert(text)
    found = await service.retrieve("Where does Alice work?")
    assert [memory["text"] for memory in found] == DIALOGS[1:]
    assert [memory["metadata"] for memory in found] == [None] * 3
    assert isinstance(service, Deletes)
    assert await service.delete("m00000001") is False  # it has fallen out
    assert await service.delete("m00000003") is True
    assert [m["text"] for m in await service.retrieve(top_k=1)] == DIALOGS[3:]


async def test_hash_memory_of_1024_dimensions(parts: ServiceParts) -> None:
    service = build_service("vector_hash_memory", {"dim": 1024, "nbits": 512, "topk": 2}, parts)
    google, york, tea = np.random.default_rng(2).standard_normal((3, 1024)).astype(np.float32)
    await service.insert("Alice works at Google", vector=google)
    await service.insert("Bob lives in New York", vector=york)
    await service.insert("Carol drinks tea", vector=tea)
    found = await service.retrieve("Where does Alice work?", vector=google + 0.1 * york)
    assert [memory["text"] for memory in found] == ["Alice works at Google", "Bob lives in New York"]
    assert [memory["metadata"] for memory in found] == [None, None]
    assert (await service.retrieve(vector=google, top_k=1))[0]["score"] == 1.0
    with pytest.raises(InputError, match=r"length 64 .* length 1024; set services.vector_hash_memory.dim"):
        await service.insert("without its vector, the model makes one of 64")
    assert await service.insert("nothing was kept of it", vector=tea) == "m00000004"


async def test_hash_memory_is_the_same_for_the_same_seed(parts: ServiceParts) -> None:
    scores = []
    for seed in (0, 0, 1):
        service = build_service("vector_hash_memory", {"nbits": 512}, replace(parts, seed=seed))
        for text in DIALOGS:
            await service.insert(text)
        scores.append([memory["score"] for memory in await service.retrieve("Alice at Google")])
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.parametrize("name", ["graph_memory", "agentic_memory"])
async def test_a_session_that_grows_embeds_what_is_new(
    name: str, parts: ServiceParts, embedding: HashingEmbedding
) -> None:
    service = build_service(name, {}, parts)
    turns: list[str] = []
    for number in range(6):
        await service.insert(
            f"(2023-08-01)Alice: dish {number}\n(2023-08-01)Bob: Great!", metadata={"session_id": 1}
        )
        await service.retrieve("dish")
        new = [
            text
            for text in embedding.embedded_texts[len(turns) :]
            if text.startswith("Alice and Bob, 1 August")
        ]
        assert len([text for text in new if f"dish {number}" in text]) == 1
        assert not [text for text in new if f"dish {number - 1}" in text]
        turns = list(embedding.embedded_texts)


async def test_graph_memory_asks_for_more_turns_than_memories(parts: ServiceParts) -> None:
    engine = FakeGraphEngine()
    service = build_service("graph_memory", {"topk": 3}, replace(parts, graph_engine=engine))
    await service.insert(DIALOGS[0], metadata={"session_id": 1})
    await service.insert(DIALOGS[1], metadata={"session_id": 2})
    assert await service.retrieve("Hello", metadata={"session_id": 1}) == []
    asked = engine.requests[0]
    assert (asked["dataset"], asked["limit"]) == ("memory", 12)
    assert asked["filters"].key == "dia_id"
    assert asked["filters"].value == ("D1:1", "D1:2")


def result(dia_id: str | None, score: float | None, fused: float = 0.01) -> dict[str, Any]:
    return {"id": f"x#{dia_id}", "metadata": {"dia_id": dia_id}, "rerank_score": score, "fused_score": fused}


async def agentic(parts: ServiceParts, state: dict[str, Any] | Exception) -> tuple[Any, Answering]:
    ask = Answering(state)
    service = build_service("agentic_memory", {}, replace(parts, ask=ask))
    for text in DIALOGS:
        await service.insert(text, metadata={"session_id": 1})
    return service, ask


async def test_agentic_memory_gives_each_memory_at_its_best_turn(parts: ServiceParts) -> None:
    found = [
        result("D1:5", 0.9),
        result("D1:2", 0.8),
        result(None, 0.75),
        result("D9:1", 0.7),
        result("D1:1", 0.6),
        result("D1:3", 0.6),
        result("D1:4", None),
    ]
    service, ask = await agentic(parts, {"reranked_results": found})
    memories = await service.retrieve("Where does Alice work?", top_k=5)
    assert [(memory["text"], memory["score"]) for memory in memories] == [
        (DIALOGS[3], 0.9),
        (DIALOGS[0], 0.8),
        (DIALOGS[1], 0.6),
    ]
    assert ask.asked == [
        {
            "query": "Where does Alice work?",
            "operation": "document_retrieval",
            "dataset": "memory",
            "top_k": 20,
        }
    ]
    await service.retrieve("Where?", metadata={"session_id": 2})
    await service.insert("elsewhere", metadata={"session_id": 2})
    await service.retrieve("Where?", metadata={"session_id": 2}, top_k=900)
    assert ask.asked[1]["filters"] == {"dia_id": {"$in": ("D2:1",)}}
    assert ask.asked[1]["top_k"] == 1000


async def test_agentic_memory_without_a_rerank_has_the_fused_score(parts: ServiceParts) -> None:
    service, _ = await agentic(
        parts, {"reranked_results": [result("D1:3", None, 0.03), result("D1:1", None, 0.02)]}
    )
    memories = await service.retrieve("Where?")
    assert [(memory["text"], memory["score"]) for memory in memories] == [
        (DIALOGS[1], 0.03),
        (DIALOGS[0], 0.02),
    ]


DEGRADED = {"status": "degraded", "reason": "no answer within 10 s"}
OK = {"status": "ok", "reason": None}


@pytest.mark.parametrize(
    ("state", "error", "told"),
    [
        (AllSourcesFailed({"graphiti": "gone"}), StoreError, "graphiti: gone"),
        (UnknownDataset("memory", []), StoreError, "the ask graph does not know it"),
        (
            {"outcomes": {"graphiti": DEGRADED, "lancedb": OK}},
            StoreError,
            r"in part only \(graphiti: no answer",
        ),
        ({"outcomes": {"lancedb": "skipped"}, "rerank_outcome": DEGRADED}, ModelError, "rerank: no answer"),
    ],
)
async def test_what_failed_in_the_graph_is_told(
    parts: ServiceParts, state: Any, error: type[Exception], told: str
) -> None:
    if isinstance(state, dict):
        state["reranked_results"] = []
    service, _ = await agentic(parts, state)
    with pytest.raises(error, match=told):
        await service.retrieve("Where?")
