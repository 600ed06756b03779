"""UnifiedResult, and the readers of hits, LanceDB rows and Graphiti's SearchResults."""

import copy
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from agentic_rag.errors import InputError
from agentic_rag.fusion import UnifiedResult, plain, read_graphiti, read_lancedb, reciprocal_rank_fusion


@dataclass
class Results:
    """The fields of Graphiti's SearchResults."""

    edges: list[Any] = field(default_factory=list)
    edge_reranker_scores: list[float] = field(default_factory=list)
    nodes: list[Any] = field(default_factory=list)
    node_reranker_scores: list[float] = field(default_factory=list)
    episodes: list[Any] = field(default_factory=list)
    episode_reranker_scores: list[float] = field(default_factory=list)
    communities: list[Any] = field(default_factory=list)
    community_reranker_scores: list[float] = field(default_factory=list)


@dataclass
class Edge:
    uuid: str
    fact: str
    episodes: list[str]
    name: str = "KNOWS"
    source_node_uuid: str = "s"
    target_node_uuid: str = "t"
    valid_at: datetime | None = None
    invalid_at: datetime | None = None


@dataclass
class Episode:
    uuid: str
    name: str
    content: str
    group_id: str = "g"
    source_description: str = ""
    valid_at: datetime = datetime(2023, 5, 1, tzinfo=UTC)
    episode_metadata: dict[str, Any] | None = None


@dataclass
class Node:
    uuid: str
    name: str
    summary: str = ""
    group_id: str = "g"
    labels: list[str] = field(default_factory=list)


def ids(hits: list[Any]) -> list[str]:
    return [hit["id"] for hit in hits]


# ── hits ────────────────────────────────────────────────────────────────────────────────────────


def test_hits_without_ranks_are_ordered_by_score_then_id():
    hits = read_lancedb(
        [{"id": "c", "score": 0.5}, {"id": "z", "score": 0.9}, {"id": "b", "score": 0.5}, {"id": "a"}]
    )
    assert [(hit["id"], hit["rank"]) for hit in hits] == [("z", 1), ("b", 2), ("c", 3), ("a", 4)]


def test_given_ranks_are_taken_as_they_are():
    hits = read_graphiti([{"id": "b", "rank": 7}, {"id": "a", "rank": 2}])
    assert [(hit["id"], hit["rank"]) for hit in hits] == [("a", 2), ("b", 7)]


def test_a_chunk_counts_once_at_its_best_rank_and_keeps_what_the_others_said():
    hits = read_graphiti(
        [
            {
                "id": "a",
                "rank": 3,
                "type": "episode",
                "content": "the text",
                "metadata": {"x": 1, "y": 1},
                "evidence": {"walk": {"visits": 0.1}, "tokens": 0.4},
            },
            {
                "id": "a",
                "rank": 1,
                "type": "edge",
                "content": "a fact",
                "facts": [{"id": "f"}],
                "metadata": {"x": 2},
                "evidence": {"walk": {"visits": 1.0}},
            },
            {"id": "a", "rank": 2, "type": "edge", "content": "again", "facts": [{"id": "f"}, {"id": "g"}]},
        ]
    )
    assert hits == [
        {
            "id": "a",
            "content": "the text",
            "type": "episode",
            "rank": 1,
            "score": None,
            "metadata": {"x": 2, "y": 1},
            "evidence": {"walk": {"visits": 1.0}, "tokens": 0.4},
            "facts": [{"id": "f"}, {"id": "g"}],
        }
    ]


def test_facts_without_an_id_are_compared_whole():
    hits = read_graphiti([{"id": "a", "facts": [{"t": 1}]}, {"id": "a", "facts": [{"t": 1}, {"t": 2}]}])
    assert hits[0]["facts"] == [{"t": 1}, {"t": 2}]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf"), "0.5", True, 10**400, [1]])
def test_a_score_that_is_no_finite_number_is_refused_by_name(score: object):
    with pytest.raises(InputError, match="'bad#1'"):
        read_lancedb([{"id": "ok"}, {"id": "bad#1", "score": score}])


@pytest.mark.parametrize("rank", [0, -1, 1.0, True, "1"])
def test_an_impossible_rank_is_refused(rank: object):
    with pytest.raises(InputError, match="rank"):
        read_graphiti([{"id": "a", "rank": rank}])


