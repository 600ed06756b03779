"""Tables as this package makes them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from agentic_rag.stores.lancedb.connection import STABLE_ROW_IDS, lance_connection


@pytest.fixture
async def new_table(tmp_path: Path) -> AsyncIterator[Callable[[pa.Schema], Awaitable[Any]]]:
    """Makes an empty table, whose row ids stay when it is compacted."""
    async with lance_connection(str(tmp_path)) as connection:
        database = await connection.database()

        async def made(schema: pa.Schema) -> Any:
            return await database.create_table("t", schema=schema, storage_options=STABLE_ROW_IDS)

        yield made
