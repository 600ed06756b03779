"""What of a message is worth remembering, and as which kind of memory."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.memory.reading.statements import MemoryStatement, statements, told_part
from agentic_rag.memory.schemas import MemoryType

CORE, EPISODIC, SEMANTIC, PROCEDURAL, WORKING = MemoryType
AT = datetime(2024, 5, 5, tzinfo=UTC)


def read(text: str, *, is_person: bool = True) -> list[MemoryStatement]:
    return statements(text, speaker="user", at=AT, is_person=is_person)


def kinds(text: str) -> set[tuple[MemoryType, str | None]]:
    return {(one.memory_type, one.block) for one in read(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Oslo.", {(SEMANTIC, None), (CORE, "human")}),
        ("The budget for the party is 500 euros.", {(SEMANTIC, None)}),
        ("I prefer short answers.", {(CORE, "preferences")}),
        ("I'd rather walk.", {(CORE, "preferences")}),
        ("我不喜欢香菜。", {(CORE, "preferences")}),
        ("I'm allergic to nuts.", {(CORE, "preferences")}),
        ("You are my cooking coach.", {(CORE, "persona")}),
        ("Please be brief.", {(CORE, "persona")}),
        ("回答请简短。", {(CORE, "persona")}),
        ("When I ask about code, show the version.", {(PROCEDURAL, None)}),
        ("Always show the version when I ask about code.", {(PROCEDURAL, None)}),
        ("From now on cite your sources.", {(PROCEDURAL, None)}),
        ("每次我问价格都请用欧元。", {(PROCEDURAL, None)}),
        ("I'm working on the login page.", {(WORKING, None)}),
        ("Remind me to call Ana.", {(WORKING, None)}),
        ("我正在写报告。", {(WORKING, None)}),
        ("I had pasta.", set()),
        ("Do I prefer tea?", set()),
        ("What do I like?", set()),
        ("I've never been to Rome.", set()),
        ("I can always look it up.", set()),
        ("If it rains, the match is off.", set()),
    ],
)
def test_the_kind_of_a_sentence(text: str, expected: set[object]):
    assert kinds(text) == expected


def test_the_same_instruction_is_found_without_its_marking_word():
    (marked,) = read("Always show the version when I ask about code.")
    (bare,) = read("show the version when I ask about code.")
    assert (marked.trigger, bare.trigger) == ("when I ask about code", "when I ask about code")


def test_what_is_asked_at_the_end_is_no_part_of_what_is_told():
    text = "I prefer trains, so can you find one to Bergen?"
    (found,) = read(text)
    assert (found.memory_type, found.block, found.text) == (CORE, "preferences", text)
    assert told_part(text) == "I prefer trains"


def test_a_how_to_has_its_steps():
    text = "Thanks!\n\n### How to descale a kettle\n1. Fill it.\n2. Add vinegar.\n3. Boil.\n\nDone."
    (found,) = read(text, is_person=False)
    assert (found.memory_type, found.trigger) == (PROCEDURAL, "How to descale a kettle")
    assert found.steps == ("Fill it.", "Add vinegar.", "Boil.")
    assert text[found.start : found.end] == found.text


def test_an_assistants_words_say_nothing_of_a_person():
    assert read("I live in the cloud. I prefer short answers.", is_person=False) == []


def test_code_is_not_read():
    assert read("```\nI live in Oslo.\n# How to run\n1. a\n2. b\n```") == []


def test_the_subject_is_who_speaks_or_who_is_named():
    found = statements("I live in Oslo. Ana lives in Rome. My brother lives in Lund.", speaker="Bo", at=None)
    assert [(one.subject, one.value) for one in found if one.memory_type is SEMANTIC] == [
        ("Bo", "Oslo"),
        ("Ana", "Rome"),
        ("Bo's brother", "Lund"),
    ]


@given(st.text(max_size=400), st.booleans())
def test_every_statement_stands_in_the_text(text: str, is_person: bool):
    for one in statements(text, speaker="user", at=AT, is_person=is_person):
        assert text[one.start : one.end] == one.text
        assert one.reason
