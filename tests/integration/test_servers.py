"""The whole application on real servers; errors if a server is away or refuses the login."""

from __future__ import annotations

import asyncio
import re
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.diagnosis import Finding, examine
from agentic_rag.errors import ConfigError, StoreError
from agentic_rag.stores.lancedb import commits
from agentic_rag.stores.lancedb.connection import lance_connection
from example_vault import EXAMPLE_VAULT
from graph_servers import GraphServer, free_port
from object_store import Conditions, s3_server

QUESTION = "At what temperature and for how long is the second fire?"
CONNECT = "How do polyphenol oxidase and catechins hang together?"
SECRET = "very-secret"
BACKENDS = ["neo4j", "falkordb"]


def _graph(server: GraphServer, **changed: Any) -> dict[str, Any]:
    return {"graph": server.settings | changed}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A part of the example vault; of the whole most of the time would go into the embedding."""
    for part in ("chemistry", "sessions", "teas"):
        shutil.copytree(EXAMPLE_VAULT / part, tmp_path / "vault" / part)
    return tmp_path / "vault"


@pytest.fixture(params=[*BACKENDS, "object_store"])
def servers(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """The settings of one that runs."""
    server = request.getfixturevalue(request.param)
    if request.param == "object_store":
        yield {"lancedb_uri": server.empty_uri(), "storage_options": server.options}
    else:
        server.emptied()
        yield _graph(server)


@pytest.mark.slow
async def test_notes_are_ingested_asked_changed_and_removed(
    servers: dict[str, Any], vault: Path, tmp_path: Path
) -> None:
    config = RagConfig.model_validate({"data_dir": tmp_path / "data", **servers})
    async with open_rag(config) as rag:
        first = await rag.ingest(vault)
        assert first.documents > 10
        answer = await rag.ask(QUESTION)
        assert "96 °C" in answer.text
        related = await rag.ask(CONNECT, operation="concept_relation")
        assert related.to_dict()["outcomes"]["graphiti"]["status"] == "ok"
    note = vault / "Kettle.md"
    note.write_text("The kettle from Porto is made of copper and holds seven litres.", "utf-8")
    (vault / "teas" / "Oolong.md").unlink()
    async with open_rag(config) as rag:
        second = await rag.ingest(vault)
        assert second.documents == first.documents
        counts = second.to_dict()["counts"]
        assert (counts["added"], counts["removed"]) == (1, 1)
        assert "copper" in (await rag.ask("What is the kettle from Porto made of?")).text
        await rag.remove(None)
        assert (await rag.knowledge.counts("default")).facts == 0
    found = await examine(lambda: config)
    assert {one.what: one.status for one in found if one.what in ("graph", "vectors", "conversations")} == {
        "graph": "ok",
        "vectors": "ok",
        "conversations": "ok",
    }


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_server_that_is_away_is_told_in_a_line_and_questions_are_answered(
    backend: str, example_data: Path, vault: Path, tmp_path: Path
) -> None:
    address = f"127.0.0.1:{free_port()}"
    server = GraphServer(backend, f"{'bolt' if backend == 'neo4j' else 'redis'}://ada@{address}", SECRET)
    data = shutil.copytree(example_data, tmp_path / "data")
    config = RagConfig.model_validate({"data_dir": data, **_graph(server)})
    async with open_rag(config) as rag:
        assert "96 °C" in (await rag.ask(QUESTION)).text
        (vault / "Kettle.md").write_text("The kettle from Porto is made of copper.", "utf-8")
        with pytest.raises(StoreError, match=rf"{backend} at {address} cannot be used: .*; start it") as told:
            await rag.ingest(vault)
    assert SECRET not in str(told.value)
    assert "\n" not in str(told.value)
    graph = next(one for one in await examine(lambda: config) if one.what == "graph")
    assert graph.status == "missing"
    assert address in graph.detail


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_wrong_password_is_told_in_a_line(
    backend: str, vault: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    server: GraphServer = request.getfixturevalue(backend)
    config = RagConfig.model_validate({"data_dir": tmp_path / "data", **_graph(server, password=SECRET)})
    async with open_rag(config) as rag:
        with pytest.raises(StoreError, match=r"cannot be used: .*graph\.password") as told:
            await rag.ingest(vault / "teas")
    assert SECRET not in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_blank_password_is_refused(backend: str, tmp_path: Path) -> None:
    server = GraphServer(backend, "bolt://127.0.0.1:1", "")
    config = RagConfig.model_validate({"data_dir": tmp_path / "data", **_graph(server)})
    with pytest.raises(ConfigError, match="needs a password: set AGENTIC_RAG_GRAPH__PASSWORD"):
        async with open_rag(config):
            pass


async def test_an_object_store_that_is_away_is_told_in_a_line(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    options = {"aws_access_key_id": "a", "aws_secret_access_key": SECRET, "aws_region": "us-east-1"}
    options |= {"aws_endpoint": address, "allow_http": "true"}
    config = RagConfig(data_dir=tmp_path, lancedb_uri="s3://notes/x", storage_options=options)
    with pytest.raises(
        StoreError, match=rf"the object store at {address} cannot be reached; start it"
    ) as told:
        async with open_rag(config) as rag:
            await rag.ask("What is kill-green?")
    assert SECRET not in str(told.value)
    assert "\n" not in str(told.value)


async def test_a_server_is_asked_over_tls(
    falkordb: GraphServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed, so there is no certificate to test with")
    certificate = tmp_path / "certificate.pem"
    async with _behind_tls(urlsplit(falkordb.uri), certificate) as port:
        graph = falkordb.settings | {"uri": f"rediss://localhost:{port}"}
        config = RagConfig.model_validate({"data_dir": tmp_path / "data", "graph": graph})
        found = [one for one in await examine(lambda: config) if one.what == "graph"]
        assert found[0].status == "missing"
        assert "certificate" in found[0].detail
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        found = [one for one in await examine(lambda: config) if one.what == "graph"]
        assert [(one.status, one.detail) for one in found] == [("ok", f"falkordb at localhost:{port}")]
        plain = RagConfig.model_validate(
            {"data_dir": tmp_path / "data", "graph": graph | {"uri": f"redis://localhost:{port}"}}
        )
        found = [one for one in await examine(lambda: plain) if one.what == "graph"]
        assert found[0].status == "missing"


@asynccontextmanager
async def _behind_tls(server: SplitResult, certificate: Path) -> AsyncIterator[int]:
    """The port at which a server is reached by TLS alone, under a certificate of its own."""
    key = certificate.with_name("key.pem")
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *subject]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection(server.hostname, server.port)
        await asyncio.gather(_copied(reader, inner_writer), _copied(inner_reader, writer))

    async with await asyncio.start_server(passed_on, "127.0.0.1", ssl=context) as proxy:
        yield proxy.sockets[0].getsockname()[1]


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()


def _of_store(found: list[Finding]) -> Finding:
    return next(one for one in found if one.what == "vectors")


@pytest.mark.parametrize(
    ("conditions", "status", "told"),
    [
        ("kept", "ok", "concurrent writes are safe"),
        (
            "ignored",
            "missing",
            r"[1-8] of 8 concurrent writes were lost: the store ignores conditional writes",
        ),
        ("refused", "missing", "the store refuses conditional writes"),
    ],
)
async def test_doctor_tells_whether_an_object_store_keeps_writes_apart(
    conditions: Conditions, status: str, told: str, tmp_path: Path
) -> None:
    with s3_server(conditions) as s3:
        config = RagConfig(data_dir=tmp_path, lancedb_uri=s3.empty_uri(), storage_options=s3.options)
        found = await examine(lambda: config, thorough=True)
        finding = _of_store(found)
        assert finding.status == status
        assert re.search(told, finding.detail)
        assert "\n" not in finding.detail
        if status == "missing":
            assert finding.cure is not None
            assert f"s3+ddb://{config.lancedb_uri.removeprefix('s3://')}?ddbTableName=" in finding.cure
        async with lance_connection(config.lancedb_uri, s3.options) as connection:
            assert await connection.table_names() == []


async def test_doctor_names_an_object_store_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forbidden(*_: object) -> int:
        raise StoreError("LanceDB failed while writing: access denied")

    monkeypatch.setattr(commits, "lost_writes", forbidden)
    with s3_server("kept") as s3:
        config = RagConfig(data_dir=tmp_path, lancedb_uri=s3.empty_uri(), storage_options=s3.options)
        finding = _of_store(await examine(lambda: config, thorough=True))
    assert (finding.status, finding.detail) == ("missing", "LanceDB failed while writing: access denied")


async def test_a_commit_table_for_an_object_store_that_ignores_conditions(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with s3_server("ignored") as s3:
        uri, options = s3.with_commit_table()
        config = RagConfig(data_dir=tmp_path / "data", lancedb_uri=uri, storage_options=options)
        async with open_rag(config) as rag:
            told = await rag.ingest(vault / "teas")
            assert await rag.chunks.count("default") == told.chunks > 0
        found = await examine(lambda: config, thorough=True)
        assert _of_store(found).status == "ok"
