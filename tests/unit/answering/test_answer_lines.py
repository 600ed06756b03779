"""From results and a selection to lines, or to the reason why the notes do not have an answer."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from agentic_rag.answering.answers import (
    PAGE,
    Evidence,
    from_days,
    from_reading,
    from_selection,
    read_passages,
)
from agentic_rag.domain.filters import Comparison
from agentic_rag.questions.note_queries.choosing import choose
from agentic_rag.questions.note_queries.query import Query, Selection
from agentic_rag.questions.question import Question
from note_rows import snapshot_of
from retrieved import NOTES, chunks_of, documents_of, results_of


def answered(question: str, *paths: str) -> Evidence:
    documents = documents_of(*paths)
    results = results_of(documents)
    return from_reading(read_passages(Question.of(question), results, [0.9] * len(results), documents))


@pytest.mark.parametrize(
    ("question", "paths", "texts"),
    [
        ("What is the phone of Bilal Khan?", ["Team.md"], ["Bilal Khan: Phone: 555-0102"]),
        ("How much milk for waffles?", ["Recipes.md"], ["Waffles: 300 ml of milk"]),
        ("What is the author of Dune?", ["Dune.md", "Emma.md"], ["Dune: author: Frank Herbert"]),
        ("What rating does Dune have?", ["Emma.md", "Dune.md"], ["Dune: rating: 5"]),
        ("What is Dune?", ["Dune.md", "Emma.md"], ["Dune is a novel about sand."]),
        ("Does Dune have worms?", ["Dune.md"], ["Dune: It has worms."]),
        ("What is on the shopping list?", ["Shopping.md", "Dune.md"], ["- milk", "- eggs", "- yeast"]),
        ("What ingredients does pesto need?", ["Pesto.md"], ["- basil", "- oil"]),
        ("How do I restart the mail server?", ["Dune.md", "Snippet.md"], ["systemctl restart postfix"]),
        ("What is the size of the cellar?", ["Rooms.md"], ["Rooms: Room: Cellar · Size: 35 m2"]),
    ],
)
def test_the_lines_that_answer(question: str, paths: list[str], texts: list[str]):
    evidence = answered(question, *paths)
    assert [line["text"] for line in evidence.lines] == texts
    assert evidence.reason is None
    assert evidence.is_full
    for line in evidence.lines:
        assert NOTES[line["path"]][line["start"] : line["end"]] == line["quote"]
        assert line["chunk_id"].startswith(f"{line['document_id']}#")


@pytest.mark.parametrize(
    ("question", "paths", "missing"),
    [
        ("What is the dentist's number?", ["Team.md"], "dentist's"),
        ("What is Chen Lu's phone?", ["Team.md"], "Chen, Lu's"),
        ("What is my blood type?", ["Team.md", "Dune.md"], "blood, type"),
        ("How do I make lasagne?", ["Pesto.md"], "lasagne"),
        # the property is there, and empty
        ("Who is the publisher of Dune?", ["Dune.md"], "publisher"),
    ],
)
def test_what_no_unit_expresses_is_refused(question: str, paths: list[str], missing: str):
    evidence = answered(question, *paths)
    assert evidence.lines == ()
    assert evidence.reason == f"the notes that are nearest do not speak of: {missing}"
    assert not evidence.is_full


def test_without_results_there_is_nothing_and_no_support():
    evidence = from_reading(read_passages(Question.of("What is Dune?"), [], [], {}))
    assert (evidence.lines, evidence.is_full) == ((), False)


@pytest.mark.parametrize("question", ["", "?", "\ud800"])
def test_a_question_without_words_is_never_full(question: str):
    assert not answered(question, "Dune.md").is_full


BOOKS = {"Dune.md": NOTES["Dune.md"], "Emma.md": NOTES["Emma.md"]}


def state_of(selection: Selection) -> dict[str, Any]:
    """A selection as ``select_notes`` writes it."""
    return {
        "reading": selection.query.text(),
        "query": selection.query.to_dict(),
        "count": selection.count,
        "entries": [asdict(entry) for entry in selection.entries],
        "nearest": selection.nearest,
    }


def chosen(query: Query, notes: dict[str, str]) -> dict[str, Any]:
    vault = snapshot_of(notes)
    return state_of(choose(query, vault.notes, vault.facts))


def test_a_selection_is_its_reading_its_count_and_every_note_with_its_value():
    query = Query(conditions=(Comparison("rating", "$gte", 4),), shown_keys=("rating",))
    evidence = from_selection(Question.of("which books?"), chosen(query, BOOKS), documents_of(*BOOKS))
    head, count, *entries = evidence.lines
    assert (head["text"], count["text"]) == ("Read as: notes with rating ≥ 4", "2 notes:")
    assert (head["document_id"], count["document_id"]) == (None, None)
    assert [(line["text"], line["quote"]) for line in entries] == [
        ("- Dune — rating: 5", "rating: 5"), ("- Emma — rating: 4", "rating: 4")
    ]  # fmt: skip


def test_one_note_is_counted_as_one_and_in_the_questions_language():
    query = Query(conditions=(Comparison("rating", "$eq", 5),))
    (head, count, entry) = from_selection(
        Question.of("哪些书？"), chosen(query, BOOKS), documents_of(*BOOKS)
    ).lines
    assert (head["text"], count["text"], entry["text"]) == (
        "理解为: notes with rating = 5",
        "共 1 篇:",
        "- Dune",
    )
    english = from_selection(Question.of("which?"), chosen(query, BOOKS), documents_of(*BOOKS))
    assert english.lines[1]["text"] == "1 note:"


def test_the_largest_are_all_that_have_the_largest_value():
    notes = {
        f"{name}.md": f"---\nprice: {price}\n---\nText.\n" for name, price in (("a", 9), ("b", 9), ("c", 3))
    }
    query = Query(ask="extreme", order=("price", True), shown_keys=("price",))
    documents = {path: chunks_of(path, text) for path, text in notes.items()}
    evidence = from_selection(Question.of("the most expensive?"), chosen(query, notes), documents)
    assert [line["text"] for line in evidence.lines[1:]] == ["- a — price: 9", "- b — price: 9"]


def test_beyond_a_page_the_rest_is_counted():
    notes = {f"{n:03}.md": f"---\nrating: {n}\n---\nText.\n" for n in range(PAGE + 5)}
    documents = {path: chunks_of(path, text) for path, text in list(notes.items())[:PAGE]}
    evidence = from_selection(Question.of("which?"), chosen(Query(), notes), documents)
    assert evidence.lines[1]["text"] == f"{PAGE + 5} notes:"
    assert len([line for line in evidence.lines if line["document_id"]]) == PAGE
    assert evidence.lines[-1]["text"] == "… and 5 more"


def test_a_selected_note_that_cannot_be_read_is_told_without_a_citation():
    evidence = from_selection(Question.of("which?"), chosen(Query(), BOOKS), {})
    assert [line["text"] for line in evidence.lines[2:]] == ["- Dune", "- Emma"]
    assert all(line["document_id"] is None for line in evidence.lines)


DAILIES = {
    "2024-03-14.md": "Walked to the mill.\n",
    "2024-03-15.md": "## Log\n\n- Cleaned the chimney.\n- Called Ruth about the roof.\n",
    "2024-03-16.md": "Ruth came by with bread.\n",
}


def of_days(question: str, last: str) -> Evidence:
    bounds = (Comparison("date", "$gte", "2024-03-14"), Comparison("date", "$lt", last))
    words = [term for term in Question.of(question).terms if term.token in ("ruth", "roof", "dentist")]
    query = Query(conditions=bounds, residual=tuple((term.start, term.end) for term in words))
    documents = {path: chunks_of(path, text) for path, text in DAILIES.items()}
    return from_days(Question.of(question), chosen(query, DAILIES), documents)


def test_a_span_gives_what_each_of_its_notes_says():
    lines = of_days("What did I do?", "2024-03-16").lines
    assert [line["text"] for line in lines] == [
        "2024-03-14: Walked to the mill.",
        "2024-03-15: Cleaned the chimney.",
        "2024-03-15: Called Ruth about the roof.",
    ]
    assert [line["quote"] for line in of_days("What did I do?", "2024-03-15").lines] == [
        "Walked to the mill."
    ]


@pytest.mark.parametrize(
    ("question", "last", "quotes"),
    [
        ("When did I call Ruth?", "2024-03-16", ["Called Ruth about the roof."]),
        ("What of the roof?", "2024-03-17", ["Called Ruth about the roof."]),
        ("What of Ruth?", "2024-03-17", ["Called Ruth about the roof.", "Ruth came by with bread."]),
    ],
)
def test_the_units_of_a_span_are_searched_for_the_rest_of_the_question(
    question: str, last: str, quotes: list[str]
):
    assert [line["quote"] for line in of_days(question, last).lines] == quotes


def test_a_span_that_says_nothing_of_it_is_refused():
    evidence = of_days("What of the dentist?", "2024-03-17")
    assert (evidence.lines, evidence.reason) == ((), "no note of that time says anything about: dentist")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is Ida Moss's birthday?", "---\nbirthday: 30 May\nchief: Ida Moss\n---\nx\n"),
        ("How much did the kiln repair cost?", "- [ ] kiln repair before winter\n"),
        ("How much does the piano tuner charge?", "Piano tuner: has retired.\n"),
        (
            "What is the phone number of the Chess Club?",
            "| Club | Phone |\n| - | - |\n| Chess Club | |\n| Rowing | 555-0101 |\n\n| Shop | Phone |\n| - | - |\n| Baker | 555-0102 |\n",
        ),
        ("When is the next fair?", "We may hold the next fair in the market hall.\n"),
        ("How many people came to the fair?", "The fair was on road 12.\n"),
        ("露营车的保险多少钱？", "# 露营车\n\n露营车 3200 欧。\n"),
        ("On which day of the week does the choir meet?", "The choir meets in May.\n"),
    ],
)
def test_what_is_said_of_another_thing_is_no_answer(question: str, text: str):
    documents = documents_of("Notes.md", notes={"Notes.md": text})
    results = results_of(documents)
    evidence = from_reading(read_passages(Question.of(question), results, [0.9] * len(results), documents))
    assert not evidence.lines
    assert evidence.reason is not None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many stars has Hut 3?", []),
        ("How many stars has Hut 2?", ["Hut 2: stars: 4"]),
        ("How many beds has Hut 3?", ["Hut 3: beds: 9"]),
    ],
)
def test_a_property_of_another_note_does_not_stand_in_for_that_of_the_one_that_is_named(
    question: str, expected: list[str]
):
    notes = {
        "Hut 2.md": "---\nstars: 4\nbeds: 6\n---\nCold.\n",
        "Hut 3.md": "---\nbeds: 9\n---\n- [ ] fix door 3\n",
    }
    documents = documents_of(*notes, notes=notes)
    results = results_of(documents)
    evidence = from_reading(read_passages(Question.of(question), results, [0.9] * len(results), documents))
    assert [line["text"] for line in evidence.lines] == expected
