"""The journal of a commit: what is read from it, and what of a damaged one; and two who commit to one folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.stores.graph.journal import Journal
from agentic_rag.stores.graphiti.store import GraphitiStore
from agentic_rag.testing import HashingEmbedding
from graph_fixtures import BACKENDS, in_graph, in_tables, note, opened


async def test_what_was_written_is_read(tmp_path: Path):
    journal = Journal(tmp_path)
    assert await journal.read() == {}
    await journal.write({"notes": {"facts": ["a", "b"], "candidates": []}, "other": {}})
    assert await journal.read() == {"notes": {"facts": ["a", "b"], "candidates": []}, "other": {}}
    await journal.clear()
    assert await journal.read() == {}


@pytest.mark.parametrize(
    "text",
    [
        '{"notes": ["a"]}',
        '{"notes": {"facts": "a"}}',
        '{"notes": {"facts": [1]}}',
        "[1]",
        "{}",
        "null",
        "{",
        "",
    ],
)
async def test_one_of_another_form_may_be_about_everything(tmp_path: Path, text: str):
    journal = Journal(tmp_path)
    journal.path.write_text(text, "utf-8")
    assert await journal.read() is None


@asynccontextmanager
async def two_of(
    folder: Path, embedding: HashingEmbedding, options: dict[str, Any]
) -> AsyncIterator[tuple[GraphitiStore, GraphitiStore]]:
    """Two stores of one folder, as two processes have it open."""
    async with opened(folder, embedding, **options) as one, opened(folder, embedding, **options) as other:
        yield one, other


async def assert_holds(
    wanted: tuple[int, ...], folder: Path, embedding: HashingEmbedding, options: dict[str, Any]
) -> None:
    """So many entities, facts, episodes and mentions, the same in the graph and in the tables."""
    async with opened(folder, embedding, **options) as after:
        counts = await after.counts("notes")
        assert (counts.entities, counts.facts, counts.episodes, counts.mentions) == wanted
        assert await in_graph(after) == await in_tables(after)


@BACKENDS
async def test_two_stores_of_one_folder_take_turns(
    tmp_path: Path, embedding: HashingEmbedding, options: dict[str, Any]
) -> None:
    """As two processes do, for the lock is on a file; each decides by what the other has just written."""
    async with two_of(tmp_path, embedding, options) as (one, other):
        await asyncio.gather(
            *(
                store.replace_documents("notes", [note(f"n{number}", "shared", f"t{number}")])
                for number, store in enumerate([one, other] * 4)
            )
        )
        await one.remove_documents("notes", [f"n{number}" for number in range(1, 8)])
        await other.remove_documents("notes", ["n0"])
        await one.replace_documents("notes", [note("n1", "shared")])
    await assert_holds((1, 0, 1, 1), tmp_path, embedding, options)


@BACKENDS
async def test_a_write_sees_what_another_process_has_just_written(
    tmp_path: Path, embedding: HashingEmbedding, options: dict[str, Any]
) -> None:
    """A connection may read what is up to a second old; a note removed so would take another's entity with it."""
    async with two_of(tmp_path, embedding, options) as (one, other):
        await one.replace_documents("notes", [note("n0", "shared", "t0")])
        assert (await other.counts("notes")).entities == 2
        await one.replace_documents("notes", [note("n1", "shared", "t1")])
        await other.remove_documents("notes", ["n0"])
    await assert_holds((2, 1, 1, 2), tmp_path, embedding, options)
