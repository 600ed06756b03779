"""Averages and totals of a property, the first few in an order, the number of all notes, and durations as values."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from agentic_rag.domain.notes import Field, Note
from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.note_queries.aggregates import aggregate_text
from agentic_rag.questions.note_queries.choosing import choose
from agentic_rag.questions.note_queries.query import Selection
from agentic_rag.questions.note_queries.reading import read_query
from agentic_rag.questions.note_queries.values import magnitude
from agentic_rag.questions.note_queries.vocabulary import Vocabulary
from agentic_rag.questions.times import named_time
from note_rows import nearest, snapshot_of

VAULT = snapshot_of()


async def selected(question: str, vault: Snapshot = VAULT) -> Selection | None:
    times = named_time(question, date(2024, 6, 30), vault.days)
    query = await read_query(question, Vocabulary.of(vault), nearest, times)
    return None if query is None else choose(query, vault.notes, vault.facts)


@pytest.mark.parametrize(
    ("question", "ask", "reading"),
    [
        ("What is the average price of my games?", "average", "average of price of notes in games/ with price"),
        ("the mean rating of the books", "average", "average of rating of notes in books/ with rating"),
        ("What is the total number of pages of my books?", "sum", "sum of pages of notes in books/ with pages"),
        ("how many pages do my books have in total?", "sum", "sum of pages of notes in books/ with pages"),
        ("难度平均是多少？", "average", "average of 难度 of notes with 难度"),
    ],
)  # fmt: skip
async def test_an_average_or_total(question: str, ask: str, reading: str):
    found = await selected(question)
    assert found is not None
    assert (found.query.ask, found.query.text()) == (ask, reading)
    assert found.entries
    assert all(magnitude(entry.value) is not None for entry in found.entries)


@pytest.mark.parametrize(
    "question", ["What is the average rating of my drinks?", "What does the average reader like?", "total"]
)
async def test_what_no_property_says_is_no_aggregate(question: str):
    found = await selected(question)
    assert found is None or found.query.ask not in ("average", "sum")


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("show me the two most expensive games", ["Elden Ring", "New World"]),
        ("top 2 games by price", ["Elden Ring", "New World"]),
        ("list the 2 cheapest games", ["Dota 2", "New World"]),
        ("which two books have the most pages?", ["Dune", "Emma"]),
    ],
)
async def test_the_first_few(question: str, titles: list[str]):
    found = await selected(question)
    assert found is not None
    assert found.query.ask == "list"
    assert [entry.title for entry in found.entries] == titles


@pytest.mark.parametrize(
    "question",
    [
        "How many notes are there?",
        "how many notes do I have in total?",
        "我一共有多少篇笔记？",
        "count all notes",
    ],
)
async def test_all_notes_are_counted(question: str):
    found = await selected(question)
    assert found is not None
    assert (found.query.ask, found.count) == ("count", len(VAULT.notes))


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0), ("4/5", 4.0), ("★★★", 3.0), ("59.99 €", 59.99), ("1h 20m", 80.0), ("2 h", 120.0), ("45 min", 45.0),
        ("1小时20分钟", 80.0), (True, None), ("soon", None), ("", None), ("2024-03-15", None), (None, None),
    ],
)  # fmt: skip
def test_a_value_as_a_number(value: Any, number: float | None):
    assert magnitude(value) == number


def test_results_keep_what_the_values_share():
    assert aggregate_text("average", ["4/5", "5/5"]) == "4.5/5"
    assert aggregate_text("sum", ["1h 20m", "40 min"]) == "120 min"
    assert aggregate_text("sum", ["4:12", "1:05:40"]) == "69:52"
    assert aggregate_text("average", ["4:12", "5:40"]) == "4:56"
    assert aggregate_text("average", [1, 2, "soon"]) == "1.5"
    assert aggregate_text("average", ["4/5", "80/100"]) == "42"


def walks() -> Snapshot:
    lengths = {"Fern": ("50 min", 4), "Ridge": ("1h 20m", 3), "Lake": ("3h", 9), "Moor": ("2h 05m", 7)}
    fields = [
        (name, (Field("duration", time, 0, 9), Field("miles", miles, 10, 19)))
        for name, (time, miles) in lengths.items()
    ]
    return Snapshot.of(Note(f"walks/{name}.md", f"walks/{name}.md", name, fields=own) for name, own in fields)


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("which walk took the longest?", ["Lake", "Moor", "Ridge", "Fern"]),
        ("which walks took less than 2 hours?", ["Fern", "Ridge"]),
        ("which walks took more than 100 minutes?", ["Lake", "Moor"]),
        ("the two shortest walks by duration", ["Fern", "Ridge"]),
    ],
)
async def test_durations_are_compared_in_minutes(question: str, titles: list[str]):
    found = await selected(question, walks())
    assert found is not None
    assert [entry.title for entry in found.entries] == titles
