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
    assert row[1:3] == [written, f"{written}\nPhysics"]


@pytest.mark.parametrize("dataset", ["my physics", " my\u3000physics ", "my\tphysics"])
def test_a_tag_has_no_spaces(dataset: str) -> None:
    (row,) = _rows(anki_text([review("What is h?", "6.6", dataset)]))
    assert row[3] == "my_physics"


def test_a_cell_that_begins_as_a_comment_is_quoted() -> None:
    line = anki_text([review("#tag is what?", "a")]).splitlines()[5]
    assert '\t"#tag is what?"\t' in line


def test_a_question_has_one_identity_in_a_dataset_and_another_in_another() -> None:
    first, again, other = _rows(
        anki_text(
            [review("What is h?", "6.6"), review("What is h?", "6.63"), review("What is h?", "a", "notes")]
        )
    )
    assert first[0] == again[0] != other[0]


def _rows(text: str) -> list[list[str]]:
    body = text.split("#tags column:4\n", 1)[1]
    return list(csv.reader(body.splitlines(keepends=True), delimiter="\t"))
