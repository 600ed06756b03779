"""Roots of datasets: who may use which folder, and where a board goes."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentic_rag import RagConfig
from agentic_rag.errors import ConfigError, InputError
from agentic_rag_service.access import Caller
from agentic_rag_service.roots import AllowedRoots
from service_server import called_service, ended

TEA, ROSES, ALL = Caller("a", frozenset({"tea"})), Caller("b", frozenset({"roses"})), Caller("c", None)
HEADERS = [{"Authorization": f"Bearer {name}"} for name in ("of-tea", "of-roses", "of-all")]


def _config(tmp_path: Path, *keys: dict[str, Any]) -> RagConfig:
    of = [
        {"key": "of-tea", "user": "a", "datasets": ["tea"]},
        {"key": "of-roses", "user": "b", "datasets": ["roses"]},
        {"key": "of-all", "user": "c"},
    ]
    service = {"keys": list(keys) or of}
    return RagConfig.model_validate(
        {"data_dir": tmp_path / "data", "service": service, "answer": {"abstain_below": 0.0}}
    )


def _folders(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / name for name in ("tea", "roses", "shared")]
    for folder in folders:
        folder.mkdir()
        (folder / "note.md").write_text(
            f"---\nowner: velvet\n---\n# {folder.name}\n\nThe number of {folder.name} secrets is velvet. See [[note]]. The secrets plan was made by velvet.\n"
        )
    return folders


def test_a_root_belongs_to_its_dataset(tmp_path: Path) -> None:
    tea, roses, shared = _folders(tmp_path)
    roots = AllowedRoots([Path(f"tea={tea}"), Path(f"roses={roses}"), shared])
    assert roots.of(TEA).roots == (tea,)
    assert roots.of(ROSES, "roses").roots == (roses,)
    assert roots.of(TEA, "roses").roots == ()
    assert roots.of(ALL, "tea").roots == (tea, shared)
    assert roots.of(Caller("d", frozenset())).roots == ()
    assert roots.of(TEA).existing("note.md") == tea / "note.md"
    for given in (str(roses), str(shared), "../roses", f"{shared}/note.md"):
        with pytest.raises(InputError, match="does not lie beneath tea"):
            roots.of(TEA).existing(given)


def test_a_folder_with_an_equals_sign_is_a_folder(tmp_path: Path) -> None:
    odd = tmp_path / "a=b"
    odd.mkdir()
    assert AllowedRoots([odd]).of(ALL).roots == (odd,)
    with pytest.raises(InputError, match="no folder; give FOLDER or DATASET=FOLDER"):
        AllowedRoots([tmp_path / "c=d"])


async def _ingested(client: httpx.AsyncClient, dataset: str, path: Path, headers: dict[str, str]) -> str:
    body = {"paths": [str(path)], "dataset": dataset}
    started = await client.post("/ingest", json=body, headers=headers)
    if started.status_code != 202:
        return str(started.json()["error"]["message"])
    return str((await ended(client, started, headers=headers))["status"])


async def test_a_key_ingests_from_its_own_roots_alone(tmp_path: Path) -> None:
    tea, roses, shared = _folders(tmp_path)
    roots = [Path(f"tea={tea}"), Path(f"roses={roses}"), shared]
    async with called_service(_config(tmp_path), roots=roots) as client:
        assert await _ingested(client, "tea", tea, HEADERS[0]) == "done"
        for other in (roses, shared):
            told = await _ingested(client, "tea", other, HEADERS[0])
            assert told == f"{other.name!r} does not lie beneath tea"
        assert await _ingested(client, "tea", shared, HEADERS[2]) == "done"


async def test_a_relative_board_goes_into_the_vault_of_its_dataset(tmp_path: Path) -> None:
    tea, roses, shared = _folders(tmp_path)
    asked = {"query": "What is the number?", "path": "boards/b.canvas"}
    async with called_service(RagConfig(data_dir=tmp_path / "data"), roots=[tea, shared, roses]) as client:
        for folder in (roses, tea):
            assert await _ingested(client, folder.name, folder, {}) == "done"
            made = await client.post("/boards", json={**asked, "dataset": folder.name})
            assert made.json()["written"]["path"] == str(folder / "boards" / "b.canvas")


async def test_a_board_of_another_dataset_gives_neither_its_question_nor_its_name(tmp_path: Path) -> None:
    shared = _folders(tmp_path)[2]
    (tmp_path / ".obsidian").mkdir()
    roots = [Path(f"tea={shared}"), Path(f"roses={shared}")]
    async with called_service(_config(tmp_path), roots=roots) as client:
        for dataset, headers in (("tea", HEADERS[0]), ("roses", HEADERS[1])):
            assert await _ingested(client, dataset, shared, headers) == "done"
        body = {"operation": "verification_canvas", "path": "b.canvas"}
        made = await client.post(
            "/boards",
            json={**body, "query": "What is the number of shared secrets?", "dataset": "roses"},
            headers=HEADERS[1],
        )
        assert (made.json()["written"] or {}).get("path") == "b.canvas", made.text
        again = await client.post(
            "/boards", json={**body, "query": "What is the number?", "dataset": "tea"}, headers=HEADERS[0]
        )
        checked = await client.post("/boards/check", json={"path": "b.canvas"}, headers=HEADERS[0])
        for refused in (again, checked):
            assert refused.status_code == 400
            assert "secrets" not in refused.text
            assert "roses" not in refused.text
            assert str(tmp_path) not in refused.text
        board = shared / "b.canvas"
        drawn = json.loads(board.read_text())
        for node in drawn["nodes"]:
            node["text"] = node.get("text") or "no idea"
        board.write_text(json.dumps(drawn))
        own = await client.post("/boards/check", json={"path": "b.canvas"}, headers=HEADERS[1])
        assert own.json()["answers"][0]["mark"] == "wrong"
        # The mistake note stays beneath the root, though Obsidian's vault begins above it.
        assert own.json()["answers"][0]["note"].startswith("mistakes")
        assert not (tmp_path / "mistakes").exists()


async def test_no_datasets_named_is_not_the_same_as_all(tmp_path: Path) -> None:
    config = _config(tmp_path, {"key": "none", "datasets": []}, {"key": "all"})
    tea = _folders(tmp_path)[0]
    async with called_service(config, roots=[tea]) as client:
        everything, nothing = ({"Authorization": f"Bearer {key}"} for key in ("all", "none"))
        assert await _ingested(client, "tea", tea, everything) == "done"
        asked = {"query": "What is the number?", "dataset": "tea"}
        assert (await client.post("/ask", json=asked, headers=everything)).status_code == 200
        assert (await client.post("/ask", json=asked, headers=nothing)).status_code == 403
        assert (await client.get("/datasets", headers=nothing)).json() == {"datasets": []}


async def test_known_datasets_are_the_keys(tmp_path: Path) -> None:
    tea, roses, _ = _folders(tmp_path)
    keys = ({"key": "of-two", "datasets": ["tea", "new"]}, {"key": "of-all"})
    two, everything = ({"Authorization": f"Bearer {key['key']}"} for key in keys)
    async with called_service(_config(tmp_path, *keys), roots=[tea, roses]) as client:
        for folder in (tea, roses):
            assert await _ingested(client, folder.name, folder, everything) == "done"
        for accept in ("application/json", "text/event-stream"):
            asked = {"query": "What?", "dataset": "new"}
            told = await client.post("/ask", json=asked, headers={**two, "Accept": accept})
            assert "(known: tea)" in told.text
        told = await client.post("/ask", json=asked, headers=everything)
        assert "(known: roses, tea)" in told.text


async def test_users_that_differ_in_unicode_form_alone_are_one(tmp_path: Path) -> None:
    tea = _folders(tmp_path)[0]
    forms = [unicodedata.normalize(form, "Zoé") for form in ("NFC", "NFD")]
    keys = [{"key": f"key-{number}", "user": user} for number, user in enumerate(forms)]
    one, two = ({"Authorization": f"Bearer key-{number}"} for number in (0, 1))
    async with called_service(_config(tmp_path, *keys), roots=[tea]) as client:
        assert await _ingested(client, "tea", tea, one) == "done"
        asked = {"query": "What is the number?", "dataset": "tea", "thread_id": "t"}
        assert (await client.post("/ask", json=asked, headers=one)).status_code == 200
        assert len((await client.get("/threads/t", headers=two)).json()["messages"]) == 2
        assert len((await client.get("/ingest", headers=two)).json()["jobs"]) == 1
        await client.post("/memory", json={"text": "I live in Oslo."}, headers=one)
        gone = (await client.delete("/memory", headers=two)).json()
        assert gone["conversations"] == 1
        assert gone["memories"] > 0


def test_a_blank_user_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="it is blank"):
        RagConfig(data_dir=tmp_path, service={"keys": [{"key": "k", "user": " "}]})
