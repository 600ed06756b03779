"""PostInsert, last operator of the insert graph: forgets memories after each packet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.dates.instants import moment_of
from agentic_rag_lab.designs.conversation import latest_date
from agentic_rag_lab.designs.data_parser import DataParser
from agentic_rag_lab.designs.memory import Memory, MemoryService
from agentic_rag_lab.designs.operators import NoAction
from agentic_rag_lab.designs.operators.forgetting import Forgetter, Forgetting, deleting
from agentic_rag_lab.designs.operators.memory_insert import memory_metadata
from agentic_rag_lab.designs.post_retrieval.operator import Data

NO_DATE = "the packet has no ISO date, so how old the memories are is not known"


PostInsertSettings = NoAction | Forgetting
POST_INSERT: Mapping[str, type[PostInsertSettings]] = {
    "none": NoAction,
    "forgetting": Forgetting,
}
"""Settings class by action."""


class PostInsert:
    """``none``: nothing. ``forgetting``: old memories are deleted.

    ``forgetting`` keeps its state here, so an operator belongs to one memory, from its first packet on.

    Raises:
        ConfigError: the action needs a memory that can delete, and it cannot.
    """

    def __init__(self, settings: PostInsertSettings, service: MemoryService, parser: DataParser) -> None:
        self._parser = parser
        self._forgetter: Forgetter | None = None
        if isinstance(settings, Forgetting):
            self._forgetter = Forgetter(settings, deleting(service, settings.action))

    async def execute(self, data: Data) -> dict[str, Any]:
        """``post_insert``: ``action`` and ``forgotten``, the ids of deleted memories; nothing for ``none``.

        ``reason`` says why nothing could be decided, else None.
        """
        if self._forgetter is not None:
            now = moment_of(latest_date(data.get("dialogs") or ()))
            self._forgetter.note(self._fresh(data))
            forgotten = [] if now is None else await self._forgetter.forget(now)
            reason = NO_DATE if now is None else None
            return {"post_insert": {"action": "forgetting", "forgotten": forgotten, "reason": reason}}
        return {}

    def _fresh(self, data: Data) -> list[Memory]:
        """The memories that MemoryInsert has just inserted and the memory kept."""
        fresh: list[Memory] = []
        for entry_id, entry in zip(data.get("inserted") or (), data.get("entries") or (), strict=True):
            if entry_id is None:
                continue
            text, metadata = self._parser.extract(entry), memory_metadata(data, entry)
            fresh.append(Memory(text=text, metadata=metadata, entry_id=entry_id, score=None))
        return fresh
