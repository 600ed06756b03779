"""MemoryInsert, second operator of the insert graph: inserts the entries with their provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentic_rag_lab.designs.conversation import latest_date
from agentic_rag_lab.designs.data_parser import DataParser
from agentic_rag_lab.designs.memory import MemoryService, vector_of
from agentic_rag_lab.designs.post_retrieval.operator import Data

PROVENANCE = ("task_id", "session_id", "dialog_id", "dialog_len")


@dataclass(frozen=True, slots=True)
class MemoryInsert:
    """Inserts the text (and vector) of each entry with metadata."""

    parser: DataParser
    """Extracts the text of an entry."""
    service: MemoryService
    secondary: Sequence[MemoryService] = ()
    """Further memories that get every insert too."""

    async def execute(self, data: Data) -> dict[str, Any]:
        """``inserted``: the id of each entry, None for one that was not kept; ``insert_stats``: the counts of both."""
        entries = data.get("entries") or ()
        inserted: list[str | None] = []
        for entry in entries:
            given = (
                self.parser.extract(entry),
                vector_of(entry.get("embedding")),
                memory_metadata(data, entry),
            )
            entry_id = await self.service.insert(*given)
            for service in self.secondary:
                await service.insert(*given)
            inserted.append(entry_id)
        kept = len(inserted) - inserted.count(None)
        return {"inserted": inserted, "insert_stats": {"inserted": kept, "entries": len(entries)}}


def memory_metadata(data: Data, entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Metadata of an entry: its packet and time, and the entry's own metadata.

    A single message with a role also has its ``role``, ``speaker`` and ``dia_id``. ``sources`` lists [session id,
    dialog id, number of turns] for each source; ``timestamp`` is the ISO date of the packet's latest turn. None
    if neither packet nor entry has metadata.
    """
    metadata = {key: data[key] for key in PROVENANCE if data.get(key) is not None}
    dialogs: Sequence[Mapping[str, Any]] = data.get("dialogs") or ()
    if metadata and (date := latest_date(dialogs)) is not None:
        metadata["timestamp"] = date
    if "session_id" in metadata and "dialog_id" in metadata:
        length = metadata.get("dialog_len", len(dialogs))
        metadata["sources"] = [[metadata["session_id"], metadata["dialog_id"], length]]
    if len(dialogs) == 1 and "role" in dialogs[0]:
        metadata |= {key: dialogs[0][key] for key in ("role", "speaker", "dia_id")}
    return {**metadata, **(entry.get("metadata") or {})} or None
