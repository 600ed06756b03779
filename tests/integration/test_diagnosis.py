"""``doctor``: findings for every store and library error, without secrets."""

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import socket
import subprocess
import sys
import threading
import tomllib
import traceback
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from agentic_rag import RagConfig, diagnosis, open_rag
from agentic_rag.cli.doctor import print_findings
from agentic_rag.diagnosis import EXTRAS, Finding, examine
from agentic_rag.errors import AgenticRagError, ConfigError, StoreAway
from agentic_rag.settings.config import GraphConfig
from agentic_rag_backends.graphservers.drivers import server_driver
from agentic_rag_backends.vectorstores import VectorsConfig, open_vector_store
from agentic_rag_backends.vectorstores.adapter import VectorStoreChunks
from graph_servers import free_port
from vector_stores import postgres_server, skip_without

SECRET = "very-secret"
HTTP = f"http://me:{SECRET}@127.0.0.1:9/v1?token={SECRET}"
WITH_A_SECRET: list[dict[str, Any]] = [
    {"chat": {"base_url": HTTP, "model": "m", "api_key": SECRET}},
    {"chat": {"base_url": f"http://me:{SECRET}@127.0.0.1:port/v1", "model": "m"}},
    {"chat": {"base_url": [HTTP], "model": "m"}},
    {"embedding": {"base_url": HTTP, "model": "m"}},
    {"embedding": {"base_url": f"http://me:{SECRET}/1@127.0.0.1:9/v1", "model": "m"}},
    {"graph": {"backend": "neo4j", "uri": f"bolt://me:{SECRET}@127.0.0.1:1", "password": SECRET}},
    {"graph": {"backend": "neo4j", "uri": f"neo4j://127.0.0.1:1?a={SECRET}&a=2", "password": SECRET}},
    {"graph": {"backend": "falkordb", "uri": f"redis://me:{SECRET}@127.0.0.1:1", "password": SECRET}},
    {"graph": {"backend": "falkordb", "uri": f"me:{SECRET}@127.0.0.1:1", "password": SECRET}},
    {"vectors": {"backend": "chroma", "uri": HTTP}},
    {"vectors": {"backend": "milvus", "uri": HTTP}},
    {"vectors": {"backend": "pgvector", "uri": f"postgresql://me:{SECRET}@127.0.0.1:1/n?password={SECRET}"}},
    {"vectors": {"backend": "pgvector", "uri": f"postgresql://me:a@{SECRET}@127.0.0.1:1/notes"}},
    {"lancedb_uri": f"s3://me:{SECRET}@notes/x"},
    {"lancedb_uri": f"az://me:{SECRET}@notes/x"},
    {"lancedb_uri": f"az://notes/x?sig={SECRET}"},
    {"lancedb_uri": "s3://notes/x", "storage_options": {"aws_secret_access_key": SECRET}},
    {"service": {"conversations": f"postgresql://me:{SECRET}@127.0.0.1:1/notes"}},
]


async def _found(config: RagConfig, *, thorough: bool = False) -> dict[str, Finding]:
    return {one.what: one for one in await examine(lambda: config, thorough=thorough)}


@pytest.fixture(autouse=True)
def _no_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """An object store that refuses at once; nothing here asks for more than that."""
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")


