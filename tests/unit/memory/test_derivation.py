"""Facts of a message that states many."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from agentic_rag.memory import derivation
from agentic_rag.memory.derivation import slot_changes
from agentic_rag.memory.records import MemoryRecord, slot_key
from agentic_rag.memory.schemas import MemoryType


def test_the_facts_of_many_slots_are_derived_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    text, number = "likes", 500
    says: list[dict[str, Any]] = [
        {
            "subject": "Ann",
            "slot": f"likes tea {n}",
            "value": "yes",
            "ends": False,
            "start": 0,
            "end": len(text),
            "valid_at": None,
            "block": None,
        }
        for n in range(number)
    ]
    evidence = MemoryRecord(
        "said-1",
        MemoryType.EPISODIC,
        text,
        at=datetime(2026, 1, 1, tzinfo=UTC),
        details={"order": 1, "says": says},
    )
    asked = []

    def counted(subject: str, slot: str) -> str:
        asked.append(slot)
        return slot_key(subject, slot)

    monkeypatch.setattr(derivation, "slot_key", counted)
    changes, gone = slot_changes(evidence.slots, [evidence], {})
    assert (len(changes), gone) == (number, [])
    assert {change.record.details["slot"] for change in changes} == {one["slot"] for one in says}
    assert len(asked) < 10 * number
