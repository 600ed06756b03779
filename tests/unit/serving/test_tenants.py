"""Two tenants of one service: calls of every route with generated arguments give one nothing of the other."""

from __future__ import annotations

import json
import os
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute, iter_route_contexts

from agentic_rag import RagConfig
from service_server import called_service, ended

CALLS = int(os.environ.get("AGENTIC_RAG_TENANT_CALLS", "600"))
"""Calls of each tenant."""
TOPICS = {"basalt": "velvet7193", "zircon": "copper5821"}
"""Dataset by tenant, and the secret of its notes, which no call contains."""


@dataclass(frozen=True)
class Tenant:
    """A user with a dataset, and all that the service keeps of them."""

    name: str
    folder: Path
    job: str = ""

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer key-of-{self.name}"}

    @property
    def secret(self) -> str:
        return TOPICS[self.name]

    @property
    def board(self) -> Path:
        return self.folder / "exam.canvas"

    @property
    def thread(self) -> str:
        return f"thread-{list(TOPICS).index(self.name)}"

    @property
    def marks(self) -> list[str]:
        """Texts that the other tenant may not read unless the call itself contains them."""
        return [self.name, self.secret, str(self.folder.parent)]


async def _call(client: httpx.AsyncClient, tenant: Tenant, url: str, **body: Any) -> httpx.Response:
    answer = await client.post(url, json=body, headers=tenant.headers)
    assert answer.status_code < 300, answer.text
    return answer


async def _filled(client: httpx.AsyncClient, tenant: Tenant) -> Tenant:
    """The tenant with notes, an upload, a board that is filled in and checked, a conversation and a memory."""
    name, secret = tenant.name, tenant.secret
    (tenant.folder / f"{name} plan.md").write_text(
        f"---\nowner: {secret}\ntags: [{name}]\n---\n# {name}\n\nThe number of {name} is {secret}. "
        f"See [[{name} plan]]. The {name} plan was made by {secret}.\n"
    )
    started = await _call(client, tenant, "/ingest", paths=["."], dataset=name)
    job = await ended(client, started, headers=tenant.headers)
    assert job["status"] == "done", job
    files = [("files", (f"{name} upload.md", f"# Upload\n\nThe upload says {secret}.\n".encode()))]
    sent = await client.post("/ingest/files", files=files, data={"dataset": name}, headers=tenant.headers)
    await ended(client, sent, headers=tenant.headers)
    query = f"What is the number of {secret}?"
    await _call(client, tenant, "/ask", query=query, dataset=name, thread_id=tenant.thread)
    drawn = await _call(
        client,
        tenant,
        "/boards",
        query=query,
        dataset=name,
        operation="verification_canvas",
        path=tenant.board.name,
    )
    assert drawn.json()["written"] is not None, drawn.text
    _fill_in(tenant.board)
    await _call(client, tenant, "/boards/check", path=tenant.board.name)
    await _call(client, tenant, "/memory", text=f"I live in {secret}.")
    return Tenant(name, tenant.folder, job["id"])


def _fill_in(board: Path) -> None:
    """Write something wrong onto every empty card."""
    drawn = json.loads(board.read_text())
    for node in drawn["nodes"]:
        if node.get("type") == "text" and not node["text"].strip():
            node["text"] = "no idea"
    board.write_text(json.dumps(drawn))


@asynccontextmanager
async def _service(tmp_path: Path) -> AsyncIterator[tuple[httpx.AsyncClient, list[Tenant]]]:
    tenants = [Tenant(name, tmp_path / "shared" / name) for name in TOPICS]
    for one in tenants:
        one.folder.mkdir(parents=True)
    keys = [{"key": f"key-of-{one.name}", "user": one.name, "datasets": [one.name]} for one in tenants]
    config = RagConfig.model_validate(
        {"data_dir": tmp_path / "data", "service": {"keys": keys}, "answer": {"abstain_below": 0.0}}
    )
    roots = [Path(f"{one.name}={one.folder}") for one in tenants] + [tmp_path / "shared"]
    async with called_service(config, roots=roots, mcp_write=True) as client:
        yield client, [await _filled(client, one) for one in tenants]


