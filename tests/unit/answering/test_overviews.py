"""The lines of an overview: what is said of all notes, and cited first statements."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.answering.answers import from_selection
from agentic_rag.answering.overviews import MAX_STATEMENT, overview_lines
from agentic_rag.domain import Chunk
from agentic_rag.questions.question import Question

TEXT = "# Dune\n\nA **book** about [[sand]]. More."


def chunks(text: str = TEXT) -> dict[str, list[Chunk]]:
    return {"Dune.md": [Chunk("Dune.md#1", "Dune.md", text, 0, len(text), 0, "Dune", "Dune.md", "markdown")]}


def selection(start: int = 8, end: int = 34, **facts: Any) -> dict[str, Any]:
    known = {
        "notes": 3,
        "folder_count": 2,
        "folders": [["a", 2]],
        "tags": [["tea", 1]],
        "dates": ["2023-07", "2024-03"],
    }
    entry = {"document_id": "Dune.md", "text": "Dune", "start": start, "end": end, "headings": ()}
    return {"reading": "r", "query": {"ask": "overview"}, "entries": [entry], "overview": known | facts}


def texts(question: str, chosen: dict[str, Any], documents: Any) -> list[str]:
    return [line["text"] for line in from_selection(Question.of(question), chosen, documents).lines]


def test_in_english() -> None:
    assert texts("What are my notes about?", selection(), chunks()) == [
        "3 notes in 2 folders, from 2023-07 to 2024-03",
        "Folders: a (2)",
        "Tags: #tea (1)",
        "- Dune: A book about sand.",
    ]


def test_in_chinese() -> None:
    assert texts("我的笔记都写了什么？", selection(), chunks()) == [
        "共 3 篇笔记，分布在 2 个文件夹，时间从 2023-07 到 2024-03",
        "文件夹：a（2）",
        "标签：#tea（1）",
        "- Dune: A book about sand.",
    ]


@pytest.mark.parametrize(
    ("facts", "english", "chinese"),
    [
        ({"notes": 1, "folder_count": 0, "dates": None}, "1 note", "共 1 篇笔记"),
        ({"folder_count": 1, "dates": ["2024-03", "2024-03"]}, "3 notes in 1 folder, of 2024-03", "共 3 篇笔记，分布在 1 个文件夹，时间为 2024-03"),
    ],
)  # fmt: skip
def test_fewer(facts: dict[str, Any], english: str, chinese: str) -> None:
    chosen = selection(folders=[], tags=[], **facts)
    for expected, is_chinese in ((english, False), (chinese, True)):
        lines = overview_lines(chosen, {}, is_chinese=is_chinese)
        assert [line["text"] for line in lines] == [expected]


def test_statements_are_cited_and_headings_not() -> None:
    lines = overview_lines(selection(), chunks(), is_chinese=False)
    assert [line["document_id"] for line in lines] == [None, None, None, "Dune.md"]
    assert (lines[-1]["start"], lines[-1]["end"], lines[-1]["quote"]) == (8, 34, "A **book** about [[sand]].")


def test_a_long_statement_is_cut_and_cited_whole() -> None:
    text = "word " * 100
    line = overview_lines(selection(0, 500), chunks(text), is_chinese=False)[-1]
    assert line["text"].endswith("word…")
    assert len(line["text"]) <= MAX_STATEMENT + len("- Dune: …")
    assert line["quote"] == text
