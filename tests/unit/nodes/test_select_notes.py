"""The node that reads a question as a query to all notes: its status, its reading, and what failed."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from agentic_rag.domain.ports import Chat
from agentic_rag.errors import ModelError, StoreError
from agentic_rag.nodes.select_notes import select_notes
from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.settings.parameters import Parameters
from agentic_rag.testing import HashingEmbedding, ScriptedChat, prepared_state
from note_rows import snapshot_of


class Notes:
    """A catalogue of one snapshot, or one that cannot be read."""

    def __init__(self, snapshot: Snapshot, error: Exception | None = None) -> None:
        self.error = error
        self.asked: list[str] = []
        self._snapshot = snapshot

    async def snapshot(self, dataset: str) -> Snapshot:
        self.asked.append(dataset)
        if self.error is not None:
            raise self.error
        return self._snapshot


class Failing(HashingEmbedding):
    async def embed_queries(self, texts: Any) -> Any:
        raise ModelError("out of memory")


VAULT = snapshot_of()


async def selection(question: str, catalogue: Notes | None = None, **keys: Any) -> dict[str, Any]:
    state: Any = prepared_state(query=question, operation="document_retrieval", **keys)
    written = await select_notes(state, catalogue=catalogue or Notes(VAULT), embedding=HashingEmbedding())
    assert set(written) == {"selection", "ingest_outcome"}
    assert json.loads(json.dumps(written)) == written, "the state holds plain values"
    return dict(written["selection"])


async def test_a_question_about_many_notes_selects_them():
    catalogue = Notes(VAULT)
    found = await selection("Which games do I have?", catalogue, dataset="mine")
    assert (found["status"], found["reason"], found["count"]) == ("ok", None, 3)
    assert found["reading"] == "notes in games/"
    assert [entry["title"] for entry in found["entries"]] == ["Dota 2", "Elden Ring", "New World"]
    assert found["query"]["filters"] == {"folder": {"$eq": "games"}}
    assert catalogue.asked == ["mine"]
    assert found["ms"] >= 0


async def test_what_no_note_fits_is_none_with_the_nearest_reading():
    found = await selection("which games are tagged #nosuch?")
    assert (found["status"], found["count"], found["nearest"]) == ("none", 0, "notes in games/: 3")


@pytest.mark.parametrize("question", ["Who wrote Dune?", "How do I make pesto?", "?", ""])
async def test_another_question_changes_nothing(question: str):
    found = await selection(question)
    assert (found["status"], found["reason"], found["days"]) == ("empty", None, None)
    assert "entries" not in found


async def test_the_span_of_days_is_told_with_its_place():
    question = "What did I do on 2024-03-15?"
    found = await selection(question)
    first, after, start, end = found["days"]
    assert (first, after, question[start:end]) == ("2024-03-15", "2024-03-16", "on 2024-03-15")
    assert [entry["title"] for entry in found["entries"]] == ["2024-03-15"]


async def test_a_span_without_a_note_is_told_and_selects_nothing():
    found = await selection("What did I do on 2020-01-01?")
    assert (found["status"], found["days"][:2]) == ("empty", ["2020-01-01", "2020-01-02"])


async def test_relative_days_are_counted_from_as_of():
    found = await selection("What did I do yesterday?", as_of="2024-03-16")
    assert [entry["title"] for entry in found["entries"]] == ["2024-03-15"]


async def test_notes_of_later_days_are_not_selected():
    later = await selection("Which games are rated 5?", as_of="2000-01-01")
    assert later["count"] == (await selection("Which games are rated 5?"))["count"], "games have no date"
    overview = await selection("What are my notes about?", as_of="2024-03-14")
    assert not any("2024-03-15" in str(entry) for entry in overview["entries"])
    days = await selection("Which notes are from March 2024?", as_of="2024-03-14")
    assert [entry["title"] for entry in days["entries"]] == ["2024-03-14"]


async def test_the_callers_filter_holds_besides():
    found = await selection("Which games do I have?", filters={"price": {"$gt": 20}})
    assert [entry["title"] for entry in found["entries"]] == ["Elden Ring", "New World"]


async def test_what_is_asked_is_read_and_not_the_question_before_it():
    state: Any = prepared_state(query="Which games do I have?", operation="document_retrieval")
    state["request"] = {**state["request"], "question": f"Who wrote Dune? {state['query']}"}
    written = await select_notes(state, catalogue=Notes(VAULT), embedding=HashingEmbedding())
    assert written["selection"]["reading"] == "notes in games/"


async def test_without_a_catalogue_or_without_notes_it_is_empty():
    state: Any = prepared_state(query="Which games do I have?")
    without = await select_notes(state, catalogue=None, embedding=HashingEmbedding())
    assert without["selection"]["status"] == "empty"
    assert (await selection("Which games do I have?", Notes(Snapshot())))["status"] == "empty"


@pytest.mark.parametrize("question", ["Which notes are tagged #tea?", "What is oolong?", "x" * 600])
async def test_documents_that_are_not_ingested_yet_are_reported(question: str):
    snapshot = replace(VAULT, documents=1200, pending=1150)
    state: Any = prepared_state(query=question, operation="document_retrieval")
    written = await select_notes(state, catalogue=Notes(snapshot), embedding=HashingEmbedding())
    assert written["ingest_outcome"] == {
        "status": "partial",
        "reason": "1,150 of 1,200 documents are not ingested yet; if no ingest is running, run it again",
        "pending": 1150,
        "documents": 1200,
    }
    whole = await select_notes(state, catalogue=Notes(VAULT), embedding=HashingEmbedding())
    assert whole["ingest_outcome"] is None


async def test_a_catalogue_that_fails_is_degraded():
    found = await selection("Which games do I have?", Notes(VAULT, StoreError("the disk is gone")))
    assert (found["status"], found["reason"]) == ("degraded", "the disk is gone")


async def test_a_model_that_fails_is_degraded():
    state: Any = prepared_state(query="games longer than 20 hours")
    written = await select_notes(state, catalogue=Notes(VAULT), embedding=Failing())
    assert (written["selection"]["status"], written["selection"]["reason"]) == ("degraded", "out of memory")


BY_CHAT = Parameters().override({"selection": {"method": "chat"}})
UNREAD = "what are good games for two?"
CHEAP = json.dumps({"where": [{"property": "price", "operator": "<", "value": 50}], "show": ["price"]})


async def selection_with(
    chat: Chat | None, question: str = UNREAD, parameters: Parameters = BY_CHAT, **keys: Any
) -> dict[str, Any]:
    state: Any = {**prepared_state(parameters, query=question, operation="document_retrieval"), **keys}
    written = await select_notes(state, catalogue=Notes(VAULT), embedding=HashingEmbedding(), chat=chat)
    return dict(written["selection"])


async def test_a_chat_model_reads_what_the_rules_do_not():
    found = await selection_with(ScriptedChat(CHEAP))
    assert (found["status"], found["read_by"], found["reason"]) == ("ok", "model", None)
    assert found["reading"] == "notes with price < 50"
    assert [entry["title"] for entry in found["entries"]] == ["Dota 2", "New World"]


async def test_what_the_rules_read_is_not_asked_again():
    chat = ScriptedChat(CHEAP)
    found = await selection_with(chat, "Which games do I have?")
    assert (found["reading"], found["read_by"], chat.prompts) == ("notes in games/", "rules", [])


@pytest.mark.parametrize(
    ("parameters", "keys"), [(Parameters(), {}), (BY_CHAT, {"rewrites": ["good games"]})]
)
async def test_no_model_is_asked_where_it_is_off_or_in_a_further_pass(
    parameters: Parameters, keys: dict[str, Any]
):
    chat = ScriptedChat(CHEAP)
    found = await selection_with(chat, parameters=parameters, **keys)
    assert (found["status"], found["reason"], chat.prompts) == ("empty", None, [])


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("no idea", "no JSON object"),
        (CHEAP.replace("price", "weight"), "which no note has"),
        (CHEAP.replace("50", "-50"), "selects no note"),
        (ModelError("down"), "down"),
        ('{"none": true}', None),
    ],
)
async def test_the_rules_hold_where_the_model_has_no_query(reply: str | Exception, reason: str | None):
    found = await selection_with(ScriptedChat(reply))
    assert found["status"] == "empty"
    assert found["reason"] is None if reason is None else reason in found["reason"]
    kept = await selection_with(ScriptedChat(reply), "which albums are from Steam?")
    assert (kept["status"], kept["read_by"], kept["reading"]) == (
        "ok",
        "rules",
        "notes with platform = Steam",
    )


async def test_a_model_that_is_slow_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agentic_rag.nodes.select_notes.CHAT_SECONDS", 0.05)

    class Slow:
        async def complete(self, system: str, user: str) -> str:
            await asyncio.Event().wait()
            return CHEAP

    found = await selection_with(Slow())
    assert (found["status"], found["reason"]) == ("empty", "the chat model took more than 0.05 s")


async def test_the_callers_filter_goes_before_the_models_condition():
    filters = {"price": {"$gt": 50}}
    state: Any = prepared_state(BY_CHAT, query=UNREAD, operation="document_retrieval", filters=filters)
    written = await select_notes(
        state, catalogue=Notes(VAULT), embedding=HashingEmbedding(), chat=ScriptedChat(CHEAP)
    )
    assert [entry["title"] for entry in written["selection"]["entries"]] == ["Elden Ring"]
