"""Manifests: what is written down once, what is refused, and how a switch is followed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentic_rag.errors import ManifestMismatch
from agentic_rag.stores.lancedb.connection import LanceConnection, lance_connection
from agentic_rag.stores.lancedb.manifests import Manifest, Manifests, generation_name, of_generation


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[LanceConnection]:
    async with lance_connection(str(tmp_path / "lance")) as opened:
        yield opened


def manifests(connection: LanceConnection, model: str = "m", dimension: int = 4) -> Manifests:
    return Manifests(connection, model=model, dimension=dimension)


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("chunks_notes", ("chunks_notes", 0)),
        ("chunks_notes.1", ("chunks_notes", 1)),
        ("chunks_notes.27", ("chunks_notes", 27)),
        ("chunks_notes-1", ("chunks_notes-1", 0)),
        ("a.b", ("a.b", 0)),
    ],
)
def test_names_of_generations(name: str, split: tuple[str, int]) -> None:
    assert of_generation(name) == split
    assert generation_name(*split) == name


async def test_nothing_is_known_of_a_new_group(connection: LanceConnection) -> None:
    ours = manifests(connection)
    assert await ours.generation("notes") == 0
    assert await ours.stored_manifest("notes") is None
    assert await ours.names() == []


async def test_the_first_writer_decides(connection: LanceConnection) -> None:
    ours, theirs = manifests(connection), manifests(connection, "other", 8)
    assert await ours.make("notes", "Notes") == 0
    with pytest.raises(ManifestMismatch, match=r"dataset 'Notes' was embedded with m \(4 .* other \(8 "):
        await theirs.make("notes", "Notes")
    with pytest.raises(ManifestMismatch, match="agentic-rag reindex --dataset Notes"):
        await theirs.generation("notes")
    assert await theirs.generation("notes", any_model=True) == 0
    assert await ours.stored_manifest("notes") == Manifest("m", 4, name="Notes")


async def test_a_group_gets_its_name_when_a_dataset_is_made_of_it(connection: LanceConnection) -> None:
    ours = manifests(connection)
    await ours.make("u_e7ac94e8aeb0")
    assert await ours.names() == []
    await ours.make("u_e7ac94e8aeb0", "笔记")
    await ours.make("u_e7ac94e8aeb0")
    assert await ours.names() == ["笔记"]


async def test_a_switch_is_followed_within_a_second(tmp_path: Path) -> None:
    async with lance_connection(str(tmp_path)) as one, lance_connection(str(tmp_path)) as two:
        ours, theirs, same = manifests(one), manifests(two, "new", 8), manifests(two)
        await ours.make("notes", "notes")
        assert await ours.generation("notes") == await same.generation("notes") == 0
        await theirs.switch("notes", 1)
        assert await theirs.generation("notes") == 1
        assert await ours.generation("notes") == 0, "known since less than a second"
        with pytest.raises(ManifestMismatch):
            await ours.generation_now("notes")
        await asyncio.sleep(1.05)
        with pytest.raises(ManifestMismatch, match=r"with new \(8 .* says m \(4 "):
            await same.generation("notes")
        assert await theirs.names() == ["notes"]


async def test_a_mismatch_is_looked_at_again_at_once(tmp_path: Path) -> None:
    async with lance_connection(str(tmp_path)) as one, lance_connection(str(tmp_path)) as two:
        ours, theirs = manifests(one), manifests(two, "new", 8)
        await ours.make("notes", "notes")
        with pytest.raises(ManifestMismatch):
            await theirs.generation("notes")
        await manifests(one, "new", 8).switch("notes", 1)
        assert await theirs.generation("notes") == 1
