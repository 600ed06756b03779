"""What every ``ports.Ledger`` promises, checked against the in-memory reference and LanceDB."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.domain.ports import Ledger
from agentic_rag.stores.checked_ledger import CheckedLedger
from agentic_rag.stores.in_memory import InMemoryChunkStore, InMemoryLedger
from agentic_rag.stores.lancedb import ledger as ledger_module
from agentic_rag.stores.lancedb.connection import lance_connection
from agentic_rag.stores.lancedb.indexes import MAX_PIECES
from agentic_rag.stores.lancedb.ledger import LanceLedger
from agentic_rag.testing.contracts.ledger import LedgerContract, record


class _Everything(set[str]):
    def __contains__(self, _: object) -> bool:
        return True


class _FullStore(InMemoryChunkStore):
    """Has a chunk of every document."""

    async def document_ids(self, dataset: str) -> set[str]:
        return _Everything()


@pytest.fixture(params=["memory", "lancedb", "checked", "object_store"])
async def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Ledger]:
    if request.param == "memory":
        yield InMemoryLedger()
        return
    if request.param == "checked":
        yield CheckedLedger(InMemoryLedger(), _FullStore(dimension=2))
        return
    where: tuple[Any, ...] = (str(tmp_path / "lance"),)
    if request.param == "object_store":
        s3 = request.getfixturevalue("object_store")
        where = (s3.empty_uri(), s3.options)
    async with lance_connection(*where, locks=str(tmp_path)) as connection:
        yield LanceLedger(connection)


class TestLedger(LedgerContract):
    @pytest.fixture
    def ledger(self, ledger: Any) -> Any:
        return ledger


async def test_lancedb_reads_only_what_others_wrote_since(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async with lance_connection(str(tmp_path)) as mine, lance_connection(str(tmp_path)) as other:
        ledger, theirs = LanceLedger(mine), LanceLedger(other)
        await ledger.put("d", [record("a")])
        assert (await ledger.records("d")).keys() == {"a"}
        read: list[object] = []
        original = ledger_module._records
        monkeypatch.setattr(
            ledger_module, "_records", lambda rows: read.extend(rows.to_pylist()) or original(rows)
        )
        await ledger.put("d", [record("b")])
        assert (await ledger.records("d")).keys() == {"a", "b"}
        assert not read
        await theirs.put("d", [record("c")])
        await ledger.put("d", [record("e")])  # without having read what the other wrote
        assert (await ledger.records("d")).keys() == {"a", "b", "c", "e"}
        assert len(read) == 4
        await theirs.remove("d", ["a"])
        assert (await ledger.records("d")).keys() == {"b", "c", "e"}


async def test_lancedb_keeps_it_for_the_next_process(tmp_path: Path):
    for _ in range(2):
        async with lance_connection(str(tmp_path)) as connection:
            await LanceLedger(connection).put("notes", [record("a")])
            assert await LanceLedger(connection).records("notes") == {"a": record("a")}


async def test_many_small_writes_of_several_processes_lose_nothing_and_leave_few_pieces(tmp_path: Path):
    async def write(name: str) -> None:
        async with lance_connection(str(tmp_path)) as connection:
            ledger = LanceLedger(connection)
            for number in range(20):
                await ledger.put("notes", [record(f"{name}{number}", pending=True)])
                await ledger.put("notes", [record(f"{name}{number}")])

    await asyncio.gather(*(write(name) for name in "abc"))
    async with lance_connection(str(tmp_path)) as connection:
        ledger = LanceLedger(connection)
        held = await ledger.records("notes")
        assert set(held) == {f"{name}{number}" for name in "abc" for number in range(20)}
        assert not any(one.pending for one in held.values())
        await ledger.put("notes", [record("last")])
        table = await connection.table("ledger")
        assert (await table.stats())["fragment_stats"]["num_fragments"] <= MAX_PIECES
