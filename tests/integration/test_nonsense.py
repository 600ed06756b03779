"""Nonsense finds nothing in few notes or many, and short questions find their note; on the bundled model."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agentic_rag import RagConfig, open_rag

EVALUATION = Path(__file__).parents[2] / "evaluation"
OWN = EVALUATION / "datasets" / "nonsense"
EVERY = 3
"""Of each kind of string the first of so many."""
PASSING = 2
"""Strings that may find something, of 39."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one_zh", "four_en", "fifteen_mixed"])
async def test_nonsense_finds_nothing_and_short_questions_find_their_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.syspath_prepend(str(EVALUATION))
    sets = sys.modules.get("nonsense_sets") or __import__("nonsense_sets")
    assert sets.write_dataset(name, tmp_path / "notes")
    held = "\n".join(note.read_text("utf-8") for note in (tmp_path / "notes").iterdir()).casefold()
    strings = json.loads((OWN / "nonsense.json").read_text("utf-8"))["reported"]
    asked = [text for kind in strings.values() for text in kind[::EVERY] if text.casefold() not in held]
    async with open_rag(RagConfig(data_dir=tmp_path / "data")) as rag:
        await rag.ingest(tmp_path / "notes", dataset=name)
        finding = [text for text in asked if await rag.search(text, dataset=name)]
        assert len(asked) > 30
        assert len(finding) <= PASSING, finding
        for question in json.loads((OWN / "ordinary.json").read_text("utf-8"))[name]:
            assert await rag.search(question["text"], dataset=name), question