@pytest.mark.parametrize(
    "items",
    [
        [{"content": "no id"}],
        [{"id": ""}],
        [{"id": 7}],
        [{"id": "a", "type": "fish"}],
        [{"id": "a", "metadata": "x"}],
        [{"id": "a", "evidence": "x"}],
        [{"id": "a", "facts": ["x"]}],
        [{"id": "a", "rank": 1}, {"id": "b"}],
        ["a"],
        "a",
        {"id": "a"},
        None,
    ],
)
def test_what_is_no_list_of_hits_is_refused(items: Any):
    with pytest.raises(InputError):
        read_graphiti(items)


def test_any_mapping_will_do():
    told = MappingProxyType({"x": 1})
    item = MappingProxyType({"id": "a", "content": 3, "metadata": told, "evidence": told, "facts": ()})
    hit = read_graphiti([item])[0]
    assert (hit["content"], hit["metadata"], hit["evidence"], hit["facts"]) == ("3", {"x": 1}, {"x": 1}, [])


COMPLETE: dict[str, Any] = {
    "id": "a", "content": "t", "type": "document", "rank": 1, "score": 0.5, "metadata": {}, "evidence": {"x": 1},
    "facts": [],
}  # fmt: skip


@pytest.mark.parametrize("read", [read_graphiti, read_lancedb])
def test_complete_hits_are_taken_as_they_are_but_for_their_evidence(read: Any):
    (hit,) = read([COMPLETE])
    assert hit == COMPLETE
    without = {key: value for key, value in COMPLETE.items() if key != "evidence"}
    for given in (without, {**COMPLETE, "evidence": None}):
        assert read([given]) == [{**COMPLETE, "evidence": {}}]
    with pytest.raises(InputError, match="hit 'a' has evidence 'much'; give an object"):
        read([{**COMPLETE, "evidence": "much"}])


# ── LanceDB rows ────────────────────────────────────────────────────────────────────────────────


def test_rows_rank_by_their_order_and_distance_becomes_similarity():
    rows = [
        {"chunk_id": "b", "text": "B", "_distance": 0.25, "vector": [0.1, 0.2], "year": 2023},
        {"chunk_id": "a", "text": "A", "_distance": 0.5, "metadata": {"title": "T"}},
    ]
    hits = read_lancedb(rows)
    assert [hit["evidence"] for hit in hits] == [{}, {}]
    assert [(hit["id"], hit["rank"], hit["score"], hit["content"]) for hit in hits] == [
        ("b", 1, 1 - 0.25, "B"),
        ("a", 2, 1 - 0.5, "A"),
    ]
    assert hits[0]["metadata"] == {"_distance": 0.25, "year": 2023}
    assert hits[1]["metadata"] == {"_distance": 0.5, "title": "T"}


@pytest.mark.parametrize(
    ("row", "score"),
    [
        ({"_relevance_score": 0.03, "_score": 7.0, "_distance": 0.1}, 0.03),
        ({"_score": 7.0}, 7.0),
        ({"_score": None, "_distance": 1.5}, 1 - 1.5),
        ({"distance": 0.25}, 1 - 0.25),
        ({"distance": 0.25, "_distance": 0.5}, 1 - 0.5),
        ({"distance": "3 km", "_distance": 0.5}, 1 - 0.5),
        ({"distance": 0.25, "score": 0.5}, 1 - 0.25),
        ({"distance": None}, None),
        ({"distance": None, "score": 0.5}, 0.5),
        ({"text": "t"}, None),
        ({"score": np.float32(0.5)}, 0.5),
    ],
)
def test_the_score_of_a_row(row: dict[str, Any], score: float | None):
    assert read_lancedb([{"id": "a", **row}])[0]["score"] == score


def test_a_row_without_an_id_or_with_a_broken_distance_is_refused():
    with pytest.raises(InputError, match="id"):
        read_lancedb([{"text": "t"}])
    with pytest.raises(InputError, match="'a'"):
        read_lancedb([{"id": "a", "_distance": float("nan")}])
    with pytest.raises(InputError, match="'a'"):
        read_lancedb([{"id": "a", "distance": float("nan")}])


