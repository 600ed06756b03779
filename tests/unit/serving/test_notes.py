"""Notes over HTTP and MCP: the text equals the ingested one; uploads during other jobs of their dataset."""

from __future__ import annotations

import asyncio
import errno
import json
import shutil
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import httpx
import pytest
from fastapi import UploadFile

from agentic_rag import RagConfig, open_rag
from agentic_rag.testing import HashingEmbedding
from agentic_rag_service import notes
from agentic_rag_service.limits import QuestionSlots
from agentic_rag_service.mcp_server import ALONE, NoteTools
from agentic_rag_service.notes import note_path
from agentic_rag_service.roots import AllowedRoots
from service_server import called_service, ended

RECORDS = [
    {"_id": f"r/{number}", "title": f"T{number}", "text": f"Record number {number} speaks of oolong."}
    for number in range(3)
]
TALK: dict[str, Any] = {
    "conversation": {
        "speaker_a": "Ada",
        "speaker_b": "Bob",
        **{
            f"session_{number}": [
                {"speaker": "Ada", "dia_id": f"D{number}:1", "text": f"Oolong {number} is on the table."}
            ]
            for number in (1, 2)
        },
        **{f"session_{number}_date_time": f"1:56 pm on {number} May, 2023" for number in (1, 2)},
    },
    "qa": [],
}

CHAT = "\n".join(f"{day}/05/2023, 13:56 - Ada: Oolong {day - 12} is on the table." for day in (13, 14))


@pytest.mark.parametrize(
    ("file", "written", "of_another"),
    [
        ("corpus.jsonl", "\n".join(json.dumps(one) for one in RECORDS), "number 0"),
        ("talk.json", json.dumps([TALK]), "Oolong 1"),
        ("chat.txt", CHAT, "Oolong 1"),
    ],
)
async def test_a_part_of_a_file_is_read_alone(
    tmp_path: Path, file: str, written: str, of_another: str
) -> None:
    (tmp_path / file).write_text(written)
    config = RagConfig.model_validate({"data_dir": tmp_path / "data", "answer": {"abstain_below": 0.0}})
    async with called_service(config, roots=[tmp_path]) as client:
        job = await ended(client, await client.post("/ingest", json={"paths": [file]}))
        assert job["report"]["documents"] > 1
        answer = await client.post(
            "/ask", json={"query": "What of oolong number 2?", "operation": "document_retrieval"}
        )
        cited = answer.json()["citations"]
        assert cited
        for one in cited:
            read = await client.get(f"/notes/default/{one['document_id']}")
            assert read.json()["text"][one["start"] : one["end"]] == one["quote"]
        last = sorted(one["document_id"] for one in cited)[-1]
        text = (await client.get(f"/notes/default/{last}")).json()["text"]
        assert of_another not in text
        assert of_another not in (await client.get(f"/read/default/{last}")).text
        assert (await client.get(f"/notes/default/{file}")).status_code == 400
        (tmp_path / file).write_text("[]" if file.endswith(".json") else "")
        gone = (await client.get(f"/notes/default/{last}")).json()["error"]["message"]
        assert gone.endswith("any more; ingest again")
        assert str(tmp_path) not in gone


async def test_a_record_is_fetched_alone(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text("\n".join(json.dumps(one) for one in RECORDS))
    async with open_rag(RagConfig(data_dir=tmp_path / "data"), embedding=HashingEmbedding()) as rag:
        await rag.ingest(tmp_path / "corpus.jsonl")
        tools = NoteTools(rag, AllowedRoots(), "local", QuestionSlots(*ALONE))
        assert (await tools.fetch(note_path("default", "r/1"))).text == RECORDS[1]["text"]


async def _upload(client: httpx.AsyncClient, *names: str) -> httpx.Response:
    files = [("files", (name, f"# {name}\n\nText of {name}.\n".encode())) for name in names]
    return await client.post("/ingest/files", files=files, data={"dataset": "u"})


async def test_while_uploaded_files_are_kept_nothing_else_writes_their_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, go, keep = threading.Event(), threading.Event(), notes._keep

    def waiting(folder: Path, files: Mapping[Path, UploadFile]) -> None:
        writing.set()
        go.wait(60)
        keep(folder, files)

    async with called_service(RagConfig(data_dir=tmp_path)) as client:
        await ended(client, await _upload(client, "old.md"))
        monkeypatch.setattr(notes, "_keep", waiting)
        upload = asyncio.create_task(_upload(client, "a.md", "b.md"))
        await asyncio.to_thread(writing.wait, 60)
        assert (await client.delete("/datasets/u")).status_code == 409
        assert (await _upload(client, "refused.md")).status_code == 409
        go.set()
        job = await ended(client, await upload)
        assert job["report"]["documents"] == 3
        assert sorted(path.name for path in tmp_path.rglob("*.md")) == ["a.md", "b.md", "old.md"]


@pytest.mark.parametrize(
    "names", [("a.md/b.md", "a.md"), ("a.md", "a.md/b.md"), ("b.md", "x" * 300 + "/c.md")]
)
async def test_files_that_cannot_be_kept_fail_their_job(tmp_path: Path, names: tuple[str, str]) -> None:
    async with called_service(RagConfig(data_dir=tmp_path)) as client:
        job = await ended(client, await _upload(client, *names))
        assert job["status"] == "failed"
        assert ".md' cannot be kept, and none was: " in job["error"]
        assert str(tmp_path) not in job["error"]
        assert not (tmp_path / "uploads").exists()


async def test_of_an_upload_that_fills_the_disk_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, copied = shutil.copyfileobj, 0

    def filling(source: IO[bytes], target: IO[bytes]) -> None:
        nonlocal copied
        copied += 1
        copy(source, target)
        if copied == 2:
            raise OSError(errno.ENOSPC, "No space left on device")

    async with called_service(RagConfig(data_dir=tmp_path)) as client:
        await ended(client, await _upload(client, "old.md"))
        monkeypatch.setattr(shutil, "copyfileobj", filling)
        job = await ended(client, await _upload(client, "new/old.md", "old.md"))
        assert (
            job["error"] == "the uploaded file 'old.md' cannot be kept, and none was: No space left on device"
        )
        (folder,) = (tmp_path / "uploads").iterdir()
        assert [path.name for path in folder.iterdir()] == ["old.md"]
        assert (folder / "old.md").read_text() == "# old.md\n\nText of old.md.\n"


async def test_a_path_of_two_thousand_folders_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    config, deep = RagConfig(data_dir=tmp_path / "data"), "a/" * 2000
    async with called_service(config, roots=[tmp_path / "notes"]) as client:
        answers = [
            await _upload(client, f"{deep}x.md"),
            await client.post("/ingest", json={"paths": [deep]}),
            await client.post("/boards", json={"query": "What is tea?", "path": f"{deep}x.canvas"}),
            await client.post("/boards/check", json={"path": f"{deep}x.canvas"}),
        ]
        assert [answer.status_code for answer in answers] == [400, 400, 422, 422]
        assert all(len(answer.json()["error"]["message"]) < 5000 for answer in answers)
    assert not list(tmp_path.rglob("a"))
