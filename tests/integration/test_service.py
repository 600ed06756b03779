"""The service as its clients see it: questions, notes, ingests, conversations, boards, keys, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from mcp import Client as McpClient

from agentic_rag import RagConfig
from agentic_rag.errors import ConfigError, InputError
from agentic_rag.ingest.files.extraction import Extractor
from agentic_rag.settings.config import DocumentsConfig, ServiceConfig
from agentic_rag_service.app import create_app
from agentic_rag_service.notes import upload_path
from example_vault import EXAMPLE_VAULT
from local_openai_server import BROKEN_OFF, CUT, LocalOpenAIServer
from service_server import chat_config, running_service

QUESTION = "At what temperature and for how long is the second fire?"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example vault that boards are written into."""
    return Path(shutil.copytree(EXAMPLE_VAULT, tmp_path_factory.mktemp("vaults") / "vault"))


@pytest.fixture(scope="module")
def data(example_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the ingested example, which the service may write to."""
    return Path(shutil.copytree(example_data, tmp_path_factory.mktemp("service") / "data"))


@pytest.fixture(scope="module")
def service(data: Path, vault: Path) -> Iterator[str]:
    with running_service(RagConfig(data_dir=data), roots=[vault]) as address:
        yield address


@pytest.fixture
def client(service: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service, timeout=60) as client:
        yield client


def _events(client: httpx.Client, path: str, **request: Any) -> list[tuple[str, dict[str, Any]]]:
    headers = {"Accept": "text/event-stream"}
    with client.stream("POST", path, headers=headers, **request) as response:
        assert response.status_code == 200
        blocks = response.read().decode().strip().split("\n\n")
    pairs = [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]
    return [(one["event"], json.loads(one["data"])) for one in pairs]


def _ended(client: httpx.Client, job: dict[str, Any]) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while job["status"] == "running":
        assert time.monotonic() < deadline
        time.sleep(0.05)
        job = client.get(f"/ingest/{job['id']}").json()
    return job


def test_it_is_alive_ready_and_describes_itself(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ok"}
    described = client.get("/openapi.json").json()["paths"]
    assert {"/ask", "/search", "/datasets", "/ingest", "/boards", "/v1/chat/completions"} <= described.keys()
    client.post("/ask", json={"query": QUESTION})
    metrics = client.get("/metrics").text
    assert 'agentic_rag_answers_total{abstained="false",operation="document_retrieval"}' in metrics
    assert "second fire" not in metrics
    assert 'agentic_rag_questions{state="running"} 0.0' in metrics
    assert re.search(r"agentic_rag_event_loop_lag_seconds_count [1-9]", metrics)
    for name in ("rows", "fragments", "unindexed_rows", "bytes"):
        assert f'agentic_rag_table_{name}{{dataset="default",table="chunks"}}' in metrics
    assert 'agentic_rag_question_vectors{from="model"}' in metrics


def test_a_question_is_answered_whole_or_as_events(client: httpx.Client) -> None:
    whole = client.post("/ask", json={"query": QUESTION}).json()
    assert "7 hours" in whole["answer"]
    unset = client.post("/ask", json={"query": QUESTION, "operation": None}).json()
    assert (unset["operation"], unset["answer"]) == (whole["operation"], whole["answer"]), "auto"
    events = _events(client, "/ask", json={"query": QUESTION})
    assert events[0][0] == "started"
    steps = [told["node"] for name, told in events if name == "step"]
    assert steps[0] == "prepare_query"
    assert steps[-1] == "answer"
    assert {"retrieve_graphiti", "retrieve_lancedb", "fuse_results"} <= set(steps)
    name, last = events[-1]
    assert name == "answer"
    assert {**last, "seconds": 0, "outcomes": 0} == {**whole, "seconds": 0, "outcomes": 0}


@pytest.mark.parametrize(
    ("request_", "status", "told"),
    [
        ({"query": "x", "dataset": "none"}, 404, "unknown dataset 'none'"),
        ({"query": ""}, 422, "query"),
        ({"query": "  "}, 400, "the question is empty"),
        ({"query": "x", "operation": "dance"}, 422, "operation"),
        ({"query": "x", "top_k": 0}, 422, "top_k"),
        ({"query": "x", "as_of": "yesterdayish"}, 400, "yesterdayish"),
        ({"query": "x", "filters": {"$huh": 1}}, 400, "$huh"),
        ({"query": "x", "parameters": {"fusion": {"k": -1}}}, 400, "fusion.k"),
        ({"query": "x", "parameters": {"rerank": {"model": "some/model"}}}, 400, "rerank.model"),
        ({"query": "x", "other": 1}, 422, "other"),
        ({"query": "x", "user_id": "somebody"}, 422, "user_id"),
        ({"query": "x", "thread_id": "a/b"}, 400, "thread_id"),
        ({"query": "x" * 30_000}, 422, "query"),
    ],
)
def test_a_bad_question_is_refused_with_the_reason(
    client: httpx.Client, request_: dict[str, Any], status: int, told: str
) -> None:
    answer = client.post("/ask", json=request_)
    assert answer.status_code == status
    assert told in answer.json()["error"]["message"]


def test_a_request_that_is_too_large_is_refused(client: httpx.Client) -> None:
    assert client.post("/ask", json={"query": "x" * 2_000_000}).status_code == 413

    def chunks() -> Iterator[bytes]:
        for _ in range(30):
            yield b"x" * 100_000

    answer = client.post("/ask", content=chunks(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["error"]["message"] == "a request may have 1 MB here"


def test_search_gives_chunks(client: httpx.Client) -> None:
    found = client.post("/search", json={"query": "second fire", "top_k": 2}).json()
    assert len(found["results"]) == 2
    assert client.post("/search", json={"query": "x", "strategy": "magic"}).status_code == 422


@pytest.mark.parametrize(
    ("question", "operation"), [(QUESTION, "auto"), ("What does shading do to theanine?", "concept_relation")]
)
def test_a_citation_stands_in_its_note(client: httpx.Client, question: str, operation: str) -> None:
    """In a canvas too, of which the second question's answer quotes an edge."""
    cited = client.post("/ask", json={"query": question, "operation": operation}).json()["citations"]
    for one in cited:
        note = client.get(f"/notes/default/{one['document_id']}").json()
        assert note["text"][one["start"] : one["end"]] == one["quote"]
    assert cited
    assert operation == "auto" or any(one["path"].endswith(".canvas") for one in cited)


@pytest.mark.parametrize(
    "path", ["../../../etc/passwd", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/etc/passwd", "teas/none.md", "teas"]
)
def test_only_ingested_notes_are_read(client: httpx.Client, path: str) -> None:
    answer = client.get(f"/notes/default/{path}")
    assert answer.status_code in (400, 404)
    assert "root:" not in answer.text


def test_an_upload_is_ingested_and_taken_out_again(client: httpx.Client, data: Path) -> None:
    files = [
        ("files", ("garden/Roses.md", b"# Roses\nRoses are pruned in March, before the buds break.")),
        ("files", ("garden/sub/bad.md", b"\xff\xfe\x00bad\xff")),
    ]
    job = client.post("/ingest/files", files=files, data={"dataset": "garden"})
    assert job.status_code == 202
    ended = _ended(client, job.json())
    assert ended["status"] == "done"
    assert ended["report"]["documents"] == 1
    assert any("bad.md" in str(file["path"]) and file["reason"] for file in ended["report"]["files"])
    answer = client.post("/ask", json={"query": "When are roses pruned?", "dataset": "garden"}).json()
    assert "March" in answer["answer"]
    names = [one["name"] for one in client.get("/datasets").json()["datasets"]]
    assert names == ["default", "garden"]
    gone = _ended(client, client.delete("/datasets/garden").json())
    assert gone["status"] == "done"
    assert not list((data / "uploads").rglob("*.md"))
    assert client.post("/ask", json={"query": "roses", "dataset": "garden"}).status_code == 404


def test_an_upload_that_ends_its_reader_is_told_and_the_service_goes_on(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stand_in(settings: DocumentsConfig) -> Extractor:
        return Extractor(4, 0.4, "extractor_stand_in")

    monkeypatch.setattr(Extractor, "of", stand_in)
    deeds = {"exit.pdf": "exit code 3", "hang.pdf": "not read within 4 s", "memory.pdf": "0.4 GB"}
    files = [("files", (name, name.removesuffix(".pdf").encode())) for name in deeds]
    files.append(("files", ("sound.pdf", b"Roses are pruned in March.")))
    for action in ("failed", "skipped"):
        job = client.post("/ingest/files", files=files, data={"dataset": "deeds"})
        ended = _ended(client, job.json())
        assert ended["status"] == "done"
        assert ended["report"]["counts"] == {action: 3, "added" if action == "failed" else "unchanged": 1}
        for file in ended["report"]["files"]:
            assert deeds.get(file["path"], "") in (file["reason"] or "")
        assert client.get("/notes/deeds/sound.pdf").json()["text"] == "Roses are pruned in March."
        assert client.get("/healthz").status_code == 200
    _ended(client, client.delete("/datasets/deeds").json())


@pytest.mark.parametrize("name", ["../up.md", "/abs.md", "a/../../up.md", "..\\up.md", ""])
def test_an_upload_stays_in_its_folder(client: httpx.Client, data: Path, name: str) -> None:
    files = [("files", (name, b"x", "text/markdown"))]
    assert client.post("/ingest/files", files=files, data={"dataset": "evil"}).status_code in (400, 422)
    assert not list(data.parent.glob("**/up.md"))


def test_a_drive_is_no_folder_of_an_upload() -> None:
    with pytest.raises(InputError, match="cannot name an uploaded file"):
        upload_path("c:/x.md")
    assert upload_path("a\\b.md") == Path("a/b.md")


def test_paths_are_read_beneath_the_roots_alone(client: httpx.Client, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (vault / "out").symlink_to(tmp_path)
    for path in (str(tmp_path), str(tmp_path / "secret.md"), "/", "../", "out", "out/secret.md", "\0", ""):
        answer = client.post("/ingest", json={"paths": [path], "dataset": "evil"})
        assert answer.status_code == 400, path
    (vault / "out").unlink()
    job = _ended(client, client.post("/ingest", json={"paths": ["teas"], "dataset": "teas"}).json())
    assert job["status"] == "done"
    assert client.get("/ingest/none").status_code == 404


@pytest.mark.slow
def test_an_ingest_is_cancelled_and_finished_by_the_next(client: httpx.Client, vault: Path) -> None:
    request = {"paths": [str(vault / "processing")], "dataset": "whole"}
    job = client.post("/ingest", json=request).json()
    second = client.post("/ingest", json=request)
    assert second.status_code == 409
    assert client.delete(f"/ingest/{job['id']}").json()["status"] == "cancelled"
    again = _ended(client, client.post("/ingest", json=request).json())
    assert again["status"] == "done"
    assert again["report"]["documents"] == len([*(EXAMPLE_VAULT / "processing").rglob("*.md")])
    assert again["total"] > 0


def test_a_conversation_is_kept_and_forgotten(client: httpx.Client, data: Path) -> None:
    client.post("/ask", json={"query": "What is kill-green? zebra", "thread_id": "one"})
    client.post("/ask", json={"query": "Why is it done?", "thread_id": "one"})
    kept = client.get("/threads").json()["conversations"]
    assert [(one["id"], one["title"], one["turns"]) for one in kept] == [
        ("one", "What is kill-green? zebra", 2)
    ]
    said = client.get("/threads/one").json()["messages"]
    assert [one["role"] for one in said] == ["user", "assistant", "user", "assistant"]
    client.post("/memory", json={"text": "My favourite animal is the zebra."})
    gone = client.delete("/memory").json()
    assert gone["conversations"] == 1
    assert gone["memories"] > 0
    assert client.get("/threads").json()["conversations"] == []
    for file in data.glob("conversations.sqlite*"):
        assert b"zebra" not in file.read_bytes(), file


@pytest.mark.parametrize("path", ["/memory", "/threads/one"])
def test_conversations_that_were_set_aside_are_not_called_forgotten(
    client: httpx.Client, data: Path, path: str
) -> None:
    client.post("/ask", json={"query": "What is kill-green?", "thread_id": "one"})
    aside = data / "damaged-2026-01-01T000000" / "conversations.sqlite"
    aside.parent.mkdir()
    aside.write_bytes(bytes(100))
    try:
        refused = client.delete(path)
        assert refused.is_server_error
        assert f"{aside.parent.name}/{aside.name} in the data folder may hold" in refused.text
        assert str(data) not in refused.text
        assert client.get("/threads").json()["conversations"] == []
    finally:
        shutil.rmtree(aside.parent)
    assert client.delete(path).json()["conversations"] == 0


def test_a_board_is_drawn_saved_filled_in_and_checked(client: httpx.Client, vault: Path) -> None:
    request = {"query": "杀青、萎凋和渥堆各是什么？", "operation": "verification_canvas"}
    made = client.post("/boards", json=request).json()
    assert made["written"] is None
    assert made["board"]["nodes"]
    saved = client.post("/boards", json={**request, "path": "ours/tea.canvas"}).json()
    path = Path(saved["written"]["path"])
    assert path == vault / "ours" / "tea.canvas"
    for bad in ("ours/tea.md", "../tea.canvas", "/tmp/tea.canvas"):
        assert client.post("/boards", json={**request, "path": bad}).status_code == 400
    board = json.loads(path.read_text("utf-8"))
    blank = next(node for node in board["nodes"] if node.get("text") == "")
    blank["text"] = "no idea"
    path.write_text(json.dumps(board), "utf-8")
    checked = client.post("/boards/check", json={"path": "ours/tea.canvas"}).json()
    assert [one["mark"] for one in checked["answers"] if one["mark"] != "empty"] == ["wrong"]
    assert client.get("/boards/due").json() == {"questions": []}


def test_foreign_pages_and_hosts_are_refused(client: httpx.Client) -> None:
    assert client.get("/datasets", headers={"Host": "evil.example"}).status_code == 403
    refused = client.post("/ask", json={"query": "x"}, headers={"Origin": "http://evil.example"})
    assert refused.status_code == 403
    assert client.post("/ask", json={"query": "x"}, headers={"Origin": "null"}).status_code == 403
    own = str(client.base_url).rstrip("/")
    assert client.post("/ask", json={"query": QUESTION}, headers={"Origin": own}).status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/ask", {"query": QUESTION, "parameters": {"rerank": 5}}),
        ("/ask", {"query": QUESTION, "filters": {"year": {"$gte": "\ud800"}}}),
        ("/ask", {"query": QUESTION, "filters": {"\ud800": 1}}),
        ("/ask", {"query": QUESTION, "filters": {"year": {"$gt": 10**300}}}),
        ("/boards", {"query": QUESTION, "parameters": {"rerank": None, "retrieval": {"x": "\udfff"}}}),
        ("/v1/chat/completions", {"model": "default", "messages": [{"role": "user", "content": "\ud800"}]}),
        ("/v1/chat/completions", {"model": "x" * 250, "messages": [{"role": "user", "content": "tea"}]}),
    ],
)
def test_hostile_values_are_refused_with_the_reason(client: httpx.Client, path: str, body: Any) -> None:
    refused = client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert refused.status_code == 400, refused.text
    assert refused.json()["error"]["type"] != "internal"


def test_a_hostile_form_is_refused_with_the_reason(client: httpx.Client) -> None:
    form = {"query": QUESTION, "dataset": "default", "operation": "no such one"}
    assert client.post("/page/board", data=form).status_code == 400
    assert client.post("/page/ingest", data={"folder": ".", "dataset": "x" * 300}).status_code == 400
    assert client.post("/login", data={"key": "茶"}, follow_redirects=False).status_code == 303


def test_an_origin_that_is_no_address_is_refused(client: httpx.Client) -> None:
    assert client.get("/datasets", headers={"Origin": "http://["}).status_code == 403


@pytest.mark.parametrize("path", ["/", "../none.md", "none.md", "x" * 5000])
def test_where_a_root_lies_is_not_told(client: httpx.Client, vault: Path, path: str) -> None:
    refused = client.post("/ingest", json={"paths": [path]})
    assert refused.status_code == 400
    assert str(vault.parent) not in refused.text
    board = client.post("/boards/check", json={"path": "index.md"})
    assert board.status_code == 400
    assert str(vault.parent) not in board.text


def test_other_addresses_need_a_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"0\.0\.0\.0 can be reached by others; set an API key"):
        create_app(RagConfig(data_dir=tmp_path), host="0.0.0.0")


def test_a_key_opens_its_users_things_alone(example_data: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(example_data, tmp_path / "data"))
    keys = [{"key": "key-of-ann", "user": "ann"}, {"key": "key-of-bob", "user": "bob", "datasets": ["other"]}]
    config = RagConfig(data_dir=data, service=ServiceConfig.model_validate({"keys": keys}))
    assert "key-of-ann" not in repr(config)
    with (
        running_service(config, roots=[tmp_path]) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        ann, bob = ({"Authorization": f"Bearer key-of-{name}"} for name in ("ann", "bob"))
        assert client.get("/healthz").status_code == 200
        assert client.get("/datasets").status_code == 401
        assert client.get("/metrics").status_code == 401
        assert client.get("/datasets", headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert client.get("/datasets", headers={"Cookie": "a/b=c"}).status_code == 401
        assert client.get("/", follow_redirects=False).headers["location"] == "/login"
        asked = {"query": QUESTION, "thread_id": "t"}
        assert client.post("/ask", json=asked, headers=ann).status_code == 200
        assert client.post("/ask", json=asked, headers=bob).status_code == 403
        assert client.get("/datasets", headers=bob).json() == {"datasets": []}
        assert client.get("/notes/default/index.md", headers=bob).status_code == 403
        assert client.get("/health", headers=bob).text.count("default") == 0
        for page in ("/health", "/notes", "/learn", "/"):
            assert str(tmp_path) not in client.get(page, headers=bob).text, page
            assert str(tmp_path) not in client.get(page, headers=ann).text, page
        assert 'dataset="default"' in client.get("/metrics", headers=ann).text
        assert 'dataset="default"' not in client.get("/metrics", headers=bob).text
        assert client.get("/threads/t", headers=bob).json()["messages"] == []
        assert client.delete("/threads/t", headers=bob).json()["conversations"] == 0
        assert len(client.get("/threads", headers=ann).json()["conversations"]) == 1
        client.post("/memory", json={"text": "I live in Oslo."}, headers=ann)
        assert client.delete("/memory", headers=bob).json()["memories"] == 0
        entered = client.post("/login", data={"key": "key-of-ann"}, follow_redirects=False)
        assert entered.status_code == 303
        assert "HttpOnly" in entered.headers["set-cookie"]
        assert client.get("/").status_code == 200
        assert client.post("/login", data={"key": "wrong"}).status_code == 401
        surrogate = {"Content-Type": "application/x-www-form-urlencoded"}
        assert client.post("/login", content="key=%ED%A0%80茶", headers=surrogate).status_code == 401


def test_a_chat_models_words_come_as_it_writes_them(
    example_data: Path, tmp_path: Path, model_server: LocalOpenAIServer
) -> None:
    config = chat_config(shutil.copytree(example_data, tmp_path / "data"), model_server)
    with running_service(config) as address, httpx.Client(base_url=address, timeout=60) as client:
        events = _events(client, "/ask", json={"query": "Where does tea come from?"})
        words = [told["text"] for name, told in events if name == "token"]
        assert len(words) > 2
        assert "".join(words).strip() == model_server.answer
        assert events[-1][1]["answer"] == model_server.answer
        assert events[-1][1]["usage"]["calls"] == 1
        model_server.judge = lambda request: CUT
        events = _events(client, "/ask", json={"query": "Where does tea come from?"})
        assert events[-1][1]["outcomes"]["answer"]["status"] == "degraded"
        assert events[-1][1]["citations"]
        metrics = client.get("/metrics").text
        assert 'agentic_rag_degraded_total{part="answer"} 1.0' in metrics
        assert "agentic_rag_model_calls 1.0" in metrics
        assert 'agentic_rag_model_tokens{kind="completion"} 1.0' in metrics


def test_what_no_passage_supports_is_left_out_and_told_on_every_surface(
    example_data: Path, tmp_path: Path, model_server: LocalOpenAIServer
) -> None:
    config = chat_config(shutil.copytree(example_data, tmp_path / "data"), model_server)
    question = "What is theanine?"
    model_server.answer = "Theanine is an amino acid [1]. It also cures cancer. Theanine is radioactive [42]."
    left_out = "2 of 3 statements left out: 2 without a citation"
    with running_service(config) as address, httpx.Client(base_url=address, timeout=60) as client:
        told = client.post("/ask", json={"query": question}).json()
        assert told["answer"] == "Theanine is an amino acid [1]."
        outcome = told["outcomes"]["answer"]
        assert (outcome["status"], outcome["left_out"]) == ("partial", {"uncited": 2})
        steps = [step for name, step in _events(client, "/ask", json={"query": question}) if name == "step"]
        assert steps[-1]["summary"]["reason"].startswith(left_out)
        page = client.post("/page/ask", data={"query": question, "dataset": "default"}).text
        assert f"in part: Answer: {left_out}" in page.replace("\\n", "")
        assert "cures cancer" not in page
        with openai.OpenAI(base_url=f"{address}/v1", api_key="any") as openai_client:
            asked = [{"role": "user", "content": question}]
            said = openai_client.chat.completions.create(model="default", messages=asked)  # type: ignore[arg-type]
            assert "radioactive" not in str(said.choices[0].message.content)
        assert "agentic_rag_degraded_total{" not in client.get("/metrics").text


async def test_a_chat_model_that_breaks_off_is_replaced_by_quotes_on_every_surface(
    example_data: Path, tmp_path: Path, model_server: LocalOpenAIServer
) -> None:
    config = chat_config(shutil.copytree(example_data, tmp_path / "data"), model_server)
    model_server.answer = "An amino acid, theanine [1] is not called. So is tannin [1]."
    half = "amino acid, theanine [1]"

    def broken(request: dict[str, Any]) -> Any:
        return BROKEN_OFF if request.get("stream") else CUT

    model_server.judge = broken
    question = "What is theanine?"
    with running_service(config) as address, httpx.Client(base_url=address, timeout=60) as client:
        answers = [_events(client, "/ask", json={"query": question})[-1][1]]
        answers.append(client.post("/ask", json={"query": question}).json())
        for one in answers:
            assert one["outcomes"]["answer"]["status"] == "degraded"
            assert half not in one["answer"]
            assert one["citations"]
        with openai.OpenAI(base_url=f"{address}/v1", api_key="any") as openai_client:
            asked = [{"role": "user", "content": question}]
            for stream in (False, True):
                told = openai_client.chat.completions.create(model="default", messages=asked, stream=stream)  # type: ignore[call-overload]
                text = (
                    "".join(chunk.choices[0].delta.content or "" for chunk in told)
                    if stream
                    else told.choices[0].message.content
                )
                assert half not in text
                assert "[[1]]" in text
            text = openai_client.responses.create(model="default", input=question).output_text
            assert half not in text
            assert "[[1]]" in text
        async with McpClient(f"{address}/mcp") as mcp_client:
            result = (await mcp_client.call_tool("ask", {"question": question})).structured_content
            assert result is not None
            assert half not in result["answer"]
            assert result["citations"]


@pytest.mark.slow
def test_the_end_of_the_service_waits_for_answers_and_cancels_ingests(
    example_data: Path, vault: Path, tmp_path: Path, model_server: LocalOpenAIServer
) -> None:
    data = Path(shutil.copytree(example_data, tmp_path / "data"))

    def slow(_: dict[str, Any]) -> None:
        time.sleep(1.5)

    model_server.judge = slow
    env = os.environ | {
        "AGENTIC_RAG_CHAT__BASE_URL": model_server.base_url,
        "AGENTIC_RAG_CHAT__MODEL": "m",
        "AGENTIC_RAG_CHAT__API_KEY": "k",
        "AGENTIC_RAG_ANSWER__METHOD": "chat",
    }
    serve = [sys.executable, "-c", "from agentic_rag.cli import main; main()", "serve", "--port", "0"]
    options = ["--data-dir", str(data), "--root", str(vault)]
    with subprocess.Popen([*serve, *options], env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = next(found[0] for line in process.stderr if (found := re.search(r"http://[\d.:]+", line)))
        with (
            httpx.Client(base_url=address, timeout=60) as client,
            client.stream(
                "POST", "/ask", headers={"Accept": "text/event-stream"}, json={"query": QUESTION}
            ) as told,
        ):
            lines = told.iter_lines()
            assert next(lines) == "event: started"
            client.post("/ingest", json={"paths": [str(vault / "processing")], "dataset": "whole"})
            process.send_signal(signal.SIGTERM)
            assert "event: answer" in list(lines)
        log = process.stderr.read()
    assert process.returncode in (0, -signal.SIGTERM)
    assert "Traceback" not in log
    assert QUESTION not in log
    with (
        running_service(RagConfig(data_dir=data), roots=[vault]) as again,
        httpx.Client(base_url=again) as client,
    ):
        job = client.post("/ingest", json={"paths": [str(vault / "processing")], "dataset": "whole"}).json()
        assert _ended(client, job)["status"] == "done"
