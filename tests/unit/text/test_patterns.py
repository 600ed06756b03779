from __future__ import annotations

import re

import pytest

from agentic_rag.text.patterns import lazy_pattern


def test_a_lazy_pattern_answers_as_the_compiled_one() -> None:
    lazy, compiled = (make(r"(?P<word>[a-z]+)", re.IGNORECASE) for make in (lazy_pattern, re.compile))
    text = "One two"
    for _ in range(2):  # before and after it is compiled
        assert lazy.findall(text) == compiled.findall(text)
        assert [one.span("word") for one in lazy.finditer(text)] == [(0, 3), (4, 7)]
        assert lazy.sub("x", text) == "x x"
        assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, 1)


def test_a_wrong_pattern_is_an_error_at_its_first_use() -> None:
    lazy = lazy_pattern("(")
    with pytest.raises(re.error):
        lazy.search("text")
