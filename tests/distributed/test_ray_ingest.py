"""An ingest on a Ray cluster leaves the same stores as one on this machine, whichever process dies."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import InputError, ModelError, RunError
from agentic_rag.ingest.files.extraction import Extractor
from agentic_rag.testing import HashingEmbedding
from agentic_rag_backends.distributed.cluster import open_cluster
from agentic_rag_backends.distributed.engine import PARSED_TOGETHER
from example_vault import EXAMPLE_VAULT
from ray_nodes import kill, workers
from stored import tables

QUESTIONS = ("How does polyphenol oxidase act on catechins?", "杀青为什么能停止氧化？", "bitter gyokuro")


class SlowEmbedding(HashingEmbedding):
    """Takes its time, so that something can happen meanwhile."""

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        await asyncio.sleep(0.2)
        return await super().embed_passages(texts)


class BrokenEmbedding(HashingEmbedding):
    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        raise ModelError("the model is out of order")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE_VAULT, tmp_path / "vault"))


async def assert_alike(data: Path, other: Path) -> None:
    one, two = await tables(data), await tables(other)
    assert one.rows == two.rows
    assert one.vectors.keys() == two.vectors.keys()
    for name, vectors in one.vectors.items():
        for key, vector in vectors.items():
            # Stored in half precision, where what differs by 1e-7 may be rounded up and down.
            assert np.allclose(vector, two.vectors[name][key], rtol=1e-3, atol=1e-6), name


def edited(vault: Path) -> None:
    """One changed, one gone, one new, one moved."""
    notes = sorted(vault.rglob("*.md"))
    notes[0].write_text(
        notes[0].read_text("utf-8") + "\n## Later\n\nWhite tea is withered longest.\n", "utf-8"
    )
    notes[1].unlink()
    (vault / "Kettle.md").write_text("# Kettle\n\nA kettle boils water for [[Oolong]].\n", "utf-8")
    (vault / "moved").mkdir()
    notes[2].rename(vault / "moved" / notes[2].name)


async def test_the_stores_are_those_of_one_machine(address: str, vault: Path, tmp_path: Path) -> None:
    here, there = RagConfig(data_dir=tmp_path / "here"), RagConfig(data_dir=tmp_path / "there")
    async with open_rag(here) as alone, open_rag(there) as many:
        for change in (lambda _: None, edited):
            change(vault)
            expected = await alone.ingest(vault)
            report = await many.ingest(vault, engine="ray", address=address)
            assert [(f.path, f.action, f.chunks, f.facts) for f in report.files] == [
                (f.path, f.action, f.chunks, f.facts) for f in expected.files
            ]
            assert report.stages["workers: embed"] > 0
            await assert_alike(here.data_dir, there.data_dir)
        for question in QUESTIONS:
            one, two = await alone.ask(question), await many.ask(question)
            # The walk adds up in the order of the rows, which is that of the writes: the last digits may differ.
            scores = [[cited["score"] for cited in answer.citations] for answer in (one, two)]
            assert scores[0] == pytest.approx(scores[1], abs=1e-6)
            quoted = [[{**cited, "score": None} for cited in answer.citations] for answer in (one, two)]
            assert quoted[0] == quoted[1]
            assert [hit["id"] for hit in one.results] == [hit["id"] for hit in two.results]


async def test_what_is_unchanged_needs_no_cluster(vault: Path, tmp_path: Path) -> None:
    async with open_rag(RagConfig(data_dir=tmp_path / "data"), embedding=HashingEmbedding()) as rag:
        await rag.ingest(vault)
        report = await rag.ingest(vault, engine="ray", address="127.0.0.1:1")
        assert report.count("unchanged") == report.documents


@pytest.mark.parametrize("backend", ["chroma"])
async def test_a_store_that_takes_no_pieces(backend: str, address: str, vault: Path, tmp_path: Path) -> None:
    config = RagConfig(data_dir=tmp_path / "data", vectors={"backend": backend})  # type: ignore[arg-type]
    async with open_rag(config, embedding=HashingEmbedding()) as rag:
        report = await rag.ingest(vault, engine="ray", address=address)
        assert report.chunks == await rag.chunks.count("default") > 0


async def killing(rag: Rag, vault: Path, address: str, kills: int) -> int:
    """Ingest, and kill a worker whenever there is one, that often; how many were killed."""
    ingest = asyncio.ensure_future(rag.ingest(vault, engine="ray", address=address))
    killed = 0
    while not ingest.done():
        await asyncio.sleep(0.3)
        if killed < kills and (found := workers()):
            kill(found[0])
            killed += 1
            await asyncio.sleep(1.0)
    await ingest
    return killed


async def test_workers_read_documents_apart(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Extractor, "of", lambda settings: Extractor(2, 0.4, "extractor_stand_in"))
    folder = tmp_path / "documents"
    folder.mkdir()
    for number in range(PARSED_TOGETHER + 2):
        (folder / f"{number}.html").write_text(f"Tea {number}.", "utf-8")
    deeds = {"crash": "SIGSEGV", "hang": "not read within 2 s", "memory": "0.4 GB"}
    for deed in deeds:
        (folder / f"{deed}.html").write_text(deed, "utf-8")
    async with open_rag(RagConfig(data_dir=tmp_path / "data"), embedding=HashingEmbedding()) as rag:
        report = await rag.ingest(folder, engine="ray", address=address)
        assert (report.count("added"), report.count("failed")) == (PARSED_TOGETHER + 2, len(deeds))
        for deed, told in deeds.items():
            assert told in next(str(file.reason) for file in report.files if file.path == f"{deed}.html")
        again = await rag.ingest(folder, engine="ray", address=address)
        assert (again.count("unchanged"), again.count("skipped")) == (PARSED_TOGETHER + 2, len(deeds))


async def test_workers_that_die(address: str, vault: Path, tmp_path: Path) -> None:
    here, there = RagConfig(data_dir=tmp_path / "here"), RagConfig(data_dir=tmp_path / "there")
    async with open_rag(here, embedding=SlowEmbedding()) as alone:
        await alone.ingest(vault)
    async with open_rag(there, embedding=SlowEmbedding()) as many:
        assert await killing(many, vault, address, kills=2)
    await assert_alike(here.data_dir, there.data_dir)


DRIVER = """
import asyncio, os, signal, sys
sys.path[:0] = {paths!r}
from agentic_rag import RagConfig, open_rag
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from test_ray_ingest import SlowEmbedding

