"""Derives memory records from texts: the records that a text adds, confirms and supersedes; pure.

The facts of a slot depend on all sayings about it, in any order of arrival (see ``timeline``). Any other
statement that is repeated confirms its record instead of adding one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from agentic_rag.dates.instants import as_utc
from agentic_rag.domain.identity import digest, entity_key
from agentic_rag.domain.json_values import Json
from agentic_rag.memory.reading.schemas import MemoryStatement
from agentic_rag.memory.records import SAYS, MemoryRecord, slot_key
from agentic_rag.memory.schemas import MemoryType, moment_text
from agentic_rag.memory.timeline import SlotEvidence, ValueInterval, id_of, intervals

BLOCK_CHARACTERS = 10_000
"""Maximum characters of a core block of one user, about 2,500 tokens; the oldest lines are removed first."""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """One memory that a text made, confirmed or ended."""

    record: MemoryRecord
    kind: str
    """``new``, ``repeated``, ``superseded`` or ``ended``."""
    reason: str


def says(statements: Iterable[MemoryStatement]) -> list[Json]:
    """The statements of a text about slots, as JSON values for its evidence record.

    A value that a text states again counts once, at its last place, so that a text which repeats itself stays small.
    """
    by_value: dict[tuple[Any, ...], Json] = {}
    for one in statements:
        if one.slot is None:
            continue
        valid_at = moment_text(one.valid_at)
        key = (slot_key(one.subject, one.slot), one.value, one.ends, valid_at)
        earlier = by_value.pop(key, None)
        by_value[key] = {
            "subject": one.subject,
            "slot": one.slot,
            "value": one.value or "",
            "ends": one.ends,
            "start": one.start,
            "end": one.end,
            "valid_at": valid_at,
            "block": one.block or (earlier and earlier["block"]),
        }
    return list(by_value.values())


StatedEvidence = tuple[MemoryRecord, Mapping[str, Any]]
"""A statement about a slot as its evidence record holds it (see ``says``), after that record."""


def by_slot(evidence: Iterable[MemoryRecord]) -> dict[str, list[StatedEvidence]]:
    """All statements about slots in some evidence, in order, by the key of the slot."""
    found: dict[str, list[StatedEvidence]] = {}
    for record in evidence:
        for said in record.details.get(SAYS, ()):
            found.setdefault(slot_key(said["subject"], said["slot"]), []).append((record, said))
    return found


def _saying(record: MemoryRecord, statement: Mapping[str, Any]) -> SlotEvidence:
    return SlotEvidence(
        evidence=record.id,
        value=statement["value"],
        text=record.content[statement["start"] : statement["end"]],
        valid_at=None if statement["valid_at"] is None else datetime.fromisoformat(statement["valid_at"]),
        said_at=record.at,
        order=record.details["order"],
        ends=statement["ends"],
        start=statement["start"],
        end=statement["end"],
    )


def facts_of(statements: Sequence[StatedEvidence]) -> list[MemoryRecord]:
    """The facts of a slot from all statements about it, each with its validity interval.

    A fact about who the person is also gives a core memory with the same interval.
    """
    if not statements:
        return []
    subject, slot = statements[0][1]["subject"], statements[0][1]["slot"]
    block = next((said["block"] for _, said in statements if said["block"]), None)
    by_id = {record.id: record for record, _ in statements}
    facts = [
        _fact(subject, slot, interval, by_id[interval.evidence[-1].evidence])
        for interval in intervals(_saying(record, said) for record, said in statements)
    ]
    return facts if block is None else [one for fact in facts for one in (fact, _core_line(fact, block))]


def _core_line(fact: MemoryRecord, block: str) -> MemoryRecord:
    return replace(
        fact,
        id=f"core-{fact.id}",
        memory_type=MemoryType.CORE,
        details={**fact.details, "block": block},
    )


def _fact(subject: str, slot: str, interval: ValueInterval, latest: MemoryRecord) -> MemoryRecord:
    last = interval.evidence[-1]
    return MemoryRecord(
        id=f"fact-{id_of(subject, slot, interval)}",
        memory_type=MemoryType.SEMANTIC,
        content=last.text,
        evidence=tuple(dict.fromkeys(said.evidence for said in interval.evidence)),
        at=last.said_at,
        valid_at=interval.valid_at,
        invalid_at=interval.invalid_at,
        details={"subject": subject, "slot": slot, "value": last.value, "order": last.order},
        metadata=latest.metadata,
    )


def slot_changes(
    slots: Iterable[str], evidence: Sequence[MemoryRecord], stored_facts: Mapping[str, MemoryRecord]
) -> tuple[list[MemoryChange], list[str]]:
    """The new and changed facts of some slots, and the ids of facts that no evidence states any more.

    Args:
        slots: their keys.
        evidence: all records with statements about them.
        stored_facts: the stored facts of these slots, by id.
    """
    stated = by_slot(evidence)
    derived = {fact.id: fact for slot in slots for fact in facts_of(stated.get(slot, ()))}
    changes = [
        MemoryChange(fact, *_difference(stored_facts.get(name), fact))
        for name, fact in derived.items()
        if stored_facts.get(name) != fact
    ]
    return changes, sorted(set(stored_facts) - set(derived))


def _difference(before: MemoryRecord | None, after: MemoryRecord) -> tuple[str, str]:
    what = f"{after.details['subject']}, {after.details['slot']}: {after.details['value']}"
    if before is None:
        return "new", what
    if before.invalid_at != after.invalid_at and after.invalid_at is not None:
        return "superseded", f"{what}, until {after.invalid_at.date().isoformat()}"
    return "repeated", what


def kept_statement(
    statement: MemoryStatement, evidence: MemoryRecord, expires_at: datetime | None
) -> MemoryRecord:
    """The record of a statement without a slot; the same words give the same memory."""
    kind = statement.memory_type
    details: Json = {"order": evidence.details["order"], "subject": statement.subject}
    if statement.block is not None:
        details["block"] = statement.block
    if kind is MemoryType.PROCEDURAL:
        details |= {"trigger": statement.trigger or "", "steps": list(statement.steps)}
    if not evidence.is_of_person:
        details["person"] = False
    place = statement.block or ""
    return MemoryRecord(
        id=f"{kind.value}-{digest(place, entity_key(statement.subject), entity_key(statement.text), size=10)}",
        memory_type=kind,
        content=statement.text,
        evidence=(evidence.id,),
        at=evidence.at,
        expires_at=expires_at if kind is MemoryType.WORKING else None,
        details=details,
        metadata=evidence.metadata,
    )


def confirm(memory: MemoryRecord | None, new_memory: MemoryRecord) -> tuple[MemoryRecord, str]:
    """A memory stated again, and the kind of change: its evidence grows, and it holds again if it had ended."""
    if memory is None:
        return new_memory, "new"
    evidence = (*(one for one in memory.evidence if one not in new_memory.evidence), *new_memory.evidence)
    return replace(
        new_memory, evidence=evidence, metadata={**memory.metadata, **new_memory.metadata}
    ), "repeated"


def crowded_out(lines: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """The oldest lines of a core block, which exceed BLOCK_CHARACTERS."""
    room = BLOCK_CHARACTERS
    leaving = []
    for line in sorted(lines, key=lambda record: (-record.details["order"], record.id)):
        room -= len(line.content)
        if room < 0:
            leaving.append(line)
    return leaving


def end_record(record: MemoryRecord, at: datetime) -> MemoryRecord:
    """The record with its end at this instant."""
    begins = record.valid_at or record.at
    latest = at if begins is None or as_utc(begins) <= as_utc(at) else begins
    return replace(record, invalid_at=latest)
