"""Questions for the tags, folders, properties and values that the notes use."""

from __future__ import annotations

import pytest

from agentic_rag.questions.note_queries.name_lists import name_list, value_list
from note_rows import VAULT, snapshot_of

SNAPSHOT = snapshot_of()


def listed(question: str) -> list[str] | None:
    selection = name_list(question, SNAPSHOT) or value_list(question, SNAPSHOT)
    return None if selection is None else [entry.text for entry in selection.entries]


@pytest.mark.parametrize(
    "question",
    [
        "Which tags are there?",
        "list all tags",
        "show me my tags",
        "What tags do I use?",
        "how many tags do I have",
    ],
)
def test_tags_most_frequent_first(question: str) -> None:
    assert listed(question) == [
        "#moba: 1 note, such as Dota 2",
        "#rpg: 1 note, such as Elden Ring",
        "#rpg/mmo: 1 note, such as New World",
        "#scifi: 1 note, such as Dune",
    ]


@pytest.mark.parametrize("question", ["Which folders are there?", "What folders do I have in my vault?"])
def test_folders(question: str) -> None:
    found = listed(question)
    assert found is not None
    assert found[0] == "Daily: 3 notes, such as 2024-03-14"
    assert found[-1] == "projects: 1 note, such as Boat"


@pytest.mark.parametrize("question", ["有哪些文件夹？", "我的文件夹有哪些", "列出所有文件夹"])
def test_in_chinese(question: str) -> None:
    found = listed(question)
    assert found is not None
    assert "食谱：3 篇，例如 可乐" in found


def test_properties_are_cited_where_they_stand() -> None:
    selection = name_list("What properties do my notes have?", SNAPSHOT)
    assert selection is not None
    rating = next(entry for entry in selection.entries if entry.text.startswith("rating"))
    assert (rating.text, rating.path) == ("rating: 6 notes, such as Dune", "books/Dune.md")
    assert VAULT["books/Dune.md"][rating.start : rating.end] == "rating: 5"


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which authors are there?", "Jane Austen: 2 notes, such as Emma"),
        ("list all platforms", "Steam: 2 notes, such as Dota 2"),
        ("有哪些类别？", "饮料：2 篇，例如 可乐"),
    ],
)
def test_the_values_of_a_property(question: str, first: str) -> None:
    found = listed(question)
    assert found is not None
    assert found[0] == first


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Which tags does Dune have?",
        "Which dragons are there?",
        "What is the author of Dune?",
        "list all books by Jane Austen",
        "有哪些饮料？",
        "我的读书笔记有哪些",
        "tags",
    ],
)
def test_other_questions(question: str) -> None:
    assert listed(question) is None
