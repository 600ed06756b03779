"""Code is hidden without moving a character; tags and fields are read from what is left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.notes.inline import MASK, fields, hide_code, is_tag, tags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `b` c", "a ___ c"),
        ("``a ` b`` c", "_________ c"),
        ("`a `` b", "`a `` b"),
        ("\\`a` b`", "\\`a____"),
        ("$$x$$ y", "_____ y"),
        ("`a\rb`", "__\n__"),
    ],
)
def test_hide_code(text: str, expected: str) -> None:
    assert hide_code(text, [(0, len(text))]) == expected.replace("_", MASK)


def test_what_lies_outside_the_regions_is_hidden() -> None:
    assert hide_code("ab\ncd\nef", [(3, 6)]) == f"{MASK * 2}\ncd\n{MASK * 2}"


@given(st.text(alphabet=st.sampled_from("a`\\$\n\r ")))
def test_hiding_keeps_every_place(text: str) -> None:
    assert len(hide_code(text, [(0, len(text))])) == len(text)


@pytest.mark.parametrize("name", ["1984", "2024-01", "1/2", ""])
def test_no_tag(name: str) -> None:
    assert not is_tag(name)


def test_tags_end_at_punctuation() -> None:
    assert list(tags("#a. #b-c_d/e/ #f！ #🍵 「#g」 x#h ##i")) == ["a", "b-c_d/e", "f", "🍵", "g"]


def test_field_values_are_typed() -> None:
    text = "a:: 1\nb:: -2.5\nc:: false\nd:: 12:30\ne:: 0012345678901234567890\nf::[[X]]\ng::no"
    assert [(field.key, field.value) for field in fields(text, text)] == [
        ("a", 1),
        ("b", -2.5),
        ("c", False),
        ("d", "12:30"),
        ("e", "0012345678901234567890"),
        ("f", "[[X]]"),
    ]
