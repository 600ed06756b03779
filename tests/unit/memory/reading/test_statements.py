from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.memory.reading.schemas import MemoryStatement
from agentic_rag.memory.reading.statements import statements
from agentic_rag.memory.schemas import MemoryType

AT = datetime(2024, 6, 12, 10, tzinfo=UTC)
CORE, SEMANTIC, PROCEDURAL, WORKING = (
    MemoryType.CORE,
    MemoryType.SEMANTIC,
    MemoryType.PROCEDURAL,
    MemoryType.WORKING,
)


def stated(text: str, *, is_person: bool = True) -> list[MemoryStatement]:
    return statements(text, speaker="Bo", at=AT, is_person=is_person)


def kinds(text: str) -> list[str]:
    return [f"{one.memory_type}{f':{one.block}' if one.block else ''}" for one in stated(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Oslo.", ["semantic", "core:human"]),
        ("My sister lives in Oslo.", ["semantic"]),
        ("My budget is 500 euros.", ["semantic"]),
        ("My favourite colour is green.", ["semantic", "core:preferences"]),
        ("I prefer tables.", ["core:preferences"]),
        ("I'd rather read tables.", ["core:preferences"]),
        ("I don't like spicy food.", ["semantic", "core:preferences"]),
        ("I hate long answers, can you help?", ["semantic", "core:preferences"]),
        ("我不喜欢长篇大论。", ["semantic", "core:preferences"]),
        ("I have two sisters.", ["core:human"]),
        ("我来自中国。", ["core:human"]),
        ("You are my running coach.", ["core:persona"]),
        ("Call yourself Max.", ["core:persona"]),
        ("Be brief.", ["core:persona"]),
        ("请简洁一点。", ["core:persona"]),
        ("你是我的健身教练。", ["core:persona"]),
        ("I'm working on the launch page.", ["working"]),
        ("Today I need to send the invoice.", ["working"]),
        ("Remind me to call Kim tomorrow.", ["working"]),
        ("TODO: call the bank.", ["working"]),
        ("Next step: write tests.", ["working"]),
        ("我正在写毕业论文。", ["working"]),
        ("今天要交报告。", ["working"]),
        ("待办：买牛奶。", ["working"]),
        ("I have 3 cats and a garden.", []),
        ("I finished sprint 1 on March 29.", []),
        ("I've never met Bryan at any festival.", []),
        ("The API now answers in 250 ms.", []),
        ("Alice plays the violin.", []),
        ("我有两只猫。", []),
        ("Include units when I ask for measurements.", ["procedural"]),
        ("I lived in Oslo.", []),
        ("Thanks, that helps a lot!", []),
        ("I love it!", []),
        ("I like that idea.", []),
        ("I'd like a coffee.", []),
        ("I think it works.", []),
        ("I'm not sure about the plan.", []),
        ("You are right.", []),
        ("You're a genius!", []),
        ("Are you my coach?", []),
        ("How do I reset it?", []),
        ("What is going on?", []),
        ("Taking care of ourselves is vital.", []),
        ("我觉得很好。", []),
        ("你是谁？", []),
        ("", []),
        (" \n ", []),
    ],
)
def test_which_memories_a_sentence_makes(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


def test_a_time_that_is_over_is_given_with_both_ends() -> None:
    begins, ends = stated("I lived in Oslo from 2019 to 2021.")
    assert (begins.slot, begins.value, begins.ends) == ("lives in", "Oslo", False)
    assert (ends.slot, ends.value, ends.ends) == ("lives in", "Oslo", True)
    assert (begins.valid_at, ends.valid_at) == (
        datetime(2019, 1, 1, tzinfo=UTC),
        datetime(2022, 1, 1, tzinfo=UTC),
    )


def test_the_value_of_a_deadline_is_not_since_when_it_holds() -> None:
    (one,) = stated("My deadline for the essay was moved from May 10 to May 12, 2024.")
    assert (one.value, one.valid_at) == ("May 12, 2024", None)


def test_an_instruction_has_its_trigger_and_a_how_to_its_steps() -> None:
    text = "Include units when I ask for measurements.\n\nHow to brew tea:\n1. Boil water\n2. Add leaves"
    told, how_to = stated(text)
    assert (told.trigger, told.steps) == ("when I ask for measurements", ())
    assert (how_to.trigger, how_to.steps) == ("How to brew tea", ("Boil water", "Add leaves"))


def test_of_an_assistant_only_how_tos_are_kept() -> None:
    text = (
        "I live in Oslo. You prefer tea. Always ask first.\n\nHow to brew tea:\n1. Boil water\n2. Add leaves"
    )
    assert [one.memory_type for one in stated(text, is_person=False)] == [PROCEDURAL]


def test_code_is_left_out() -> None:
    assert stated("```python\n# I live in Oslo.\n```\n~~~\nI work at Acme.") == []


@given(
    st.text(max_size=300)
    | st.lists(
        st.sampled_from(
            [
                "I live in Oslo",
                "my dog's name is Rex",
                ", ",
                ". ",
                "\n",
                "how to x:",
                "\n- a",
                "\n1. b",
                " and ",
                "?",
                "if ",
                '"',
                "```",
                "我住在上海",
                "，",
                "。",
                "always ",
                "use x ",
                "when I ask ",
                "since 2021",
                "last week",
            ]
        ),
        max_size=30,
    ).map("".join)
)
def test_statements_are_verbatim_and_whole(text: str) -> None:
    found = stated(text)
    assert found == stated(text)
    assert [one.start for one in found] == sorted(one.start for one in found)
    for one in found:
        assert one.text
        assert text[one.start : one.end] == one.text
        assert (one.slot is None) == (one.value is None)
        assert one.value != "" or one.ends
        assert (one.block is None) == (one.memory_type is not CORE)
        assert (one.trigger is None) == (one.memory_type is not PROCEDURAL)
        assert one.reason.endswith(".")


@pytest.mark.parametrize(
    "text",
    [
        "I'm trying to plan the trip, and I've saved 500 euros, so can you help me with the budget for Oslo?\n"
        * 1000,
        "how to x:\n- a\n- b\n" * 5500,
        "x" * 100_000,
        '"' * 100_000,
        "- " * 50_000,
        "```\n" * 25_000,
        ("use a " * 320 + "whenever. ") * 50,
        ("today " * 330 + ". ") * 50,
        "I moved to " * 9000,
    ],
    ids=range(9),
)
def test_a_long_message_is_read_in_linear_time(text: str) -> None:
    started = time.process_time()
    stated(text)
    assert time.process_time() - started < 3  # a quadratic pattern takes minutes; the usual text .12 s
