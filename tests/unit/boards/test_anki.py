"""The text file for Anki: its formulas, its tags, its separators."""

from __future__ import annotations

import csv
from datetime import UTC, datetime

import pytest

from agentic_rag.boards.anki import anki_text
from agentic_rag.boards.reviews import Review


def review(asks: str, expected: str, dataset: str = "my physics") -> Review:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    return Review("a", asks, (expected,), dataset, "b.canvas", "Physics", "", "right", now, None, {})


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("written as $h$ and $\\nu$.", r"written as \(h\) and \(\nu\)."),
        ("$$E = mc^2$$", r"\[E = mc^2\]"),
        ("$$\nE = mc^2\n$$", r"\[E = mc^2\]"),
        ("It costs $5 and then $10.", "It costs $5 and then $10."),
        ("It costs US$5 or $7, not less.", "It costs US$5 or $7, not less."),
        ("`echo $A$B` and \\$x\\$", "`echo $A$B` and \\$x\\$"),
        ("$a$, $b$ and $c_1$", r"\(a\), \(b\) and \(c_1\)"),
    ],
)
def test_formulas_stand_between_ankis_signs(text: str, written: str) -> None:
    (row,) = _rows(anki_text([review(text, text)]))
    assert row[:2] == [written, f"{written}\nPhysics"]


@pytest.mark.parametrize("dataset", ["my physics", " my\u3000physics ", "my\tphysics"])
def test_a_tag_has_no_spaces(dataset: str) -> None:
    (row,) = _rows(anki_text([review("What is h?", "6.6", dataset)]))
    assert row[2] == "my_physics"


def test_a_cell_that_begins_as_a_comment_is_quoted() -> None:
    assert anki_text([review("#tag is what?", "a")]).splitlines()[4].startswith('"#tag is what?"\t')


def _rows(text: str) -> list[list[str]]:
    body = text.split("#tags column:3\n", 1)[1]
    return list(csv.reader(body.splitlines(keepends=True), delimiter="\t"))