@pytest.mark.parametrize("name", ["_distance", "distance"])
def test_either_distance_tells_rows_from_hits(name: str):
    """By itself: the order of the rows is their rank, whatever their distances say."""
    hits = read_lancedb([{"id": "b", name: 0.5}, {"id": "a", name: 0.25}])
    assert [(hit["id"], hit["rank"], hit["score"]) for hit in hits] == [("b", 1, 0.5), ("a", 2, 0.75)]
    assert [hit["metadata"] for hit in hits] == [{name: 0.5}, {name: 0.25}]
    assert [result.original_score for result in reciprocal_rank_fusion([], hits)] == [0.5, 0.75]


def test_a_repeated_row_counts_once_and_does_not_push_others_down():
    for key, score in (("id", "score"), ("chunk_id", "_score")):
        rows = [{key: "a", score: 3.0}, {key: "a", score: 2.0}, {key: "b", score: 1.0}]
        found = [(hit["id"], hit["rank"], hit["score"]) for hit in read_lancedb(rows)]
        assert found == [("a", 1, 3.0), ("b", 2, 1.0)]


# ── Graphiti's SearchResults ────────────────────────────────────────────────────────────────────


def test_edges_are_projected_to_the_chunks_of_their_episodes():
    found = Results(
        edges=[
            Edge("e1", "Ann knows Bo", ["ep2", "ep1"], valid_at=datetime(2023, 5, 7, tzinfo=UTC)),
            Edge("e2", "Bo likes tea", ["ep2"]),
        ],
        edge_reranker_scores=[2.0, 1.0],
        episodes=[Episode("ep1", "note.md#p1", "Ann met Bo.")],
        episode_reranker_scores=[1.0],
    )
    hits = {hit["id"]: hit for hit in read_graphiti(found, {"ep2": "note.md#p2"})}
    assert set(hits) == {"note.md#p1", "note.md#p2"}
    both, edges_only = hits["note.md#p1"], hits["note.md#p2"]
    assert (both["type"], both["content"], both["rank"]) == ("episode", "Ann met Bo.", 1)
    assert (edges_only["type"], edges_only["content"], edges_only["rank"]) == ("edge", "Ann knows Bo", 2)
    assert [fact["id"] for fact in edges_only["facts"]] == ["e1", "e2"]
    assert both["facts"][0]["valid_at"] == "2023-05-07T00:00:00+00:00"


def test_graphitis_reranker_scores_are_kept_but_are_no_score():
    found = Results(
        edges=[Edge("e", "f", ["ep"])],
        edge_reranker_scores=[2.0],
        episodes=[Episode("ep", "c", "t")],
        episode_reranker_scores=[1.5],
    )
    (hit,) = read_graphiti(found)
    assert (hit["score"], hit["evidence"]) == (None, {})
    assert hit["metadata"]["reranker_score"] == 1.5
    assert hit["facts"][0]["reranker_score"] == 2.0


def test_what_names_no_chunk_stays_a_result_of_its_own():
    found = Results(
        edges=[Edge("e", "a fact", [])],
        nodes=[Node("n", "Tea", "a drink"), Node("m", "Cup")],
        communities=[Node("k", "Drinks")],
    )
    hits = read_graphiti(found)
    assert [(hit["id"], hit["type"], hit["content"]) for hit in hits] == [
        ("e", "edge", "a fact"),
        ("k", "community", "Drinks"),
        ("n", "node", "Tea: a drink"),
        ("m", "node", "Cup"),
    ]
    assert [hit["rank"] for hit in hits] == [1, 2, 3, 4]


def test_at_equal_rank_the_chunk_that_more_kinds_name_comes_first():
    found = Results(
        edges=[Edge("e1", "f", ["ep1"]), Edge("e2", "f", ["ep2"])],
        episodes=[Episode("ep0", "a", "t"), Episode("ep1", "z", "t"), Episode("ep2", "y", "t")],
    )
    assert ids(read_graphiti(found)) == ["z", "a", "y"]


