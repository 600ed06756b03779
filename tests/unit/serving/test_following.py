"""Followed folders: the page shows a failure with its reason; the shutdown cancels following."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.testing import HashingEmbedding
from held_embedding import HeldEmbedding
from service_server import called_service


async def _told(tmp_path: Path, told: str) -> str:
    """The page of the notes once it says so."""
    inner = tmp_path / "vault" / "inner"
    inner.mkdir(parents=True)
    (inner / "tea.md").write_text("# Tea\n\nTea is oolong.\n")
    config = RagConfig(data_dir=tmp_path / "data")
    async with open_rag(config, embedding=HashingEmbedding()) as rag:
        await rag.ingest(tmp_path / "vault")
    async with called_service(config, watched_folders=[inner]) as client, asyncio.timeout(30):
        while told not in (page := (await client.get("/notes")).text):
            await asyncio.sleep(0.02)
        assert (await client.get("/readyz")).json() == {"status": "ok"}
    return page


async def test_a_folder_that_cannot_be_followed_says_why(tmp_path: Path) -> None:
    assert "inner: " in await _told(tmp_path, "is part of")


async def test_following_that_ends_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> AsyncIterator[Any]:
        raise ZeroDivisionError("text of a note")
        yield

    monkeypatch.setattr("agentic_rag.rag.Rag.watch", broken)
    page = await _told(tmp_path, "watching ended with ZeroDivisionError; see the log")
    assert "text of a note" not in page


async def test_the_end_does_not_wait_for_the_ingest_of_a_followed_folder(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "tea.md").write_text("# Tea\n\nTea is oolong.\n")
    config, embedding = RagConfig(data_dir=tmp_path / "data"), HeldEmbedding()
    async with asyncio.timeout(30):
        async with called_service(config, {"embedding": embedding}, watched_folders=[vault]):
            await embedding.begun.wait()
    embedding.go_on.set()
    async with open_rag(config, embedding=embedding) as rag:
        assert (await rag.ingest(vault)).documents == 1
