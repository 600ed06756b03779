"""The generator of histories and its oracle; and that the timeline of facts, which shares no code with it, agrees."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.memory.timeline import SlotEvidence, intervals
from value_intervals import current

sys.path.append(str(Path(__file__).parents[3] / "evaluation"))
generator = import_module("memory_histories")
HOME = generator.FAMILIES[0]
COUNT = 1_000


def said(value: str, month: int, form: str = "state", *, person: str = "Ada Bede", user: int = 0) -> Any:
    at = datetime(2021, month, 1, tzinfo=UTC)
    return generator.Event(user, person, HOME, value, at, at, form)


@pytest.mark.parametrize(
    ("events", "month", "expected"),
    [
        ([], 5, None),
        ([said("Oslo", 3)], 2, None),
        ([said("Oslo", 3)], 3, "Oslo"),
        ([said("Oslo", 3), said("Lima", 5)], 4, "Oslo"),
        ([said("Lima", 5), said("Oslo", 3)], 6, "Lima"),
        ([said("Oslo", 3), said("Oslo", 5, "ends")], 6, None),
        ([said("Oslo", 3), said("Lima", 4), said("Oslo", 5, "ends")], 6, "Lima"),
        ([said("Oslo", 3), said("Oslo", 4, "ends"), said("Oslo", 5)], 6, "Oslo"),
        ([said("Oslo", 3), said("Lima", 4, "other"), said("Lima", 5, "nothing")], 6, "Oslo"),
        ([said("Oslo", 3), said("Lima", 4, person="Eve Bede"), said("Lima", 5, user=1)], 6, "Oslo"),
    ],
)
def test_what_holds_at_a_moment(events: list[Any], month: int, expected: str | None) -> None:
    key = (0, "Ada Bede", HOME.slot)
    assert generator.value_at(events, key, datetime(2021, month, 1, tzinfo=UTC)) == expected


def test_histories_are_the_same_each_time_and_of_every_kind() -> None:
    made = list(generator.histories(COUNT, 28))
    assert made == list(generator.histories(COUNT, 28))
    assert made != list(generator.histories(COUNT, 29))
    counts = Counter(history.kind for history in made)
    assert set(counts) == set(generator.KINDS)
    assert min(counts.values()) >= COUNT // len(generator.KINDS)
    assert {event.form for history in made for event in history.events} == set(generator.FORMS)


def test_no_two_changes_of_a_slot_are_at_one_moment_and_no_two_histories_share_a_slot() -> None:
    events = [event for history in generator.histories(COUNT, 28) for event in history.events if event.counts]
    assert len({(event.key, event.valid_at) for event in events}) == len(events)
    assert len({history.key for history in generator.histories(COUNT, 28)}) == COUNT


def test_the_timeline_agrees_with_the_oracle_on_both_sides_of_each_change() -> None:
    second = timedelta(seconds=1)
    for history in generator.histories(COUNT, 28):
        key = history.key
        own = [event for event in history.events if event.key == key and event.counts]
        timeline = intervals(
            SlotEvidence(str(n), one.value, one.text, one.valid_at, one.said_at, n, one.form == "ends", 0, 1)
            for n, one in enumerate(own)
        )
        for change in generator.changes(history.events, key):
            for moment in (change - second, change, change + second):
                held = current(timeline, moment)
                assert (held and held.value) == generator.value_at(history.events, key, moment)
