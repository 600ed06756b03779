"""Nonsense finds nothing in few notes or many, and short questions find their note; on the bundled model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentic_rag import RagConfig, open_rag

PROJECT = Path(__file__).parents[2]
OWN = PROJECT / "evaluation" / "datasets" / "nonsense"
EVERY = 3
"""Of each kind of string the first of so many."""
PASSING = 2
"""Strings that may find something, of 39."""
WRITTEN = {
    "one_zh": {"豆浆": "豆浆：黄豆泡一夜，加水磨碎，滤掉豆渣，煮沸十分钟再喝。"},
    "four_en": {
        "Router": "The router's password is written on its back.",
        "Rex": "Rex the dog eats twice a day and hates carrots.",
        "Rent": "The rent is due on the fifth of each month.",
        "Espresso": "Grind eighteen grams of coffee for one espresso.",
    },
}
"""Texts of one line, by set and title."""
TAKEN = {
    "examples/vault": "processing/萎凋 plants/铁观音 史/茶马古道 chemistry/Catechins teas/Oolong places/Uji",
    "evaluation/datasets/vault_pottery/vault": "materials/草木灰 work/素烧 wares/Raku colour/Copper",
    "evaluation/datasets/vault_night_sky/vault": "sky/月食 sky/土星 gear/Eyepieces sky/Double_stars sky/Jupiter",
}
"""Notes of this project's vaults, in both languages; ``_`` stands for a space in a name."""


def notes(name: str) -> dict[str, str]:
    """Texts of a set by title."""
    if name in WRITTEN:
        return {title: f"{text}\n" for title, text in WRITTEN[name].items()}
    files = [
        PROJECT / vault / f"{path.replace('_', ' ')}.md"
        for vault, paths in TAKEN.items()
        for path in paths.split()
    ]
    return {file.stem: file.read_text("utf-8") for file in files}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one_zh", "four_en", "fifteen_mixed"])
async def test_nonsense_finds_nothing_and_short_questions_find_their_note(tmp_path: Path, name: str):
    (tmp_path / "notes").mkdir()
    texts = notes(name)
    for title, text in texts.items():
        (tmp_path / "notes" / f"{title}.md").write_text(text, "utf-8")
    held = "\n".join(texts.values()).casefold()
    strings = json.loads((OWN / "nonsense.json").read_text("utf-8"))["reported"]
    asked = [text for kind in strings.values() for text in kind[::EVERY] if text.casefold() not in held]
    async with open_rag(RagConfig(data_dir=tmp_path / "data")) as rag:
        await rag.ingest(tmp_path / "notes", dataset=name)
        finding = [text for text in asked if await rag.search(text, dataset=name)]
        assert len(asked) > 30
        assert len(finding) <= PASSING, finding
        for question in json.loads((OWN / "ordinary.json").read_text("utf-8"))[name]:
            assert await rag.search(question["text"], dataset=name), question