@pytest.mark.slow
@pytest.mark.parametrize("values", WITH_A_SECRET)
async def test_no_secret_is_printed(
    values: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    findings = await examine(lambda: RagConfig(data_dir=tmp_path / "data", **values))
    print_findings(findings)
    print(json.dumps([finding.to_dict() for finding in findings]))
    with suppress(AgenticRagError):
        print(repr(RagConfig(data_dir=tmp_path / "data", **values)))
    print(*await _told(tmp_path / "data", values))
    out = capsys.readouterr()
    assert SECRET not in out.out + out.err
    assert any(finding.status == "missing" for finding in findings)


async def _told(folder: Path, values: dict[str, Any]) -> list[str]:
    """What asking tells; of a setting that is refused with all that its error holds."""
    try:
        async with open_rag(RagConfig(data_dir=folder, **values)) as rag:
            await rag.ask("What is kill-green?")
    except ConfigError as error:
        return traceback.format_exception(error)
    except AgenticRagError as error:
        return [str(error)]
    return []


@pytest.mark.parametrize(
    "base_url", ["http://127.0.0.1:port/v1", "127.0.0.1:11434/v1", "http:///v1", "ftp://h/v1"]
)
@pytest.mark.parametrize("section", ["chat", "embedding"])
def test_an_endpoint_that_no_client_can_use_is_refused(section: str, base_url: str) -> None:
    with pytest.raises(ConfigError, match=rf"'{section}\.base_url': write http://host:port/path .*\Z"):
        RagConfig(**{section: {"base_url": base_url, "model": "m"}})


@pytest.mark.parametrize(
    ("backend", "uri"),
    [
        *(
            ("neo4j", uri)
            for uri in ("127.0.0.1:7687", "redis://127.0.0.1:1", "bolt://127.0.0.1:abc", "bolt://")
        ),
        *(("neo4j", uri) for uri in ("bolt://127.0.0.1:1/db", "bolt://127.0.0.1:1?a=b", "bolt://[::1")),
        *(("falkordb", uri) for uri in ("127.0.0.1:6379", "bolt://127.0.0.1:1", "redis://127.0.0.1:abc")),
        *(("falkordb", uri) for uri in ("redis://127.0.0.1:0", "redis://127.0.0.1:1/2", "redis://me:pw@h:1")),
    ],
)
async def test_an_address_of_no_graph_server_is_told_in_a_line(
    backend: str, uri: str, tmp_path: Path
) -> None:
    example = {"neo4j": "bolt://127.0.0.1:7687", "falkordb": "redis://127.0.0.1:6379"}[backend]
    graph = {"backend": backend, "uri": uri, "password": SECRET}
    config = RagConfig(data_dir=tmp_path, graph=graph)
    with pytest.raises(ConfigError, match=rf"graph\.uri is no address of '{backend}': .*{example}[^\n]*\Z"):
        async with open_rag(config):
            pass
    found = await _found(config)
    assert found["graph"].status == "missing"
    assert example in found["graph"].detail
    assert found["conversations"].status == "ok"
    assert found["chat model"].status == "off"


@pytest.mark.parametrize(
    ("backend", "uri"),
    [
        ("neo4j", "neo4j+s://graph.example?policy=eu"),
        ("neo4j", "bolt://[::1]:7687/"),
        ("falkordb", "rediss://[::1]:1"),
    ],
)
async def test_an_address_of_a_graph_server_is_taken(backend: str, uri: str) -> None:
    driver = server_driver(
        GraphConfig.model_validate({"backend": backend, "uri": uri, "password": SECRET}), committer=None
    )
    assert driver.description.removeprefix(f"{backend} at ") in uri
    await driver.close()


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("the first line\nand more", "RuntimeError: the first line"),
        ("", "RuntimeError"),
        (f"cannot log in with {SECRET}", "RuntimeError"),
        ("cannot log in with pw", "RuntimeError"),
        ("no such key: very-hidden", "RuntimeError"),
    ],
)
async def test_whatever_a_check_raises_the_others_are_made(
    message: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_: RagConfig) -> Finding:
        raise RuntimeError(message)

    monkeypatch.setattr(diagnosis, "_graph", broken)
    config = RagConfig(
        data_dir=tmp_path,
        graph={"password": SECRET},
        embedding={"base_url": "http://me:pw@127.0.0.1:9/v1", "model": "m"},
        storage_options={"key": "very-hidden"},
    )
    found = await _found(config)
    assert (found["graph"].status, found["graph"].detail) == ("missing", told)
    assert found["conversations"].status == "ok"


async def test_a_file_that_goes_away_meanwhile_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept").write_bytes(bytes(100_000))
    (tmp_path / "compacted").write_bytes(bytes(100_000))
    stat = Path.stat

    def compacting(self: Path, **options: Any) -> Any:
        found = stat(self, **options)
        if self.name == "compacted":
            self.unlink()
        return found

    monkeypatch.setattr(Path, "stat", compacting)
    assert (await diagnosis._data_folder(RagConfig(data_dir=tmp_path))).detail == f"{tmp_path}, 0.1 MB"


def test_every_extra_is_told() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    assert {extra for _, extra in EXTRAS.values()} == set(project["optional-dependencies"])


