"""Citations: numbers in order, code points of the document."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.answering.citations import CitationList, citation, cited_numbers, only_known, whole
from agentic_rag.answering.quotes import Quote
from agentic_rag.notes.units import Unit
from growth import assert_linear

DOCUMENT = "# 🍵 Tea\r\n\r\nOolong 茶 comes from Fujian. Milk is white.\r\n"
CHUNK_START = 10
RESULT: dict[str, Any] = {
    "id": "tea#1",
    "content": DOCUMENT[CHUNK_START:],
    "metadata": {
        "document_id": "tea",
        "path": "tea.md",
        "title": "Tea",
        "heading_path": ["🍵 Tea"],
        "start": CHUNK_START,
        "url": "obsidian://open?file=tea",
    },
    "rerank_score": 0.75,
}


def quote(text: str, result: dict[str, Any] | None = None) -> Quote:
    result = RESULT if result is None else result
    start = result["content"].index(text)
    return Quote.of(Unit("sentence", start, start + len(text), text, 0), result, 1.0)


def test_a_citation_points_at_the_documents_code_points():
    cited = citation(3, quote("Oolong 茶 comes from Fujian."))
    assert DOCUMENT[cited["start"] : cited["end"]] == cited["quote"] == "Oolong 茶 comes from Fujian."
    assert cited == {
        "n": 3,
        "chunk_id": "tea#1",
        "document_id": "tea",
        "path": "tea.md",
        "title": "Tea",
        "heading_path": ["🍵 Tea"],
        "start": DOCUMENT.index("Oolong"),
        "end": DOCUMENT.index("Oolong") + len("Oolong 茶 comes from Fujian."),
        "quote": "Oolong 茶 comes from Fujian.",
        "score": 0.75,
        "url": "obsidian://open?file=tea",
        "page": None,
        "region": None,
    }


def test_a_thing_without_a_document_is_cited_without_a_place():
    bare = {"id": "uuid", "content": "Oolong comes from Fujian.", "metadata": {"name": "COMES_FROM"}}
    cited = citation(1, quote("Oolong", bare))
    assert (cited["start"], cited["end"], cited["document_id"], cited["score"]) == (None, None, None, None)
    assert cited["quote"] == "Oolong"


def test_numbers_count_from_one_and_a_quote_keeps_its_own():
    cited = CitationList()
    tea, milk = quote("Oolong 茶 comes from Fujian."), quote("Milk is white.")
    assert [cited.cite(one) for one in (tea, milk, tea)] == ["[1]", "[2]", "[1]"]
    assert [one["n"] for one in cited.all()] == [1, 2]
    assert [one["quote"] for one in cited.all()] == [tea.text, milk.text]
    cited.all().clear()
    assert len(cited.all()) == 2


def test_the_whole_of_a_result_is_quoted_without_white_space_around_it():
    one = whole({"id": "a", "content": "\n\n Oolong tea. \n"}, 2)
    assert (one.text, one.start, one.end, one.order) == ("Oolong tea.", 3, 3 + len("Oolong tea."), 2)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ("no marks", []),
        ("Tea [2]. Milk [1]. Tea again [2].", [2, 1]),
        ("Both [1, 3] of them [ 2 ].", [1, 3, 2]),
        ("Unknown [9], a year [2023], a box [x] and [0].", []),
        ("[[1]]", [1]),
        ("茶来自福建【2】。牛奶是白的［1、3］。", [2, 1, 3]),
        ("Footnotes[^3] and [Passage 1], [passages 2, 3].", [3, 1, 2]),
        ("A range [1-3], another [2–3], one that ends before it begins [3-1].", [1, 2, 3]),
        ("Years [1990-2023] and [3-2023].", []),
    ],
)
def test_known_numbers_in_a_models_answer(text: str, numbers: list[int]):
    assert cited_numbers(text, range(1, 4)) == numbers


def test_marks_without_a_citation_are_taken_out() -> None:
    assert only_known("Tea [1], milk [9], both [1, 9, 2].", [1, 2]) == "Tea [1], milk, both [1, 2]."
    assert only_known("茶【1】，牛奶【9】。[^2] [1-3]", [1, 2]) == "茶[1]，牛奶。[2] [1, 2]"
    assert only_known("Since [2023] so [1].", [1]) == "Since [2023] so [1]."
    assert only_known("A list[int] and [x] stay.", [1]) == "A list[int] and [x] stay."


@pytest.mark.parametrize("piece", [" ", "\t", "[ ", " [1", "1 - "])
def test_marks_are_read_in_linear_time(piece: str) -> None:
    assert_linear(lambda text: only_known(f"Tea.{text}.", [1]), piece, 20_000)
