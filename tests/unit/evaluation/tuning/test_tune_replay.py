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
from agentic_rag.fusion.strategy_selector import choose_strategy, execute_fusion, resolve_parameters
from agentic_rag.nodes.check_quality import judged
from agentic_rag.parameters import Parameters
from agentic_rag.rerank import rerank_results
from agentic_rag.rerank.features import TERMS

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
        if dialogue:
            metadata |= {"kind": "turn", "speaker": ["Ann", "Ben"][number % 2]}
        if source == "graphiti":
            metadata["walk"] = float(rng.random())
        found.append(
            {
                "id": f"d{number % 5}#D{number}",
                "content": " ".join(words.choice(WORDS, size=8).tolist()),
                "type": "document" if source == "lancedb" else "episode",
                "rank": rank,
                "score": round(float(rng.random()), 2),
                "metadata": metadata,
                "facts": [],
            }
        )
    return found


def collected(count: int, unit: Unit, *, dialogue: bool = True) -> list[Collected]:
    rng = np.random.default_rng(1)
    told = []
    for number in range(count):
        text = " ".join(rng.choice(WORDS, size=4).tolist())
        gold = {"d1": 1, "d2": 2} if unit == "document" else {"d1#D1": 1, "d2#D7": 1}
        query = EvalQuery(f"q{number}", text, gold)
        operation = ["document_retrieval", "concept_relation"][number % 2]
        told.append(
            Collected(query, text, operation, hits(rng, "graphiti", dialogue), hits(rng, "lancedb", dialogue))
        )
    return told


async def by_pipeline(one: Collected, parameters: Parameters, unit: Unit) -> tuple[float, float]:
    fusion = resolve_parameters(one.operation, parameters.fusion)
    fused = execute_fusion(choose_strategy(one.operation, fusion), one.graph, one.vector, fusion)
    results = await rerank_results(
        one.text, [result.to_dict() for result in fused.results], parameters.rerank, None
    )
    best = max((judged(result) for result in results), default=0.0)
    return measure("ndcg@5", ranking_of(results, unit), one.query.relevant), best


SETTINGS: list[Changes] = [
    (),
    (("rerank.method", "none"),),
    (("rerank.walk", 0.0), ("rerank.window", 2.0)),
    (("rerank.coverage", 3.0), ("rerank.length", 0.0), ("rerank.speaker", 0.0)),
    (("fusion.strategy", "rrf"), ("fusion.k", 1), ("rerank.method", "none")),
    (("fusion.strategy", "cascade"),),
    *(with_changes((), fusion) for fusion in fusion_grid()[9::6]),
]


@pytest.mark.parametrize("unit", ["document", "chunk"])
@pytest.mark.parametrize("base", [{}, {"rerank": {"depth": 7}}, {"fusion": {"limit": 9}}])
async def test_a_replay_is_the_pipeline(unit: Unit, base: dict[str, Any]) -> None:
    queries, parameters = collected(8, unit), Parameters().overridden(base)
    replay = Replay(queries, parameters, unit, "ndcg@5")
    for changes in SETTINGS:
        outcome = replay.outcome(changes)
        expected = [await by_pipeline(one, parameters.overridden(nested(changes)), unit) for one in queries]
        assert outcome.values.tolist() == pytest.approx([value for value, _ in expected]), changes
        assert outcome.confidences.tolist() == pytest.approx([best for _, best in expected]), changes


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
    assert {"walk", "coverage", "window"} <= set(dialogue.telling_weights())
    notes = Replay(collected(6, "document", dialogue=False), Parameters(), "document", "mrr@10")
    assert set(notes.telling_weights()).isdisjoint({"coverage", "window", "speaker", "length"})
    assert len(coordinates(notes.telling_weights())) < len(coordinates(TERMS)) == 1 + len(TERMS)


def test_a_setting_that_does_not_exist_is_told() -> None:
    replay = Replay(collected(1, "document"), Parameters(), "document", "mrr@10")
    with pytest.raises(ConfigError, match="charm"):
        replay.outcome((("rerank.charm", 1.0),))


def test_changes_are_joined_and_taken_back() -> None:
    both = with_changes((("fusion.k", 5),), {"rerank.walk": 1.0})
    assert both == (("fusion.k", 5), ("rerank.walk", 1.0))
    assert with_changes(both, {"fusion.k": None}) == (("rerank.walk", 1.0),)
    assert nested(both) == {"fusion": {"k": 5}, "rerank": {"walk": 1.0}}
