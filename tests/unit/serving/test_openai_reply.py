"""The text of a reply: cut at stop texts and limits, with a link for each citation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.opening import token_counter
from agentic_rag_service.openai.reply import link_citations, shorten

TEXT = "Shading keeps theanine high. [1]\nIt lowers catechins. [2, 3]"


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        ((), TEXT),
        (("nowhere",), TEXT),
        (("\n",), "Shading keeps theanine high. [1]"),
        (("catechins", "\n"), "Shading keeps theanine high. [1]"),
        (("]",), "Shading keeps theanine high."),
        ((", 3",), "Shading keeps theanine high. [1]\nIt lowers catechins."),
        (("Shading",), ""),
    ],
)
def test_a_text_ends_before_the_first_stop_text(stop: tuple[str, ...], expected: str) -> None:
    assert shorten(TEXT, stop, None) == (expected, False)


@given(st.text(alphabet="ab 茶。[1, 2]\n", max_size=80), st.integers(1, 60))
def test_a_cut_text_begins_as_the_text_and_fits(text: str, limit: int) -> None:
    short, is_cut = shorten(text, (), limit)
    assert text.startswith(short)
    assert token_counter()([short])[0] <= limit
    assert is_cut or short == text


def test_a_limit_cuts_no_citation_mark() -> None:
    for limit in range(1, token_counter()([TEXT])[0] + 2):
        short, is_cut = shorten(TEXT, (), limit)
        assert short.count("[") == short.count("]")
        assert is_cut is (short != TEXT)


def _answer(*numbers: int, document_id: str | None = "a.md") -> Any:
    place = {"document_id": document_id, "title": None, "path": "a.md", "start": 3, "end": 7}
    return SimpleNamespace(dataset="default", citations=[{"n": number, **place} for number in numbers])


def test_each_mark_has_its_link() -> None:
    text, citations = link_citations(TEXT, _answer(1, 2, 3), "http://localhost/")
    address = "http://localhost/read/default/a.md?start=3&end=7"
    assert text.startswith(f"Shading keeps theanine high. [[1]]({address})\n")
    assert [text[one["start_index"] : one["end_index"]] for one in citations] == [
        f"[[{number}]]({address})" for number in (1, 2, 3)
    ]
    assert {one["title"] for one in citations} == {"a.md"}


def test_what_is_no_note_has_no_link() -> None:
    text, citations = link_citations("Oslo. [1] [2]", _answer(1, document_id=None), "http://localhost/")
    assert (text, citations) == ("Oslo. [1] ", [])
