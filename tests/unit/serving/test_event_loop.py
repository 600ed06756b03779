"""The event loop goes on beside the largest requests: long computations run in threads, the others have caps."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentic_rag import Rag, RagConfig
from agentic_rag.errors import InputError
from agentic_rag.memory import store
from agentic_rag.memory.agents import episodic
from agentic_rag.memory.reading import reader
from agentic_rag.memory.routing import router
from agentic_rag.nodes import answer, evidence, select_notes
from agentic_rag.retrieval.passage_graph import PassageGraph
from agentic_rag.stores.graph import links
from agentic_rag.stores.lancedb import chunk_store, legs, metadata
from agentic_rag_service import asking
from service_server import called_service, ended

OFF_THE_LOOP = [
    (store, "graphs_of"),
    (reader, "said_sentences"),
    (chunk_store, "to_table"),
    (chunk_store, "_unpack_chunks"),
    (legs, "_scored_chunks"),
    (select_notes, "_within"),
    (select_notes, "prepared_vocabulary"),
    (select_notes, "_choice"),
    (evidence, "from_selection"),
    (evidence, "read_passages"),
    (evidence, "from_reading"),
    (PassageGraph, "named_in"),
    (answer, "_with_texts"),
    (answer, "_from_quotes"),
    (episodic, "shown_messages"),
    (metadata, "to_sql"),
    (router, "_by_rules"),
    (links, "_chunks_by_documents"),
]


async def test_remembering_and_asking_compute_in_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: dict[str, set[bool]] = {}
    loop = threading.get_ident()

    def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            used.setdefault(name, set()).add(threading.get_ident() == loop)
            return function(*given)

        return called

    for module, name in OFF_THE_LOOP:
        monkeypatch.setattr(module, name, noted(name, getattr(module, name)))
    (tmp_path / "tea.md").write_text("---\nyear: 2023\n---\n# Tea\n\nTea is oolong.\n")
    async with called_service(RagConfig(data_dir=tmp_path / "data"), roots=[tmp_path]) as client:
        await ended(client, await client.post("/ingest", json={"paths": ["tea.md"]}))
        assert (
            await client.post("/memory", json={"text": "I live in Rome. I like oolong."})
        ).status_code == 200
        assert (await client.post("/ask", json={"query": "Which notes have year 2023?"})).status_code == 200
        for question in ("Where do I live?", "What is tea?", "Is tea oolong?"):
            assert (await client.post("/ask", json={"query": question})).status_code == 200
        about = {
            "query": "oolong",
            "operation": "concept_relation",
            "filters": {"title": {"$contains": "ea"}},
        }
        assert (await client.post("/ask", json=about)).status_code == 200
    assert used == {name: {False} for _, name in OFF_THE_LOOP}


def _in_json(count: int) -> list[tuple[str, dict[str, Any]]]:
    years = list(range(count))
    filters: list[dict[str, Any]] = [{"year": {"$in": years}}, {"$or": [{"year": year} for year in years]}]
    return [
        *(
            (path, {"json": {"query": "oolong", "filters": one}})
            for path in ("/ask", "/search", "/boards")
            for one in filters
        ),
        (
            "/page/base",
            {"data": {"query": "oolong", "dataset": "default", "filters": json.dumps(filters[0])}},
        ),
    ]


def _as_terms(count: int) -> list[tuple[str, dict[str, Any]]]:
    terms = [f"year={year}" for year in range(count)]
    arguments = {"name": "ask", "arguments": {"question": "oolong", "filters": terms}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    return [
        ("/page/ask", {"data": {"query": "oolong", "only": "\n".join(terms)}}),
        ("/mcp/", {"json": call, "headers": headers}),
    ]


async def test_no_collection_of_garbage_stops_the_service_once_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warmed, collected = asyncio.Event(), []

    async def warm_up(_: Rag) -> None:
        monkeypatch.setattr(gc, "collect", lambda *_: collected.append(warmed.is_set()))
        monkeypatch.setattr(gc, "freeze", warmed.set)

    monkeypatch.setattr(Rag, "warm_up", warm_up)
    async with called_service(RagConfig(data_dir=tmp_path)):
        await asyncio.wait_for(warmed.wait(), 10)
    assert collected == []


@pytest.mark.parametrize("requests", [_in_json, _as_terms])
async def test_a_filter_of_a_request_has_a_bounded_number_of_values(
    tmp_path: Path,
    requests: Callable[[int], list[tuple[str, dict[str, Any]]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking, "MAX_CONDITIONS", 3)
    (tmp_path / "tea.md").write_text("# Tea\n\nTea is oolong.\n")
    refusal = "more than 3 values; give fewer"
    async with called_service(RagConfig(data_dir=tmp_path / "data"), roots=[tmp_path]) as client:
        await ended(client, await client.post("/ingest", json={"paths": ["tea.md"]}))
        for path, body in requests(3):
            allowed = await client.post(path, **body)
            # A Base needs a question that selects notes.
            assert allowed.is_success or path == "/page/base", allowed.text
            assert refusal not in allowed.text
        for path, body in requests(4):
            assert refusal in (await client.post(path, **body)).text, path


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"$or": [{}] * 4}, "the filters have more than 3 values; give fewer"),
        ({"a": {"$in": [[]] * 4}}, "the filters have more than 3 values; give fewer"),
        ({str(n): n for n in range(4)}, "the filters have more than 3 values; give fewer"),
        ({"a": "x" * 2_001}, f"a text in the filters has 2001 characters; give at most 2000: {'x' * 40!r}…"),
        ({"x" * 2_001: 1}, f"a text in the filters has 2001 characters; give at most 2000: {'x' * 40!r}…"),
    ],
)
def test_empty_values_and_long_texts_count(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        asking.require_few(given, 3)
    asking.require_few({"$or": [{"a": "x" * 2_000}, {"b": []}, {}]}, 3)


async def test_parameters_of_a_request_are_few(tmp_path: Path) -> None:
    async with called_service(RagConfig(data_dir=tmp_path)) as client:
        given = {"query": "tea", "parameters": {"fusion": {str(n): n for n in range(101)}}}
        refused = await client.post("/ask", json=given)
    assert refused.status_code == 400
    assert "the parameters have more than 100 values; give fewer" in refused.text


async def test_terms_beyond_the_bound_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "term_values", lambda _: pytest.fail("they were read"))
    with pytest.raises(InputError, match="more than 500 values"):
        asking.filters_of(["year=1"] * 501)


@pytest.mark.parametrize(("times", "status"), [(1, "ok"), (200, "empty")])
async def test_a_long_question_is_not_read_as_a_query_to_the_notes(
    tmp_path: Path, times: int, status: str
) -> None:
    (tmp_path / "tea.md").write_text("---\nyear: 2023\n---\n# Tea\n\nTea is oolong.\n")
    async with called_service(RagConfig(data_dir=tmp_path / "data"), roots=[tmp_path]) as client:
        await ended(client, await client.post("/ingest", json={"paths": ["tea.md"]}))
        answered = await client.post("/ask", json={"query": "Which notes have year 2023? " * times})
        selection = answered.json()["selection"]
        assert (selection or {"status": "empty"})["status"] == status
