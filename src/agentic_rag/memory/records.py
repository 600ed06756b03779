"""The stored form of a memory: a record, as a document of the user's own dataset, and back.

A message is an episodic record, verbatim. Every memory derived from it lists it in ``evidence``, which makes memories
auditable; forgetting the message also deletes what depends on it alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from agentic_rag.dates.instants import as_utc
from agentic_rag.dates.months import day_text
from agentic_rag.domain import Block, Chunk, Document, by_document
from agentic_rag.domain.identity import entity_key
from agentic_rag.domain.json_values import Json
from agentic_rag.memory.schemas import MemoryType, moment_text

RECORD = "record"
"""Metadata key of a chunk for the record; the record's content is the text of the chunks."""
SAYS = "says"
"""Key of a message's details for its statements about slots; see ``derivation.says``."""
TURN = "0"
"""Local key of a record's first chunk."""
CURRENT, PAST = "current", "past"


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One memory of one user."""

    id: str
    """Unique within the user."""
    memory_type: MemoryType
    content: str
    """Verbatim: the message, or its sentence that states the memory."""
    evidence: tuple[str, ...] = ()
    """Ids of the episodic records it depends on, the latest last; an episodic record lists itself."""
    at: datetime | None = None
    """Time of the latest evidence."""
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    """A fact holds if valid_at ≤ t < invalid_at; a missing bound is open."""
    expires_at: datetime | None = None
    """End of a working memory."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """JSON values of its kind: ``subject``, ``slot``, ``value``, ``order`` of a fact; ``block`` of a core memory;
    ``trigger``, ``steps`` of a procedure; ``order``, ``speaker`` and ``says`` of a message."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """JSON values, as given."""

    @property
    def slot(self) -> str | None:
        """Key of the fact's slot, by which it is superseded; None without a slot."""
        slot = self.details.get("slot")
        return None if slot is None else slot_key(str(self.details["subject"]), str(slot))

    @property
    def slots(self) -> tuple[str, ...]:
        """Keys of its slots: a fact's own, or those that a message has statements about."""
        said = (slot_key(one["subject"], one["slot"]) for one in self.details.get(SAYS, ()))
        return tuple(dict.fromkeys([*([] if self.slot is None else [self.slot]), *said]))

    @property
    def is_of_person(self) -> bool:
        """Whether a person wrote it, not an assistant."""
        return bool(self.details.get("person", True))

    def holds(self, moment: datetime | None, now: datetime) -> bool:
        """Whether the record can be found: at an instant, or (None) as of ``now``."""
        asked = as_utc(now if moment is None else moment)
        if self.expires_at is not None and as_utc(self.expires_at) <= asked:
            return False
        if moment is not None:
            begins = self.valid_at or self.at
            if begins is not None and as_utc(begins) > asked:
                return False
        return self.invalid_at is None or as_utc(self.invalid_at) > asked


def slot_key(subject: str, slot: str) -> str:
    """The key of a slot; case, width and white space of the names are ignored."""
    return f"{entity_key(slot)} of {entity_key(subject)}"


def to_document(record: MemoryRecord, now: datetime) -> Document:
    """The record as a document for the stores."""
    ended = record.invalid_at is not None and as_utc(record.invalid_at) <= now
    metadata: Json = {
        "memory_type": record.memory_type.value,
        "status": PAST if ended else CURRENT,
        RECORD: plain(record, content=False),
    }
    if record.slots:
        metadata["slot"] = list(record.slots)
    if (speaker := record.details.get("speaker")) is not None:
        metadata["speaker"] = speaker
    date = record.valid_at or record.at
    text = lead(record) + record.content
    return Document(
        id=record.id,
        path=record.id,
        title=_title(record),
        text=text,
        kind="session" if record.memory_type is MemoryType.EPISODIC else "record",
        blocks=(Block("turn", 0, len(text), key=TURN, date=date, metadata=metadata),),
        metadata=metadata,
        date=date,
    )


def lead(record: MemoryRecord) -> str:
    """Text before the stored text, also searched and embedded: a fact in few words, or ``Speaker: `` in conversations
    between people."""
    if record.slot is not None:
        subject, slot, value = (str(record.details[name]) for name in ("subject", "slot", "value"))
        return f"{subject} {slot}: {value}. "
    speaker = record.metadata.get("speaker")
    return f"{speaker}: " if isinstance(speaker, str) and "role" not in record.metadata else ""


def _title(record: MemoryRecord) -> str:
    """The day, in conversations between people; else ""."""
    at = record.at
    people = record.slot is None and lead(record)
    return "" if at is None or not people else day_text(at)


def from_chunks(chunks: Iterable[Chunk]) -> list[MemoryRecord]:
    """The records of all chunks of some documents, in order of their ids."""
    return list(map(whole_record, by_document(chunks).values()))


def whole_record(parts: Sequence[Chunk]) -> MemoryRecord:
    """The record of all chunks of its document, in their order."""
    record = _without_lead(parts[0], "".join(chunk.text for chunk in parts))
    if SAYS not in record.details:
        return record
    statements = [one for chunk in parts for one in chunk.metadata[RECORD]["details"][SAYS]]
    return replace(record, details={**record.details, SAYS: statements})


def of_chunk(chunk: Chunk) -> MemoryRecord:
    """The record of a chunk, with the text of this chunk only, and its statements."""
    return _without_lead(chunk, chunk.text)


def with_own_statements(chunk: Chunk, record: MemoryRecord) -> Chunk:
    """The chunk of a message with the statements that begin in it: what is stored of a message grows with its text, not
    with its text times its statements."""
    if SAYS not in record.details:
        return chunk
    before = len(lead(record))
    own = [one for one in record.details[SAYS] if chunk.start <= one["start"] + before < chunk.end]
    stored = chunk.metadata[RECORD]
    return replace(
        chunk,
        metadata={**chunk.metadata, RECORD: {**stored, "details": {**stored["details"], SAYS: own}}},
    )


def _without_lead(chunk: Chunk, text: str) -> MemoryRecord:
    record = from_plain({**chunk.metadata[RECORD], "content": text})
    return record if chunk.ordinal else replace(record, content=text[len(lead(record)) :])


def plain(record: MemoryRecord, *, content: bool = True) -> Json:
    """The record as JSON values; ``from_plain`` reads them."""
    values: Json = {
        "id": record.id,
        "memory_type": record.memory_type.value,
        "evidence": list(record.evidence),
        "details": dict(record.details),
        "metadata": dict(record.metadata),
    }
    for name in _MOMENTS:
        if (moment := getattr(record, name)) is not None:
            values[name] = moment_text(moment)
    return {**values, "content": record.content} if content else values


def from_plain(values: Mapping[str, Any]) -> MemoryRecord:
    """The record in JSON values from ``plain``.

    Raises:
        KeyError, ValueError, TypeError: the values are no record.
    """
    moments = {name: datetime.fromisoformat(values[name]) for name in _MOMENTS if values.get(name)}
    return MemoryRecord(
        id=values["id"],
        memory_type=MemoryType(values["memory_type"]),
        content=values["content"],
        evidence=tuple(values["evidence"]),
        details=values["details"],
        metadata=values["metadata"],
        **moments,
    )


def without(record: MemoryRecord, removed_ids: frozenset[str]) -> MemoryRecord | None:
    """The record without the deleted evidence; None if no evidence remains."""
    kept = tuple(one for one in record.evidence if one not in removed_ids)
    return replace(record, evidence=kept) if kept else None


_MOMENTS = ("at", "valid_at", "invalid_at", "expires_at")
