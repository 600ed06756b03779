"""What is left out: gitignore rules, nested, and Obsidian's excluded files."""

from __future__ import annotations

import json

import pytest

from agentic_rag.ingest.ignore import IgnoreRules, obsidian_filters


@pytest.mark.parametrize(
    ("path", "is_folder", "ignored"),
    [
        ("a.tmp", False, True),
        ("sub/a.tmp", False, True),
        ("sub/keep.tmp", False, False),
        ("build", True, True),
        ("build", False, False),
        ("top.md", False, True),
        ("sub/top.md", False, False),
        ("sub/own.md", False, True),
        ("own.md", False, False),
        ("sub/deep/own.md", False, False),
    ],
)
def test_gitignore(path: str, is_folder: bool, ignored: bool) -> None:
    rules = IgnoreRules().below("", "# c\n*.tmp\nbuild/\n/top.md\n\n!\n")
    rules = rules.below("sub", "!keep.tmp\n/own.md\n")
    if not path.startswith("sub/"):
        rules = IgnoreRules(rules.levels[:1])
    assert rules.ignores(path, is_folder=is_folder) is ignored


def test_obsidian_filters() -> None:
    filters = obsidian_filters(
        json.dumps(
            {"userIgnoreFilters": ["Templates/", "/\\.excalidraw\\.md$/", "", 5, "/[/", "Old note.md"]}
        )
    )
    rules = IgnoreRules(filters=filters)
    assert rules.ignores("Templates", is_folder=True)
    assert rules.ignores("Templates/a.md", is_folder=False)
    assert rules.ignores("x/a.excalidraw.md", is_folder=False)
    assert rules.ignores("Old note.md", is_folder=False)
    assert not rules.ignores("x/Templates/a.md", is_folder=False)


@pytest.mark.parametrize(
    "app_json", ["", "{", "[]", "{}", '{"userIgnoreFilters": null}', '{"userIgnoreFilters": "x"}']
)
def test_no_filters(app_json: str) -> None:
    assert obsidian_filters(app_json) == ()
