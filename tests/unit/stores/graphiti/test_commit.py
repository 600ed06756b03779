"""The journal of a commit: what is read from it, and what of a damaged one."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentic_rag.stores.graphiti.commit import Journal


async def test_what_was_written_is_read(tmp_path: Path):
    journal = Journal(tmp_path)
    assert await journal.read() == {}
    await journal.write({"notes": {"facts": ["a", "b"], "candidates": []}, "other": {}})
    assert await journal.read() == {"notes": {"facts": ["a", "b"], "candidates": []}, "other": {}}
    await journal.clear()
    assert await journal.read() == {}


@pytest.mark.parametrize(
    "text",
    [
        '{"notes": ["a"]}',
        '{"notes": {"facts": "a"}}',
        '{"notes": {"facts": [1]}}',
        "[1]",
        "{}",
        "null",
        "{",
        "",
    ],
)
async def test_one_of_another_form_may_be_about_everything(tmp_path: Path, text: str):
    journal = Journal(tmp_path)
    journal.path.write_text(text, "utf-8")
    assert await journal.read() is None
