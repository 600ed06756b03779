"""PostInsert, last operator of the insert graph: merges or forgets memories after each packet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.dates.instants import moment_of
from agentic_rag.domain.memory import Memory, MemoryService
from agentic_rag.lab.conversation import latest_date
from agentic_rag.lab.data_parser import DataParser
from agentic_rag.lab.operators import NoAction, OperatorTools
from agentic_rag.lab.operators.distillation import Distillation, Distiller, deleting
from agentic_rag.lab.operators.forgetting import Forgetter, Forgetting
from agentic_rag.lab.operators.memory_insert import memory_metadata
from agentic_rag.lab.post_retrieval.operator import Data

NO_DATE = "the packet has no ISO date, so how old the memories are is not known"


PostInsertSettings = NoAction | Distillation | Forgetting
POST_INSERT: Mapping[str, type[PostInsertSettings]] = {
    "none": NoAction,
    "distillation": Distillation,
    "forgetting": Forgetting,
}
"""Settings class by action."""


class PostInsert:
    """``none``: nothing. ``distillation``: near-duplicates are merged. ``forgetting``: old memories are deleted.

    ``forgetting`` keeps its state here, so an operator belongs to one memory, from its first packet on.

    Raises:
        ConfigError: the action needs a memory that can delete, or a chat model, and it is missing.
    """

    def __init__(
        self, settings: PostInsertSettings, service: MemoryService, tools: OperatorTools, parser: DataParser
    ) -> None:
        self._parser = parser
        self._distiller: Distiller | None = None
        self._forgetter: Forgetter | None = None
        if isinstance(settings, Distillation):
            self._distiller = Distiller(settings, deleting(service, settings.action), tools.chat)
        elif isinstance(settings, Forgetting):
            self._forgetter = Forgetter(settings, deleting(service, settings.action))

    async def execute(self, data: Data) -> dict[str, Any]:
        """``post_insert``: ``action``, ``merged`` and ``forgotten``; nothing for ``none``.

        ``merged`` contains ``{"entry_ids": new ids, "replaces": deleted ids}``, ``forgotten`` ids; ``reason`` says why
        nothing could be decided, else None.
        """
        if self._distiller is not None:
            return _told("distillation", **await self._distiller.distil(self._fresh(data)))
        if self._forgetter is not None:
            now = moment_of(latest_date(data.get("dialogs") or ()))
            self._forgetter.note(self._fresh(data))
            forgotten = [] if now is None else await self._forgetter.forget(now)
            return _told("forgetting", forgotten=forgotten, reason=NO_DATE if now is None else None)
        return {}

    def _fresh(self, data: Data) -> list[Memory]:
        """The memories that MemoryInsert has just inserted and the memory kept."""
        fresh: list[Memory] = []
        for entry_id, entry in zip(data.get("inserted") or (), data.get("entries") or (), strict=True):
            if entry_id is None:
                continue
            text, metadata = self._parser.extract(entry), memory_metadata(data, entry)
            memory = Memory(text=text, metadata=metadata, entry_id=entry_id, score=None)
            if entry.get("embedding") is not None:
                memory["embedding"] = list(entry["embedding"])
            fresh.append(memory)
        return fresh


def _told(action: str, **values: Any) -> dict[str, Any]:
    return {"post_insert": {"action": action, "merged": [], "forgotten": [], "reason": None, **values}}
