"""A character of the same sound is taken for the one that the notes write."""

from __future__ import annotations

import pytest

from agentic_rag.questions.homophones import written_as
from agentic_rag.questions.question import Question

NOTES = "萝卜炖牛腩的做法\n蒜蓉西兰花\n宫保鸡丁\n乌龙茶\n葱油拌面"


@pytest.mark.parametrize(
    ("before", "character", "after", "expected"),
    [
        ("萝卜炖牛", "楠", "", ("萝卜炖牛腩", "")),
        ("", "容", "西兰花", ("", "蓉西兰花")),
        ("宫保", "虾", "", None),  # another dish
        ("葱油", "拌", "面", None),  # as the notes write it
        ("葱", "伴", "面", None),  # one character beside it may be chance
        ("豆腐", "楠", "", None),
    ],
)
def test_a_character_of_the_same_sound(
    before: str, character: str, after: str, expected: tuple[str, str] | None
):
    assert written_as(before, character, after, NOTES) == expected


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("萝卜炖牛楠", ["萝卜炖牛腩"]),
        ("蒜容西兰花", ["蒜", "蓉西兰花"]),
        ("葱油伴面", ["葱油拌", "面"]),
        ("乌笼茶", ["乌笼茶"]),  # no word of two characters beside it
        ("宫保虾丁", ["宫保", "虾丁"]),
    ],
)
def test_the_words_of_a_question_as_the_notes_write_them(question: str, words: list[str]):
    read = Question.of(question).in_words([(0, len(question))], NOTES)
    assert [term.token for term in read.terms] == words
    places = [(term.start, term.end) for term in read.terms]
    assert "".join(question[start:end] for start, end in places) == question


@pytest.mark.parametrize(
    ("before", "character", "after", "vocabulary"),
    [
        ("", "帝", "刘义隆", "开创元嘉之治的刘义隆"),
        ("", "回", "自己", "他会自己做"),
        ("书桌", "礼", "", "书桌里有笔"),
    ],
)
def test_no_character_stands_for_a_particle(before: str, character: str, after: str, vocabulary: str) -> None:
    assert written_as(before, character, after, vocabulary) is None
