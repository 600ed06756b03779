"""Access: large uploads through both routes, also under a path prefix; only data of the key's datasets; hosts, origins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.errors import ConfigError
from agentic_rag.testing import HashingEmbedding
from agentic_rag_service.access import Caller
from agentic_rag_service.app import create_app, mounted_at
from service_server import called_service, ended


@pytest.mark.parametrize(("prefix", "path"), [("", "/ingest/files"), ("/service", "/page/upload")])
async def test_an_upload_may_be_larger_than_other_requests(tmp_path: Path, prefix: str, path: str) -> None:
    config = RagConfig(data_dir=tmp_path)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Rag]:
        async with open_rag(config, embedding=HashingEmbedding(16)) as rag:
            yield rag

    app = create_app(config, store_opener=opened)
    transport = httpx.ASGITransport(app=mounted_at(app, prefix) if prefix else app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):
        picture = ("files", ("large.png", b"x" * 1_500_000))
        answer = await client.post(prefix + path, files=[picture], data={"dataset": "u"})
        assert answer.status_code in (200, 202), answer.text
        query = {"query": "x" * 1_500_000}
        assert (await client.post(f"{prefix}/ask", json=query)).status_code == 413
        (job_id,) = [one.id for one in app.state.service.jobs.of(Caller("local", None))]
        await ended(client, await client.get(f"{prefix}/ingest/{job_id}"), path=prefix)


async def test_a_key_sees_nothing_of_datasets_that_it_does_not_open(tmp_path: Path) -> None:
    for name in ("tea", "roses"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe secret of {name} is number {len(name)}.\n")
    keys = [
        {"key": "of-tea", "datasets": ["tea"]},
        {"key": "of-roses", "datasets": ["roses"]},
        {"key": "of-all"},
    ]
    config = RagConfig.model_validate(
        {"data_dir": tmp_path / "data", "service": {"keys": keys}, "answer": {"abstain_below": 0.0}}
    )
    tea, roses, everything = ({"Authorization": f"Bearer {key['key']}"} for key in keys)
    roots = [Path(f"{name}={tmp_path}") for name in ("tea", "roses")]
    async with called_service(config, roots=roots) as client:

        async def ask(headers: dict[str, str], dataset: str, thread: str) -> int:
            asked = {"query": f"secret of {dataset}", "dataset": dataset, "thread_id": thread}
            return (await client.post("/ask", json=asked, headers=headers)).status_code

        async def threads(headers: dict[str, str]) -> list[str]:
            told = (await client.get("/threads", headers=headers)).json()
            return [one["id"] for one in told["conversations"]]

        jobs = {}
        for name, key in (("tea", tea), ("roses", roses)):
            paths = {"paths": [f"{name}.md"], "dataset": name}
            started = await client.post("/ingest", json=paths, headers=key)
            jobs[name] = (await ended(client, started, headers=key))["id"]
            assert await ask(key, name, f"of {name}") == 200
        assert [await ask(everything, name, "of both") for name in ("roses", "tea")] == [200, 200]

        assert await threads(tea) == ["of tea"]
        assert await threads(everything) == ["of both", "of roses", "of tea"]
        for other in ("of roses", "of both"):
            assert (await client.get(f"/threads/{other}", headers=tea)).json()["messages"] == []
            assert "number 5" not in (await client.get(f"/?thread={other}", headers=tea)).text
            assert (await client.delete(f"/threads/{other}", headers=tea)).json()["conversations"] == 0
            assert await ask(tea, "tea", other) == 403
        assert len((await client.get("/threads/of both", headers=everything)).json()["messages"]) == 4
        assert await ask(tea, "tea", "of tea") == 200

        told = (await client.get("/ingest", headers=tea)).json()["jobs"]
        assert [one["id"] for one in told] == [jobs["tea"]]
        assert "roses" not in (await client.get("/notes", headers=tea)).text
        for path in (f"/ingest/{jobs['roses']}", f"/page/jobs/{jobs['roses']}"):
            assert (await client.get(path, headers=tea)).status_code == 404
            assert (await client.delete(path, headers=tea)).status_code == 404
        assert (await client.delete("/memory", headers=tea)).json()["conversations"] == 3


FRONT_END = "http://localhost:3000"
PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization, content-type",
}


async def test_a_front_end_in_a_container_or_a_browser_is_allowed_by_name(tmp_path: Path) -> None:
    allowed = {"hosts": ["host.docker.internal"], "origins": [FRONT_END.upper()]}
    config = RagConfig.model_validate({"data_dir": tmp_path, "service": {**allowed, "keys": [{"key": "k"}]}})
    async with called_service(config) as client:
        from_container = await client.get("/v1/models", headers={"Host": "host.docker.internal:8321"})
        assert from_container.status_code == 401
        preflight = await client.options("/v1/chat/completions", headers={"Origin": FRONT_END, **PREFLIGHT})
        assert preflight.status_code == 200
        assert preflight.headers["Access-Control-Allow-Origin"] == FRONT_END
        assert "authorization" in preflight.headers["Access-Control-Allow-Headers"]
        key = {"Authorization": "Bearer k"}
        for headers, status in (({}, 401), (key, 200)):
            answer = await client.get("/v1/models", headers={"Origin": FRONT_END, **headers})
            assert answer.status_code == status
            assert answer.headers["Access-Control-Allow-Origin"] == FRONT_END
            assert "Access-Control-Allow-Credentials" not in answer.headers


@pytest.mark.parametrize(
    ("headers", "remedy"),
    [
        ({"Host": "host.docker.internal:8321"}, """service.hosts, or set AGENTIC_RAG_SERVICE__HOSTS='["host.docker.internal"]'"""),
        ({"Origin": FRONT_END}, f"""service.origins, or set AGENTIC_RAG_SERVICE__ORIGINS='["{FRONT_END}"]'"""),
        ({"Origin": f"{FRONT_END}.evil.example"}, "service.origins"),
        ({"Origin": "null"}, "a page without an origin may not call this service"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("origins", [(), ("http://localhost:30", "https://localhost:3000")])
async def test_others_are_refused_with_the_setting_that_allows_them(
    tmp_path: Path, headers: dict[str, str], remedy: str, origins: tuple[str, ...]
) -> None:
    config = RagConfig.model_validate({"data_dir": tmp_path, "service": {"origins": origins}})
    async with called_service(config) as client:
        for method, more in (("GET", {}), ("OPTIONS", PREFLIGHT)):
            refused = await client.request(method, "/v1/models", headers={**headers, **more})
            assert refused.status_code == 403
            assert remedy in refused.json()["error"]["message"]
            assert "Access-Control-Allow-Origin" not in refused.headers


@pytest.mark.parametrize(
    "origin", ["*", "null", "localhost:3000", "http://*.example.org", "http://localhost:3000/", "ftp://x", ""]
)
def test_what_is_no_origin_is_no_setting(origin: str) -> None:
    with pytest.raises(ConfigError, match="is not an origin; write scheme, host and port"):
        RagConfig(**{"service": {"origins": [origin]}})
