"""Two replicas behind nginx: each can continue any conversation, and either may die or be restarted."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from agentic_rag import RagConfig
from agentic_rag.errors import ConfigError
from agentic_rag_service.app import create_app
from example_vault import EXAMPLE_VAULT
from replicas import CONFIGURATION, Replica, Replicas, replicas

QUESTIONS = ("What is kill-green?", "Why is it done?", "What is withering?")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    """The example vault, ingested through the proxy."""
    with replicas(tmp_path_factory.mktemp("replicas"), EXAMPLE_VAULT) as started:
        with httpx.Client(base_url=started.url, timeout=60) as client:
            job = client.post("/ingest", json={"paths": [str(EXAMPLE_VAULT)]}).json()
            until = time.monotonic() + 60
            while job["status"] == "running":
                assert time.monotonic() < until
                time.sleep(0.1)
                job = client.get(f"/ingest/{job['id']}").json()
            assert job["status"] == "done", job["error"]
            until = time.monotonic() + 60  # a reader looks for what was written once a second
            while not httpx.get(f"{started.reader.url}/datasets").json()["datasets"]:
                assert time.monotonic() < until
                time.sleep(0.1)
        yield started
        for one in (started.writer, started.reader):
            assert started.graph.password not in one.log
            assert "Traceback" not in one.log
            assert "kill-green" not in one.log


def _asked(url: str, thread: str, query: str) -> httpx.Response:
    return httpx.post(f"{url}/ask", json={"query": query, "thread_id": thread}, timeout=60)


def _said(url: str, thread: str) -> list[str]:
    messages = httpx.get(f"{url}/threads/{thread}", timeout=60).json()["messages"]
    assert [one["role"] for one in messages] == ["user", "assistant"] * (len(messages) // 2)
    return [one["text"] for one in messages if one["role"] == "user"]


def _refused_honestly(answer: httpx.Response) -> str:
    assert answer.status_code == 503
    assert answer.headers["Retry-After"].isdigit()
    return str(answer.json()["error"]["message"])


def test_a_conversation_goes_on_when_the_replica_that_answered_is_killed(both: Replicas) -> None:
    assert _asked(both.writer.url, "killed", QUESTIONS[0]).status_code == 200
    both.writer.end(signal.SIGKILL)
    try:
        for question in QUESTIONS[1:]:
            assert _asked(both.url, "killed", question).status_code == 200
        assert _said(both.url, "killed") == list(QUESTIONS)
        told = _refused_honestly(httpx.post(f"{both.url}/memory", json={"text": "I drink oolong."}))
        assert told == "no replica that could do this answers; try again"
    finally:
        both.writer.start()
        both.writer.wait()
    assert _said(both.writer.url, "killed") == list(QUESTIONS)


def test_what_only_the_writer_does_is_refused_by_the_other_one_and_found_by_the_proxy(both: Replicas) -> None:
    calls = [
        ("POST", "/ingest"), ("GET", "/ingest"), ("DELETE", "/datasets/default"), ("POST", "/memory"),
        ("DELETE", "/memory"), ("GET", "/boards/due"), ("GET", "/learn"),
    ]  # fmt: skip
    for method, path in calls:
        body = {"paths": ["x"]} if path == "/ingest" else {"text": "x"}
        answer = httpx.request(method, f"{both.reader.url}{path}", json=body if method == "POST" else None)
        assert (answer.status_code, answer.json()["error"]["type"]) == (421, "OnlyAnswers"), path
    with httpx.Client(base_url=both.url, timeout=60) as client:
        for _ in range(4):
            assert client.get("/ingest").status_code == 200
            assert client.get("/boards/due").status_code == 200
            assert client.get("/learn").status_code == client.get("/notes").status_code == 200
            assert client.get("/datasets").json()["datasets"][0]["documents"] > 30
        assert client.post("/memory", json={"text": "I prefer oolong."}).status_code == 200
        assert client.delete("/memory").json()["memories"] >= 1


def test_questions_of_a_conversation_at_both_replicas_wait_for_each_other(both: Replicas) -> None:
    asked = [f"What is withering? {number}" for number in range(8)]
    with ThreadPoolExecutor(8) as clients:
        places = (both.writer.url, both.reader.url) * 4
        answers = list(clients.map(_asked, places, ["at once"] * 8, asked))
    assert {one.status_code for one in answers} == {200}
    assert sorted(_said(both.url, "at once")) == asked


def _ended(replica: Replica) -> None:
    """By SIGTERM: it is unready first, and still answers."""
    assert replica.process is not None
    replica.process.send_signal(signal.SIGTERM)
    found = replica.wait(503)
    assert found.json() == {"status": "ending"}
    assert found.headers["Retry-After"].isdigit()
    assert httpx.get(f"{replica.url}/healthz").status_code == 200
    assert replica.process.wait(timeout=60) in (0, -signal.SIGTERM)


def test_a_rolling_restart_fails_no_request_and_cuts_no_stream(both: Replicas) -> None:
    over = threading.Event()

    def client(number: int) -> tuple[list[httpx.Response], int]:
        answers: list[httpx.Response] = []
        while not over.wait(0.1):
            answers.append(_asked(both.url, f"rolling {number}", f"What is withering? {len(answers)}"))
        return answers, len(_said(both.url, f"rolling {number}"))

    def streams() -> list[bool]:
        ends = []
        request = {"json": {"query": QUESTIONS[0]}, "headers": {"Accept": "text/event-stream"}}
        while not over.wait(0.1):
            with httpx.stream("POST", f"{both.url}/ask", timeout=60, **request) as answer:
                ends.append("event: answer" in answer.read().decode())
        return ends

    with ThreadPoolExecutor(3) as threads:
        asking = [threads.submit(client, number) for number in range(2)]
        streaming = threads.submit(streams)
        for one in (both.reader, both.writer):
            time.sleep(0.5)
            _ended(one)
            one.start()
            one.wait()
        over.set()
        for found in asking:
            answers, turns = found.result()
            assert [one.text for one in answers if one.status_code != 200] == []
            assert turns == len(answers) > 2
        assert all(streaming.result())


def test_readiness_names_the_store_that_is_away(both: Replicas) -> None:
    os.kill(both.graph.pid, signal.SIGSTOP)
    try:
        found = both.writer.wait(503).json()
        assert found == {"status": "unready", "stores": {"graph": "no answer within 2 s"}}
        assert both.reader.wait().json() == {"status": "ok"}  # its searches do not need it
        assert _asked(both.url, "no graph", QUESTIONS[0]).status_code == 200
    finally:
        os.kill(both.graph.pid, signal.SIGCONT)
    both.writer.wait()
    both.stop_s3.close()
    for one in (both.writer, both.reader):
        why = one.wait(503).json()["stores"]["vectors"]
        assert re.search(r"cannot be reached|no answer within 2 s", why)
        assert "not ready, the vectors cannot be used" in one.log
        assert httpx.get(f"{one.url}/healthz").status_code == 200
    refused = _refused_honestly(_asked(both.url, "no vectors", QUESTIONS[0]))
    assert "the object store at" in refused


@pytest.mark.parametrize("options", [{"mcp_write": True}, {"watched_folders": [EXAMPLE_VAULT]}])
def test_a_replica_that_only_answers_follows_no_folder(options: dict[str, Any], tmp_path: Path) -> None:
    config = RagConfig.model_validate({"data_dir": tmp_path, "service": {"writes": False}})
    with pytest.raises(ConfigError, match=r"service\.writes is false"):
        create_app(config, **options)


def test_the_compose_profile_runs_what_is_tested_here() -> None:
    project = CONFIGURATION.parents[1]
    composed = yaml.safe_load((project / "docker-compose.yml").read_text("utf-8"))["services"]
    chosen = {name: one for name, one in composed.items() if "replicas" in one["profiles"]}
    assert chosen.keys() == {"replica-1", "replica-2", "proxy", "falkordb", "postgres", "minio"}
    proxy = chosen["proxy"]
    told = CONFIGURATION.relative_to(project)
    assert proxy["volumes"] == [f"./{told}:/etc/nginx/conf.d/default.conf:ro"]
    servers = re.findall(r"server ([\w-]+):8321", CONFIGURATION.read_text("utf-8"))
    assert set(servers) == {"replica-1", "replica-2"} == proxy["depends_on"].keys()
    addresses = dict(one.split(":") for one in proxy["extra_hosts"])
    for name, address in addresses.items():
        assert chosen[name]["networks"]["replicas"]["ipv4_address"] == address
    writer, reader = (chosen[name]["environment"] for name in ("replica-1", "replica-2"))
    only_answers = {"AGENTIC_RAG_SERVICE__WRITES": "false", "AGENTIC_RAG_LANCEDB_COPIES": "true"}
    assert reader == writer | only_answers
    assert "--watch" not in chosen["replica-2"]["command"]
    RagConfig.model_validate({"storage_options": json.loads(writer["AGENTIC_RAG_STORAGE_OPTIONS"])})