class Calls:
    """Generated calls of one tenant, whose arguments name what is the other's.

    No argument that is kept (a conversation's id, a file that is written) has a mark of the other: a later answer would
    give it back.
    """

    def __init__(self, own: Tenant, other: Tenant, app: Any) -> None:
        self._random = random.Random(own.name)
        self._values = self._pool(own, other)
        self._routes = [
            (method, one.path, one.original_route)
            for one in iter_route_contexts(app.routes)
            if isinstance(one.original_route, APIRoute)
            for method in sorted(one.methods or ())
        ]
        self._own = own

    @staticmethod
    def _pool(own: Tenant, other: Tenant) -> dict[str, list[Any]]:
        names = [
            own.name,
            other.name,
            other.name.upper(),
            "default",
            f"memory:{other.name}",
            f"../{other.name}",
            "",
        ]
        paths = [
            str(other.folder),
            str(other.board),
            f"{other.folder}/{other.name} plan.md",
            str(other.folder.parent),
            str(other.folder.parents[1] / "data" / "uploads" / other.name),
            f"../{other.name}",
            f"../{other.name}/{other.board.name}",
            f"{other.name} plan.md",
            own.board.name,
            f"{own.name} plan.md",
            "new.canvas",
            "new.md",
            ".",
            "",
        ]  # fmt: skip
        threads = [other.thread, own.thread, "new", f"../{other.thread}"]
        return {
            "dataset": names,
            "model": [*names, f"{other.name}/document_retrieval", f"{own.name}/verification_canvas"],
            "path": paths,
            "file": paths,
            "folder": paths,
            "paths": [[one] for one in paths],
            "id": [f"{other.name}/{path}" for path in paths] + [f"{own.name}/{path}" for path in paths],
            "uri": [f"notes://{name}/{path}" for name in names for path in paths],
            "thread": threads,
            "thread_id": threads,
            "conversation_id": threads,
            "job_id": [other.job, own.job, "none"],
            "query": ["What is the number?", "What was the plan made by?", "list all notes", "who lives where"],
            "operation": ["auto", "concept_relation", "verification_canvas", "weak_point_clustering", "none"],
            "filters": [None, {"owner": {"$ne": "x"}}, {"dataset": other.name}],
            "as_of": [None, "2024-01-01", "soon"],
            "top_k": [1, 10, 1000],
            "parameters": [None, {"fusion": {"memory_weight": 1}}, {"answer": {"abstain_below": 0}}],
            "text": ["I like tea."],
            "q": ["What is the number?"],
            "messages": [[{"role": "user", "content": "What is the number?"}]],
            "input": ["What is the number?"],
            "stream": [False, True],
            "cursor": [None, "0", "1", "999"],
            "key": [f"key of {other.name}"],
            "question": ["What is the number?"],
            "name": [other.name, other.secret[:4], f"{other.name} plan", "number"],
            "start": [0, 10],
            "end": [20],
        }  # fmt: skip

    def _value(self, name: str) -> Any:
        return self._random.choice(self._values.get(name, ["", 1, None, "x"]))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while True:
            yield self._of_mcp() if self._random.random() < 0.15 else self._of_route()

    def _of_route(self) -> dict[str, Any]:
        method, path, route = self._random.choice(self._routes)
        for name in [one.name for one in route.dependant.path_params]:
            value = self._value("path" if name == "path" else name)
            path = path.replace(f"{{{name}:path}}", str(value)).replace(f"{{{name}}}", str(value))
        call: dict[str, Any] = {"method": method, "url": httpx.URL("http://localhost").copy_with(path=path)}
        call["params"] = {one.name: self._value(one.name) for one in route.dependant.query_params}
        call["headers"] = dict(self._own.headers)
        if self._random.random() < 0.3:
            call["headers"] |= self._random.choice([{"Accept": "text/event-stream"}, {"hx-request": "true"}])
        fields = list(route.dependant.body_params)
        if not fields:
            return call
        if any(type(one.field_info).__name__ in ("Form", "File") for one in fields):
            call["data"] = {one.name: self._value(one.name) for one in fields if one.name != "files"}
            if any(one.name == "files" for one in fields):
                call["files"] = [("files", ("new.md", b"# New\n\nA new note.\n"))]
            return call
        model = fields[0].field_info.annotation
        chosen = [
            name
            for name, field in model.model_fields.items()
            if field.is_required() or self._random.random() < 0.6
        ]
        return {**call, "json": {name: self._value(name) for name in chosen}}

    def _of_mcp(self) -> dict[str, Any]:
        tools = {
            "ask": ("question", "dataset", "operation"),
            "search": ("query", "dataset"),
            "fetch": ("id",),
            "related": ("name", "dataset"),
            "datasets": ("cursor",),
            "ingest": ("path", "dataset"),
            "write_board": ("question", "path", "dataset", "operation"),
            "remember": ("text",),
        }
        tool = self._random.choice(sorted(tools))
        arguments = {name: self._value(name) for name in tools[tool]}
        method, params = self._random.choice(
            [
                ("tools/call", {"name": tool, "arguments": arguments}),
                ("tools/call", {"name": tool, "arguments": arguments}),
                ("resources/list", {}),
                ("resources/read", {"uri": self._value("uri")}),
            ]
        )
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
        return {
            "method": "POST",
            "url": "/mcp/",
            "json": {"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
            "headers": {**self._own.headers, **headers},
        }


def _sent(call: dict[str, Any]) -> str:
    return str({key: str(value) for key, value in call.items() if key != "headers"})


async def _is_whole(client: httpx.AsyncClient, tenant: Tenant) -> None:
    """The tenant still has everything, unchanged."""
    get = lambda path: client.get(path, headers=tenant.headers)  # noqa: E731
    assert tenant.secret in (await get(f"/notes/{tenant.name}/{tenant.name} plan.md")).text
    assert tenant.secret in (await get(f"/threads/{tenant.thread}")).text
    assert len((await get("/datasets")).json()["datasets"]) == 1
    assert (await get(f"/ingest/{tenant.job}")).json()["status"] == "done"
    found = await _call(client, tenant, "/search", query="the upload says", dataset=tenant.name)
    assert tenant.secret in found.text
    assert tenant.secret in tenant.board.read_text()
    forgotten = await client.delete("/memory", headers=tenant.headers)
    assert forgotten.json()["memories"] > 0
    assert forgotten.json()["questions"] > 0


@pytest.mark.parametrize("number", [0, 1])
async def test_a_tenant_reads_and_changes_nothing_of_the_other(tmp_path: Path, number: int) -> None:
    async with _service(tmp_path) as (client, tenants):
        own, other = tenants[number], tenants[1 - number]
        app = client._transport.app  # type: ignore[attr-defined]
        before = {file: file.read_bytes() for file in other.folder.rglob("*") if file.is_file()}
        succeeded = 0
        for _, call in zip(range(CALLS // 2), Calls(own, other, app), strict=False):
            answer = await client.request(**call)
            told, sent = answer.text + str(answer.headers), _sent(call)
            leaks = [mark for mark in other.marks if mark in told and mark not in sent]
            assert not leaks, (leaks, call, answer.text[:3000])
            assert answer.status_code != 500, (call, answer.text)
            succeeded += answer.status_code < 300
        assert succeeded > CALLS // 10
        after = {file: file.read_bytes() for file in other.folder.rglob("*") if file.is_file()}
        assert after == before
        await _is_whole(client, other)
