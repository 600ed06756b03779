"""Bases that a question names, their views, and the notes that are shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from agentic_rag.domain.filters import Comparison, matches
from agentic_rag.domain.notes import Field, Note
from agentic_rag.ingest.files.base_files import parse_base
from agentic_rag.notes.bases import read_base
from agentic_rag.notes.catalogue import Snapshot, note_of
from agentic_rag.questions.note_queries.bases import BaseSelection, named_base, shown_by_base
from agentic_rag.questions.note_queries.query import Query, is_span

VIEWS = "views:\n  - name: Books\n  - name: Top rated\n  - name: To read\n"
BASES = {
    name.casefold(): read_base(VIEWS, f"in/{name}.base")
    for name in ("Books", "Reading list", "Games", "projects", "茶")
}


@pytest.mark.parametrize(
    ("question", "name", "view"),
    [
        ("which notes are in Books.base?", "Books", "Books"),
        ("Books.base", "Books", "Books"),
        ("what is in books.base", "Books", "Books"),
        ("show the base Books", "Books", "Books"),
        ("list of the base “Reading list”", "Reading list", "Books"),
        ("what does the Books base contain?", "Books", "Books"),
        ("what is in the base books", "Books", "Books"),
        ("how many notes does the base Books hold?", "Books", "Books"),
        ("《Books》这个base里有哪些", "Books", "Books"),
        ("《Books》这个base里有哪些笔记？", "Books", "Books"),
        ("base Books里有哪些", "Books", "Books"),
        ("茶这个base里有什么", "茶", "Books"),
        ('"To read" of Books', "Books", "To read"),
        ('show me the "To read" view of Books.base', "Books", "To read"),
        ("the Top rated view of the Books base", "Books", "Top rated"),
        ("Top rated in the Books base", "Books", "Top rated"),
        ("Books.base › Top rated", "Books", "Top rated"),
        ("[[Books.base#Top rated]]", "Books", "Top rated"),
        ("打开Books.base的“Top rated”视图", "Books", "Top rated"),
    ],
)
def test_a_base_and_its_view(question: str, name: str, view: str) -> None:
    named = named_base(question, BASES)
    assert named is not None
    assert (named.base.name, named.view.name) == (name, view)


def test_the_place_of_a_base() -> None:
    question = "which notes are in [[Books.base]]?"
    named = named_base(question, BASES)
    assert named is not None
    assert question[named.span.start : named.span.end] == "[[Books.base]]"


@pytest.mark.parametrize(
    "question",
    [
        "",
        "show all books",
        "Who wrote Books?",
        "what are the base games I own?",
        "Which base games do I have?",
        "the base projects are late",
        "What do the games base their rules on?",
        "In which books is the base camp mentioned?",
        "which data base Books do I use?",
        "what is in Bookshelf.base?",
        "what is in MyBooks.base?",
        "which books are on my reading list?",
        '"To read" in Boston',
    ],
)
def test_no_base(question: str) -> None:
    assert named_base(question, BASES) is None


SOURCE = """\
filters: categories.contains(link("Books"))
views:
  - name: Books
    order: [file.name, rating]
    sort: [{property: rating, direction: DESC}]
  - name: To read
    filters:
      and: ["rating == 0", list(author).contains(this)]
  - name: Lately
    filters: created > now() - "7d"
"""


def book(title: str, rating: int, created: str) -> Note:
    fields = {"categories": ["[[Books]]"], "rating": rating, "created": created}
    path = f"{title}.md"
    return Note(
        path, path, title, created, fields=tuple(Field(key, value, 5, 9) for key, value in fields.items())
    )


SNAPSHOT = Snapshot.of(
    [
        book("Dune", 5, "2024-03-01"),
        book("Emma", 0, "2024-03-09"),
        book("Ulysses", 7, "2023-01-01"),
        Note("Tea.md", "Tea.md", "Tea"),
        note_of(parse_base("Books.base", "Books.base", SOURCE)),
    ]
)


async def shown(question: str, rest: Query | None = None, restriction: Any = None) -> BaseSelection | None:
    async def read(text: str) -> Query | None:
        assert ".base" not in text
        return rest

    within = tuple(
        one
        for one in SNAPSHOT.notes
        if restriction is None or matches(restriction, SNAPSHOT.facts[one.document_id])
    )
    return await shown_by_base(question, replace(SNAPSHOT, notes=within), datetime(2024, 3, 10), read)


async def test_the_notes_of_the_first_view_in_its_order() -> None:
    found = await shown("which notes are in Books.base?")
    assert found is not None
    assert [entry.text for entry in found.selection.entries] == [
        "Ulysses — rating: 7",
        "Dune — rating: 5",
        "Emma — rating: 0",
    ]
    assert found.reading == "base Books › Books: notes with categories ~ Books"
    assert found.selection.query.ask == "base"
    assert (found.selection.entries[0].start, found.selection.entries[0].end) == (5, 9)


async def test_what_a_view_cannot_express_is_named() -> None:
    found = await shown('show "To read" of Books.base')
    assert found is not None
    assert [entry.title for entry in found.selection.entries] == ["Emma"]
    assert found.reading == (
        "base Books › To read: notes with categories ~ Books and rating = 0; without: list(author).contains(this)"
    )


async def test_a_view_of_the_last_days_is_a_list_and_no_span_of_days() -> None:
    found = await shown("Books.base#Lately")
    assert found is not None
    assert [entry.title for entry in found.selection.entries] == ["Emma"]
    assert not is_span(found.selection.query.to_dict())


async def test_the_rest_of_the_question_narrows_a_view() -> None:
    narrowing = Query("notes", "list", conditions=(Comparison("rating", "$gt", 4),), shown_keys=("rating",))
    found = await shown("which notes in Books.base are rated above 4?", narrowing)
    assert found is not None
    assert [entry.title for entry in found.selection.entries] == ["Ulysses", "Dune"]
    assert (
        found.reading == "base Books › Books: notes with categories ~ Books; of these notes with rating > 4"
    )


@pytest.mark.parametrize(
    "rest",
    [
        None,
        Query("tasks"),
        Query("notes"),
        Query("notes", conditions=(Comparison("a", "$eq", 1),), residual=((0, 5),)),
    ],
)
async def test_a_rest_that_is_no_query_to_notes_is_named(rest: Query | None) -> None:
    found = await shown("which notes in Books.base mention sand?", rest)
    assert found is not None
    assert found.selection.count == 3
    assert found.reading.endswith("; without: mention sand")


async def test_the_callers_filter_holds_besides() -> None:
    found = await shown("Books.base", restriction=Comparison("rating", "$gte", 7))
    assert found is not None
    assert [entry.title for entry in found.selection.entries] == ["Ulysses"]


async def test_no_base_is_shown_where_none_is_named() -> None:
    assert await shown("which books are rated above 4?") is None
