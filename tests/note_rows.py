"""A small vault as the rows of a catalogue, for tests of what reads questions as queries to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentic_rag.domain.notes import Note
from agentic_rag.notes.catalogue import Snapshot, note_of
from agentic_rag.notes.markdown import parse_markdown

VAULT: Mapping[str, str] = {
    "games/Elden Ring.md": "---\nprice: 59.99\nrating: 5\ntags: [rpg]\nfinished: true\nplatform: Steam\n---\nA hard game.\n",
    "games/Dota 2.md": "---\nprice: 0\nrating: 3\ntags: [moba]\nfinished: false\nplatform: Steam\n---\nA team game.\n",
    "games/New World.md": "---\nprice: 39.99\nrating: 2\ntags: [rpg/mmo]\nfinished: false\nplatform: Switch\n---\nAn island.\n",
    "books/Dune.md": "---\nauthor: \"[[Frank Herbert]]\"\nrating: 5\npages: 412\nread: 2023-05-04\ntags: [scifi]\n---\nSand.\n",
    "books/Emma.md": '---\nauthor: "[[Jane Austen]]"\nrating: 4\npages: 320\nread: 2024-02-01\n---\nMatchmaking.\n',
    "books/Persuasion.md": '---\nauthor: "[[Jane Austen]]"\nrating: 4\npages: 249\n---\nSecond chances.\n',
    "Daily/2024-03-14.md": "Walked to the mill.\n\n- [x] water the garlic\n",
    "Daily/2024-03-15.md": "Cleaned the chimney.\n\n- [ ] call plumber\n",
    "Daily/2024-04-02.md": "Wrote two pages.\n",
    "projects/Boat.md": "# Boat\n\n- [x] Scrape the hull\n- [ ] Order new rope\n- [/] Sew the sail\n- [-] Install radar\n",
    "Pantry.md": "# Pantry\n\n- oatmeal [expires:: 2023-05-05]\n- rice [expires:: 2025-01-01]\n- beans [expires:: 2023-11-30]\n",
    "Rooms.md": "| Room | Size | Key |\n|---|---|---|\n| Attic | 20 | blue |\n| Cellar | 35 | red |\n| Hall | 12 | blue |\n",
    "食谱/可乐.md": "---\n类别: 饮料\n酒精: false\n难度: 1\n---\n加冰。\n",
    "食谱/啤酒.md": "---\n类别: 饮料\n酒精: true\n难度: 2\n---\n冷藏。\n",
    "食谱/红烧肉.md": "---\n类别: 荤菜\n难度: 4\n---\n炖一小时。\n",
}  # fmt: skip


def notes_of(texts: Mapping[str, str]) -> Sequence[Note]:
    """The rows of Markdown notes, by path."""
    return [note_of(parse_markdown(path, path, text)) for path, text in texts.items()]


def snapshot_of(texts: Mapping[str, str] = VAULT) -> Snapshot:
    """The catalogue of Markdown notes, by path."""
    return Snapshot.of(notes_of(texts))


async def nearest(text: str, names: Sequence[str]) -> Mapping[str, float]:
    """Stands for the embedding model: a name is near to a text with one of its words, or of one meaning with it."""
    meanings = {
        "price": {"expensive", "cheap", "cost", "dollar"},
        "pages": {"long", "size", "duration"},
        "rating": {"best"},
        "runtime": {"duration"},
        "length": {"duration"},
        "duration": {"length"},
        "weight": {"weight"},
    }
    words = set(text.casefold().split())
    return {
        name: 0.9 if name.casefold() in words or words & meanings.get(name, set()) else 0.2 for name in names
    }
