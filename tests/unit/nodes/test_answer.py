"""The answer node without a chat model: quotes with citations, or "not found"."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.nodes.answer import FIRST, answer
from agentic_rag.testing import prepared_state

QUESTION = "Where does oolong tea come from?"
TEA = "Oolong tea comes from Fujian in China."


def result(identity: str, content: str, score: float | None) -> dict[str, Any]:
    return {
        "id": identity,
        "content": content,
        "type": "document",
        "metadata": {"document_id": identity, "title": identity, "heading_path": [], "start": 0},
        "sources": {"lancedb": {"raw": 0.9}},
        "facts": [],
        "rerank_score": score,
    }


async def answered(*results: dict[str, Any], decision: str = "answer", **keys: Any) -> dict[str, Any]:
    asked = {"query": QUESTION, "operation": "document_retrieval", **keys}
    found = {"reranked_results": list(results), "quality": {"decision": decision}}
    return await answer({**prepared_state(**asked), **found})  # type: ignore[typeddict-item]


async def test_it_writes_its_keys():
    written = await answered(result("a", TEA, 0.9))
    assert set(written) == {"answer", "abstained", "citations", "answer_outcome", "messages"}
    assert written["answer"] == f"{TEA} [1]"
    assert written["answer_outcome"] == {"status": "ok", "reason": None, "method": "extractive"}
    assert (written["abstained"], len(written["citations"])) == (False, 1)


@pytest.mark.parametrize(("results", "decision"), [([], "answer"), ([result("a", TEA, 0.9)], "abstain")])
async def test_it_abstains_where_nothing_is_relevant(results: list[dict[str, Any]], decision: str):
    written = await answered(*results, decision=decision)
    assert (written["answer"], written["abstained"], written["citations"]) == (
        "Not found in your notes.",
        True,
        [],
    )


MOON = "Oolong tea comes from the moon, they say."


async def test_what_is_far_less_relevant_than_the_best_is_not_quoted_where_one_passage_answers():
    written = await answered(result("a", TEA, 0.9), result("b", MOON, 0.01))
    assert {citation["chunk_id"] for citation in written["citations"]} == {"a"}


async def test_of_the_first_results_the_order_says_more_than_the_level():
    written = await answered(
        result("a", TEA, 0.9), result("b", MOON, 0.01), operation="weak_point_clustering"
    )
    assert {citation["chunk_id"] for citation in written["citations"]} == {"a", "b"}


async def test_a_result_without_sentences_is_quoted_whole():
    written = await answered(result("a", "  茶  ", 0.9))
    assert [(citation["quote"], citation["start"]) for citation in written["citations"]] == [("茶", 2)]


@pytest.mark.parametrize(
    "operation", ["verification_canvas", "weak_point_clustering", "concept_relation", "文档检索", None]
)
async def test_every_operation_answers_with_citations(operation: str | None):
    written = await answered(
        result("a", TEA, 0.9),
        result("b", "**Milk tea** is a sweet drink that comes from Taiwan.", 0.9),
        operation=operation,
    )
    assert "[1]" in written["answer"]
    assert {citation["n"] for citation in written["citations"]} == set(
        range(1, len(written["citations"]) + 1)
    )


async def test_where_a_note_only_names_itself_what_it_says_is_quoted():
    """Though ten other passages are found before it."""
    properties = result("tea.md", "---\norigin: Fujian\n---\n", 0.9)
    properties["metadata"]["kind"] = "properties"
    said = result("tea.md", TEA, 0.01)
    said["id"] = "tea.md#text"
    others = [result(f"{n}.md", f"The station closes at {n} in the night.", 0.01) for n in range(FIRST)]
    written = await answered(properties, *others, said)
    assert written["citations"][0]["quote"] == TEA
    alone = await answered(properties, *others)
    assert TEA not in {citation["quote"] for citation in alone["citations"]}


async def test_a_heading_brings_the_text_of_its_note_before_what_others_say():
    heading, said = result("tea.md", "# Oolong", 0.9), result("tea.md", TEA, 0.01)
    said["id"] = "tea.md#text"
    other = result("station.md", "The station closes at nine in the night.", 0.01)
    written = await answered(heading, other, said)
    assert [citation["quote"] for citation in written["citations"]] == [TEA]


async def test_properties_bring_the_best_of_their_notes_text_beside_what_others_say():
    properties = result("tea.md", "---\norigin: Fujian\n---\n", 0.9)
    properties["metadata"]["kind"] = "properties"
    said, less = result("tea.md", TEA, 0.3), result("tea.md", "Oolong tea comes in tins, too.", 0.2)
    said["id"], less["id"] = "tea.md#text", "tea.md#less"
    other = result("milk.md", "Milk tea comes from Taiwan and is sweet.", 0.8)
    written = await answered(properties, other, said, less, operation="weak_point_clustering")
    assert {citation["quote"] for citation in written["citations"]} == {TEA, other["content"]}


async def test_a_board_of_a_note_that_is_nothing_but_properties_asks_for_one_of_them():
    trip = result("trip", '---\ncover: https://example.org/a.jpg\nloc:\n  - "[[Kyoto]]"\n---\n', 0.9)
    trip["metadata"]["kind"] = "properties"
    trip["facts"] = [{"name": "LOC", "source": "trip", "target": "Kyoto", "cosine": 0.9}]
    written = await answered(trip, operation="verification_canvas")
    assert [citation["quote"] for citation in written["citations"]] == ['loc:\n  - "[[Kyoto]]"']


async def test_a_board_has_no_sentence_that_makes_no_card_beside_one_that_does():
    salt = "Salt boils at about 1,400 °C under the pressure of the air. It is hard to see."
    written = await answered(result("Salt", salt, 0.9), operation="verification_canvas")
    assert written["answer"] == (
        "1. Salt boils at about ____ under the pressure of the air. What fills the gap?\n   → 1,400 °C [1]"
    )


@pytest.mark.parametrize(
    ("query", "said"), [(QUESTION, "The notes that were found"), ("考考我茶", "找到的笔记")]
)
async def test_a_board_without_any_card_says_so(query: str, said: str):
    tea = result("Tea", "It grows in the mountains of Fujian.", 0.9)
    written = await answered(tea, operation="verification_canvas", query=query)
    assert written["answer"].startswith(said)
    assert (written["abstained"], written["citations"]) == (True, [])


async def test_what_is_remembered_is_asked_as_it_was_asked_for():
    memory = result("m", "I live in Oslo now.", 0.9)
    memory["metadata"] = {}
    written = await answered(memory, operation="verification_canvas", query="Where do I live?")
    assert written["answer"] == "1. Where do I live?\n   → I live in Oslo now. [1]"
