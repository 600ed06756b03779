"""The replay says what the pipeline would have done, under any settings."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agentic_rag.domain import Hit
from agentic_rag.errors import ConfigError
from agentic_rag.evaluation.datasets import EvalQuery
from agentic_rag.evaluation.metrics import measure
from agentic_rag.evaluation.run import ranking_of
from agentic_rag.evaluation.tuning.replay import Changes, Collected, Replay, Unit, nested, with_changes
from agentic_rag.evaluation.tuning.search import coordinates, fusion_grid
from agentic_rag.nodes.check_quality import check_quality
from agentic_rag.nodes.fuse_results import fuse_results
from agentic_rag.nodes.rerank import rerank
from agentic_rag.rerank.offline import WEIGHTS
from agentic_rag.settings.parameters import FusionParameters, Parameters
from agentic_rag.state import in_full
from agentic_rag.testing import prepared_state

WORDS = "Ann Ben red bicycle Lisbon lake swim dog tea oolong 茶树 in 2023 the".split()


def hits(rng: np.random.Generator, source: str, dialogue: bool) -> list[Hit]:
    """Up to 15 of 20 chunks of 5 documents, as a source would find them."""
    chosen = rng.choice(20, size=int(rng.integers(0, 16)), replace=False).tolist()
    found: list[Hit] = []
    for rank, number in enumerate(chosen, start=1):
        words = np.random.default_rng(number)  # a chunk has one text, whoever finds it
        metadata: dict[str, Any] = {
            "document_id": f"d{number % 5}",
            "ordinal": number // 5,
            "dia_id": f"D{number}",
        }
        if number % 4 == 0:
            metadata["tags"] = ["mistake"]
        if dialogue:
            metadata |= {"kind": "turn", "speaker": ["Ann", "Ben"][number % 2]}
        found.append(
            {
                "id": f"d{number % 5}#D{number}",
                "content": " ".join(words.choice(WORDS, size=4 + number % 5).tolist()),
                "type": "document" if source == "lancedb" else "episode",
                "rank": rank,
                "score": round(float(rng.random()), 2),
                "metadata": metadata,
                "evidence": {},
                "facts": [],
            }
        )
    return found


OPERATIONS = ["document_retrieval", "concept_relation", "weak_point_clustering", "verification_canvas"]


def collected(count: int, unit: Unit, *, dialogue: bool = True) -> list[Collected]:
    """Questions of every operation, every third of 2023; the graph made a walk for three of four."""
    rng = np.random.default_rng(1)
    queries = []
    for number in range(count):
        text = " ".join(rng.choice(WORDS, size=4).tolist()) + (" in 2023" if number % 3 == 0 else "")
        gold = {"d1": 1, "d2": 2} if unit == "document" else {"d1#D1": 1, "d2#D7": 1}
        queries.append(
            Collected(
                EvalQuery(f"q{number}", text, gold),
                text,
                OPERATIONS[number % 4],
                hits(rng, "graphiti", dialogue),
                hits(rng, "lancedb", dialogue),
                None if number // 2 % 4 == 3 else round(float(rng.random()), 2),
            )
        )
    return queries


async def by_nodes(one: Collected, parameters: Parameters, unit: Unit) -> tuple[float, float]:
    """Measure and best relevance, by the graph's own nodes."""
    known = {} if one.telling is None else {"telling": one.telling}
    outcome = {"status": "ok", "reason": None, "ms": 1.0}
    state: Any = {
        **prepared_state(parameters, query=one.text, operation=one.operation),
        "graphiti_results": one.graph,
        "graphiti_outcome": {**outcome, "count": len(one.graph), "question": known},
        "lancedb_results": one.vector,
        "lancedb_outcome": {**outcome, "count": len(one.vector), "question": {}},
    }
    state |= fuse_results(state)
    state |= await rerank(state)
    state |= check_quality(state)
    ranking = ranking_of(in_full(state["reranked_results"]), unit)
    return measure("ndcg@5", ranking, one.query.relevant), state["quality"]["score"]


SETTINGS: list[Changes] = [
    (),
    (("rerank.method", "none"),),
    (("rerank.prior", 0.0),),
    (("rerank.prior", 0.5), ("rerank.window", 2.0)),
    (("rerank.length", 0.0), ("rerank.mistake", 0.5), ("rerank.speaker", 0.0), ("rerank.time", 5.0)),
    (("fusion.strategy", "rrf"), ("fusion.k", 1), ("rerank.method", "none")),
    (("fusion.strategy", "cascade"),),
    *(with_changes((), fusion) for fusion in fusion_grid()[9::6]),
]


