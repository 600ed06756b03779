"""Questions about all notes at once, and what is said of them."""

from __future__ import annotations

import pytest

from agentic_rag.domain.notes import Note
from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.note_queries.overview import asks_for_everything, overview, state_of
from agentic_rag.questions.note_queries.query import is_span

EVERYTHING = """
what are my notes about?
What are these notes about
What is my vault about?
What's in this vault?
what is in my notes?
What do my notes cover?
What do my notes mostly talk about?
what does this vault contain?
summarise the main themes
Summarize my notes.
Please summarize all of my notes in a few sentences
Can you give me an overview?
give me an overview
Give me a brief overview of my notes, please
give me a summary of everything
overview
An overview of the vault
What are the main themes in my notes?
what are the main topics?
What are the key topics of this vault
Which topics do my notes cover?
Which themes come up in my notes?
What topics are there in my vault?
what do I write about?
What have I written about in my notes?
What kinds of notes do I have?
What's in here?
sum up everything
Describe my vault
Tell me what my notes are about
I'd like an overview of all my notes
List the main topics of my notes
main themes of my notes
What do I have in my notes?
我的笔记都写了什么？
我的笔记里都有什么
我都写了些什么？
概括一下主要内容
请概括一下我的笔记
总结一下我的笔记的主要内容
帮我总结所有笔记
主要有哪些主题
我的笔记有哪些主题？
这个库里有什么？
这些笔记主要讲了什么
笔记的主要主题有哪些
主要内容是什么？
给我一个概览
做个总结
笔记概览
把我的笔记总结一下
這個筆記庫有什麼？
""".strip().splitlines()

SOMETHING = """
summarise the meeting with Steph
what is the main idea of Dune
what are my notes about Rust about
What are my notes about Rust?
what is in the kitchen?
What's in my notes about tea?
what do my notes say about sleep?
What does Dune cover?
Summarize my notes on Rust
summarize the article
summarize
give me a summary of the meeting
give me an overview of Rust
Overview of the project Atlas
overview of tea
what are the main themes of Dune?
What are the main topics of the meeting?
Which topics did we discuss on Monday?
which topics do my meetings cover?
what do I write about tea?
What did I write about yesterday?
What did I write in March?
What have I written about Kyoto in my notes?
what kinds of tea do I have?
What is this note about?
what is it about?
what is this about?
list my notes
how many notes do I have?
show all notes tagged #tea
which notes mention sleep?
What is the overview effect?
list the main ingredients
describe the vault of the cathedral
what are the main points of the contract?
Tell me about my notes on tea
what are my books about?
What's in the Books folder?
what is in Books.base?
总结一下和小王的会议
总结一下
《沙丘》的主要内容是什么
这本书主要讲了什么
概括一下沙丘的主要内容
关于茶的笔记都写了什么
我的笔记里关于茶写了什么
我昨天写了什么
我在日记里写了什么
有哪些关于茶的主题
主要有哪些茶
会议的主题有哪些
我的读书笔记有哪些
列出所有笔记
这个项目有什么
""".strip().splitlines()


@pytest.mark.parametrize("question", EVERYTHING)
def test_a_question_about_everything(question: str) -> None:
    assert asks_for_everything(question)


@pytest.mark.parametrize("question", ["", "?", "？", *SOMETHING])
def test_a_question_about_something(question: str) -> None:
    assert not asks_for_everything(question)


def note(
    path: str, *links: str, date: str | None = None, tags: tuple[str, ...] = (), says: bool = True
) -> Note:
    title = path.rpartition("/")[2].removesuffix(".md")
    return Note(path, path, title, date, links=links, tags=tags, opening=(3, 9) if says else None)


def test_numbers_and_names() -> None:
    seen = overview(
        Snapshot.of(
            [
                note("a/x.md", date="2024-03-05", tags=("tea/green",)),
                note("a/y.md", date="2023-07-01T10:00:00", tags=("tea/green",)),
                note("a/b/z.md"),
                note("root.md"),
            ]
        )
    )
    assert (seen.notes, seen.folders, seen.dates) == (4, (("a", 2), ("a/b", 1)), ("2023-07", "2024-03"))
    assert seen.tags == (("tea", 2), ("tea/green", 2))
    assert seen.to_dict()["folder_count"] == 2


def test_the_notes_that_most_link_to_come_first() -> None:
    notes = [
        note("a/Hub.md", "Hub", "Leaf"),
        note("a/Leaf.md", "hub"),
        note("a/Other.md", "Hub", "Silent", "nowhere"),
        note("b/Silent.md", says=False),
        note("b/Twig.md"),
        note("root.md"),
    ]
    titles = [one.title for one in overview(Snapshot.of(notes)).central]
    assert titles == ["Hub", "Leaf", "Other", "Twig", "root"]


def test_without_links_the_largest_folders_take_turns() -> None:
    notes = [note(f"big/{n}.md") for n in range(9)] + [note("small/one.md"), note("root.md")]
    titles = [one.title for one in overview(Snapshot.of(notes)).central]
    assert titles == ["0", "one", "root", "1", "2", "3", "4", "5"]


def test_nothing() -> None:
    assert overview(Snapshot()).to_dict() == {
        "notes": 0, "folder_count": 0, "folders": [], "tags": [], "dates": None,
    }  # fmt: skip


def test_what_the_state_keeps() -> None:
    state = state_of(overview(Snapshot.of([note("a/x.md")])))
    assert (state["query"]["ask"], state["count"], state["reading"]) == (
        "overview",
        1,
        "an overview of all notes",
    )
    assert [(one["document_id"], one["text"], one["start"], one["end"]) for one in state["entries"]] == [
        ("a/x.md", "x", 3, 9)
    ]
    assert not is_span(state["query"])
