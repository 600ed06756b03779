"""No file contains forgotten text, however small its part of a user's memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.memory.schemas import MemoryType, TaskRequest
from agentic_rag.testing import HashingEmbedding

WORD = "Quorvimbel"


def holding(folder: Path, word: str) -> list[str]:
    """Files whose bytes have the word."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [file.name for file in files if word.lower() in file.read_bytes().decode("latin-1").lower()]


def superseded(folder: Path) -> list[str]:
    """What LanceDB keeps of rows that are gone: notes of rows deleted in a piece, and versions but the latest."""
    tables = [table for table in folder.rglob("*.lance") if table.is_dir() and table.name != "datasets.lance"]
    deletions = [str(file) for table in tables for file in (table / "_deletions").glob("*")]
    return deletions + [
        table.name for table in tables if len(list((table / "_versions").glob("*.manifest"))) > 1
    ]


@pytest.mark.parametrize("by", ["forget", "agent", "whole"])
async def test_no_file_keeps_what_was_forgotten(tmp_path: Path, by: str) -> None:
    async with open_rag(RagConfig(data_dir=tmp_path), embedding=HashingEmbedding()) as rag:
        if by != "whole":
            for number in range(12):
                await rag.memory.remember(f"I painted the kitchen {number} times.", "ada")
        kept = await rag.memory.remember(f"I live in {WORD} and I love {WORD} bread.", "ada")
        await rag.memory.remember(f"I live in {WORD}.", "bob")
        assert holding(tmp_path, WORD)
        if by == "agent":
            task = TaskRequest("delete", {"user_id": "ada", "id": kept.evidence_id}, timeout_ms=None)
            assert (await rag.memory.agents[MemoryType.EPISODIC].execute_task(task)).success
        else:
            await rag.memory.forget("ada", None if by == "whole" else [kept.evidence_id])
        assert await rag.memory.list("bob")
        await rag.memory.forget("bob")
        assert holding(tmp_path, WORD) == []
        assert superseded(tmp_path) == []
        assert len((await rag.memory.search("kitchen", "ada")).memories) == (0 if by == "whole" else 10)
        await rag.memory.remember("I live in Bergen.", "ada")
        assert await rag.memory.list("ada", MemoryType.SEMANTIC)