# --- vectors in another store ---------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["chroma", "milvus"])
async def test_a_store_that_nothing_was_put_in_is_not_made(backend: str, tmp_path: Path) -> None:
    skip_without(backend)
    config = RagConfig(data_dir=tmp_path / "data", vectors={"backend": backend})
    found = await _found(config)
    assert (found["vectors"].status, found["vectors"].cure) == ("off", "agentic-rag ingest PATH")
    assert not (tmp_path / "data").exists()


async def test_the_configured_store_is_logged_in_to(tmp_path: Path, postgres_uri: str) -> None:
    skip_without("pgvector")
    config = RagConfig(data_dir=tmp_path / "data", vectors={"backend": "pgvector", "uri": postgres_uri})
    for thorough in (False, True):
        found = await _found(config, thorough=thorough)
        assert found["vectors"].status == "ok"
        assert found["vectors"].detail.startswith("PostgreSQL at postgresql://")
        assert found["vectors"].detail.endswith(" datasets")
    assert found["tables"].what == "tables"


async def test_a_folder_is_opened_and_its_datasets_are_counted(tmp_path: Path) -> None:
    skip_without("chroma")
    (tmp_path / "tea.md").write_text("Oolong comes from Fujian.", encoding="utf-8")
    config = RagConfig(data_dir=tmp_path / "data", vectors={"backend": "chroma"})
    async with open_rag(config) as rag:
        await rag.ingest(tmp_path / "tea.md")
    found = await _found(config)
    assert found["vectors"].detail == f"Chroma at {tmp_path / 'data' / 'chroma'}, 1 datasets"
    assert (found["vectors"].status, found["tables"].status) == ("ok", "ok")


AWAY = [
    (
        "chroma",
        "http://me:very-secret@127.0.0.1:{}",
        "Chroma at http://127.0.0.1:{} cannot be used",
        "start it, or",
    ),
    (
        "milvus",
        "http://me:very-secret@127.0.0.1:{}",
        "Milvus at http://127.0.0.1:{} cannot be used",
        "start it, or",
    ),
    (
        "pgvector",
        "postgresql://me:very-secret@127.0.0.1:{}/notes",
        "PostgreSQL at postgresql://127.0.0.1:{}/notes cannot be used",
        r"start it \(docker compose --profile postgres up -d\), or",
    ),
]


@pytest.mark.parametrize(("backend", "uri", "told", "cure"), AWAY)
async def test_a_store_that_is_away_is_told_in_a_line(
    backend: str, uri: str, told: str, cure: str, tmp_path: Path
) -> None:
    skip_without(backend)
    port = free_port()
    config = RagConfig(data_dir=tmp_path, vectors={"backend": backend, "uri": uri.format(port)})
    with pytest.raises(
        StoreAway, match=rf"\A{told.format(port)}: [^\n]*; {cure} correct vectors\.uri\Z"
    ) as caught:
        async with open_rag(config):
            pass
    assert SECRET not in str(caught.value)
    found = await _found(config)
    assert (found["vectors"].status, found["vectors"].detail) == ("missing", str(caught.value))
    assert found["tables"].status == "ok"


