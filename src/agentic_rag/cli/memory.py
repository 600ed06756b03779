"""The ``memory`` commands on an open ``Rag``: plain arguments in, JSON values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError
from agentic_rag.memory.records import plain
from agentic_rag.memory.schemas import MemoryType, RetrievalResponse, RetrievalStrategy
from agentic_rag.rag import Rag


async def add_memory(rag: Rag, user_id: str, text: str, at: str | None, metadata: Mapping[str, Any]) -> Json:
    """Remember a text.

    Raises:
        InputError: a blank text or user id, or a date that cannot be read.
    """
    if not text.strip():
        raise InputError(
            'there is nothing to remember; write it in quotes: agentic-rag memory add "…" --user-id ID'
        )
    kept = await rag.memory.remember(text, user_id, at=at, metadata=metadata)
    return {"user_id": user_id, "text": text, **asdict(kept)}


async def search_memories(
    rag: Rag,
    user_id: str,
    query: str,
    top_k: int,
    types: Sequence[str] | None,
    strategy: str | None,
    as_of: str | None,
) -> Json:
    """Results, routing and the agents' outcomes; ``known`` is 0 for an unknown user.

    Raises:
        InputError: an invalid user id or date.
    """
    memories = rag.memory
    found = await memories.search(
        query,
        user_id,
        max_results=top_k,
        context={} if as_of is None else {"as_of": as_of},
        memory_types=None if types is None else [MemoryType(name) for name in types],
        strategy=None if strategy is None else RetrievalStrategy(strategy),
    )
    known = len(found.memories) or len(await memories.list(user_id, include_ended=True))
    return {"user_id": user_id, "query": query, "known": known, **_response(found)}


def _response(response: RetrievalResponse) -> Json:
    routing = response.routing
    return {
        "memories": [asdict(memory) for memory in response.memories],
        "routing": {
            **asdict(routing.decision),
            "method": routing.method,
            "fallback_reason": routing.fallback_reason,
        },
        "outcomes": {name: asdict(outcome) for name, outcome in response.outcomes.items()},
        "seconds": round(response.processing_time_ms / 1000, 3),
    }


async def list_memories(rag: Rag, user_id: str, kind: str | None = None, with_ended: bool = False) -> Json:
    """The memories of a user, in the order of their messages; ``known`` as for ``search_memories``.

    Raises:
        InputError: a blank user id.
    """
    memory_type = None if kind is None else MemoryType(kind)
    records = await rag.memory.list(user_id, memory_type, include_ended=with_ended)
    known = len(records) or len(await rag.memory.list(user_id, include_ended=True))
    return {"user_id": user_id, "known": known, "memories": [plain(record) for record in records]}


async def forget_memories(rag: Rag, user_id: str, ids: Sequence[str] | None) -> Json:
    """Number of deleted memories, and the result of the check; None: everything of the user.

    Raises:
        InputError: a blank user id, or none of the ids is a memory of this user.
        StoreError: something was still found.
    """
    gone = await rag.memory.forget(user_id, ids)
    return {"user_id": user_id, "deleted": gone.memories, "searched": gone.searches, "found": gone.remaining}


async def export_memories(rag: Rag, user_id: str, file: str) -> Json:
    """Number of memories written.

    Raises:
        InputError: a blank user id, or the file cannot be written.
    """
    return {"user_id": user_id, "file": file, "memories": await rag.memory.export(user_id, Path(file))}


async def import_memories(rag: Rag, user_id: str, file: str) -> Json:
    """Number of memories read.

    Raises:
        InputError: a blank user id, or the file is no export; nothing was imported.
    """
    return {"user_id": user_id, "file": file, "memories": await rag.memory.import_(user_id, Path(file))}
