"""Whether an object store keeps writes at once apart, of processes on several machines.

LanceDB writes each version of a table on the condition that nobody else has written it. Some stores refuse the
condition (``If-None-Match``), and then nothing can be written; some ignore it, and then writes get lost without a word.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from uuid import uuid4

import pyarrow as pa

from agentic_rag.errors import StoreError
from agentic_rag.settings.addresses import without_login
from agentic_rag.stores.lancedb.connection import lance_connection, translate_errors

WRITERS, ROUNDS = 4, 2
_REFUSAL = "501 Not Implemented"
_SCHEMA = pa.schema([pa.field("number", pa.int64(), nullable=False)])


async def lost_writes(uri: str, storage_options: Mapping[str, str]) -> int | None:
    """How many of ``WRITERS * ROUNDS`` rows are lost that as many connections add to one table at once; None where the
    store refuses the condition.

    The table is made for this and dropped again. A write that fails by an error is not lost, for its writer knows of it:
    where writers replace each other's files, one of them can come upon half a file.

    Raises:
        StoreError: the store cannot be reached, or a write failed though none was lost.
    """
    name = f"writes_at_once_{uuid4().hex}"
    async with AsyncExitStack() as held:
        connections = [
            await held.enter_async_context(lance_connection(uri, storage_options)) for _ in range(WRITERS)
        ]
        databases = [await connection.database() for connection in connections]
        try:
            with translate_errors(f"writing at once to {without_login(uri)}"):
                await databases[0].create_table(name, schema=_SCHEMA)
                tables = [await database.open_table(name) for database in databases]
                failures: list[BaseException] = []
                for number in range(ROUNDS):
                    row = pa.table({"number": [number]}, schema=_SCHEMA)
                    additions = await asyncio.gather(
                        *(table.add(row) for table in tables), return_exceptions=True
                    )
                    failures += [one for one in additions if isinstance(one, BaseException)]
                    await asyncio.gather(*(table.checkout_latest() for table in tables))
                lost = WRITERS * ROUNDS - len(failures) - int(await tables[0].count_rows())
                if failures and lost <= 0:
                    raise failures[0]
        except StoreError as error:
            if _REFUSAL in str(error.__cause__):
                return None
            raise
        finally:
            await connections[0].drop_table(name)
    return lost
