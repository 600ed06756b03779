"""What another strategy would not have had among the final results."""

from __future__ import annotations

from agentic_rag.domain import Hit
from agentic_rag.fusion.strategy_selector import fuse_for_operation
from agentic_rag.rerank.moved import moved
from agentic_rag.rerank.offline import rerank_offline
from agentic_rag.settings.parameters import FusionParameters, FusionStrategy, Parameters

EXACT = Parameters(fusion=FusionParameters(adapt=False))


def hits(*scored: tuple[str, float]) -> list[Hit]:
    return [
        {
            "id": name,
            "content": f"What {name} says.",
            "type": "document",
            "rank": rank,
            "score": score,
            "metadata": {},
            "evidence": {},
            "facts": [],
        }
        for rank, (name, score) in enumerate(scored, start=1)
    ]


def final(strategy: FusionStrategy, graph: list[Hit], vector: list[Hit], count: int) -> list[str]:
    fusion = EXACT.fusion.model_copy(update={"strategy": strategy})
    fused = fuse_for_operation("document_retrieval", graph, vector, fusion)
    ranked = rerank_offline("tea", [result.to_dict() for result in fused.results])
    return [result["id"] for result in ranked[:count]]


def told(graph: list[Hit], vector: list[Hit], ids: list[str], used: str) -> dict[str, int]:
    return moved(
        "tea",
        (graph, vector),
        ids,
        used=used,
        operation="document_retrieval",
        parameters=EXACT,
        telling=None,
    )


def test_every_other_strategy_is_told_and_the_one_that_was_used_is_not():
    graph, vector = hits(("a", 0.9), ("b", 0.2)), hits(("c", 0.9), ("d", 0.2))
    ids = final(FusionStrategy.WEIGHTED_LANCEDB, graph, vector, 1)
    assert told(graph, vector, ids, "weighted_lancedb").keys() == {"rrf", "weighted_graphiti", "cascade"}


def test_a_result_that_only_this_strategy_puts_first_counts():
    graph, vector = hits(("a", 0.9), ("b", 0.2)), hits(("c", 0.9), ("d", 0.2))
    ids = final(FusionStrategy.WEIGHTED_LANCEDB, graph, vector, 1)
    assert ids == ["c"]
    assert told(graph, vector, ids, "weighted_lancedb")["weighted_graphiti"] == 1


def test_where_all_results_are_shown_no_strategy_has_others():
    graph, vector = hits(("a", 0.9), ("b", 0.2)), hits(("c", 0.9), ("d", 0.2))
    ids = final(FusionStrategy.WEIGHTED_LANCEDB, graph, vector, 4)
    lost = told(graph, vector, ids, "weighted_lancedb")
    assert lost == {"rrf": 0, "weighted_graphiti": 0, "cascade": 0}
