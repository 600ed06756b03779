"""PostInsert, last of the insert graph: the memory is tidied after each packet, by merging or by forgetting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from agentic_rag.dates.instants import moment_of
from agentic_rag.domain.memory import Memory, MemoryService
from agentic_rag.errors import InputError
from agentic_rag.lab.data_parser import DataParser
from agentic_rag.lab.operators.actions import parse_action
from agentic_rag.lab.operators.distillation import Distillation, deleting, distil, judging_by
from agentic_rag.lab.operators.forgetting import Forgetter, Forgetting
from agentic_rag.lab.operators.memory_insert import entries_of, memory_metadata
from agentic_rag.lab.operators.pre_insert import OperatorTools, latest_date
from agentic_rag.post_retrieval.operator import Data
from agentic_rag.settings.parameters import Section

NO_DATE = "the packet has no ISO date, so how old the memories are is not known"


class NoPostInsert(Section):
    """The memory stays as it is."""

    action: Literal["none"] = "none"


PostInsertSettings = NoPostInsert | Distillation | Forgetting


def parse_post_insert(values: Any) -> PostInsertSettings:
    """Settings under ``operators.post_insert``; see ``actions.parse_action``."""
    kinds: dict[str, type[PostInsertSettings]] = {
        "none": NoPostInsert,
        "distillation": Distillation,
        "forgetting": Forgetting,
    }
    return parse_action("post_insert", kinds, values)


class PostInsert:
    """``none``: nothing. ``distillation``: near-duplicates are merged. ``forgetting``: old memories fade.

    ``forgetting`` keeps its record here, so an operator belongs to one memory, from its first packet on.

    Args:
        settings: which action, and how.
        service: the memory.
        tools: ``distillation`` with a prompt needs the chat model.
        parser: as MemoryInsert's; None: ``to_refactor`` for entries that have ``refactor``, else ``to_dialogs``.

    Raises:
        ConfigError: the action needs a memory that can delete, or a chat model, and there is none.
    """

    def __init__(
        self,
        settings: PostInsertSettings,
        service: MemoryService,
        tools: OperatorTools,
        parser: DataParser | None = None,
    ) -> None:
        if not isinstance(settings, NoPostInsert):
            deleting(service, settings.action)
        if isinstance(settings, Distillation):
            judging_by(settings, tools.chat)
        self._settings = settings
        self._service = service
        self._chat = tools.chat
        self._parser = parser
        self._forgetter = Forgetter(settings) if isinstance(settings, Forgetting) else None

    async def execute(self, data: Data) -> dict[str, Any]:
        """``post_insert``: ``action``, ``merged`` and ``forgotten``; nothing under ``none``.

        ``merged`` has ``{"entry_ids": those that stand now, "replaces": those that are gone}``, ``forgotten`` ids;
        ``reason`` says why nothing could be judged, and is None where it could.

        Raises:
            InputError: it cannot be told which entry each inserted id belongs to.
            StoreError, ModelError: the memory or the chat model failed.
        """
        if isinstance(self._settings, NoPostInsert):
            return {}
        fresh = self._fresh(data)
        if isinstance(self._settings, Distillation):
            done = await distil(self._settings, self._service, self._chat, fresh)
            return _told("distillation", merged=done.merged, refused=done.refused)
        now = moment_of(latest_date(data.get("dialogs") or ()))
        forgotten = await self._forget(fresh, now)
        return _told("forgetting", forgotten=forgotten, reason=NO_DATE if now is None else None)

    async def _forget(self, fresh: Sequence[Memory], now: datetime | None) -> list[str]:
        forgetter, service = self._forgetter, deleting(self._service, "forgetting")
        if forgetter is None:
            return []
        forgetter.note(fresh)
        forgotten = []
        for entry_id in forgetter.faded(now) if now is not None else ():
            if await service.delete(entry_id):
                forgotten.append(entry_id)
            forgetter.forget(entry_id)
        return forgotten

    def _fresh(self, data: Data) -> list[Memory]:
        """What MemoryInsert has just inserted, of what the memory keeps."""
        inserted, entries = data.get("inserted") or (), entries_of(data)
        if len(inserted) != len(entries):
            raise InputError(
                f"PostInsert needs an id for each entry; there are {len(inserted)} ids for {len(entries)} entries; "
                "give what MemoryInsert wrote"
            )
        return [
            self._memory(entry_id, entry, data)
            for entry_id, entry in zip(inserted, entries, strict=True)
            if entry_id is not None
        ]

    def _memory(self, entry_id: str, entry: Mapping[str, Any], data: Data) -> Memory:
        parser = self._parser or DataParser("to_refactor" if "refactor" in entry else "to_dialogs")
        memory = Memory(
            text=parser.extract(entry), metadata=memory_metadata(data, entry), entry_id=entry_id, score=None
        )
        vector = entry.get("embedding")
        return memory if vector is None else {**memory, "embedding": list(vector)}


def _told(action: str, **values: Any) -> dict[str, Any]:
    return {"post_insert": {"action": action, "merged": [], "forgotten": [], "reason": None, **values}}
