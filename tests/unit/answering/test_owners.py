"""What a question asks of the person who asks is answered by no unit that says it of somebody else."""

from __future__ import annotations

import pytest

from agentic_rag.answering.evidence import score_units
from agentic_rag.answering.owners import of_asker
from agentic_rag.answering.source_notes import source_notes
from agentic_rag.questions.question import Question
from retrieved import documents_of, results_of

NOTES = {
    "Lena Vogt.md": "---\nphone: 555-0143\n---\nLena commutes by tram. She owns a boat. Her passport is in the safe.\n",
    "Storks.md": "The white stork winters in Africa. The neighbour's ladder is 3 m long.\n",
    "Trip.md": "My passport expires in 2031. The wifi password is otter. We met Lena, and she took my ladder.\n",
    "李明.md": "李明住在苏州。他的车是白色的。\n",
    "Roasting.md": "I thought that Anna lives there. Lena works in a garden. Why I slipped: the name is a reign's.\n",
    "下松村.md": "赵青住在这里学焙茶。大家叫她小青。茶商早就喜欢陈茶。\n",
    "Me.md": "- Name: Ann Lee\n- Birthday: 4 May\n\nI live in Porto and work at Halvex. My blood type is A.\n",
    "我.md": "- 生日：5月4日\n\n我叫王宁，住在南宁。我喜欢喝乌龙茶。\n",
}


def texts(question: str, *paths: str) -> set[str]:
    documents = documents_of(*paths, notes=NOTES)
    results = results_of(documents)
    units = score_units(Question.of(question), source_notes(results, [0.9] * len(results), documents))
    return {one.unit.display_text() for one in of_asker(question, units)}


@pytest.mark.parametrize(
    ("question", "path", "left"),
    [
        ("Where is my passport?", "Lena Vogt.md", set()),
        ("How do I commute?", "Lena Vogt.md", set()),
        ("What is my phone number?", "Lena Vogt.md", set()),
        ("Where do I winter?", "Storks.md", {"The neighbour's ladder is 3 m long."}),
        ("How long is my ladder?", "Storks.md", {"The white stork winters in Africa."}),
        ("我住在哪里？", "李明.md", set()),
        ("我的车是什么颜色？", "李明.md", set()),
    ],
)
def test_what_is_said_of_somebody_else_is_left_out(question: str, path: str, left: set[str]) -> None:
    assert texts(question, path) == left


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("When does my passport expire?", "Trip.md"),
        ("What is my wifi password?", "Trip.md"),
        ("Who has my ladder?", "Trip.md"),
        ("What do I know about Lena Vogt?", "Lena Vogt.md"),
        ("Where did I put her passport?", "Lena Vogt.md"),
        ("Who owns a boat?", "Lena Vogt.md"),
        ("我在哪里能找到李明？", "李明.md"),
        ("他的车是什么颜色？", "李明.md"),
    ],
)
def test_what_may_be_of_the_asker_and_questions_about_others_keep_all(question: str, path: str) -> None:
    assert texts(question, path) == texts("xyz", path)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("Where do I live?", "Roasting.md"),
        ("Where do I work?", "Roasting.md"),
        ("What is my name?", "Roasting.md"),
        ("我住在哪里？", "下松村.md"),
        ("我叫什么名字？", "下松村.md"),
        ("我最喜欢的茶是什么？", "下松村.md"),
        ("我的生日是哪天？", "下松村.md"),
    ],
)
def test_who_the_asker_is_stands_in_no_note_about_something_else(question: str, path: str) -> None:
    assert texts(question, path) == set()


@pytest.mark.parametrize(
    ("question", "path", "left"),
    [
        ("Where do I live?", "Me.md", {"I live in Porto and work at Halvex."}),
        ("Where do I work now?", "Me.md", {"I live in Porto and work at Halvex."}),
        ("What is my name?", "Me.md", {"Name: Ann Lee"}),
        ("When is my birthday?", "Me.md", {"Birthday: 4 May"}),
        ("What is my blood type?", "Me.md", {"My blood type is A."}),
        ("我住在哪里？", "我.md", {"我叫王宁，住在南宁。"}),
        ("我的生日是哪天？", "我.md", {"生日: 5月4日"}),
        ("我喜欢喝什么茶？", "我.md", {"我喜欢喝乌龙茶。"}),
    ],
)
def test_who_the_asker_is_stands_in_his_own_words(question: str, path: str, left: set[str]) -> None:
    assert texts(question, path) == left


@pytest.mark.parametrize(
    "question",
    [
        "How do I work with properties?",
        "What do I do to live longer?",
        "What is my name server?",
        "我工作上的错误有哪些？",
        "我喝的茶叫什么？",
        "我喜欢的茶怎么泡？",
    ],
)
def test_a_question_about_something_else_keeps_all(question: str) -> None:
    assert texts(question, "Me.md", "我.md") == texts("xyz", "Me.md", "我.md")