@pytest.mark.parametrize("unit", ["document", "chunk"])
@pytest.mark.parametrize(
    "base", [{}, {"rerank": {"depth": 7}}, {"fusion": {"limit": 9}}, {"fusion": {"adapt": False}}]
)
async def test_a_replay_is_what_the_graphs_nodes_do(unit: Unit, base: dict[str, Any]) -> None:
    queries, parameters = collected(8, unit), Parameters().overridden(base)
    replay = Replay(queries, parameters, unit, "ndcg@5")
    for changes in SETTINGS:
        outcome = replay.outcome(changes)
        expected = [await by_nodes(one, parameters.overridden(nested(changes)), unit) for one in queries]
        assert outcome.values.tolist() == pytest.approx([value for value, _ in expected]), changes
        assert outcome.confidences.tolist() == pytest.approx([best for _, best in expected], abs=1e-6), (
            changes
        )


def found(identity: str, document: str) -> Hit:
    """The one and best hit of a source."""
    return {
        "id": identity, "content": "tea", "type": "document", "rank": 1, "score": 0.9,
        "metadata": {"document_id": document, "ordinal": 0}, "evidence": {}, "facts": [],
    }  # fmt: skip


@pytest.mark.parametrize("adapt", [True, False])
def test_what_the_graph_knows_of_a_question_moves_its_ranking(adapt: bool) -> None:
    """A graph that knows the question outweighs the vector store, where the weights are not set."""
    by_graph, by_vectors = ([found(name, document)] for name, document in (("g", "d1"), ("v", "d2")))
    query = EvalQuery("q", "tea", {"d1": 1})
    values = {}
    for telling in (0.0, 1.0):
        one = Collected(query, "tea", "document_retrieval", by_graph, by_vectors, telling)
        replay = Replay([one], Parameters(fusion=FusionParameters(adapt=adapt)), "document", "mrr@10")
        values[telling] = replay.outcome(()).values.tolist()
        given = (("fusion.graphiti_weight", 0.3),)
        assert replay.outcome(given).values.tolist() == [0.5]
    assert values == {0.0: [0.5], 1.0: [1.0 if adapt else 0.5]}


def test_the_unanswerable_are_judged_and_not_ranked() -> None:
    known, trap = collected(2, "document")
    trap = Collected(
        EvalQuery("trap", "?", {}, answerable=False), "?", trap.operation, trap.graph, trap.vector
    )
    silent = Collected(known.query, known.text, known.operation, [], [])
    replay = Replay([known, trap, silent], Parameters(), "document", "mrr@10")
    outcome = replay.outcome(())
    assert (replay.ranked.tolist(), replay.unanswerable.tolist()) == ([0, 2], [1])
    assert [math.isnan(value) for value in outcome.values] == [False, True, False]
    assert outcome.confidences[1] > 0
    assert (outcome.values[2], outcome.confidences[2]) == (0.0, 0.0), "found nothing, and counts"


def test_terms_that_differ_nowhere_are_not_varied() -> None:
    dialogue = Replay(collected(6, "document"), Parameters(), "document", "mrr@10")
    assert dialogue.telling_weights() == ["prior", "time", "mistake", "window", "speaker", "length"]
    notes = Replay(collected(6, "document", dialogue=False), Parameters(), "document", "mrr@10")
    assert notes.telling_weights() == ["prior", "time", "mistake"]
    alone = Replay([], Parameters(), "document", "mrr@10")
    assert alone.telling_weights() == ["prior"], "which decides between the fused order and the relevance"
    assert len(coordinates(notes.telling_weights())) == 1 + 3 < len(coordinates()) == 1 + len(WEIGHTS)


def test_a_setting_that_does_not_exist_is_told() -> None:
    replay = Replay(collected(1, "document"), Parameters(), "document", "mrr@10")
    with pytest.raises(ConfigError, match="charm"):
        replay.outcome((("rerank.charm", 1.0),))


def test_changes_are_joined_and_taken_back() -> None:
    both = with_changes((("fusion.k", 5),), {"rerank.prior": 1.0})
    assert both == (("fusion.k", 5), ("rerank.prior", 1.0))
    assert with_changes(both, {"fusion.k": None}) == (("rerank.prior", 1.0),)
    assert nested(both) == {"fusion": {"k": 5}, "rerank": {"prior": 1.0}}
