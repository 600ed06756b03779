"""Conversations in PostgreSQL: kept by one service, gone on with by another, forgotten by a user."""

from __future__ import annotations

import shutil
from pathlib import Path

import httpx
import psycopg
import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.errors import ConfigError, StoreError
from agentic_rag.stores.checkpoints import kept_conversations
from service_server import running_service


def _config(data: Path, uri: str) -> RagConfig:
    return RagConfig.model_validate({"data_dir": data, "service": {"conversations": uri}})


def test_a_conversation_goes_on_at_another_service(
    example_data: Path, tmp_path: Path, postgres_uri: str
) -> None:
    config = _config(Path(shutil.copytree(example_data, tmp_path / "data")), postgres_uri)
    with running_service(config) as address, httpx.Client(base_url=address, timeout=60) as client:
        client.post("/ask", json={"query": "What is kill-green? zebra", "thread_id": "one"})
        client.post("/ask", json={"query": "What is withering?", "thread_id": "two"})
    with running_service(config) as address, httpx.Client(base_url=address, timeout=60) as client:
        client.post("/ask", json={"query": "Why is it done?", "thread_id": "one"})
        kept = client.get("/threads").json()["conversations"]
        assert [(one["id"], one["turns"]) for one in kept] == [("one", 2), ("two", 1)]
        assert client.delete("/threads/two").status_code < 300
        assert client.delete("/memory").json()["conversations"] == 1
        assert client.get("/threads").json()["conversations"] == []
    assert not (tmp_path / "data" / "conversations.sqlite").exists()
    with psycopg.connect(postgres_uri) as connection:
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


@pytest.mark.parametrize("uri", ["sqlite:///x", "localhost"])
async def test_another_uri_is_refused(tmp_path: Path, uri: str) -> None:
    with pytest.raises(ConfigError, match=r"service\.conversations must be a URI like postgresql://"):
        async with kept_conversations(_config(tmp_path, uri)):
            pass


async def test_a_server_that_is_away_is_told_in_a_line(tmp_path: Path) -> None:
    config = _config(tmp_path, "postgresql://ada:very-secret@127.0.0.1:1/notes")
    with pytest.raises(StoreError, match="start it") as told:
        async with kept_conversations(config):
            pass
    assert "127.0.0.1" in str(told.value)
    assert "very-secret" not in str(told.value) + repr(config)
    assert "\n" not in str(told.value)


async def test_a_server_that_goes_away_meanwhile_is_told_in_a_line(
    example_data: Path, tmp_path: Path, postgres_uri: str
) -> None:
    config = _config(Path(shutil.copytree(example_data, tmp_path / "data")), postgres_uri)
    async with kept_conversations(config) as kept, open_rag(config, checkpointer=kept.saver) as rag:
        await rag.ask("What is kill-green?", thread_id="one")
        await kept.pool.close()  # type: ignore[attr-defined]
        with pytest.raises(StoreError, match=r"service\.conversations failed: .*; ask without thread_id"):
            await rag.ask("Why is it done?", thread_id="one")
