"""Admonitions and tabs of MkDocs as callouts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.notes.admonitions import as_callouts
from agentic_rag.notes.units import read_units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '!!! tip "Ask early"\n    Share it.\n\n    - in chat\n',
            [(("Ask early",), "Share it."), ((), "in chat")],
        ),
        ("???+ note\n    No title.\n\nOutside.\n", [((), "No title."), ((), "Outside.")]),
        (
            '1. Boil it\n\n    !!! danger inline end "Hot"\n        Wear gloves.\n',
            [((), "Boil it"), (("Hot",), "Wear gloves.")],
        ),
        (
            '=== "Linux"\n    Use apt.\n\n=== "macOS"\n    Use brew.\n',
            [(("Linux",), "Use apt."), (("macOS",), "Use brew.")],
        ),
        (
            '!!! warning "Outer"\n    One.\n\n    !!! bug "Inner"\n        Two.\n',
            [(("Outer",), "One."), (("Inner",), "Two.")],
        ),
        ('!!! example "Code"\n    ```sh\n    ls -l\n    ```\n', [((), "Code"), (("Code",), "ls -l")]),
    ],
    ids=["title", "no title", "in a list", "tabs", "nested", "code"],
)
def test_what_stands_in_an_admonition_is_text(text: str, expected: list[tuple[tuple[str, ...], str]]) -> None:
    assert [(unit.headings, unit.text) for unit in read_units(text).units] == expected


def test_an_admonition_in_code_is_code() -> None:
    text = '```md\n!!! note "x"\n    y\n```\n'
    assert as_callouts(text) == text


@given(st.text(alphabet='!?=+ \n"`>ab-', max_size=80))
def test_every_character_stays_at_its_place(text: str) -> None:
    lines = zip(text.splitlines(keepends=True), as_callouts(text).splitlines(keepends=True), strict=True)
    assert all(len(before) == len(after) for before, after in lines)


def test_a_quote_is_as_it_is_written() -> None:
    text = '# A\n\n!!! tip "Ask early"\n    Share it *now*.\n'
    (unit,) = read_units(text).units
    assert text[unit.start : unit.end] == "Share it *now*."
