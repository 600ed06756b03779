"""Ordinary questions whose answer needs the meaning of words: a kind of notes that a note defines, a property by its sense."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentic_rag import RagConfig, open_rag

VAULT = {
    "Wetsuits/Long John.md": "---\nthickness: 3\n---\nWithout sleeves.\n",
    "Wetsuits/Spring suit.md": "---\nthickness: 2\n---\nFor summer.\n",
    "Currents/Rip.md": "Runs out to sea.\n",
    "Currents/Longshore.md": "Runs along the beach.\n",
    "Gear/Wetsuits.md": "Wetsuits are garments of neoprene that keep a surfer warm.\n",
    "Glossary.md": "- **Currents**: water that moves in one direction.\n- **Swell**: waves from a distant storm.\n",
    "Wax/Tropical.md": "Hard.\n",
    "Wax/Cold.md": "Soft.\n",
    "板子/短板.md": "---\n难度: 5\n打磨时间: 90分钟\n---\n转弯快。\n",
    "板子/长板.md": "---\n难度: 2\n打磨时间: 150分钟\n---\n稳。\n",
    "器材.md": "| 器材 | 数量 | 单价 |\n|---|---|---|\n| 脚绳 | 6 | 80 |\n| 板蜡 | 20 | 25 |\n",
}


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("surf")
    for path, text in VAULT.items():
        note = folder / "vault" / path
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(text, encoding="utf-8")

    async def ingest() -> None:
        async with open_rag(RagConfig(data_dir=folder / "data")) as rag:
            await rag.ingest(folder / "vault")

    asyncio.run(ingest())
    return folder / "data"


@pytest.mark.parametrize(
    ("question", "first"),
    [
        # the definition of a word that names a kind of notes too; the kind where they are the writer's, or nothing defines it
        ("What are wetsuits?", "Wetsuits are garments of neoprene that keep a surfer warm."),
        ("What are currents?", "Currents: water that moves in one direction."),
        ("What are my wetsuits?", "Read as: notes in Wetsuits/"),
        ("What are the currents?", "Read as: notes in Currents/"),
        ("What are waxes?", "Read as: notes in Wax/"),
        # what is compared, by the sense of the superlative
        ("最贵的器材是什么？", "理解为: entries with 器材 of notes in 器材.md by 单价, largest first"),
        ("哪款板子花的时间最长？", "理解为: notes in 板子/ by 打磨时间, largest first"),
        ("哪款板子最难？", "理解为: notes in 板子/ by 难度, largest first"),
    ],
)
async def test_the_first_line(data_dir: Path, question: str, first: str) -> None:
    async with open_rag(RagConfig(data_dir=data_dir)) as rag:
        answer = await rag.ask(question)
    assert answer.text.splitlines()[0].split(" [")[0] == first
