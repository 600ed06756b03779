from __future__ import annotations

import pytest

from agentic_rag.stores.graphiti.query_text import MAX_CHARACTERS, MAX_WORDS, has_terms, searchable


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("  oolong \t tea\n", "oolong tea"),
        ("a\x00b", "a b"),
        ("\ud800", ""),
        ("Ｔｅａ", "Tea"),
        ("茶" * 5000, "茶" * MAX_CHARACTERS),
    ],
)
def test_searchable(query: str, text: str) -> None:
    assert searchable(query) == text


def test_long_queries_are_cut_at_words() -> None:
    assert searchable("w " * 5000).split() == ["w"] * MAX_WORDS


def test_terms_are_letters_and_digits_of_any_script() -> None:
    assert all(has_terms(text) for text in ("a", "7", "茶", "é"))
    assert not any(has_terms(text) for text in ("", "_", "?!", "🍵"))
