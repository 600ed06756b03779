"""Ignore patterns of other people's folders have a bounded cost, and the others still hold."""

from __future__ import annotations

import logging

import pytest

from agentic_rag.errors import InputError
from agentic_rag.ingest.files import timed_patterns
from agentic_rag.ingest.files.folders import IgnoreRules, obsidian_filters
from agentic_rag.ingest.files.timed_patterns import TimedPattern


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pattern that takes any time is too slow."""
    monkeypatch.setattr(timed_patterns, "MAX_SECONDS", 1e-9)


@pytest.mark.parametrize("shown", ["*.log", "/build/", "**/x"])
def test_a_slow_pattern_is_passed_over_once_and_told(
    no_patience: None, caplog: pytest.LogCaptureFixture, shown: str
) -> None:
    pattern = TimedPattern("(?:.*,)*x", shown)
    with caplog.at_level(logging.WARNING):
        assert [pattern.search("a," * 2_000) for _ in range(3)] == [None] * 3
    assert caplog.text.count(f"the pattern {shown!r} of ignored files takes too long") == 1


def test_the_rules_beside_a_slow_one_hold(caplog: pytest.LogCaptureFixture) -> None:
    stars = "*a" * 8 + "b\n"  # seven wildcards before a letter that does not come
    rules = IgnoreRules().below("", f"{stars}*.log\n!keep.log\n/build/\n")
    path = "a" * 40
    assert not rules.ignores(path, is_folder=False)
    assert rules.ignores("x.log", is_folder=False)
    assert not rules.ignores("keep.log", is_folder=False)
    assert rules.ignores("build", is_folder=True)


def test_filters_of_a_vault_are_bounded_too() -> None:
    rules = IgnoreRules.of_vault('{"userIgnoreFilters": ["/(a+)+$/", "Archive/", "/[/"]}')
    assert len(rules.filters) == 2, "what cannot be read is passed over"
    assert not rules.ignores("a" * 60 + "!", is_folder=False)
    assert rules.ignores("Archive/old.md", is_folder=False)
    assert not rules.ignores("My Archive/old.md", is_folder=False)
    assert obsidian_filters("no JSON") == ()


def test_what_is_no_pattern_is_named() -> None:
    with pytest.raises(InputError, match=r"the pattern '/\(/' cannot be read"):
        TimedPattern("(", "/(/")
