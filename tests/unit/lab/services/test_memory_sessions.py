"""Entries as session documents: their contents depend on the inserts alone; shared rare entities link memories."""

from __future__ import annotations

from datetime import UTC, datetime
from math import log
from typing import Any

import pytest

from agentic_rag.domain import Document, DocumentGraph, Entity, Mention
from agentic_rag_lab.designs.services.entries import Entries
from agentic_rag_lab.designs.services.sessions import LOOSE_ENTRIES, SessionDocuments, SharedEntities
from agentic_rag_lab.sources.locomo import RawSession, parse_session


class Told:
    """Sessions, told texts."""

    def __init__(self) -> None:
        self.entries = Entries()
        self.sessions = SessionDocuments("talk")

    def add(self, text: str, **metadata: Any) -> str | None:
        return self.sessions.add(self.entries.add(text, metadata or None))

    def document(self, document_id: str | None) -> Document:
        assert document_id is not None
        document = self.sessions.document(document_id)
        assert document is not None
        return document


def test_a_session_is_just_as_an_ingest_makes_it() -> None:
    told = Told()
    told.add("(2023-05-08)Caroline: Hey Mel!\n(2023-05-08)Melanie: Hi \ud800", session_id=2, dialog_id=0)
    document_id = told.add("(2023-05-08)Caroline: I went to a support group.", session_id=2, dialog_id=2)
    turns = [("Caroline", "Hey Mel!"), ("Melanie", "Hi \ufffd"), ("Caroline", "I went to a support group.")]
    ingested = parse_session(
        RawSession(
            "talk",
            2,
            ("Caroline", "Melanie"),
            "8 May, 2023",
            tuple(
                {"speaker": who, "text": text, "dia_id": f"D2:{i}"} for i, (who, text) in enumerate(turns, 1)
            ),
        ),
        path="talk/session_2",
    )
    assert told.document(document_id) == ingested
    assert ingested.title == "Caroline and Melanie, 8 May 2023"


def test_title_names_who_was_known_when_the_session_began() -> None:
    told = Told()
    told.add("(2023-05-08)Caroline: Hey!", session_id=1)
    first = told.add("(2023-05-08)Melanie: Hi!", session_id=1)
    second = told.add("(2023-05-09)Melanie: Again!", session_id=2)
    assert told.document(first).title == "Caroline, 8 May 2023"
    assert told.document(second).title == "Caroline and Melanie, 9 May 2023"


def test_turns_are_found_back() -> None:
    told = Told()
    told.add("one\ntwo", session_id=4)
    told.add("three", session_id=4)
    assert [told.sessions.entry_of(f"D4:{n}") for n in (1, 2, 3, 4)] == ["m00000001"] * 2 + [
        "m00000002",
        None,
    ]
    assert told.sessions.entry_of(None) is None
    assert told.sessions.turns_of(["m00000002", "m00000001", "m9"]) == ["D4:3", "D4:1", "D4:2"]
    assert len(told.sessions) == 3


def test_a_forgotten_entry_leaves_the_keys_of_the_others() -> None:
    told = Told()
    document_id = told.add("one", session_id=1)
    told.add("two", session_id=1)
    assert told.sessions.remove("m00000001") == document_id
    assert told.sessions.remove("m00000001") is None
    told.add("three", session_id=1)
    assert [(block.key, block.start) for block in told.document(document_id).blocks] == [
        ("D1:2", 0),
        ("D1:3", 4),
    ]
    told.sessions.remove("m00000002")
    told.sessions.remove("m00000003")
    assert told.sessions.document(str(document_id)) is None


def test_without_a_session_every_fifty_make_a_document() -> None:
    told = Told()
    documents = [told.add(f"Alice likes dish {number}") for number in range(2 * LOOSE_ENTRIES + 1)]
    assert [documents.count(d) for d in dict.fromkeys(documents)] == [LOOSE_ENTRIES, LOOSE_ENTRIES, 1]
    assert told.document(documents[0]).title == ""  # nothing it could say


def test_dates_make_documents_too() -> None:
    told = Told()
    first = told.add("(2023-05-08)Ann: hi", session_id=1)
    second = told.add("(9 May 2023)Ann: hi", session_id=1)
    third = told.add("Ann says hi", session_id=1, timestamp="2023-05-09T10:30:00")
    undated = told.add("Ann says hi", session_id=1)
    assert (first, second, third) == ("talk/session_1", "talk/session_2", "talk/session_2")
    assert told.document(second).date == datetime(2023, 5, 9, tzinfo=UTC)
    assert told.document(undated).date is None
    assert told.document(undated).title == "Ann, session 3"


def test_every_session_has_a_number_of_its_own() -> None:
    told = Told()
    given: list[Any] = [None, 1, "1", True, -3, ["x"], 7, 1.0]
    documents = [told.add(f"(2023-05-08)Ann: {value!r}", session_id=value) for value in given]
    assert len(set(documents)) == len(given)
    assert documents[6] == "talk/session_7"


def test_notes_with_a_date_have_a_title_that_says_so() -> None:
    told = Told()
    document_id = told.add("Alice works at Google", timestamp="2023-05-09")
    assert told.document(document_id).title == "Notes, 9 May 2023"


def test_what_says_nothing_is_in_no_document() -> None:
    told = Told()
    assert told.add(" \n ") is None
    assert told.sessions.remove("m00000001") is None


SAID = {"m1": ["google", "alice"], "m2": ["google", "bob"], "m3": ["alice"], "m4": ["tea"]}


def graph(said: dict[str, list[str]], document_id: str = "d") -> DocumentGraph:
    names = sorted({name for names in said.values() for name in names})
    entities = (*(Entity(name, name, ("Thing",)) for name in names), Entity("today", "Today", ("Session",)))
    mentions = [
        Mention(name, f"{document_id}#{m}") for m, names in said.items() for name in [*names, "today"]
    ]
    return DocumentGraph(document_id, (), entities, (), tuple(mentions))


def shared(said: dict[str, list[str]]) -> SharedEntities:
    links = SharedEntities()
    links.replace(graph(said), {f"d#{memory}": memory for memory in said})
    return links


def test_strength_is_the_weighted_share_of_what_is_common() -> None:
    rare, common = log(1 + 4 / 1), log(1 + 4 / 2)
    linked = shared(SAID).linked_entries("m1", 4)
    assert [memory for memory, _ in linked] == ["m3", "m2"]
    assert [strength for _, strength in linked] == pytest.approx(
        [common / (common + common), common / (common + common + rare)]
    )


def test_links_are_the_same_both_ways() -> None:
    links = shared(SAID)
    strengths = {(a, b): strength for a in SAID for b, strength in links.linked_entries(a, 4)}
    assert strengths == {(b, a): strength for (a, b), strength in strengths.items()}
    assert all(0 < strength <= 1 for strength in strengths.values())


def test_the_session_itself_links_nothing() -> None:
    assert shared(SAID).linked_entries("m4", 4) == []
    assert shared(SAID).linked_entries("unknown", 4) == []


def test_a_document_is_replaced_and_removed() -> None:
    links = shared(SAID)
    links.replace(graph({"m5": ["google"]}, "e"), {"e#m5": "m5"})
    assert [memory for memory, _ in links.linked_entries("m5", 5)] == ["m1", "m2"]
    links.replace(graph({"m1": ["tea"]}), {"d#m1": "m1"})
    assert links.linked_entries("m5", 2) == []
    links.remove("e")
    assert links.linked_entries("m5", 1) == []
    links.remove("e")