@pytest.mark.parametrize(
    ("backend", "uri"),
    [("chroma", "http://127.0.0.1:{}"), ("pgvector", "postgresql://me:pw@127.0.0.1:{}/notes")],
)
async def test_a_server_that_takes_connections_and_says_nothing_is_not_waited_for(
    backend: Any, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without(backend)
    module = importlib.import_module(f"agentic_rag_backends.vectorstores.{backend}")
    monkeypatch.setattr(module, "CONNECT_SECONDS", 2)  # the least that PostgreSQL's client takes
    with socket.create_server(("127.0.0.1", 0)) as silent:
        vectors = VectorsConfig(backend=backend, uri=uri.format(silent.getsockname()[1]))
        with pytest.raises(StoreAway, match=r"cannot be used: .*time[^\n]*; start it"):
            await open_vector_store(vectors, tmp_path, model="m", dimension=1)


async def test_a_store_that_does_not_list_its_datasets_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without("chroma")
    answered = threading.Event()
    monkeypatch.setattr(VectorStoreChunks, "_entries", lambda *_: answered.wait(60) and [])
    monkeypatch.setattr(diagnosis, "STORE_SECONDS", 0.1)
    (tmp_path / "chroma").mkdir()
    config = RagConfig(data_dir=tmp_path, vectors={"backend": "chroma"})
    found = await diagnosis._vector_store(config)
    assert (found.status, found.detail) == (
        "missing",
        f"Chroma at {tmp_path / 'chroma'}: no answer within 0.1 s",
    )
    assert not answered.is_set()
    answered.set()


@pytest.mark.parametrize("backend", ["chroma", "milvus"])
@pytest.mark.parametrize("uri", ["ftp://127.0.0.1/x", "http:///x", "tcp://127.0.0.1:port"])
async def test_an_address_of_no_store_is_no_folder(backend: str, uri: str, tmp_path: Path) -> None:
    skip_without(backend)
    with pytest.raises(ConfigError, match="write http://host:port"):
        await open_vector_store(VectorsConfig(backend=backend, uri=uri), tmp_path, model="m", dimension=1)


@pytest.mark.parametrize("backend", ["chroma", "milvus"])
async def test_a_place_that_cannot_be_written_is_told_with_the_cure(backend: str, tmp_path: Path) -> None:
    skip_without(backend)
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "vectors.db"
    with pytest.raises(
        AgenticRagError, match=rf"cannot open .*{place}: [^\n]*; vectors\.uri must be a f[^\n]*\Z"
    ):
        await open_vector_store(
            VectorsConfig(backend=backend, uri=str(place)), tmp_path, model="m", dimension=1
        )


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Address of a Chroma server, and its process."""
    skip_without("chroma")
    port = free_port()
    command = [
        Path(sys.executable).with_name("chroma"),
        "run",
        "--path",
        tmp_path / "chroma",
        "--port",
        str(port),
    ]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield f"http://localhost:{port}", server
    finally:
        server.kill()
        server.wait()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # the client never closes its connection
            gc.collect()


async def test_a_chroma_server_that_goes_away_is_told(
    chroma: tuple[str, subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    uri, server = chroma
    store = await _opened_soon("chroma", uri, tmp_path)
    try:
        assert await store.datasets() == []
        server.kill()
        server.wait()
        with pytest.raises(
            StoreAway, match=r"Chroma failed while listing datasets: [^\n]*; start it, or correct"
        ):
            await store.datasets()
    finally:
        await store.close()


async def _opened_soon(backend: Any, uri: str, folder: Path) -> Any:
    for left in range(200, -1, -1):
        try:
            return await open_vector_store(
                VectorsConfig(backend=backend, uri=uri), folder, model="m", dimension=1
            )
        except StoreAway:
            if not left:
                raise
            await asyncio.sleep(0.1)
    raise AssertionError


async def test_a_milvus_server_that_goes_away_is_told(tmp_path: Path) -> None:
    skip_without("milvus")
    from milvus_lite.server_manager import server_manager_instance

    file = str(tmp_path / "milvus.db")
    uri = server_manager_instance.start_and_get_uri(file)
    store = await _opened_soon("milvus", uri, tmp_path)
    try:
        assert await store.datasets() == []
        server_manager_instance.release_server(file)
        with pytest.raises(
            StoreAway, match=r"Milvus failed while listing datasets: [^\n]*; start it, or correct"
        ):
            await store.datasets()
    finally:
        await store.close()


@pytest.mark.slow
async def test_the_graph_answers_while_the_open_store_is_away(tmp_path: Path) -> None:
    skip_without("pgvector")
    (tmp_path / "Kettle.md").write_text("# Kettle\n\nThe kettle is made in [[Porto]].", encoding="utf-8")
    with ExitStack() as running:
        vectors = {"backend": "pgvector", "uri": running.enter_context(postgres_server())}
        config = RagConfig(data_dir=tmp_path / "data", vectors=vectors)
        async with open_rag(config) as rag:
            await rag.ingest(tmp_path / "Kettle.md")
            running.close()
            answer = (await rag.ask("Where is the kettle made?")).to_dict()
    assert "Porto" in answer["answer"]
    assert (answer["outcomes"]["graphiti"]["status"], answer["outcomes"]["lancedb"]["status"]) == (
        "ok",
        "degraded",
    )


async def test_a_postgres_server_that_goes_away_is_told(tmp_path: Path) -> None:
    skip_without("pgvector")
    with postgres_server() as uri:
        store = await _opened_soon("pgvector", uri, tmp_path)
        assert await store.datasets() == []
    try:
        with pytest.raises(
            StoreAway, match=r"PostgreSQL failed while listing datasets: [^\n]*; start it \(docker"
        ):
            await store.datasets()
    finally:
        await store.close()
