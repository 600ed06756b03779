"""The first node: the request of a run, and the search query of the current pass."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from agentic_rag.domain.filters import Comparison
from agentic_rag.domain.notes import Note
from agentic_rag.errors import FilterError, InputError, StoreError, UnknownOperation
from agentic_rag.nodes.prepare_query import initial_keys, prepare_query
from agentic_rag.nodes.request import MAX_ANSWER, Request, earlier_turns, normalise, question_of
from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.followups import CompletedQuestion, Turn
from agentic_rag.questions.note_queries.vocabulary import Vocabulary
from agentic_rag.settings.parameters import Parameters
from agentic_rag.state import CallerKeys, CanvasRAGState

ASKED = "Where does oolong tea come from?"


def prepared(**state: Any) -> dict[str, Any]:
    return initial_keys(state, Parameters())  # type: ignore[arg-type]


class Notes:
    """A catalogue of notes by title, or one that cannot be read; counts how often it is asked."""

    def __init__(self, *titles: str, error: Exception | None = None) -> None:
        self.error = error
        self.asked = 0
        notes = [Note(document_id=title, path=f"{title}.md", title=title) for title in titles]
        self._snapshot = Snapshot.of(notes)

    async def snapshot(self, dataset: str) -> Snapshot:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return self._snapshot


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


async def test_a_rewrite_starts_a_further_pass_of_the_same_run():
    written = await prepare_query({"retry": "oolong origin"})
    assert written["search_query"] == "oolong origin"
    assert not {"request", "query", "rewrites", "rewrite_outcome", "messages"} & set(written)
    assert (written["lancedb_results"], written["lancedb_outcome"]) == ([], None)


def test_the_request_is_plain_and_comes_back_as_it_was():
    parameters = Parameters().override({"fusion": {"k": 5}})
    filters = {"year": {"$gte": 2023}}
    asked: Any = {"query": "And when?", "filters": filters, "as_of": "2024-06-30", "top_k": 3}
    request = normalise(asked, parameters)
    assert Request.from_plain(json.loads(json.dumps(request.plain()))) == request
    assert (request.filters, request.parameters.fusion.k, request.fusion.k) == (
        Comparison("year", "$gte", 2023),
        5,
        5,
    )


def test_a_question_becomes_a_message_unless_it_is_one():
    (message,) = prepared(query=ASKED)["messages"]
    assert (message.content, prepared(query=ASKED)["request"]["message_id"] is None) == (ASKED, False)
    said = [HumanMessage(ASKED, id="1")]
    assert prepared(query=ASKED, messages=said)["messages"] == prepared(messages=said)["messages"] == []
    assert prepared(messages=said)["request"]["message_id"] == "1"


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
    "state",
    [{}, {"query": None}, {"query": 3}, {"messages": [AIMessage("I talk alone")]}, {"query": ["tea"]}],
)
def test_a_question_is_needed(state: dict[str, Any]):
    with pytest.raises(InputError, match="a question is needed"):
        prepared(**state)


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ({"operation": "guess"}, UnknownOperation),
        ({"as_of": "yesterday"}, InputError),
        ({"filters": {"$nor": []}}, FilterError),
        *(({"top_k": wrong}, InputError) for wrong in (0, -1, 1001, "10", 2.5, True)),
        ({"dataset": 5}, InputError),
    ],
)
def test_the_callers_keys_are_checked(keys: dict[str, Any], error: type[Exception]):
    """An error of no class of its own names the key."""
    with pytest.raises(error, match=next(iter(keys)) if error is InputError else None):
        prepared(query=ASKED, **keys)


def test_a_key_of_none_is_a_key_not_given():
    """What a form sends for a field that was cleared, and what takes back a key that a kept thread still has."""
    nothing = dict.fromkeys(("operation", "dataset", "filters", "as_of", "top_k"))
    assert prepared(query=ASKED, **nothing)["search_query"] == prepared(query=ASKED)["search_query"]


@pytest.mark.parametrize("operation", ["document_retrieval", "文档检索", None, ""])
def test_operations_by_either_name_or_none(operation: str | None):
    named = "document_retrieval" if operation else "verification_canvas"
    assert prepared(query=ASKED, operation=operation)["request"]["operation"] == named


def test_the_run_keeps_the_question_as_it_was_asked():
    written = prepared(query="And when?", messages=[HumanMessage(ASKED), HumanMessage("And when?")])
    assert (written["search_query"], written["request"]["query"]) == (f"{ASKED} And when?", "And when?")
    assert (written["request"]["question"], written["request"]["asked"]) == (
        f"{ASKED} And when?",
        "And when?",
    )
    assert written["request"]["carried"] == {"question": ASKED}


def test_the_turns_of_a_conversation_are_questions_with_their_answers():
    said = [
        AIMessage("Hello."),
        HumanMessage("first"),
        AIMessage("one"),
        HumanMessage("second"),
        AIMessage("two"),
    ]
    turns = [Turn("first", "one"), Turn("second", "two")]
    assert earlier_turns("third", said) == turns
    assert earlier_turns("third", [*said, HumanMessage(" third ")]) == turns
    assert earlier_turns("third", []) == []


@pytest.mark.parametrize("piece", ["a", "Zeolite. [1] ", "茶"])
def test_of_a_long_earlier_answer_its_ends_are_read(piece: str) -> None:
    said = [HumanMessage("first"), AIMessage(f"Begins. {piece * 100_000} Ends."), HumanMessage("second")]
    (turn,) = earlier_turns("second", said)
    assert len(turn.answer) <= MAX_ANSWER + 1
    assert turn.answer.startswith("Begins.")
    assert turn.answer.endswith("Ends.")


def test_a_pasted_question_is_searched_by_its_ends_and_asked_by_them_too():
    long = "a" * 3000 + "z" * 3000
    request = normalise(
        {"query": long}, Parameters(), lambda query, turns: CompletedQuestion(query, {"thing": "x"})
    )
    assert (request.query, len(request.question), len(request.asked)) == (long, 2001, 2001)
    assert request.carried == {"thing": "x"}


async def test_a_conversation_knows_the_notes_by_name():
    said = [HumanMessage("How much does New World cost?"), AIMessage("40."), HumanMessage("and its genre?")]
    notes = Notes("New World", "Dune")
    state: Any = {"query": "and its genre?", "messages": said}
    written = await prepare_query(state, catalogue=notes)
    assert written["request"]["carried"]["thing"] == "New World"
    assert written["request"]["asked"] == "and New World's genre?"
    vocabulary = Vocabulary.of(await notes.snapshot("default"))
    assert initial_keys(state, Parameters(), vocabulary)["request"]["asked"] == written["request"]["asked"]


async def test_the_names_are_read_only_in_a_conversation_and_a_failing_catalogue_is_done_without():
    notes = Notes("New World")
    await prepare_query({"query": ASKED}, catalogue=notes)
    assert notes.asked == 0
    failing = Notes(error=StoreError("the ledger is gone"))
    said = [HumanMessage(ASKED), AIMessage("Fujian."), HumanMessage("And when?")]
    written = await prepare_query({"query": "And when?", "messages": said}, catalogue=failing)
    assert (failing.asked, written["search_query"]) == (1, f"{ASKED} And when?")


async def test_what_one_run_does_to_its_state_is_not_seen_by_the_next():
    first = prepared(query=ASKED)
    first["citations"].append("mine")
    first["lancedb_results"].append("mine")
    first["units"].append("mine")
    first["selection"]["mine"] = True
    again = await prepare_query({"retry": "x"})
    assert (prepared(query=ASKED)["citations"], again["lancedb_results"]) == ([], [])
    assert (again["units"], again["selection"]) == ([], {})
