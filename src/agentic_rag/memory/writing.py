"""Writes a user's memory: the verbatim text and the records derived from it, in one step.

A user's memory has one writer at a time, so that a change is decided on what is stored at that moment.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from agentic_rag.dates.instants import as_utc
from agentic_rag.domain.identity import digest, memory_dataset
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import AgenticRagError, InputError
from agentic_rag.memory.derivation import (
    MemoryChange,
    confirm,
    crowded_out,
    end_record,
    kept_statement,
    says,
    slot_changes,
)
from agentic_rag.memory.reading.schemas import MemoryStatement
from agentic_rag.memory.records import SAYS, MemoryRecord, plain, without
from agentic_rag.memory.schemas import MemoryType, RememberReport
from agentic_rag.memory.store import MemoryStore
from agentic_rag.notes.values import jsonable, valid_unicode

WORKING_HOURS = 24.0
"""Hours until a working memory expires, unless it has its own expiry."""
DERIVED_TYPES = frozenset(MemoryType) - {MemoryType.EPISODIC}
NOT_A_PERSON = frozenset({"assistant", "system", "tool", "ai", "bot"})
"""Roles whose messages are stored, but give no facts about the person."""
RESTORED_TOGETHER = 500
"""Maximum number of memories stored in one step."""
_ORDER_DIGITS = 9
logger = logging.getLogger(__name__)


class StatementReader(Protocol):
    """Finds the statements in a text that become memories beside the text itself."""

    async def read(
        self, text: str, *, speaker: str, at: datetime | None, is_person: bool
    ) -> list[MemoryStatement]:
        """See ``statements.statements``."""


class MemoryWriter:
    """Remembers, changes and forgets.

    Args:
        store: the store of all users.
        reader: see ``StatementReader``.
    """

    def __init__(self, store: MemoryStore, reader: StatementReader) -> None:
        self._store = store
        self._reader = reader

    def now(self) -> datetime:
        """The current time."""
        return datetime.now(UTC)

    async def remember(
        self,
        text: str,
        user_id: str,
        *,
        at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> RememberReport:
        """Store a message and the memories derived from it.

        Args:
            text: verbatim.
            user_id: the user whose memory it becomes.
            at: time of the message; None: now. Facts without a stated start hold from then.
            metadata: JSON values, returned unchanged. ``speaker`` (else ``role``, else ``user``) names the
                speaker; a message of a ``role`` such as ``assistant`` gives no facts about the person; turns of
                one ``session`` are neighbours.

        Raises:
            InputError: a blank text, a bad user id, or metadata that is not JSON.
            StoreError, ModelError: something failed and nothing was stored; repeat the call.
        """
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"there is nothing to remember in {text!r}")
        text = valid_unicode(text)
        given = checked_metadata(metadata)
        speaker = str(given.get("speaker") or given.get("role") or "user")
        is_person = str(given.get("role", "user")).casefold() not in NOT_A_PERSON
        said_at = self.now() if at is None else as_utc(at)
        statements = await self._reader.read(text, speaker=speaker, at=said_at, is_person=is_person)
        details = {"speaker": speaker, "person": is_person}
        evidence = MemoryRecord("", MemoryType.EPISODIC, text, at=said_at, details=details, metadata=given)
        return await self.keep(user_id, evidence, statements, content=_digest(replace(evidence, at=at)))

    async def insert(self, user_id: str, record: MemoryRecord) -> MemoryRecord:
        """Store one memory as given; its content is its own evidence.

        Returns:
            The memory, or the one that it ends; the evidence, if it changed nothing.

        Raises:
            InputError, StoreError, ModelError: as ``remember``.
        """
        details = {"speaker": record.details.get("speaker", "user"), "person": True}
        evidence = replace(record, memory_type=MemoryType.EPISODIC, details=details, expires_at=None)
        statements = [] if record.memory_type is MemoryType.EPISODIC else [_as_statement(record)]
        content = _digest(replace(record, at=None))
        kept = await self.keep(user_id, evidence, statements, content=content, expires_at=record.expires_at)
        said = kept.evidence_id
        kind = record.memory_type.value
        changed = [one["id"] for one in kept.memories if one["memory_type"] == kind]
        stored = await self._store.read(user_id, [*changed, said])
        # The changes also contain the facts that it supersedes.
        return max(
            (stored[name] for name in changed),
            key=lambda one: said in one.evidence,
            default=stored[said],
        )

    async def keep(
        self,
        user_id: str,
        evidence: MemoryRecord,
        statements: Sequence[MemoryStatement],
        *,
        content: str,
        expires_at: datetime | None = None,
    ) -> RememberReport:
        """Store a message, still without an id, and the memories of its statements.

        ``content`` is a digest of what was given. An earlier call with the same content that has not returned is undone.
        """
        dataset, intents = memory_dataset(user_id), self._store.intents
        async with self._store.changing(user_id):
            if (name := intents.pending(dataset, content)) is not None:
                await self._remove(user_id, [name])
            order = await self._store.next_order(user_id)
            name = f"said-{order:0{_ORDER_DIGITS}}-{digest(evidence.content, str(evidence.at), size=4)}"
            said = says(statements)
            details = {**evidence.details, "order": order, **({SAYS: said} if said else {})}
            evidence = replace(evidence, id=name, evidence=(name,), details=details)
            changes, gone = await self._slot_changes(user_id, evidence)
            kept = await self._changes_for(user_id, evidence, statements, expires_at)
            put = [evidence, *(change.record for change in (*changes, *kept))]
            await asyncio.to_thread(intents.begin, dataset, content, name)
            leaving: list[MemoryChange] = []
            try:
                await self._store.change(user_id, put, gone)
                leaving = await self._crowded_out(user_id, [*changes, *kept])
            except AgenticRagError as error:
                if name not in await self._store.read(user_id, [name]):
                    raise
                logger.warning("a memory was stored, but its graph is written by the next one: %s", error)
            intents.end(dataset, content)
        return RememberReport(name, tuple(map(_change_summary, [*changes, *kept, *leaving])))

    async def _slot_changes(
        self,
        user_id: str,
        added_record: MemoryRecord | None,
        removed_ids: Collection[str] = (),
        slots: Iterable[str] = (),
    ) -> tuple[list[MemoryChange], list[str]]:
        """Changes to the facts of all slots that added or removed evidence mentions, and ids of facts to
        delete."""
        touched = {*slots, *(added_record.slots if added_record is not None else ())}
        stored = await self._store.of_slots(user_id, touched)
        evidence = [
            one for one in stored if one.memory_type is MemoryType.EPISODIC and one.id not in removed_ids
        ]
        facts = {one.id: one for one in stored if one.memory_type is not MemoryType.EPISODIC}
        said = [*evidence, *([added_record] if added_record else [])]
        return await asyncio.to_thread(slot_changes, sorted(touched), said, facts)

    async def _changes_for(
        self,
        user_id: str,
        evidence: MemoryRecord,
        statements: Sequence[MemoryStatement],
        expires_at: datetime | None,
    ) -> list[MemoryChange]:
        expires = expires_at or as_utc(evidence.at or self.now()) + timedelta(hours=WORKING_HOURS)
        said: dict[str, tuple[MemoryRecord, str]] = {}
        for statement in statements:
            if statement.slot is None:
                record = kept_statement(statement, evidence, expires)
                said.setdefault(record.id, (record, statement.reason))
        stored = await self._store.read(user_id, said)
        made = {name: confirm(stored.get(name), record) for name, (record, _) in said.items()}
        return [MemoryChange(record, kind, said[name][1]) for name, (record, kind) in made.items()]

    async def _crowded_out(self, user_id: str, changes: Sequence[MemoryChange]) -> list[MemoryChange]:
        """End the oldest lines of core blocks that exceed their size."""
        blocks = {change.record.details["block"] for change in changes if "block" in change.record.details}
        if not blocks:
            return []
        lines = await self._store.of_types(user_id, {MemoryType.CORE}, current=True)
        now = self.now()
        leaving = [
            MemoryChange(end_record(line, now), "ended", f"the block {block} is full; its oldest line left")
            for block in sorted(blocks)
            for line in crowded_out([one for one in lines if one.details.get("block") == block])
        ]
        if leaving:
            await self._store.change(user_id, [change.record for change in leaving])
        return leaving

    async def update(
        self,
        user_id: str,
        name: str,
        memory_type: MemoryType,
        change: Callable[[MemoryRecord], MemoryRecord],
    ) -> MemoryRecord:
        """Replace a memory by a new one; the old one ends and stays as history.

        Args:
            user_id: the user.
            name: id of the memory.
            memory_type: kind of the memory.
            change: from the old memory to the new one; the ``slot`` must stay the same.

        Raises:
            InputError: no such memory of this kind, or the change would alter a message.
        """
        old = (await self._store.read(user_id, [name])).get(name)
        if old is None or old.memory_type is not memory_type:
            raise InputError(f"this user has no {memory_type.value} memory {name!r}; list shows the ids")
        new = replace(change(old), id="", evidence=(), valid_at=None, invalid_at=None, at=self.now())
        if memory_type is MemoryType.EPISODIC:
            if new.content != old.content:
                raise InputError(
                    "the text of an episodic memory cannot be changed; delete it, and insert the right one"
                )
            stored = replace(old, metadata=new.metadata)
            async with self._store.changing(user_id):
                await self._store.change(user_id, [stored])
            return stored
        stored = await self.insert(user_id, new)
        if old.slot is None and stored.id != old.id:
            async with self._store.changing(user_id):
                await self._store.change(user_id, [end_record(old, new.at or self.now())])
        return stored

    async def forget(self, user_id: str, ids: Collection[str] | None) -> list[MemoryRecord]:
        """Delete memories with their messages, and all memories that depend on these alone; None: all of the user.

        Facts that the forgotten ones had superseded hold again. Unknown ids are ignored. Memories embedded by
        another model are embedded again first.

        Returns:
            The deleted memories.
        """
        async with self._store.changing(user_id):
            await self._store.renew(user_id)
            meant = ids
            if meant is None:
                meant = [record.id for record in await self._store.of_types(user_id, set(MemoryType))]
            deleted = await self._remove(user_id, meant)
            names = None if ids is None else {record.id for record in deleted}
            self._store.intents.forget(memory_dataset(user_id), names)
            await self._store.tidy(user_id)  # an earlier call may have stopped before it
        return deleted

    async def _remove(self, user_id: str, ids: Collection[str]) -> list[MemoryRecord]:
        """Delete as ``forget`` does; the caller holds ``changing``."""
        meant = await self._store.read(user_id, ids)
        gone = {one for record in meant.values() for one in record.evidence} | set(meant)
        said = await self._store.read(user_id, gone)
        derived = await self._store.of_types(user_id, DERIVED_TYPES)
        resting = [one for one in derived if one.id in gone or gone & set(one.evidence)]
        slots = {slot for one in said.values() for slot in one.slots}
        changes, lost = await self._slot_changes(user_id, None, gone, slots)
        kept = [without(one, frozenset(gone)) for one in resting if one.slot is None and one.id not in gone]
        staying = [one for one in kept if one is not None] + [change.record for change in changes]
        going = {one.id for one in resting if one.slot is None} | set(lost) | set(said) | set(meant)
        going -= {one.id for one in staying}
        deleted = [*said.values(), *(one for one in derived if one.id in going and one.id not in said)]
        await self._store.change(user_id, staying, going)
        return [one for one in deleted if one.id in going]

    async def restore(self, user_id: str, records: Sequence[MemoryRecord]) -> None:
        """Store memories unchanged; the facts of slots are derived again from all statements."""
        async with self._store.changing(user_id):
            for start in range(0, len(records), RESTORED_TOGETHER):
                await self._store.change(user_id, records[start : start + RESTORED_TOGETHER])
            slots = {slot for record in records for slot in record.slots}
            changes, gone = await self._slot_changes(user_id, None, slots=slots)
            await self._store.change(user_id, [change.record for change in changes], gone)


def _as_statement(record: MemoryRecord) -> MemoryStatement:
    """The content given to an agent, as a statement about its own text."""
    details = record.details
    return MemoryStatement(
        memory_type=record.memory_type,
        text=record.content,
        start=0,
        subject=str(details.get("subject", "user")),
        slot=details.get("slot"),
        value=details.get("value"),
        ends=bool(details.get("ends", False)),
        block=details.get("block"),
        trigger=details.get("trigger"),
        steps=tuple(details.get("steps", ())),
        valid_at=record.valid_at,
        reason="given",
    )


def _digest(record: MemoryRecord) -> str:
    """Of all that was given for a message."""
    return digest(json.dumps(plain(record), sort_keys=True, ensure_ascii=False))


def _change_summary(change: MemoryChange) -> Json:
    record = change.record
    return {
        "id": record.id,
        "memory_type": record.memory_type.value,
        "content": record.content,
        "change": change.kind,
        "reason": change.reason,
    }


def checked_metadata(metadata: Mapping[str, Any] | None) -> Json:
    """The metadata, if it consists of JSON values with text keys.

    Raises:
        InputError: it does not.
    """
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        raise InputError(f"metadata must be a mapping with text keys, not {metadata!r}")
    return {key: jsonable(value) for key, value in metadata.items()}
