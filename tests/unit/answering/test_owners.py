"""What a question asks of the person who asks is answered by no unit that says it of somebody else."""

from __future__ import annotations

import pytest

from agentic_rag.answering.evidence import score_units, source_notes
from agentic_rag.answering.owners import of_asker
from agentic_rag.questions.question import Question
from retrieved import documents_of, results_of

NOTES = {
    "Lena Vogt.md": "---\nphone: 555-0143\n---\nLena commutes by tram. She owns a boat. Her passport is in the safe.\n",
    "Storks.md": "The white stork winters in Africa. The neighbour's ladder is 3 m long.\n",
    "Trip.md": "My passport expires in 2031. The wifi password is otter. We met Lena, and she took my ladder.\n",
    "李明.md": "李明住在苏州。他的车是白色的。\n",
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
