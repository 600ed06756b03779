"""The operation chosen from a question's words, and the sentence that says why."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.fusion import CanvasOperation, choose_operation
from agentic_rag.fusion.operation_choice import MAX_CHARACTERS

VERIFICATION, WEAK, RELATION, PASSAGE = CanvasOperation


@pytest.mark.parametrize(
    ("question", "operation"),
    [
        ("Quiz me on the history of salt", VERIFICATION),
        ("write ten questions about the Hanseatic League", VERIFICATION),
        ("I would like you to give me questions on salt", VERIFICATION),
        ("Where do I ask questions about salt?", PASSAGE),
        ("Where can we pose our questions?", PASSAGE),
        ("Who set the survey questions?", PASSAGE),
        ("Where to put questions about payroll?", PASSAGE),
        ("考考我电路图的符号", VERIFICATION),
        ("出五道关于汉代史的选择题", VERIFICATION),
        ("What do I keep getting wrong in trigonometry?", WEAK),
        ("把我做错的题归归类", WEAK),
        ("What mistakes did I make in the exam?", WEAK),
        ("How does humidity relate to static electricity?", RELATION),
        ("How are humidity and static electricity related?", RELATION),
        ("湿度和静电有什么关系", RELATION),
        ("why does salt melt ice", RELATION),
        ("盐为什么能化冰", RELATION),
        ("Where did I note the code of the garage?", PASSAGE),
        ("车库密码记在哪", PASSAGE),
        ("how much salt goes into the brine", PASSAGE),
        # a test or mistakes about a relation
        ("Check that I know the difference between mass and weight", VERIFICATION),
        ("考我：质量和重量有什么区别", VERIFICATION),
        ("Group my mistakes about how mass relates to weight", WEAK),
        # traditional characters and full-width letters
        ("質量和重量有什麼關係", RELATION),
        ("把錯題分類", WEAK),
        ("ＱＵＩＺ ｍｅ on salt", VERIFICATION),
    ],
)
def test_words_choose(question: str, operation: CanvasOperation):
    assert choose_operation(question).operation is operation


@pytest.mark.parametrize(
    "question",
    [
        "which quiz did I take in March?",
        "the test results of the well water",
        "why did my gyokuro taste bitter and what should I do next time?",
        "我的玉露为什么这么苦，下次怎么办",
        "the link to the paper",
        "关系型数据库的教材",
        "房东的联系方式",
        "请问我的护照放哪儿",
        "我备考我妈妈的药费清单",
        "演出的主题是什么",
        "我觉得不错的餐厅",
        "What matters to me to this day",
        "What did Ola ask me to buy?",
        "What does my boiler error E3 mean?",
        "What is wrong with the laptop?",
        "What went wrong at the launch?",
        "Which meter shows errors?",
    ],
)
def test_a_word_that_only_looks_like_a_sign_chooses_nothing(question: str):
    assert choose_operation(question).operation is PASSAGE


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Please quiz me on salt", '"quiz me" asks for questions that test you.'),
        ("What do I always get wrong in chess?", '"I … wrong" asks for your own mistakes and weak points.'),
        ("質量和重量有什麼關係", '"關係" asks for how things are connected.'),
    ],
)
def test_the_reason_quotes_the_words_as_they_were_written(question: str, reason: str):
    assert choose_operation(question).reason == reason


@pytest.mark.parametrize("question", ["", "   ", "\n", "salt", "🧂"])
def test_without_a_sign_passages_are_searched_for_and_the_reason_says_so(question: str):
    choice = choose_operation(question)
    assert choice.operation is PASSAGE
    assert choice.reason.startswith("No words ask for a test")


def test_what_stands_far_behind_in_a_pasted_text_is_not_read():
    assert choose_operation("salt " * (MAX_CHARACTERS // 5) + "quiz me").operation is PASSAGE
    assert choose_operation("salt " * (MAX_CHARACTERS // 5 - 2) + "quiz me").operation is VERIFICATION


@given(st.text())
def test_any_text_has_one_of_the_four_and_a_sentence(question: str):
    choice = choose_operation(question)
    assert choice.operation in CanvasOperation
    assert choice.reason.endswith(".")
    assert choose_operation(question) == choice


@given(
    st.sampled_from(["Quiz me on", "What do I get wrong about", "考考我", "How is salt related to"]),
    st.text(st.characters(categories=["Lu", "Ll"], max_codepoint=0x7F), min_size=1, max_size=30),
)
def test_what_a_question_is_about_does_not_change_its_operation(words: str, about: str):
    assert choose_operation(f"{words} {about}").operation is choose_operation(words + " salt").operation


@given(st.text(min_size=1, max_size=40))
def test_quoted_words_stand_in_the_question(about: str):
    question = f"Test me on this: {about}"
    quoted = re.findall(r'\A"(.*)" asks for', choose_operation(question).reason, flags=re.DOTALL)[0]
    for part in quoted.split(" … "):
        assert part in question
