"""Action rerank: each type by its own arithmetic."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.errors import ConfigError, InputError, ModelError
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.post_retrieval import PostRetrieval, PostRetrievalTools, parse_steps
from agentic_rag_lab.designs.post_retrieval.rerank import personalised_pagerank
from word_counts import count_words


def memory(entry_id: str, score: float | None = 0.5, **more: Any) -> dict[str, Any]:
    metadata = more.pop("metadata", None)
    return {"text": entry_id, "entry_id": entry_id, "score": score, "metadata": metadata, **more}


class Linked:
    """A service that knows links: entry id to linked ids and strengths."""

    def __init__(self, links: Mapping[str, Mapping[str, float | None]]) -> None:
        self.links = links
        self.asked: list[str] = []

    async def neighbours(self, entry_id: str, *, top_k: int | None = None) -> list[Memory]:
        self.asked.append(entry_id)
        found = sorted(
            self.links.get(entry_id, {}).items(), key=lambda pair: -(1.0 if pair[1] is None else pair[1])
        )
        return [
            Memory(text=name, metadata=None, entry_id=name, score=strength)
            for name, strength in found[:top_k]
        ]


class Scores:
    """A rerank model with fixed scores."""

    def __init__(self, *scores: float) -> None:
        self.scores = list(scores)

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.heard = (query, list(passages))
        return self.scores


async def rerank(
    memories: list[dict[str, Any]],
    kind: str,
    *,
    service: Any = None,
    reranker: Any = None,
    data: Mapping[str, Any] | None = None,
    **settings: Any,
) -> tuple[list[tuple[str, float]], dict[str, Any], list[dict[str, Any]]]:
    """(id, score rounded) in order, the record, the memories."""
    steps = parse_steps({"action": "rerank", "rerank_type": kind, **settings})
    tools = PostRetrievalTools(service, reranker, None, count_words)
    written = await PostRetrieval(steps, tools).execute(
        {"question": "q", "memory_data": memories, **(data or {})}
    )
    found = written["memory_data"]
    pairs = [
        (one["entry_id"], one["score"] if one["score"] is None else round(one["score"], 6)) for one in found
    ]
    return pairs, written["post_retrieval"][0], found


# --- semantic ------------------------------------------------------------------------------------


async def test_semantic_is_the_cosine():
    memories = [
        memory("half", embedding=[1.0, math.sqrt(3)]),
        memory("same", embedding=[2.0, 0.0]),
        memory("opposite", embedding=[-1.0, 0.0]),
        memory("nowhere", embedding=[0.0, 0.0]),
    ]
    found, record, written = await rerank(memories, "semantic", data={"query_embedding": [1.0, 0.0]})
    assert found == [("same", 1.0), ("half", 0.5), ("nowhere", 0.0), ("opposite", -1.0)]
    assert (record["status"], record["reason"]) == ("ok", None)
    assert [one["metadata"]["rerank_score"] for one in written] == [one["score"] for one in written]


async def test_semantic_reads_arrays_and_embeddings_in_the_metadata():
    memories = [memory("a", metadata={"embedding": [0.0, 1.0]}), memory("b", embedding=np.array([1.0, 0.0]))]
    found, _, _ = await rerank(
        memories, "semantic", data={"query_embedding": np.array([1, 0], dtype=np.float32)}
    )
    assert found == [("b", 1.0), ("a", 0.0)]


async def test_vectors_of_two_models_are_refused():
    with pytest.raises(InputError, match="query_embedding has 3 dimensions and a memory's has 2"):
        await rerank([memory("a", embedding=[1.0, 0.0])], "semantic", data={"query_embedding": [1, 0, 0]})


async def test_top_k_and_the_score_field():
    memories = [memory(name, embedding=[1.0]) for name in "cab"]
    found, record, written = await rerank(
        memories, "semantic", data={"query_embedding": [1.0]}, rerank_top_k=2, rerank_score_field="meaning"
    )
    assert found == [("a", 1.0), ("b", 1.0)]
    assert (record["before"], record["after"]) == (3, 2)
    assert written[0]["metadata"] == {"meaning": 1.0}


SAME = {"embedding": [1.0, 0.0]}


@pytest.mark.parametrize(
    ("kind", "memories", "data", "order", "reason"),
    [
        ("semantic", [memory("b", 0.1, **SAME), memory("a", 0.9, **SAME), memory("c", None)], {},
         [("b", 0.1), ("a", 0.9), ("c", None)],
         "no query_embedding, so the order of 3 memories stays; set pre_retrieval to embedding"),
        ("semantic", [memory("a", 0.4), memory("b", 0.2, **SAME), memory("c", None)],
         {"query_embedding": [1.0, 0.0]}, [("b", 1.0), ("c", 0.5), ("a", 0.4)],
         "2 of 3 memories have no embedding and keep their score"),
        ("semantic", [memory("b", 0.1), memory("a", 0.2)], {"query_embedding": [1.0]},
         [("b", 0.1), ("a", 0.2)], "none of 2 memories has an embedding, so the order stays"),
        ("time_weighted", [memory("b", 0.1), memory("a", 0.9, metadata={"timestamp": "yesterday"})],
         {"reference_time": "2023-08-01"}, [("b", 0.1), ("a", 0.9)],
         "no memory has an ISO 8601 time in metadata 'timestamp', so the order stays"),
    ],
    ids=["no query embedding", "some without embedding", "none with embedding", "no time"],
)  # fmt: skip
async def test_what_is_missing_is_told_and_the_scores_stay(
    kind: str, memories: list[dict[str, Any]], data: dict[str, Any], order: list[Any], reason: str
):
    found, record, _ = await rerank(memories, kind, data=data)
    assert found == order
    assert (record["status"], record["reason"]) == ("degraded", reason)


# --- time_weighted -------------------------------------------------------------------------------


def dated(entry_id: str, timestamp: str, score: float | None = 0.5, **more: Any) -> dict[str, Any]:
    return memory(entry_id, score, metadata={"timestamp": timestamp, **more})


async def test_time_weighted_is_score_times_the_decay_by_hours():
    memories = [
        dated("old", "2023-08-01T00:00:00", 1.0),
        dated("new", "2023-08-01T09:00:00", 0.8),
        dated("later", "2023-08-02", 0.3),
        memory("undated", 0.6),
    ]
    found, record, _ = await rerank(
        memories, "time_weighted", data={"reference_time": "2023-08-01T10:00:00Z"}, time_decay_rate=0.1
    )
    assert dict(found) == {
        "old": round(1.0 * math.exp(-0.1 * 10), 6),
        "new": round(0.8 * math.exp(-0.1 * 1), 6),
        "later": 0.3,
        "undated": 0.3,
    }
    assert [name for name, _ in found] == ["new", "old", "later", "undated"]
    assert record["status"] == "ok"
    assert record["reason"] == "1 of 4 memories have no ISO 8601 time in metadata 'timestamp'"


async def test_without_a_reference_time_ages_count_from_the_newest_memory():
    memories = [dated("a", "2023-08-01", 0.5), dated("b", "2023-08-02", 0.5)]
    found, record, _ = await rerank(memories, "time_weighted", time_decay_rate=0.01)
    assert found == [("b", 0.5), ("a", round(0.5 * math.exp(-0.24), 6))]
    assert record["status"] == "ok"
    assert record["reason"] == (
        "there is no reference_time, so ages count from the newest memory's (2023-08-02T00:00:00+00:00)"
    )


async def test_a_reference_time_that_cannot_be_read_is_degraded():
    told = {"reference_time": "8 May, 2023"}
    _, record, _ = await rerank([dated("a", "2023-08-01")], "time_weighted", data=told)
    assert record["status"] == "degraded"
    assert record["reason"].startswith("reference_time '8 May, 2023' is not ISO 8601")


async def test_another_time_field_and_no_decay():
    memories = [
        memory("a", 0.2, metadata={"said": "2020-01-01"}),
        memory("b", 0.1, metadata={"said": "2023-01-01"}),
    ]
    found, _, _ = await rerank(memories, "time_weighted", time_field="said", time_decay_rate=0)
    assert found == [("a", 0.2), ("b", 0.1)]


async def test_a_negative_score_does_not_gain_by_age():
    memories = [
        dated("old", "2023-07-01", -0.2),
        dated("new", "2023-08-01", -0.2),
        dated("low", "2023-08-01", -0.4),
    ]
    found, _, _ = await rerank(memories, "time_weighted")
    assert [name for name, _ in found] == ["new", "old", "low"]


# --- ppr -----------------------------------------------------------------------------------------


def dense(ties: Mapping[tuple[int, int], float], restart: np.ndarray, damping: float) -> np.ndarray:
    """The same visits by solving the equations: r = d (Pᵀ r + m s) + (1 - d) s."""
    size = len(restart)
    weights = np.zeros((size, size))
    for (a, b), weight in ties.items():
        weights[a, b] = weights[b, a] = weight
    start = restart / restart.sum() if restart.sum() else np.full(size, 1 / size)
    totals = weights.sum(axis=1)
    steps = np.array([weights[n] / totals[n] if totals[n] else start for n in range(size)])
    return np.linalg.solve(np.eye(size) - damping * steps.T, (1 - damping) * start)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[tuple[int, int], float], np.ndarray]:
    size = draw(st.integers(1, 8))
    pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
    ties = {pair: draw(st.floats(0.01, 1.0)) for pair in pairs if draw(st.booleans())}
    restart = np.array(draw(st.lists(st.floats(0.0, 1.0, width=16), min_size=size, max_size=size)))
    return ties, restart


@given(graph=graphs(), damping=st.sampled_from([0.0, 0.5, 0.85, 0.95]))
def test_the_walk_is_the_solution_of_its_equations(graph: Any, damping: float):
    ties, restart = graph
    visits, converged = personalised_pagerank(
        ties, restart, damping_factor=damping, max_iterations=2000, convergence_threshold=1e-12
    )
    assert converged
    assert visits == pytest.approx(dense(ties, restart, damping), abs=1e-8)
    assert float(visits.sum()) == pytest.approx(1.0)


async def test_ppr_lifts_what_good_memories_are_linked_to():
    service = Linked({"a": {"c": 0.9}, "c": {"a": 0.4, "elsewhere": 1.0}})
    memories = [memory("a", 0.9), memory("b", 0.5), memory("c", 0.1)]
    found, record, _ = await rerank(memories, "ppr", service=service)
    expected = dense({(0, 2): 0.9}, np.array([0.9, 0.5, 0.1]), 0.85)
    assert dict(found) == pytest.approx(dict(zip("abc", expected, strict=True)), abs=1e-5)
    assert [name for name, _ in found] == ["a", "c", "b"]
    assert (record["status"], record["reason"]) == ("ok", None)
    assert service.asked == ["a", "b", "c"]


async def test_ppr_may_walk_through_memories_that_are_not_at_hand_but_adds_none():
    service = Linked({"a": {"bridge": 1.0}, "c": {"bridge": 1.0}})
    memories = [memory("a", 0.9), memory("b", 0.5), memory("c", 0.1)]
    without, record, _ = await rerank(memories, "ppr", service=service)
    assert [name for name, _ in without] == ["a", "b", "c"]
    assert record["reason"] == "no two of the memories are linked, so their scores decide"
    through, _, _ = await rerank(memories, "ppr", service=service, walk_neighbours=True)
    assert [name for name, _ in through] == ["a", "c", "b"]


async def test_ppr_that_does_not_converge_is_degraded():
    memories, service = [memory("a", 1.0), memory("b", 0.0)], Linked({"a": {"b": 1.0}})
    _, record, _ = await rerank(memories, "ppr", service=service, max_iterations=1)
    assert record["status"] == "degraded"
    assert record["reason"] == "cut off after max_iterations 1, not converged"


async def test_ppr_walks_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch):
    walk, threads = personalised_pagerank, []

    def noting(*given: Any, **named: Any) -> Any:
        threads.append(threading.current_thread())
        return walk(*given, **named)

    monkeypatch.setattr("agentic_rag_lab.designs.post_retrieval.rerank.personalised_pagerank", noting)
    await rerank([memory("a", 1.0), memory("b", 0.0)], "ppr", service=Linked({"a": {"b": 1.0}}))
    assert threads
    assert threading.main_thread() not in threads


def test_what_a_request_may_set_is_bounded():
    step = {"action": "rerank", "rerank_type": "ppr"}
    with pytest.raises(ConfigError, match=r"max_iterations.*1000"):
        parse_steps([{**step, "max_iterations": 1001}])
    with pytest.raises(ConfigError, match="21 steps; give at most 20"):
        parse_steps([step] * 21)
    asked = {"action": "merge", "merge_type": "multi_query", "secondary_queries": [{"query": "x"}] * 21}
    with pytest.raises(ConfigError, match="secondary_queries"):
        parse_steps([asked])


async def test_ppr_takes_odd_links_and_scores():
    service = Linked({"a": {"a": 1.0, "b": None, "c": 0.0}, "b": {"a": 7.0}, "c": {"a": -1.0}})
    memories = [memory("a", -0.5), memory("b", -0.1), memory("c", None), memory("", 0.2), memory("", 0.1)]
    found, _, _ = await rerank(memories, "ppr", service=service, link_top_k=9)
    expected = dense({(0, 1): 1.0}, np.array([0.0, 0.4, 1.0, 0.7, 0.6]), 0.85)
    assert [score for _, score in found] == pytest.approx(sorted(expected, reverse=True), abs=1e-5)
    assert "" not in service.asked


# --- weighted ------------------------------------------------------------------------------------


async def test_weighted_is_the_mean_of_comparable_factors():
    memories = [
        memory("a", 10.0, metadata={"importance": 1, "timestamp": "2023-08-01T00:00:00"}),
        memory("b", 0.0, metadata={"importance": 9, "timestamp": "2023-08-01T10:00:00"}),
        memory("c", 5.0, metadata={"importance": 3}),
    ]
    found, record, _ = await rerank(
        memories,
        "weighted",
        data={"reference_time": "2023-08-01T10:00:00"},
        time_decay_rate=0.1,
        weighted_factors=[
            {"field": "score", "weight": 2},
            {"field": "recency", "weight": 1, "default": 0.4},
            {"field": "importance", "weight": 1},
        ],
    )
    assert dict(found) == {
        "a": round((2 * 1 + math.exp(-1) + 0) / 4, 6),
        "b": round((2 * 0 + 1 + 1) / 4, 6),
        "c": round((2 * 0.5 + 0.4 + 0.25) / 4, 6),
    }
    assert record["status"] == "ok"
    assert "1 of 3 memories have no ISO 8601 time" in record["reason"]


async def test_weighted_takes_the_default_where_a_factor_is_missing_or_no_number():
    memories = [
        memory("a", None, metadata={"importance": "high"}),
        memory("b", 0.0, metadata={"importance": True}),
        memory("c", 1.0, metadata={"importance": float("nan")}),
    ]
    found, record, _ = await rerank(
        memories,
        "weighted",
        weighted_factors=[{"field": "score", "default": 0}, {"field": "importance", "default": 0.2}],
    )
    assert found == [("c", 0.6), ("a", 0.1), ("b", 0.1)]
    assert record["status"] == "degraded"
    assert record["reason"] == (
        "1 of 3 memories have no number 'score'; 3 of 3 memories have no number 'importance'"
    )


async def test_a_factor_that_is_the_same_everywhere_counts_one():
    found, _, _ = await rerank(
        [memory("a", 0.3), memory("b", 0.3)], "weighted", weighted_factors=[{"field": "score"}]
    )
    assert found == [("a", 1.0), ("b", 1.0)]


# --- cross_encoder -------------------------------------------------------------------------------


async def test_cross_encoder_scores_question_and_text_together():
    model = Scores(0.1, 0.9, 0.9)
    found, record, _ = await rerank(
        [memory("a", 0.9), memory("c", 0.1), memory("b", 0.2)], "cross_encoder", reranker=model
    )
    assert found == [("b", 0.9), ("c", 0.9), ("a", 0.1)]
    assert model.heard == ("q", ["a", "c", "b"])
    assert record["status"] == "ok"


@pytest.mark.parametrize(
    ("scores", "told"), [((0.5,), "1 scores for 2 passages"), ((0.5, 1.5), "from 0 to 1")]
)
async def test_a_model_that_scores_badly_fails_the_step(scores: tuple[float, ...], told: str):
    with pytest.raises(ModelError, match=told):
        await rerank([memory("a"), memory("b")], "cross_encoder", reranker=Scores(*scores))


@pytest.mark.parametrize("kind", ["semantic", "time_weighted", "ppr", "weighted", "cross_encoder"])
async def test_nothing_stays_nothing(kind: str):
    model = Scores(0.1)
    found, record, _ = await rerank([], kind, service=Linked({}), reranker=model)
    assert found == []
    assert record["status"] == "ok"
    assert not hasattr(model, "prompts")
