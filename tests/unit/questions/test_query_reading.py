"""Questions about many notes, read as queries to a small vault and carried out; and the others, which are none."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.choosing import choose
from agentic_rag.questions.forms import asks_many
from agentic_rag.questions.query import Query, Selection, is_span
from agentic_rag.questions.reading import read_query
from agentic_rag.questions.times import named_time
from agentic_rag.questions.vocabulary import Vocabulary
from note_rows import nearest, snapshot_of

VAULT = snapshot_of()
TODAY = date(2024, 6, 30)


async def read(question: str, vault: Snapshot = VAULT) -> Query | None:
    return await read_query(question, Vocabulary.of(vault), nearest, named_time(question, TODAY, vault.days))


async def selected(question: str, vault: Snapshot = VAULT) -> Selection:
    query = await read(question, vault)
    assert query is not None
    return choose(query, vault.notes, vault.facts)


def gap(*values: Any, reason: str) -> Any:
    return pytest.param(*values, marks=pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason))


@pytest.mark.parametrize(
    ("question", "reading", "titles"),
    [
        # a class of notes: folder, category
        ("Which games do I have?", "notes in games/", ["Dota 2", "Elden Ring", "New World"]),
        ("list my books", "notes in books/", ["Dune", "Emma", "Persuasion"]),
        ("notes in games", "notes in games/", ["Dota 2", "Elden Ring", "New World"]),
        ("有哪些饮料？", "notes with 类别 = 饮料", ["可乐", "啤酒"]),
        # a number
        ("games that cost more than 20 dollars", "notes in games/ with price > 20", ["Elden Ring", "New World"]),
        ("Which games cost less than 50?", "notes in games/ with price < 50", ["Dota 2", "New World"]),
        ("which books are rated 4?", "notes in books/ with rating = 4", ["Emma", "Persuasion"]),
        ("which books have at least 300 pages?", "notes in books/ with pages ≥ 300", ["Dune", "Emma"]),
        ("which books have at most 320 pages?", "notes in books/ with pages ≤ 320", ["Emma", "Persuasion"]),
        ("which games are free?", "notes in games/ with price = 0", ["Dota 2"]),
        ("难度大于3的菜有哪些？", "notes with 难度 > 3", ["红烧肉"]),
        # a value
        ("which books by Jane Austen do I have?", "notes in books/ with author = Jane Austen", ["Emma", "Persuasion"]),
        ("which games are on Steam?", "notes in games/ with platform = Steam", ["Dota 2", "Elden Ring"]),
        # yes or no, and negation
        ("which games have I finished?", "notes in games/ with finished = true", ["Elden Ring"]),
        ("which games have I not finished?", "notes in games/ with finished = false", ["Dota 2", "New World"]),
        ("which games are not on Steam?", "notes in games/ with not platform = Steam", ["New World"]),
        ("which games are not free?", "notes in games/ with not price = 0", ["Elden Ring", "New World"]),
        ("不含酒精的饮料", "notes with 类别 = 饮料 and 酒精 = false", ["可乐"]),
        ("哪些饮料不含酒精？", "notes with 类别 = 饮料 and 酒精 = false", ["可乐"]),
        # a tag, and those below it
        ("which notes are tagged #rpg?", "notes tagged #rpg", ["Elden Ring", "New World"]),
        ("notes tagged rpg", "notes tagged #rpg", ["Elden Ring", "New World"]),
        ("#rpg", "notes tagged #rpg", ["Elden Ring", "New World"]),
        ("#RPG", "notes tagged #rpg", ["Elden Ring", "New World"]),
        # a date property
        ("which books did I read before 2024?", "notes in books/ with read and read < 2024-01-01", ["Dune"]),
        # what is not read yet
        gap("哪些菜的难度是1？", "notes with 难度 = 1", ["可乐"], reason="是 is no comparison"),
        gap("which shows are rated 5?", "", [], reason="a class that the vault lacks is taken for the verb"),
    ],
)  # fmt: skip
async def test_notes_by_their_class_and_conditions(question: str, reading: str, titles: list[str]):
    found = await selected(question)
    assert (found.query.target, found.query.ask) == ("notes", "list")
    assert found.query.text() == reading
    assert [entry.title for entry in found.entries] == titles


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("how many games do I have?", 3),
        ("how many books by Jane Austen?", 2),
        ("how many notes are tagged #rpg?", 2),
        ("多少种饮料？", 2),
    ],
)
async def test_how_many(question: str, count: int):
    found = await selected(question)
    assert (found.query.ask, found.count) == ("count", count)


@pytest.mark.parametrize(
    ("question", "order", "title"),
    [
        ("which game is the cheapest?", ("price", False), "Dota 2"),
        ("which game is the most expensive?", ("price", True), "Elden Ring"),
        ("which book has the most pages?", ("pages", True), "Dune"),
        ("which book has the fewest pages?", ("pages", False), "Persuasion"),
        ("which game is rated best?", ("rating", True), "Elden Ring"),
        gap("the most expensive game", ("price", True), "Elden Ring", reason="no word asks for notes"),
        gap("newest book", ("date", True), "Emma", reason="no word asks for notes"),
    ],
)
async def test_the_largest_or_smallest(question: str, order: tuple[str, bool], title: str):
    found = await selected(question)
    assert (found.query.ask, found.query.order) == ("extreme", order)
    assert found.entries[0].title == title
    assert found.entries[0].text.endswith(str(found.entries[0].value))


@pytest.mark.parametrize(
    ("question", "state", "texts"),
    [
        ("open tasks", "open", ["☐ call plumber", "☐ Order new rope", "◐ Sew the sail"]),
        ("which tasks are done?", "done", ["☑ water the garlic", "☑ Scrape the hull"]),
        ("Which tasks are still open for the boat?", "open", ["☐ Order new rope", "◐ Sew the sail"]),
        ("what have I already done on the boat?", "done", ["☑ Scrape the hull"]),
        ("which tasks of the boat are cancelled?", "cancelled", ["☒ Install radar"]),
        ("which tasks of the boat are in progress?", "doing", ["◐ Sew the sail"]),
        ("还有哪些任务没完成？", "open", ["☐ call plumber", "☐ Order new rope", "◐ Sew the sail"]),
    ],
)
async def test_tasks_by_their_state(question: str, state: str, texts: list[str]):
    found = await selected(question)
    assert (found.query.target, found.query.ask, found.query.state) == ("tasks", "list", state)
    assert [entry.text for entry in found.entries] == texts


async def test_tasks_are_counted():
    found = await selected("how many tasks are open?")
    assert (found.query.target, found.query.ask, found.count) == ("tasks", "count", 3)


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("which rooms have a blue key?", ["Room: Attic; Size: 20; Key: blue", "Room: Hall; Size: 12; Key: blue"]),
        ("which rooms have a size over 15?", ["Room: Attic; Size: 20; Key: blue", "Room: Cellar; Size: 35; Key: red"]),
        gap("pantry before 2024", ["oatmeal (expires: 2023-05-05)", "beans (expires: 2023-11-30)"],
            reason="a named note is asked for its entries by a question word alone"),
    ],
)  # fmt: skip
async def test_entries_of_a_note(question: str, texts: list[str]):
    found = await selected(question)
    assert found.query.target == "entries"
    assert [entry.text for entry in found.entries] == texts


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("What did I do on 2024-03-15?", ["2024-03-15"]),
        ("What did I do on March 15th, 2024?", ["2024-03-15"]),
        ("2024年3月15日我做了什么？", ["2024-03-15"]),
        ("What did I do in March 2024?", ["2024-03-14", "2024-03-15"]),
        ("What did I do before April 2024?", ["2024-03-14", "2024-03-15"]),
        ("What did I do on March 15th?", ["2024-03-15"]),
    ],
)
async def test_a_span_of_days_selects_by_the_notes_date(question: str, titles: list[str]):
    found = await selected(question)
    assert is_span(found.query.to_dict())
    assert [entry.title for entry in found.entries] == titles
    assert all(entry.named for entry in found.entries)


async def test_what_a_span_does_not_express_is_left_to_the_units():
    query = await read("What did I write on 2024-04-02?")
    assert query is not None
    question = "What did the plumber say about pipes on 2024-03-15?"
    query = await read(question)
    assert query is not None
    assert [question[start:end] for start, end in query.residual] == ["plumber", "say", "pipes"]


async def test_what_no_note_fits_tells_the_nearest_reading():
    found = await selected("which games are tagged #nosuch?")
    assert (found.count, found.nearest) == (0, "notes in games/: 3")


@pytest.mark.parametrize(
    "question",
    [
        "", "?", "the", "\ud800", "#",
        "How much does Elden Ring cost?",
        "Who wrote Dune?",
        "What is the wifi password?",
        "How do I make pesto?",
        "Where is the boat?",
        "why is the sky blue?",
        "When does the ferry leave?",
        "What is Dune about?",
        "Is Elden Ring finished?",
        "Who is Jane Austen?",
        "How long is Emma?",
        "How old is the boat?",
        "Does Dota 2 cost money?",
        "What rating did I give Emma?",
        "What is the difference between Dune and Emma?",
        "compare Dune and Emma",
        "Tell me about Elden Ring",
        "Where can I buy rice?",
        "How do I install plugins?",
        "Which wine goes with fish?",
        "What did Ruth say about the roof?",
        "How many eggs for pancakes?",
        "which plumber did I call?",
        "What is the meaning of life?",
        "怎么做红烧肉？",
        "可乐多少钱？",
        "谁写了沙丘？",
    ],
)  # fmt: skip
async def test_a_question_about_one_thing_is_no_query(question: str):
    assert await read(question) is None


@pytest.mark.parametrize("question", ["Which games do I have?", "open tasks", "What did I do on 2024-03-15?"])
async def test_an_empty_vault_has_nothing_to_select(question: str):
    query = await read(question, snapshot_of({}))
    assert query is None or choose(query, (), {}).count == 0


@pytest.mark.parametrize(
    ("question", "many"),
    [
        ("Which games do I have?", True),
        ("how many books?", True),
        ("哪些饮料？", True),
        ("list everything", True),
        ("Who wrote Dune?", False),
        ("How much is it?", False),
        ("", False),
    ],
)
def test_words_that_ask_for_several(question: str, many: bool):
    assert asks_many(question) is many
