"""What filters see of a chunk: its folders and tags with all that they lie under."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.domain import Chunk, filterable, folders_above, with_parent_tags


def chunk(path: str, **metadata: Any) -> Chunk:
    return Chunk("id", path, "text", 0, 4, 0, "title", path, "paragraph", metadata=metadata)


@pytest.mark.parametrize(
    ("path", "folders"),
    [
        ("note.md", []),
        ("a/note.md", ["a"]),
        ("a/b c/笔记.md", ["a/b c", "a"]),
        ("conv-26/session_1", ["conv-26"]),
    ],
)
def test_folders_above_a_path(path: str, folders: list[str]):
    assert folders_above(path) == folders
    assert filterable(chunk(path))["folder"] == folders


@pytest.mark.parametrize(
    ("tags", "every"),
    [
        ([], []),
        ("tea", ["tea"]),
        ("#tea", ["tea"]),
        (["food/Pasta", "food/Rice/Wild"], ["food/Pasta", "food", "food/Rice/Wild", "food/Rice"]),
        (["a/", "/b", "", "#"], ["a", "/b"]),
        ([1, "a", True, {"x": 1}], ["a", 1, True, {"x": 1}]),
    ],
)
def test_tags_with_those_they_lie_under(tags: Any, every: list[Any]):
    assert with_parent_tags(tags) == every
    assert filterable(chunk("n.md", tags=tags))["tags"] == every


def test_a_property_goes_before_a_place():
    assert filterable(chunk("a/n.md", folder="mine"))["folder"] == "mine"
    assert "tags" not in filterable(chunk("a/n.md", tags=None))
