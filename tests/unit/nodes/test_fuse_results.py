"""``fuse_results``: only results of the current pass are fused."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from agentic_rag.channels import in_full, shortened_hits, shortened_results
from agentic_rag.domain import Hit
from agentic_rag.errors import AllSourcesFailed
from agentic_rag.fusion.strategy_selector import fuse_for_operation
from agentic_rag.nodes.fuse_results import fuse_results, outcome_of, results_of, specificity_of
from agentic_rag.nodes.rerank import rerank
from agentic_rag.nodes.resuming import read_again
from agentic_rag.nodes.retrieve import retrieve
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.retrieval.sources import VectorSource
from agentic_rag.settings.parameters import Parameters
from agentic_rag.state import CanvasRAGState
from agentic_rag.testing import FakeGraphEngine, FakeRetrievalEngine, fake_chunk, prepared_state


def hit(identity: str, rank: int, score: float = 0.9) -> Hit:
    return {
        "id": identity, "content": identity, "type": "document", "rank": rank, "score": score, "metadata": {},
        "evidence": {}, "facts": [],
    }  # fmt: skip


def outcome(status: str = "ok", reason: str | None = None, **known: Any) -> Any:
    return {"status": status, "reason": reason, "count": 1, "ms": 1.0, "question": known}


def state(parameters: Parameters | None = None, operation: str | None = None, **keys: Any) -> Any:
    return {
        "request": prepared_state(parameters, query="tea?", operation=operation)["request"],
        "graphiti_results": [hit("a", 1), hit("b", 2)],
        "graphiti_outcome": outcome(),
        "lancedb_results": [hit("b", 1)],
        "lancedb_outcome": outcome(),
        **keys,
    }


def ids(written: dict[str, Any]) -> list[str]:
    return [result["id"] for result in written["fused_results"]]


def test_both_sources_of_this_pass_are_fused():
    written = fuse_results(state())
    assert ids(written) == ["b", "a"]
    assert written["fused_results"][0]["rrf_score"] == pytest.approx(1 / 62 + 1 / 61)
    assert written["fusion"]["operation"] == "verification_canvas"
    assert written["outcomes"] == {"graphiti": outcome(), "lancedb": outcome()}


def test_a_source_that_was_never_asked_is_skipped():
    bare = state(lancedb_results=[], lancedb_outcome=None)
    written = fuse_results(bare)
    assert (ids(written), written["outcomes"]["lancedb"]) == (["a", "b"], "skipped")
    assert (outcome_of(bare, "lancedb"), results_of(bare, "lancedb")) == (None, None)


def test_hits_of_this_process_are_taken_as_they_are_and_others_are_read():
    hits = [hit("a", 1), hit("b", 2)]
    assert results_of(state(lancedb_results=shortened_hits(hits, 1)), "lancedb") is hits
    (only,) = results_of(state(lancedb_results=[{"id": "a", "score": 1}]), "lancedb") or []
    assert (only["rank"], only["score"], only["facts"]) == (1, 1.0, [])


def test_on_hand_made_state_what_is_there_is_current():
    by_hand: Any = {
        "graphiti_results": [hit("a", 1)],
        "lancedb_results": [hit("b", 1)],
        "operation": "document_retrieval",
    }
    assert ids(fuse_results(by_hand)) == ["b", "a"]


def test_one_degraded_source_leaves_the_other():
    written = fuse_results(state(graphiti_results=[], graphiti_outcome=outcome("degraded", reason="locked")))
    assert ids(written) == ["b"]
    assert written["outcomes"]["graphiti"]["reason"] == "locked"


def test_where_all_that_were_asked_are_degraded_it_fails():
    with pytest.raises(AllSourcesFailed, match="graphiti: locked"):
        fuse_results(state(graphiti_outcome=outcome("degraded", reason="locked"), lancedb_outcome=None))


OPERATIONS = ["verification_canvas", "weak_point_clustering", "concept_relation", "document_retrieval"]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_weights_follow_what_the_graph_knows_of_the_question(operation: str):
    specificity = 0.25
    given = state(graphiti_outcome=outcome(specificity=specificity), operation=operation)
    written = fuse_results(given)
    expected = fuse_for_operation(
        operation, given["graphiti_results"], given["lancedb_results"], specificity=specificity
    )
    assert written["fused_results"] == [result.to_dict() for result in expected.results]
    assert written["fusion"] == {"operation": operation, "operation_reason": None, **expected.report}
    assert written["fusion"]["weights"]["specificity"] == specificity
    assert written["fusion"]["weights"]["used"] != written["fusion"]["weights"]["given"]


def without_question(known: dict[str, Any]) -> dict[str, Any]:
    """An outcome as it was written before it told of the question."""
    return {name: value for name, value in known.items() if name != "question"}


@pytest.mark.parametrize("unknown", [outcome(), outcome(names=[]), without_question(outcome()), None])
def test_where_the_graph_made_no_walk_in_this_pass_the_weights_are_the_operations(unknown: Any):
    given = state(graphiti_outcome=unknown, operation="document_retrieval")
    assert specificity_of(given) is None
    weights = fuse_results(given)["fusion"]["weights"]
    assert weights == {
        "given": {"graphiti": 0.3, "lancedb": 0.7},
        "used": {"graphiti": 0.3, "lancedb": 0.7},
        "specificity": None,
    }


# --- what a resumed run reads again ----------------------------------------------------------------


TEAS = [fake_chunk(f"tea-{number}", f"Oolong {number} comes from Fujian.") for number in range(6)]
FACT = {"id": "f", "name": "COMES_FROM", "source": "Oolong", "target": "Fujian"}


async def a_pass(engine: FakeRetrievalEngine) -> dict[str, Any]:
    """The state after the rerank, in memory; the graph finds another order, a thing without a chunk, and a fact."""
    found = (
        await FakeGraphEngine([(tea, 0.6) for tea in reversed(TEAS)]).find(SourceQuery("d", "tea?"), 9)
    ).hits
    found[-1]["facts"].append(FACT)
    place = {"id": "fujian", "type": "node", "rank": 7, "content": "Fujian", "metadata": {"name": "Fujian"}}
    graph: Any = [*found, {**found[0], **place}]
    asked: dict[str, Any] = {**prepared_state(query="oolong?", top_k=2), "graphiti_outcome": outcome()}
    asked |= await retrieve(cast(CanvasRAGState, asked), name="lancedb", source=VectorSource(engine))
    asked["graphiti_results"] = shortened_hits(graph, 2)
    asked |= fuse_results(cast(CanvasRAGState, asked))
    return asked | await rerank(cast(CanvasRAGState, asked))


def from_checkpoint(kept: dict[str, Any]) -> Any:
    return json.loads(json.dumps({key: value for key, value in kept.items() if key != "messages"}))


async def test_beyond_top_k_the_state_holds_what_cannot_be_read_again():
    kept = await a_pass(FakeRetrievalEngine([(tea, 0.7) for tea in TEAS]))
    for key in ("graphiti_results", "lancedb_results", "fused_results", "reranked_results"):
        assert kept[key][:2] == in_full(kept[key])[:2]
        assert len(kept[key]) == len(in_full(kept[key]))
        assert all("content" in entry for entry in in_full(kept[key]))
    assert [set(hit) for hit in kept["lancedb_results"][2:]] == [{"id", "type", "rank", "score", "evidence", "facts"}] * 4  # fmt: skip
    assert kept["graphiti_results"][-1]["content"] == "Fujian", "no chunk has it"
    for key in ("fused_results", "reranked_results"):
        assert {tuple(result) for result in kept[key][2:]} == {("id", "fused_score", "rerank_score")}


async def test_a_resumed_run_reads_the_rest_again():
    engine = FakeRetrievalEngine([(tea, 0.7) for tea in TEAS])
    kept: Any = await a_pass(engine)
    assert await read_again(kept, engine) is kept, "in memory nothing is lacking"
    resumed = await read_again(from_checkpoint(kept), engine)
    for key in ("graphiti_results", "lancedb_results", "fused_results", "reranked_results"):
        assert resumed[key] == in_full(kept[key])
    assert [result["id"] for result in resumed["reranked_results"] if FACT in result["facts"]] == ["tea-0#0"]


async def test_what_is_gone_since_is_left_out():
    kept: Any = await a_pass(FakeRetrievalEngine([(tea, 0.7) for tea in TEAS]))
    left = FakeRetrievalEngine([(tea, 0.7) for tea in TEAS[:3]])
    again = (await read_again(from_checkpoint(kept), left))["reranked_results"]
    gone = {tea.id for tea in TEAS[3:]} - {hit["id"] for hit in kept["graphiti_results"][:2]}
    assert {result["id"] for result in again} == {"fujian", *(tea.id for tea in TEAS)} - gone


async def test_what_a_step_joined_is_kept_whole():
    joined = {**hit("new", 1), "fused_score": 0.1, "rerank_score": 0.1, "sources": {}}
    kept = shortened_results([joined, joined], 0, {"other"})
    assert kept == [joined, joined]
