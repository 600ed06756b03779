"""Draws cards of verification boards blind, to be judged by hand by datasets/cards/rubric.md.

    python evaluation/draw_cards.py VAULT … --number 20 [--seed 0] [--data-dir DIR] > cards.json

Of each vault the notes are asked for in a random order, each by "Test me on" and its name; of each board one card is
drawn, until the number is reached.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.boards.parts import questions
from agentic_rag.text import script


async def drawn(rag: Rag, dataset: str, number: int, seed: int) -> list[dict[str, Any]]:
    """One card of each of so many boards; ``asked`` counts the boards that were asked for."""
    records = (await rag.ledger.records(dataset)).values()
    names = sorted({record.names[0] for record in records if record.names})
    chance = random.Random(seed)
    chance.shuffle(names)
    cards: list[dict[str, Any]] = []
    for asked, name in enumerate(names, 1):
        if len(cards) == number:
            break
        query = f"考考我{name}" if script(name) == "cjk" else f"Test me on {name}"
        answer = await rag.ask(query, dataset=dataset, operation="verification_canvas")
        board = questions(answer.text, [int(one["n"]) for one in answer.citations])
        place = chance.random()
        if board:
            card = board[int(place * len(board))]
            answers = [one.text for one in card.answers]
            sources = [answer.citations[n - 1]["path"] for one in card.answers for n in one.citation_numbers]
            cards.append({"vault": dataset, "query": query, "asked": asked, "card": card.asks, "answers": answers, "sources": sources})  # fmt: skip
    return cards


async def drawn_of(vaults: Sequence[Path], number: int, seed: int, data: Path) -> list[dict[str, Any]]:
    """The cards of all vaults, in a random order."""
    cards = []
    async with open_rag(RagConfig(data_dir=data)) as rag:
        for vault in vaults:
            await rag.ingest(vault, dataset=vault.name)
            cards += await drawn(rag, vault.name, number, seed)
    random.Random(seed).shuffle(cards)
    return cards


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vaults", nargs="+", type=Path)
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data-dir", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        data = given.data_dir or Path(scratch)
        cards = asyncio.run(drawn_of(given.vaults, given.number, given.seed, data))
    json.dump(cards, sys.stdout, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
