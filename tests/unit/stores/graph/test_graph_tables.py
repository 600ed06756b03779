"""The graph's tables alone: how they stay fast during writes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from agentic_rag.stores.graph.schemas import schema
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.lancedb.connection import lance_connection
from agentic_rag.stores.lancedb.indexes import MOST_PIECES


async def test_many_small_writes_leave_few_pieces(tmp_path: Path) -> None:
    """One process a write, as when single notes are added on the command line."""
    row = {"group_id": "notes", "created_at": datetime.now(UTC), "source_uuid": "a", "target_uuid": "b"}
    for number in range(40):
        async with lance_connection(str(tmp_path)) as connection:
            tables = GraphTables(connection, model="m", dimension=4)
            await tables.upsert("notes", "mentions", [{**row, "uuid": f"m{number}"}])
            table = await connection.table("graph_notes_mentions")
            assert (await table.stats())["fragment_stats"]["num_fragments"] <= MOST_PIECES
    async with lance_connection(str(tmp_path)) as connection:
        assert await GraphTables(connection, model="m", dimension=4).count("notes", "mentions") == 40


async def test_a_table_with_whole_floats_goes_on(tmp_path: Path) -> None:
    """As tables were made before, beside new ones, whose vectors take two bytes a dimension."""
    third = (np.array([1, 1, 1, 0]) / np.sqrt(3)).astype(np.float32)
    row = {
        "created_at": datetime.now(UTC),
        "name": "Tea",
        "summary": "",
        "text": "tea",
        "labels": [],
        "attributes": "{}",
    }
    async with lance_connection(str(tmp_path)) as connection:
        made = schema("entities", dimension=4)
        old = made.set(
            made.get_field_index("vector"), pa.field("vector", pa.list_(pa.float32(), 4), nullable=False)
        )
        await connection.create_table("graph_old_entities", old, "uuid")
        tables = GraphTables(connection, model="m", dimension=4)
        for group in ("old", "new"):
            await tables.upsert(group, "entities", [{**row, "uuid": "e", "group_id": group, "vector": third}])
        stored = {group: (await tables.vectors(group, "entities", ["e"]))["e"] for group in ("old", "new")}
        assert stored["old"].tolist() == third.tolist()
        assert stored["new"].dtype == np.float32
        assert 0 < np.abs(stored["new"] - third).max() < 5e-4
        for group in ("old", "new"):
            (found,) = await tables.nearest(
                group, "entities", third.tolist(), ["uuid", "name"], where=None, limit=1
            )
            assert found[1] == pytest.approx(1, abs=1e-3)
