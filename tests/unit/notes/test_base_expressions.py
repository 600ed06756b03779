"""Expressions of Obsidian's Bases as trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.notes.base_expressions import (
    MAX_TOKENS,
    Call,
    Literal,
    Member,
    Name,
    Operation,
    Tree,
    parse_expression,
    written_text,
)

A, B, C = Name("a"), Name("b"), Name("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a", A),
        (" 标签 ", Name("标签")),
        ("true", Literal(True)),
        ("null", Literal(None)),
        ("2.50", Literal(2.5)),
        ("1e3", Literal(1000.0)),
        (r'"it\'s \"x\""', Literal('it\'s "x"')),
        (r"'a\n\u8336'", Literal("a\n茶")),
        ("!a.b", Operation("!", (Member(A, "b"),))),
        ("-1", Operation("-", (Literal(1),))),
        ("a && b && c", Operation("&&", (A, B, C))),
        ("a || b && c", Operation("||", (A, Operation("&&", (B, C))))),
        ("(a || b) && c", Operation("&&", (Operation("||", (A, B)), C))),
        ("a > b + c", Operation(">", (A, Operation("+", (B, C))))),
        ('a["b c"]', Operation("[]", (A, Literal("b c")))),
        ("a.b(c, 1)", Call(Member(A, "b"), (C, Literal(1)))),
        ("a()[0].b", Member(Operation("[]", (Call(A, ()), Literal(0))), "b")),
    ],
)
def test_trees(text: str, tree: Tree):
    assert parse_expression(text) == tree


@pytest.mark.parametrize(
    "text",
    [
        "", "a b", "a &", "(a", "a)", "a.", "a..b", "a.1", "a(b", "a(,)", '"a', "/abc/.matches(a)", "[1, 2]", "a = 1",
        "a; b", "(" * 10_000, "!" * 10_000 + "a", "a" + ".a" * MAX_TOKENS, "\ud800",
    ],
)  # fmt: skip
def test_what_is_no_expression(text: str):
    with pytest.raises(ValueError, match=r"expression|expected|nested"):
        parse_expression(text)


@given(st.text(st.characters(exclude_categories=())))
def test_a_written_text_is_read_as_it_was(text: str):
    assert parse_expression(written_text(text)) == Literal(text)
