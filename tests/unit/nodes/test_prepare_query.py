"""The first node: what is searched for now, and the pass."""

from __future__ import annotations

import time
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from agentic_rag.errors import FilterError, InputError, UnknownOperation
from agentic_rag.nodes.prepare_query import completed, is_rewrite, leans_on_context, prepare_query, question

ASKED = "Where does oolong tea come from?"
WEAK: dict[str, Any] = {
    "query": ASKED,
    "pass": 4,
    "run": {"first_pass": 4, "started": 1.0, "query": ASKED},
    "quality": {"decision": "rewrite", "pass": 4},
    "rewrites": ["oolong origin"],
}


def prepared(**state: Any) -> dict[str, Any]:
    return prepare_query(state)  # type: ignore[typeddict-item]


def test_a_run_starts_a_pass():
    before = time.time()
    written = prepared(query=ASKED)
    assert (written["search_query"], written["pass"], written["rewrites"]) == (ASKED, 1, [])
    assert (written["run"]["first_pass"], written["run"]["query"]) == (1, ASKED)
    assert before <= written["run"]["started"] <= time.time()


def test_a_rewrite_starts_the_next_pass_of_the_same_run():
    assert prepared(**WEAK) == {"search_query": "oolong origin", "pass": 5}


@pytest.mark.parametrize(
    "change",
    [
        {"query": "Another question?"},
        {"quality": {"decision": "answer", "pass": 4}},
        {"quality": {"decision": "rewrite", "pass": 3}},
        {"rewrites": []},
        {"quality": None},
        {"pass": 5, "quality": {"decision": "rewrite", "pass": 5}},
    ],
)
def test_what_is_no_rewrite_is_a_run_of_its_own(change: dict[str, Any]):
    state = {**WEAK, **change}
    assert not is_rewrite(state)  # type: ignore[arg-type]
    written = prepared(**state)
    assert written["run"]["first_pass"] == written["pass"] == state["pass"] + 1
    assert written["search_query"] == state["query"]


def test_without_a_query_the_last_human_message_asks():
    messages = [HumanMessage("first"), AIMessage("answer"), HumanMessage("last"), AIMessage("another")]
    assert question({"messages": messages}) == "last"
    assert question({"query": "given", "messages": messages}) == "given"


def test_in_a_kept_thread_a_new_human_message_asks():
    first = HumanMessage("first", id="1")
    turn: dict[str, Any] = {"query": "given", "messages": [first]}
    turn |= prepared(**turn)
    assert (turn["query"], turn["run"]["heard"]) == ("given", "1")
    assert question(turn) == "given"  # type: ignore[arg-type]
    for n in "23":
        turn["messages"] = [*turn["messages"], AIMessage("answer"), HumanMessage(f"turn {n}", id=n)]
        turn |= prepared(**turn)
        assert turn["query"] == turn["run"]["query"] == f"turn {n}"
    turn |= prepared(**{**turn, "query": "given again"})
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
    assert prepared(query=ASKED, operation=operation)["pass"] == 1


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
    assert (written["search_query"], written["run"]["query"]) == (f"{ASKED} And when?", "And when?")
