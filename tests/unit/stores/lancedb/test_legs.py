"""Both legs of a search at once: what is read, what is left out, and in which order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentic_rag.domain.filters import parse_filters
from agentic_rag.domain.ports import EmbeddedDocument, FloatArray, Restriction
from agentic_rag.stores.lancedb import legs
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import LanceConnection, lance_connection
from agentic_rag.testing import fake_chunk

DIMENSION = 8
ASKED = np.eye(DIMENSION, dtype=np.float32)[0]


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[LanceConnection]:
    async with lance_connection(str(tmp_path)) as opened:
        yield opened


@pytest.fixture
def store(connection: LanceConnection) -> LanceChunkStore:
    return LanceChunkStore(connection, model="fake", dimension=DIMENSION)


async def fill(store: LanceChunkStore, count: int, *, alike: bool = False, opposed: bool = False) -> None:
    """Chunks that lie ever farther from what is asked, each with the word tea ever more rarely, or often."""
    documents = []
    for n in range(count):
        angle = 0.0 if alike else n / count
        vector = np.cos(angle) * ASKED + np.sin(angle) * np.eye(DIMENSION, dtype=np.float32)[1]
        text = "tea" if alike else "tea " + "water " * (count - n if opposed else n + 1)
        chunk = fake_chunk(f"d{n:03d}", text, metadata={"even": n % 2 == 0})
        documents.append(EmbeddedDocument(chunk.document_id, (chunk,), vector[None].astype(np.float32)))
    await store.replace_documents("notes", documents)


async def both(
    store: LanceChunkStore, limit: int, wanted: int, **filters: Any
) -> tuple[list[Any], list[Any]]:
    restriction = Restriction(parse_filters(filters))
    return await store.search_both("notes", "tea", ASKED, limit=limit, wanted=wanted, restriction=restriction)


async def test_they_find_what_each_finds_alone(store: LanceChunkStore):
    await fill(store, 12)
    dense, sparse = await both(store, limit=50, wanted=10)
    assert dense == await store.search_dense("notes", ASKED, limit=50, restriction=Restriction())
    assert sparse == await store.search_sparse("notes", "tea", limit=50, restriction=Restriction())
    assert [hit.rank for hit in dense] == list(range(1, 13))
    assert all(np.allclose(hit.vector @ ASKED, hit.score, atol=1e-6) for hit in dense)


async def test_what_is_read_is_the_first_of_each_leg_with_its_rank_in_both(
    store: LanceChunkStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(legs, "MIN_READ", 2)
    await fill(store, 10, opposed=True)
    dense, sparse = await both(store, limit=10, wanted=2)
    assert [(hit.chunk.id, hit.rank) for hit in dense] == [("d000#0", 1), ("d001#0", 2), ("d008#0", 9), ("d009#0", 10)]  # fmt: skip
    assert [(hit.chunk.id, hit.rank) for hit in sparse] == [("d009#0", 1), ("d008#0", 2), ("d001#0", 9), ("d000#0", 10)]  # fmt: skip


async def test_a_fifth_more_are_read_than_are_wanted(store: LanceChunkStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(legs, "MIN_READ", 2)
    await fill(store, 40)
    dense, sparse = await both(store, limit=40, wanted=10)
    assert [len(dense), len(sparse)] == [12, 12], "both legs found the same"


async def test_filters_hold_for_both(store: LanceChunkStore):
    await fill(store, 12)
    dense, sparse = await both(store, limit=50, wanted=10, even=True)
    assert {hit.chunk.id for hit in dense} == {hit.chunk.id for hit in sparse}
    assert all(hit.chunk.metadata["even"] for hit in [*dense, *sparse])
    assert len(dense) == 6


async def test_equal_chunks_come_in_id_order_wherever_the_limit_cuts(store: LanceChunkStore):
    await fill(store, 60, alike=True)
    dense, sparse = await both(store, limit=20, wanted=5)
    wanted = [f"d{n:03d}#0" for n in range(20)]
    assert [hit.chunk.id for hit in dense] == wanted
    assert [hit.chunk.id for hit in sparse] == wanted


async def test_what_was_found_is_read_though_the_table_is_compacted_in_between(
    store: LanceChunkStore, monkeypatch: pytest.MonkeyPatch
):
    await fill(store, 30)
    for n in range(0, 30, 3):
        await store.remove_documents("notes", [f"d{n:03d}"])
    read = legs._read

    async def compacted_first(table: Any, row_ids: list[int], asked: FloatArray) -> Any:
        await store.optimize("notes")
        await table.checkout_latest()
        return await read(table, row_ids, asked)

    monkeypatch.setattr(legs, "_read", compacted_first)
    dense, sparse = await both(store, limit=50, wanted=20)
    monkeypatch.undo()
    assert dense == await store.search_dense("notes", ASKED, limit=50, restriction=Restriction())
    assert sparse == await store.search_sparse("notes", "tea", limit=50, restriction=Restriction())


async def test_a_question_without_a_word_has_one_leg(store: LanceChunkStore):
    await fill(store, 3)
    found = await store.search_both("notes", "...", ASKED, limit=9, wanted=3, restriction=Restriction())
    assert [len(leg) for leg in found] == [3, 0]
    assert await store.search_both("none", "tea", ASKED, limit=9, wanted=3, restriction=Restriction()) == (
        [],
        [],
    )
    assert await store.search_both("notes", "tea", ASKED, limit=0, wanted=1, restriction=Restriction()) == (
        [],
        [],
    )
