"""Evidence for memory types in a query."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.memory.routing.rules import MAX_CHARACTERS, evidence
from agentic_rag.memory.schemas import MemoryType
from agentic_rag.text import fold

CORE, EPISODIC, SEMANTIC, PROCEDURAL, WORKING = MemoryType


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("Do I like liquorice?", 'the query asks who the person is or what suits them ("Do I like")'),
        ("ＷＨＯ ａｒｅ ｙｏｕ", 'the query asks how the assistant is to be ("WHO are you")'),
        ("the roof, two years ago", 'the query asks of a time in the past ("ago")'),
        ("我們聊過這個嗎", 'the query asks what was said or happened ("聊過")'),
        ("the capital of Peru", 'the query asks what something is ("capital of")'),
        ("who wrote Emma", 'the query asks what is known of someone or something ("who wrote")'),
        ("how does a lock work", 'the query asks how a thing came about or works ("how does a lock work")'),
        ("洗車的步驟", 'the query asks how something is done ("步驟")'),
        ("每次下雨要关窗", 'the query asks what to do when something occurs ("每次")'),
        ("接下来呢", 'the query points at the task or talk at hand ("接下来")'),
        ("open tasks", 'the query asks what is going on now ("open tasks")'),
        ("my kettle", 'the query is about the person ("my")'),
        ("salt in June 2024", "the query states a time"),
        ("the letter from Odile", 'the query names something ("Odile")'),
    ],
)
def test_each_rule_tells_the_words_that_it_goes_by(query: str, reason: str):
    assert reason in [found.reason for found in evidence(query)]


@pytest.mark.parametrize("query", ["", " ", "salt", "🧂", "knowledge of stepsons"])
def test_a_word_that_only_looks_like_a_sign_says_nothing(query: str):
    assert evidence(query) == ()


def test_a_name_says_less_beside_the_person():
    (alone,) = (found for found in evidence("the letter from Odile") if found.memory_type is SEMANTIC)
    (beside,) = (found for found in evidence("my letter from Odile") if found.memory_type is SEMANTIC)
    assert beside.weight < alone.weight


def test_what_stands_far_behind_in_a_pasted_text_is_not_read():
    assert evidence("salt " * (MAX_CHARACTERS // 5) + "who are you") == ()


@pytest.mark.parametrize("words", ["what is ", "when if ", "how is a ", "是什么", "的时候", "I we you my "])
def test_a_long_text_is_read_in_a_moment(words: str):
    evidence("读一次词典")
    begun = time.process_time()
    evidence(words * MAX_CHARACTERS)
    assert time.process_time() - begun < 2.0


@given(st.text())
def test_any_text_gives_the_same_each_time_and_quotes_itself(query: str):
    found = evidence(query)
    assert found == evidence(query)
    for one in found:
        assert one.weight > 0
        for quoted in re.findall(r'\("(.*)"\)\Z', one.reason, flags=re.DOTALL):
            assert "".join(fold(quoted).split()) in "".join(fold(query).split())
