"""Statements and timeline together: the facts derived from generated conversations are correct at every moment."""

from __future__ import annotations

from collections import Counter, defaultdict

from agentic_rag.domain.identity import entity_key
from agentic_rag.memory.reading.statements import statements
from agentic_rag.memory.schemas import MemoryType
from agentic_rag.memory.timeline import SlotEvidence, intervals
from update_sequences import KINDS, Told, UpdateSequence, update_sequences
from value_intervals import current

Slot = tuple[str, str, str]


def sayings(told: tuple[Told, ...]) -> dict[Slot, list[SlotEvidence]]:
    by_slot: defaultdict[Slot, list[SlotEvidence]] = defaultdict(list)
    for order, one in enumerate(told):
        for stated in statements(one.text, speaker=one.speaker, at=one.at):
            if stated.memory_type is MemoryType.SEMANTIC and stated.slot is not None:
                said = SlotEvidence(
                    f"message {order}",
                    stated.value or "",
                    stated.text,
                    stated.valid_at,
                    one.at,
                    order,
                    stated.ends,
                    stated.start,
                    stated.end,
                )
                by_slot[(one.user_id, stated.subject, stated.slot)].append(said)
    return by_slot


def wrong(sequence: UpdateSequence) -> list[str]:
    by_slot = sayings(sequence.told)
    found = []
    for truth in sequence.holds:
        said = by_slot.get((truth.user_id, truth.subject, truth.slot), [])
        holding = current(intervals(said), truth.at)
        value = None if holding is None else entity_key(holding.value)
        expected = None if truth.value is None else entity_key(truth.value)
        if value != expected:
            kind = "retired" if value is None else "stale" if expected is not None else "invented"
            found.append(f"{kind}: {truth} is {value}; told {[(one.text, one.at) for one in sequence.told]}")
    return found


def test_a_thousand_update_sequences() -> None:
    sequences = update_sequences(1000, seed=28)
    assert Counter(sequence.kind for sequence in sequences) == dict.fromkeys(KINDS, 100)
    failures = [failure for sequence in sequences for failure in wrong(sequence)]
    assert failures == []


def test_what_nobody_said_fills_no_slot() -> None:
    """Distractors (plans, questions, others, the past) give no slot that the truth does not have."""
    for sequence in update_sequences(300, seed=29):
        true = {(truth.user_id, truth.subject, truth.slot) for truth in sequence.holds}
        users = {one.user_id for one in sequence.told}
        own = {slot for slot in sayings(sequence.told) if slot[1:] in {key[1:] for key in true}}
        assert own <= true
        assert {slot[0] for slot in own} <= users