commit_staged = LanceChunkStore.commit_staged

async def stored(*args):
    await commit_staged(*args)
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    LanceChunkStore.commit_staged = stored
    async with open_rag(RagConfig(data_dir={data!r}), embedding=SlowEmbedding()) as rag:
        await rag.ingest({vault!r}, engine="ray", address={address!r})

asyncio.run(main())
"""
"""Dies once chunks are stored and the ledger has not noted it."""


async def test_a_driver_that_dies(address: str, vault: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    async with open_rag(RagConfig(data_dir=here), embedding=HashingEmbedding()) as alone:
        await alone.ingest(vault)
    tests = Path(__file__).parent
    driver = DRIVER.format(
        paths=[str(tests), str(tests.parent)], data=str(there), vault=str(vault), address=address
    )
    command = [sys.executable, "-W", "ignore", "-c", driver]
    died = await asyncio.to_thread(subprocess.run, command, timeout=120)
    assert died.returncode == -signal.SIGKILL
    async with open_rag(RagConfig(data_dir=there), embedding=HashingEmbedding()) as rag:
        assert await rag.chunks.count("default")
        assert any(record.pending for record in (await rag.ledger.records("default")).values())
        await rag.ingest(vault, engine="ray", address=address)
    await assert_alike(here, there)


async def test_a_model_that_fails_is_told_as_it_is(address: str, vault: Path, tmp_path: Path) -> None:
    async with open_rag(RagConfig(data_dir=tmp_path / "data"), embedding=BrokenEmbedding()) as rag:
        with pytest.raises(ModelError, match="the model is out of order"):
            await rag.ingest(vault, engine="ray", address=address)


async def test_nothing_joins_a_cluster_that_was_left(address: str) -> None:
    """A thread of Ray Data may outlive the connection, and Ray joins a cluster by itself where it is used."""
    async with open_cluster(address) as cluster:
        ray = cluster.connect()
    with pytest.raises(Exception, match=r"not connected to Ray|not been started"):
        ray.put(1)
    assert not ray.is_initialized()


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"engine": "spark"}, InputError, "unknown engine 'spark'; use one of: local, ray"),
        ({"address": "127.0.0.1:1"}, InputError, "an address is for the engine 'ray' alone"),
        ({"engine": "ray", "address": "127.0.0.1:1"}, RunError, "no Ray cluster can be used at 127.0.0.1:1"),
    ],
)
async def test_what_cannot_be(
    given: dict[str, str], error: type[Exception], says: str, vault: Path, tmp_path: Path
) -> None:
    async with open_rag(RagConfig(data_dir=tmp_path / "data"), embedding=HashingEmbedding()) as rag:
        with pytest.raises(error, match=says):
            await rag.ingest(vault, **given)  # type: ignore[arg-type]
