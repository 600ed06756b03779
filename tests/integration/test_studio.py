"""``langgraph dev`` on a free port: the graph is listed, drawn, invoked and streamed over HTTP, its stores opened once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from graph_servers import free_port

pytest.importorskip("langgraph_api", reason="LangGraph's server is not installed (extra: studio)")

ROOT = Path(__file__).parents[2]
START_SECONDS = 45.0
NODES = [
    "prepare_query", "retrieve_graphiti", "retrieve_lancedb", "retrieve_memory", "select_notes", "fuse_results", "rerank",
    "check_quality", "rewrite_query", "agent", "answer",
]  # fmt: skip
QUESTION = {"query": "What does shading do to theanine?", "operation": "document_retrieval"}

pytestmark = pytest.mark.slow


@dataclass
class Server:
    client: httpx.Client
    log: Path


@pytest.fixture(scope="module")
def server(example_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    port = free_port()
    # The server keeps its own state in the current folder, and reads the graphs' paths from there.
    folder = tmp_path_factory.mktemp("studio")
    (folder / "langgraph.json").symlink_to(ROOT / "langgraph.json")
    (folder / "graphs").symlink_to(ROOT / "graphs")
    # As README says it: in the folder of the data, whose path is then relative.
    shutil.copytree(example_data, folder / ".agentic-rag")
    log = folder / "server.log"
    quiet = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGSMITH_TRACING": "false"}
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**os.environ, **quiet},
            start_new_session=True,
        )
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
                _wait(client, process, log)
                yield Server(client, log)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _wait(client: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")[-4000:]
        try:
            if client.get("/ok").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    pytest.fail(
        f"no answer within {START_SECONDS} s:\n{log.read_text(encoding='utf-8', errors='replace')[-4000:]}"
    )


def posted(server: Server, path: str, body: dict[str, Any]) -> Any:
    answer = server.client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_graph_is_listed_and_drawn(server: Server) -> None:
    (assistant,) = posted(server, "/assistants/search", {"graph_id": "agentic_rag"})
    drawn = server.client.get(f"/assistants/{assistant['assistant_id']}/graph").json()
    assert {node["id"] for node in drawn["nodes"]} == {"__start__", *NODES, "__end__"}
    edges = {(edge["source"], edge["target"]) for edge in drawn["edges"]}
    assert ("rewrite_query", "prepare_query") in edges
    assert ("retrieve_graphiti", "fuse_results") in edges
    schemas = server.client.get(f"/assistants/{assistant['assistant_id']}/schemas").json()
    assert {"query", "operation", "dataset", "messages"} <= schemas["input_schema"]["properties"].keys()
    assert "fusion" in schemas["context_schema"]["properties"]


def test_a_run_answers_with_citations(server: Server) -> None:
    state = posted(server, "/runs/wait", {"assistant_id": "agentic_rag", "input": QUESTION})
    assert state["citations"]
    assert "[1]" in state["answer"]
    assert {outcome["status"] for outcome in state["outcomes"].values()} == {"ok"}


def test_a_run_streams_its_nodes_in_order(server: Server) -> None:
    body = {"assistant_id": "agentic_rag", "input": QUESTION, "stream_mode": ["updates"]}
    seen: list[str] = []
    with server.client.stream("POST", "/runs/stream", json=body) as stream:
        event = ""
        for line in stream.iter_lines():
            if line.startswith("event:"):
                event = line.removeprefix("event:").strip()
            elif line.startswith("data:") and event == "updates":
                seen.extend(json.loads(line.removeprefix("data:")))
            assert event != "error", line
    assert seen[0] == "prepare_query"
    assert set(seen[1:4]) == {"retrieve_graphiti", "retrieve_lancedb", "select_notes"}
    assert seen[4:] == ["fuse_results", "rerank", "check_quality", "answer"]


def test_an_error_says_what_was_wrong(server: Server) -> None:
    body = {"assistant_id": "agentic_rag", "input": {**QUESTION, "operation": "guess"}}
    error = posted(server, "/runs/wait", body)["__error__"]
    assert error["error"] == "UnknownOperation"
    assert "unknown operation 'guess'; use one of: auto, verification_canvas" in error["message"]


def test_a_context_overrides_parameters(server: Server) -> None:
    body = {
        "assistant_id": "agentic_rag",
        "input": QUESTION,
        "context": {"fusion": {"strategy": "rrf", "k": 7}},
    }
    state = posted(server, "/runs/wait", body)
    assert state["fusion"]["strategy"] == "rrf"
    assert state["fused_results"][0]["fused_score"] <= 2 / 8


def test_stores_are_opened_once_and_nothing_blocks(server: Server) -> None:
    before = len(server.log.read_text(encoding="utf-8", errors="replace"))
    for _ in range(2):
        posted(server, "/runs/wait", {"assistant_id": "agentic_rag", "input": QUESTION})
    log = server.log.read_text(encoding="utf-8", errors="replace")
    assert log.count("opened stores and models of") == 1
    assert "Blocking call" not in log
    told = log[before:]  # questions that are wrong on purpose leave a traceback too
    assert "Traceback" not in told, told[told.index("Traceback") - 500 :][:4000]


MEMORY_NODES = {
    "memory_retrieval": ["route", "ask_agent", "merge_memories"],
    "memory_main": ["MemorySource", "PipelineCaller", "MemorySink"],
    "memory_insert": ["PreInsert", "MemoryInsert", "PostInsert"],
    "memory_test": ["PreRetrieval", "MemoryRetrieval", "PostRetrieval", "MemoryTest"],
}
PACKET = {
    "task_id": "conv-1", "session_id": 1, "dialog_id": 0, "dialog_len": 2, "packet_idx": 0, "total_packets": 1,
    "dialogs": [
        {"speaker": "Alice", "text": "I work at Google now.", "date_time": "2023-08-01"},
        {"speaker": "Bob", "text": "I moved to Paris.", "date_time": "2023-08-01"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", MEMORY_NODES)
def test_the_memory_graphs_are_drawn(server: Server, name: str) -> None:
    (assistant,) = posted(server, "/assistants/search", {"graph_id": name})
    drawn = server.client.get(f"/assistants/{assistant['assistant_id']}/graph").json()
    assert {node["id"] for node in drawn["nodes"]} == {"__start__", *MEMORY_NODES[name], "__end__"}


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("memory_main", {"task_id", "data"}),
        ("memory_insert", set(PACKET)),
        ("memory_test", {"question", "answer", "category", "rubric", "task_id", "session_id", "question_id"}),
    ],
)
def test_the_forms_of_the_memory_graphs_are_described(server: Server, name: str, keys: set[str]) -> None:
    (assistant,) = posted(server, "/assistants/search", {"graph_id": name})
    schemas = server.client.get(f"/assistants/{assistant['assistant_id']}/schemas").json()
    given = schemas["input_schema"]["properties"]
    assert keys <= given.keys()
    assert all(value.get("description") for value in given.values()), given
    assert "YAML" in schemas["context_schema"]["properties"]["pipeline"]["description"]


def test_a_users_memories_are_asked(server: Server) -> None:
    (assistant,) = posted(server, "/assistants/search", {"graph_id": "memory_retrieval"})
    schema = server.client.get(f"/assistants/{assistant['assistant_id']}/schemas").json()["input_schema"]
    assert all(value.get("description") for value in schema["properties"].values())
    assert {"query", "user_id", "max_results", "memory_types", "strategy"} <= schema["properties"].keys()
    asked = {"query": "Where do I live?", "user_id": "nobody"}
    state = posted(server, "/runs/wait", {"assistant_id": "memory_retrieval", "input": asked})
    assert state["memories"] == []
    assert {outcome["status"] for outcome in state["outcomes"].values()} == {"empty"}
    assert state["routing"]["reasons"]
    error = posted(server, "/runs/wait", {"assistant_id": "memory_retrieval", "input": {"query": "Where?"}})
    assert "a memory needs the id of its user" in error["__error__"]["message"]


def test_what_is_inserted_is_found(server: Server) -> None:
    inserted = posted(server, "/runs/wait", {"assistant_id": "memory_insert", "input": PACKET})
    assert inserted["insert_stats"] == {"inserted": 1, "entries": 1}
    asked = {"question": "Where does Alice work?", "answer": "Google", "category": "single-hop", "task_id": "conv-1", "session_id": 1, "question_id": 1}  # fmt: skip
    result = posted(server, "/runs/wait", {"assistant_id": "memory_test", "input": asked})
    assert "Google" in result["history_text"]
    assert result["ground_truth"] == "Google"
    design = str(ROOT / "configs" / "locomo_no_memory_pipeline.yaml")
    for way in ({"config": {"configurable": {"pipeline": design}}}, {"context": {"pipeline": design}}):
        other = posted(server, "/runs/wait", {"assistant_id": "memory_test", "input": asked, **way})
        assert other["memory_data"] == []


def test_a_whole_conversation_runs(server: Server, tmp_path: Path) -> None:
    turns = [{"speaker": d["speaker"], "dia_id": f"D1:{n}", "text": d["text"]} for n, d in enumerate(PACKET["dialogs"], 1)]  # type: ignore[var-annotated, arg-type, call-overload]  # fmt: skip
    sample = {
        "sample_id": "conv-1",
        "conversation": {"speaker_a": "Alice", "speaker_b": "Bob", "session_1": turns},
        "qa": [
            {"question": "Where does Alice work?", "answer": "Google", "evidence": ["D1:1"], "category": 4}
        ],
    }
    data = tmp_path / "locomo.json"
    data.write_text(json.dumps([sample]), encoding="utf-8")
    given = {"task_id": "conv-1", "data": str(data)}
    state = posted(server, "/runs/wait", {"assistant_id": "memory_main", "input": given})
    assert [result["status"] for result in state["results"]] == ["ok"]
    assert state["inserts"]["packets"] == 1
