"""A vault of a test's own notes, ingested once, and what it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from agentic_rag import Answer, RagConfig, open_rag
from written_files import write


def stored(folder: Path, vault: Mapping[str, str]) -> Path:
    """The data folder of a vault that is written below a folder, its texts by path."""
    write(folder / "vault", vault)

    async def ingest() -> None:
        async with open_rag(RagConfig(data_dir=folder / "data")) as rag:
            await rag.ingest(folder / "vault")

    asyncio.run(ingest())
    return folder / "data"


async def asked(data_dir: Path, question: str) -> Answer:
    """The answer to a question, with the defaults."""
    async with open_rag(RagConfig(data_dir=data_dir)) as rag:
        return await rag.ask(question)
