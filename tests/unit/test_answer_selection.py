"""The selection of an answer, and of the step that made it: the state's, without entries and as filters."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.answer import Answer, selection_of, step_summary

FILTERS = {"$and": [{"folder": {"$eq": "games"}}, {"price": {"$gt": 20}}]}
SELECTION: dict[str, Any] = {
    "status": "ok",
    "reason": None,
    "ms": 2.0,
    "reading": "notes in games/ with price > 20",
    "query": {"target": "notes", "ask": "list", "filters": FILTERS, "order": None},
    "count": 2,
    "entries": [{"path": "games/a.md"}, {"path": "games/b.md"}],
    "nearest": None,
}
DEGRADED = {"status": "degraded", "reason": "the ledger is away", "ms": 1.0}


def state(**keys: Any) -> dict[str, Any]:
    request = {
        "query": "Which of them?", "operation": "document_retrieval", "dataset": "d", "top_k": 1,
        "carried": {"selection": "games"},
    }  # fmt: skip
    rest = dict.fromkeys(("rerank_outcome", "rewrite_outcome", "answer_outcome", "answer", "abstained"))
    lists: dict[str, Any] = {name: [] for name in ("citations", "reranked_results", "rewrites")}
    return {**rest, **lists, "request": request, "outcomes": {}, "fusion": {}, "quality": {}, **keys}


def test_a_selection_is_shown_with_its_filters_as_terms():
    assert selection_of(SELECTION) == {
        "reading": "notes in games/ with price > 20",
        "status": "ok",
        "target": "notes",
        "ask": "list",
        "count": 2,
        "filters": FILTERS,
        "terms": ["folder=games", "price>20"],
        "nearest": None,
    }


def test_a_reading_with_alternatives_has_no_terms():
    query = {**SELECTION["query"], "filters": {"$or": [{"a": 1}, {"b": 2}]}}
    found = selection_of({**SELECTION, "status": "none", "query": query})
    assert found is not None
    assert (found["status"], found["terms"]) == ("none", None)
    tasks = selection_of({**SELECTION, "query": {"target": "tasks", "ask": "list", "filters": None}})
    assert tasks is not None
    assert (tasks["target"], tasks["terms"]) == ("tasks", [])


@pytest.mark.parametrize("selection", [{}, {"status": "empty", "reason": None}, DEGRADED])
def test_what_is_no_query_has_no_selection(selection: dict[str, Any]):
    assert selection_of(selection) is None


def test_an_answer_has_it_and_what_the_conversation_gave():
    answer = Answer.of(state(selection=SELECTION))
    assert answer.selection == selection_of(SELECTION)
    assert answer.to_dict()["selection"] == answer.selection
    assert answer.to_dict()["carried"] == {"selection": "games"}
    assert answer.outcomes == {}


def test_a_reading_that_failed_is_degraded():
    answer = Answer.of(state(selection=DEGRADED))
    assert answer.selection is None
    assert answer.outcomes["selection"]["reason"] == "the ledger is away"


def test_a_state_made_by_hand_needs_no_selection():
    assert Answer.of(state()).selection is None


def test_the_step_says_what_was_read():
    shown = step_summary("select_notes", {"selection": SELECTION})
    assert shown == {"status": "ok", "reason": None, "reading": SELECTION["reading"], "count": 2}
    assert step_summary("select_notes", {"selection": DEGRADED}) == {
        "status": "degraded",
        "reason": "the ledger is away",
    }