@pytest.mark.filterwarnings("ignore:Support for class-based `config`:DeprecationWarning")
def test_the_library_type_is_read_by_its_fields():
    from graphiti_core.edges import EntityEdge
    from graphiti_core.nodes import EpisodeType, EpisodicNode
    from graphiti_core.search.search_config import SearchResults

    now = datetime(2023, 1, 2, tzinfo=UTC)
    found = SearchResults(
        edges=[
            EntityEdge(
                uuid="e", group_id="g", source_node_uuid="s", target_node_uuid="t", created_at=now,
                name="LIKES", fact="Ann likes tea", episodes=["ep"],
            )
        ],
        edge_reranker_scores=[1.0],
        episodes=[
            EpisodicNode(
                uuid="ep", name="note.md#p1", group_id="g", source=EpisodeType.text,
                source_description="note", content="Ann likes tea.", valid_at=now, created_at=now,
            )
        ],
    )  # fmt: skip
    (result,) = reciprocal_rank_fusion(
        found, [{"chunk_id": "note.md#p1", "text": "Ann likes tea.", "_distance": 0.1}]
    )
    assert (result.id, result.source, result.type) == ("note.md#p1", "graphiti+lancedb", "document")
    assert result.original_score == 1 - 0.1  # at equal rank the source that has a score
    assert result.facts[0]["text"] == "Ann likes tea"
    json.dumps(result.to_dict(), allow_nan=False)


# ── UnifiedResult ───────────────────────────────────────────────────────────────────────────────


def result(**changes: Any) -> UnifiedResult:
    given = {"source": "lancedb", "type": "document", "original_score": 0.5, **changes}
    return UnifiedResult(id="a", content="t", **given)


def test_a_result_survives_json():
    whole = result(
        metadata={"k": [1, {"x": None}]},
        sources={"lancedb": {"rank": 1, "raw": 0.5, "normalised": 1.0, "weight": 1.0}},
        facts=[{"id": "f"}],
        evidence={"walk": {"visits": 1.0, "names": ["茶"]}},
        tier=2,
        rerank_score=0.0,
    )
    assert UnifiedResult.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole


def test_evidence_of_both_sources_is_in_one_and_metadata_stays_the_notes():
    walked = {"id": "a", "rank": 1, "evidence": {"walk": {"visits": 1.0}}, "metadata": {"title": "T"}}
    read = {"id": "a", "rank": 1, "evidence": {"legs": {}, "tokens": 0.6}}
    (both,) = reciprocal_rank_fusion([walked], [read])
    assert both.evidence == {"walk": {"visits": 1.0}, "legs": {}, "tokens": 0.6}
    assert both.metadata == {"title": "T"}
    (alone,) = reciprocal_rank_fusion([walked], [])
    assert alone.evidence == {"walk": {"visits": 1.0}}


@pytest.mark.parametrize("values", [{"id": "a"}, {**result().to_dict(), "colour": "red"}])
def test_from_dict_refuses_what_is_no_result(values: dict[str, Any]):
    with pytest.raises(InputError):
        UnifiedResult.from_dict(values)


class Colour(Enum):
    RED = "red"


def test_plain_values():
    day = datetime(2023, 1, 2, tzinfo=UTC)
    value = {
        "d": day,
        "e": Colour.RED,
        "n": np.int64(3),
        "v": np.array([1.5]),
        "s": {"b", "a"},
        "x": float("nan"),
        1: (2,),
    }
    assert plain(value) == {
        "d": "2023-01-02T00:00:00+00:00", "e": "red", "n": 3, "v": [1.5], "s": ["a", "b"], "x": None, "1": [2],
    }  # fmt: skip
    assert plain(complex(1, 2)) == "(1+2j)"


def test_reading_leaves_its_input_alone():
    items = [
        {"id": "a", "facts": [{"id": "f"}], "metadata": {"x": 1}, "evidence": {"e": 1}},
        {"id": "a", "facts": [{"id": "g"}], "metadata": {"y": 1}, "evidence": {"f": 1}},
    ]
    complete = [COMPLETE]
    before = copy.deepcopy(items), copy.deepcopy(complete)
    for given in (items, complete):
        for fused in reciprocal_rank_fusion(given, given):
            fused.metadata["z"] = 1
            fused.evidence["z"] = 1
            fused.facts.append({"id": "h"})
    assert (items, complete) == before
