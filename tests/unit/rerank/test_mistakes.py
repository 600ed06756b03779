"""Weak-point clustering: which passages record a mistake, and that they come first."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.rerank.mistakes import failures, records_mistake
from agentic_rag.rerank.offline import rerank_offline
from agentic_rag.settings.parameters import RerankParameters

CALLOUT = "Which is hotter?\n\n> [!failure] My answer\n> 06, because six is more.\n> About forty degrees.\n\n> [!success]\n> Cone 4.\n"


def note(identity: str = "a", content: str = "Cone 4 is hotter.", **metadata: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "content": content,
        "type": "document",
        "fused_score": 0.5,
        "facts": [],
        "tier": None,
        "metadata": metadata,
        "sources": {"lancedb": {"rank": 1, "raw": 0.7, "normalised": 1.0, "weight": 1.0}},
    }


@pytest.mark.parametrize(
    "recorded",
    [
        note(tags=["kiln", "mistake"]),
        note(tags="Mistakes"),
        note(tags=["study/my_mistakes"]),
        note(tags=["错题"]),
        note(path="错题本/2024-03-16.md"),
        note(path="02 Mistakes/cones.md"),
        note(title="常见误区"),
        note(title="Cones", heading_path=["Cones", "Weak points"]),
        note(content=CALLOUT),
        note(content="> [!FAIL]- Mine\n> 06"),
    ],
    ids=lambda recorded: str(recorded["metadata"]),
)
def test_what_records_a_mistake(recorded: dict[str, Any]) -> None:
    assert records_mistake(recorded)


@pytest.mark.parametrize(
    "other",
    [
        note(),
        note(tags=None, path=None, title=None, heading_path=None),
        note(tags=["terror", "weaken"], path="mistakes.md", title="Night terrors"),
        note(tags=[2024, None], title="Cones", heading_path=["Cones"]),
        note(content="I made a mistake with the cones. [!failure]"),
        note(content="> [!success]\n> Cone 4."),
    ],
    ids=lambda other: str(other["metadata"]),
)
def test_what_records_none(other: dict[str, Any]) -> None:
    assert not records_mistake(other)


def test_a_failure_callout_ends_where_its_lines_do() -> None:
    (span,) = failures(CALLOUT)
    assert (
        CALLOUT[slice(*span)] == "> [!failure] My answer\n> 06, because six is more.\n> About forty degrees."
    )
    assert failures("Cone 4.") == []


def test_mistakes_come_first_under_weak_point_clustering_alone() -> None:
    better = note("a", document_id="a")
    slip = note("b", document_id="b", tags=["mistake"])
    slip["sources"] = {"lancedb": {**slip["sources"]["lancedb"], "rank": 2, "raw": 0.6}}
    plain = rerank_offline("cones", [better, slip], RerankParameters())
    grouped = rerank_offline(
        "cones", [better, slip], RerankParameters(), CanvasOperation.WEAK_POINT_CLUSTERING
    )
    assert [result["id"] for result in plain] == ["a", "b"]
    assert [result["id"] for result in grouped] == ["b", "a"]
    # They are dealt the relevance that there was: nothing is answered for being a mistake.
    assert [result["rerank_score"] for result in grouped] == pytest.approx(
        [result["rerank_score"] for result in plain]
    )
    for operation in set(CanvasOperation) - {CanvasOperation.WEAK_POINT_CLUSTERING}:
        assert rerank_offline("cones", [better, slip], RerankParameters(), operation) == plain


def test_where_no_note_records_a_mistake_nothing_changes() -> None:
    notes = [note("a", document_id="a"), note("b", document_id="b")]
    plain = rerank_offline("cones", notes)
    assert rerank_offline("cones", notes, operation=CanvasOperation.WEAK_POINT_CLUSTERING) == plain
