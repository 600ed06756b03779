"""The first node: the request of a run, and the search query of the current pass."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from agentic_rag.domain.filters import Comparison
from agentic_rag.errors import FilterError, InputError, UnknownOperation
from agentic_rag.nodes.prepare_query import prepare_query
from agentic_rag.nodes.request import Request, completed, leans_on_context, normalised, question_of
from agentic_rag.settings.parameters import Parameters
from agentic_rag.state import CallerKeys, CanvasRAGState

ASKED = "Where does oolong tea come from?"


def prepared(**state: Any) -> dict[str, Any]:
    return prepare_query(state)  # type: ignore[arg-type]


def test_a_run_starts_with_its_request_and_everything_else_empty():
    before = time.time()
    written = prepared(query=ASKED)
    request = written["request"]
    assert (written["search_query"], request["query"], request["question"]) == (ASKED, ASKED, ASKED)
    assert before <= request["started"] <= time.time()
    assert set(written) >= set(CanvasRAGState.__annotations__) - set(CallerKeys.__annotations__)
    assert not any(
        value for key, value in written.items() if key not in ("request", "query", "search_query", "messages")
    )


def test_a_rewrite_starts_a_further_pass_of_the_same_run():
    written = prepared(retry="oolong origin")
    assert written["search_query"] == "oolong origin"
    assert not {"request", "query", "rewrites", "rewrite_outcome", "messages"} & set(written)
    assert (written["lancedb_results"], written["lancedb_outcome"]) == ([], None)


def test_the_request_is_plain_and_comes_back_as_it_was():
    parameters = Parameters().overridden({"fusion": {"k": 5}})
    asked: Any = {
        "query": "And when?",
        "filters": {"year": {"$gte": 2023}},
        "as_of": "2024-06-30",
        "top_k": 3,
    }
    request = normalised(asked, parameters)
    assert Request.from_plain(json.loads(json.dumps(request.plain()))) == request
    assert (request.filters, request.parameters.fusion.k, request.fusion.k) == (
        Comparison("year", "$gte", 2023),
        5,
        5,
    )


def test_a_question_becomes_a_message_unless_it_is_one():
    (message,) = prepared(query=ASKED)["messages"]
    assert (message.content, prepared(query=ASKED)["request"]["heard"] is None) == (ASKED, False)
    said = [HumanMessage(ASKED, id="1")]
    assert prepared(query=ASKED, messages=said)["messages"] == prepared(messages=said)["messages"] == []
    assert prepared(messages=said)["request"]["heard"] == "1"


def test_who_only_writes_a_message_has_the_operation_chosen():
    said = [HumanMessage("Quiz me on oolong tea")]
    for keys in ({"messages": said}, {"query": "Quiz me on oolong tea", "operation": "auto"}):
        request = prepared(**keys)["request"]
        assert request["operation"] == "verification_canvas"
        assert "quiz me" in request["operation_reason"].casefold()
    request = prepared(messages=[HumanMessage(ASKED)])["request"]
    assert request["operation"] == "document_retrieval"
    request = prepared(query=ASKED)["request"]
    assert (request["operation"], request["operation_reason"]) == ("verification_canvas", None)


def test_without_a_query_the_last_human_message_asks():
    messages = [HumanMessage("first"), AIMessage("answer"), HumanMessage("last"), AIMessage("another")]
    assert question_of({"messages": messages}) == ("last", True)
    assert question_of({"query": "given", "messages": messages}) == ("given", False)


def test_in_a_kept_thread_a_new_human_message_asks():
    turn: dict[str, Any] = {"query": "given"}

    def run() -> None:
        written = prepared(**turn)
        turn.update(
            {**written, "messages": [*turn.get("messages", []), *written["messages"], AIMessage("answer")]}
        )

    run()
    assert question_of(turn) == ("given", False)  # type: ignore[arg-type]
    for n in "23":
        turn["messages"].append(HumanMessage(f"turn {n}", id=n))
        run()
        assert turn["query"] == turn["request"]["query"] == f"turn {n}"
    turn["query"] = "given again"
    run()
    assert turn["query"] == "given again"


@pytest.mark.parametrize(
    "state", [{}, {"query": None}, {"messages": [AIMessage("I talk alone")]}, {"query": ["tea"]}]
)
def test_a_question_is_needed(state: dict[str, Any]):
    with pytest.raises(InputError, match="a question is needed"):
        prepared(**state)


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ({"operation": "guess"}, UnknownOperation),
        ({"as_of": "soon"}, InputError),
        ({"filters": {"$x": 1}}, FilterError),
        ({"top_k": 0}, InputError),
        ({"top_k": "5"}, InputError),
        ({"top_k": True}, InputError),
        ({"dataset": 5}, InputError),
    ],
)
def test_the_callers_keys_are_checked(keys: dict[str, Any], error: type[Exception]):
    with pytest.raises(error):
        prepared(query=ASKED, **keys)


def test_a_key_of_none_is_a_key_not_given():
    """What a form sends for a field that was cleared, and what takes back a key that a kept thread still has."""
    nothing = dict.fromkeys(("operation", "dataset", "filters", "as_of", "top_k"))
    assert prepared(query=ASKED, **nothing)["search_query"] == prepared(query=ASKED)["search_query"]


@pytest.mark.parametrize("operation", ["document_retrieval", "文档检索", None, ""])
def test_operations_by_either_name_or_none(operation: str | None):
    named = "document_retrieval" if operation else "verification_canvas"
    assert prepared(query=ASKED, operation=operation)["request"]["operation"] == named


@pytest.mark.parametrize(
    ("query", "leans"),
    [
        ("And when was it made?", True),
        ("Does it, in the long run, damage porcelain teapots?", True),
        ("Why would they move the railway station there?", True),
        ("Who?", True),
        ("How so?", True),
        ("它来自哪里？", True),
        ("其作者是谁，还写过别的什么书吗？", True),
        ("Why does that happen to leaves in the long afternoon?", True),
        ("Who is the leader?", True),
        ("In which year?", True),
        ("What is withering?", False),
        ("Who was Lin Mei?", False),
        ("什么是萎凋？", False),
        ("其他茶类需要萎凋吗？", False),
        ("Is there a Japanese tea that is steamed instead of panned?", False),
        ("那福建的乌龙茶呢，怎么冲泡？", True),
        ("Where does oolong tea come from?", False),
        ("福建的乌龙茶怎么冲泡才好喝？", False),
        ("Who sells porcelain teapots in Kyoto?", False),
    ],
)
def test_a_follow_up_points_back_or_says_too_little(query: str, leans: bool):
    assert leans_on_context(query) is leans


def test_a_follow_up_is_read_with_the_question_before_it():
    messages = [HumanMessage("old one"), HumanMessage(ASKED), AIMessage("Fujian."), HumanMessage("And when?")]
    assert completed("And when?", messages) == f"{ASKED} And when?"
    assert completed("And when?", [HumanMessage("And when?")]) == "And when?"
    assert completed("And when?", []) == "And when?"
    assert (
        completed("Who sells porcelain teapots in Kyoto?", messages)
        == "Who sells porcelain teapots in Kyoto?"
    )


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        (["Who wrote the Classic of Tea?", "When did he live?"], [0, 1, 2]),
        (["Which pots hold heat?", "Who wrote the Classic of Tea?", "When did he live?"], [1, 2, 3]),
        (["Who wrote the Classic of Tea?", "And gaiwans?"], [1, 2]),
        (["茶经是谁写的?", "他活在什么时候?"], [0, 1, 2]),
        (["Who was he?", *[f"What did he say in {year}?" for year in range(760, 766)]], [4, 5, 6, 7]),
    ],
)
def test_a_follow_up_is_read_with_all_it_points_back_to(asked: list[str], read: list[int]):
    query = "And what else?"
    asked = [*asked, query]
    assert completed(query, [HumanMessage(text) for text in asked]) == " ".join(asked[n] for n in read)


def test_the_run_keeps_the_question_as_it_was_asked():
    written = prepared(query="And when?", messages=[HumanMessage(ASKED), HumanMessage("And when?")])
    assert (written["search_query"], written["request"]["query"]) == (f"{ASKED} And when?", "And when?")


def test_what_one_run_does_to_its_state_is_not_seen_by_the_next():
    first = prepared(query=ASKED)
    first["citations"].append("mine")
    first["lancedb_results"].append("mine")
    assert (prepared(query=ASKED)["citations"], prepared(retry="x")["lancedb_results"]) == ([], [])
