from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain.identity import entity_key
from agentic_rag.errors import InputError
from agentic_rag.memory.timeline import BEGINNING, SlotEvidence, ValueInterval, id_of, intervals
from value_intervals import current

DAY = timedelta(days=1)
START = datetime(2024, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return START + number * DAY


def said(
    value: str,
    said_on: int | None,
    *,
    valid_on: int | None = None,
    ends: bool = False,
    order: int = 0,
    evidence: str = "",
) -> SlotEvidence:
    return SlotEvidence(
        evidence or f"{value} {said_on} {order} {ends}",
        value,
        f"said {value}",
        None if valid_on is None else day(valid_on),
        None if said_on is None else day(said_on),
        order,
        ends,
        0,
        5,
    )


def shown(found: tuple[ValueInterval, ...]) -> list[tuple[str, int | None, int | None]]:
    def number(moment: datetime | None) -> int | None:
        return None if moment is None else (moment - START).days

    return [(one.value, number(one.valid_at), number(one.invalid_at)) for one in found]


TABLE: list[tuple[str, list[SlotEvidence], list[tuple[str, int | None, int | None]]]] = [
    ("nothing", [], []),
    ("one", [said("Oslo", 1)], [("Oslo", 1, None)]),
    ("changed", [said("Oslo", 1), said("Bergen", 4)], [("Oslo", 1, 4), ("Bergen", 4, None)]),
    (
        "restored",
        [said("Oslo", 1), said("Bergen", 4), said("Oslo", 8)],
        [("Oslo", 1, 4), ("Bergen", 4, 8), ("Oslo", 8, None)],
    ),
    ("repeated", [said("Oslo", 1), said("ＯＳＬＯ ", 4)], [("Oslo", 1, None)]),
    (
        "back-dated before all",
        [said("Bergen", 4), said("Oslo", 9, valid_on=1)],
        [("Oslo", 1, 4), ("Bergen", 4, None)],
    ),
    (
        "back-dated between",
        [said("Oslo", 1), said("Bergen", 8), said("Tromsø", 9, valid_on=4)],
        [("Oslo", 1, 4), ("Tromsø", 4, 8), ("Bergen", 8, None)],
    ),
    ("back-dated start of what holds", [said("Oslo", 4), said("Oslo", 9, valid_on=1)], [("Oslo", 1, None)]),
    ("announced", [said("Oslo", 1), said("Bergen", 2, valid_on=7)], [("Oslo", 1, 7), ("Bergen", 7, None)]),
    ("ended", [said("Oslo", 1), said("Oslo", 4, ends=True)], [("Oslo", 1, 4)]),
    ("another ended", [said("Oslo", 1), said("Bergen", 4, ends=True)], [("Oslo", 1, None)]),
    ("whatever it was", [said("Oslo", 1), said("", 4, ends=True)], [("Oslo", 1, 4)]),
    ("end without start", [said("Oslo", 4, ends=True), said("", 5, ends=True)], []),
    (
        "ended, then again",
        [said("Oslo", 1), said("Oslo", 4, ends=True), said("Oslo", 8)],
        [("Oslo", 1, 4), ("Oslo", 8, None)],
    ),
    (
        "same moment, later order wins",
        [said("Oslo", 1, order=2), said("Bergen", 1, order=1)],
        [("Bergen", 1, 1), ("Oslo", 1, None)],
    ),
    (
        "same moment, later said wins over order",
        [said("Oslo", 3, valid_on=1, order=1), said("Bergen", 2, valid_on=1, order=2)],
        [("Bergen", 1, 1), ("Oslo", 1, None)],
    ),
    (
        "another value at the moment of a confirmation that is said later",
        [said("Oslo", 1), said("Bergen", 4, order=1), said("Oslo", 4, order=2)],
        [("Oslo", 1, None), ("Bergen", 4, 4)],
    ),
    (
        "left and arrived at once",
        [said("Oslo", 1), said("", 4, ends=True, order=2), said("Bergen", 4, order=1)],
        [("Oslo", 1, 4), ("Bergen", 4, None)],
    ),
    (
        "begun and ended at once while another holds",
        [said("Bergen", 1), said("Oslo", 4, order=1), said("Oslo", 4, ends=True, order=2)],
        [("Bergen", 1, None), ("Oslo", 4, 4)],
    ),
    (
        "left whatever it was, and confirmed at once",
        [said("Oslo", 1), said("Oslo", 4, order=1), said("", 4, ends=True, order=2)],
        [("Oslo", 1, None)],
    ),
    (
        "begun and ended at once",
        [said("Oslo", 4, order=1), said("oslo", 4, ends=True, order=2)],
        [("Oslo", 4, 4)],
    ),
    ("without any date", [said("Oslo", None), said("Bergen", 4)], [("Oslo", None, 4), ("Bergen", 4, None)]),
    (
        "without any date, all",
        [said("Oslo", None, order=1), said("Bergen", None, order=2)],
        [("Oslo", None, (BEGINNING - START).days), ("Bergen", None, None)],
    ),
]


@pytest.mark.parametrize(
    ("given_said", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_table(given_said: list[SlotEvidence], expected: list[tuple[str, int | None, int | None]]) -> None:
    assert shown(intervals(given_said)) == expected
    assert shown(intervals(reversed(given_said))) == expected


def test_zones_are_the_same_moment() -> None:
    east = timezone(timedelta(hours=9))
    one = replace(said("Oslo", 1), said_at=datetime(2024, 1, 2, 9, tzinfo=east))
    two = replace(said("Bergen", 1), said_at=datetime(2024, 1, 2, 1))
    first, second = intervals([two, one])
    assert (first.value, first.invalid_at) == ("Oslo", datetime(2024, 1, 2, 1, tzinfo=UTC))
    assert current((first, second), datetime(2024, 1, 2, 1)) is second
    assert current((first, second), datetime(2024, 1, 2, 9, 30, tzinfo=east)) is first


def test_sayings_that_differ_only_in_how_their_moment_is_written_have_an_order() -> None:
    given_said = [said("Oslo", 1, evidence="a"), said("Oslo", 1, valid_on=1, evidence="a")]
    given_said.append(replace(given_said[0], said_at=day(1).replace(tzinfo=None)))
    assert intervals(given_said)[0].evidence == intervals(reversed(given_said))[0].evidence


def test_a_moment_outside_the_calendar_is_an_error() -> None:
    late = replace(said("Oslo", 1), said_at=datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))))
    with pytest.raises(InputError, match="outside the years"):
        intervals([late])


def test_the_words_are_those_first_said() -> None:
    (found,) = intervals([said("OSLO", 9, valid_on=1), said("Oslo", 4)])
    assert (found.value, found.valid_at, [one.value for one in found.evidence]) == (
        "Oslo",
        day(1),
        ["Oslo", "OSLO"],
    )


NUMBERS = st.integers(0, 6)
SAID = st.builds(
    said,
    st.sampled_from(["Oslo", "oslo ", "Bergen", "Tromsø", "ＯＳＬＯ"]),
    st.none() | NUMBERS,
    valid_on=st.none() | NUMBERS,
    ends=st.sampled_from([False, False, False, True]),
    order=NUMBERS,
    evidence=st.sampled_from(["a", "b", "c"]),
) | st.builds(said, st.just(""), NUMBERS, ends=st.just(True), order=NUMBERS)
SETS = st.lists(SAID, max_size=12)


@given(SETS, st.randoms())
def test_the_order_and_repetition_of_what_is_given_make_no_difference(
    sayings: list[SlotEvidence], dice: Random
) -> None:
    again = [*sayings, *sayings[:3]]
    dice.shuffle(again)
    assert intervals(again) == intervals(sayings)


@given(SETS)
def test_those_that_held_follow_each_other(sayings: list[SlotEvidence]) -> None:
    found = intervals(sayings)
    assert list(found) == sorted(found, key=lambda one: one.valid_at or BEGINNING)
    held = [one for one in found if not one.is_overruled]
    for one, following in pairwise(held):
        assert one.invalid_at is not None
        assert following.valid_at is not None
        assert one.invalid_at <= following.valid_at
        ended_there = any(
            saying.ends and saying.moment == one.invalid_at and saying.key in ("", entity_key(one.value))
            for saying in sayings
        )
        assert ended_there or (
            one.invalid_at == following.valid_at and entity_key(one.value) != entity_key(following.value)
        )


@given(SETS)
def test_every_saying_stands_in_one_interval_with_its_value(sayings: list[SlotEvidence]) -> None:
    found = intervals(sayings)
    stated = [saying for one in found for saying in one.evidence]
    assert len(stated) == len(set(stated))
    assert set(stated) == {saying for saying in sayings if not saying.ends}
    for one in found:
        assert {saying.key for saying in one.evidence} == {entity_key(one.value)}
        assert min(saying.moment for saying in one.evidence) == (one.valid_at or BEGINNING)
        end = one.invalid_at
        assert end is None or all(saying.moment <= end for saying in one.evidence)


@given(SETS, NUMBERS)
def test_what_holds_is_what_was_said_last_of_the_time_before(
    sayings: list[SlotEvidence], number: int
) -> None:
    """An oracle that goes through the sayings one by one; same moments with an end are left to the table."""
    moments = [saying.moment for saying in sayings]
    if any(saying.ends and moments.count(saying.moment) > 1 for saying in sayings):
        return
    value: str | None = None
    for saying in sorted(sayings, key=lambda one: (one.moment, one.sort_key)):
        if saying.moment <= day(number):
            if not saying.ends:
                value = saying.key
            elif saying.key in ("", value):
                value = None
    found = current(intervals(sayings), day(number))
    assert (None if found is None else entity_key(found.value)) == value


@given(SETS, st.data())
def test_forgetting_is_as_if_it_had_never_been_said(sayings: list[SlotEvidence], data: st.DataObject) -> None:
    kept = [saying for saying in sayings if data.draw(st.booleans())]
    assert intervals(saying for saying in sayings if saying in kept) == intervals(kept)


@given(SETS)
def test_ids_tell_intervals_apart(sayings: list[SlotEvidence]) -> None:
    numbered = [replace(saying, evidence=str(number)) for number, saying in enumerate(sayings)]
    ids = [id_of("Anna", "lives in", one) for one in intervals(numbered)]
    assert len(set(ids)) == len(ids)


@given(SETS, SAID)
def test_what_is_said_later_leaves_ids_as_they_are(sayings: list[SlotEvidence], one: SlotEvidence) -> None:
    later = replace(one, said_at=day(50), evidence="later")
    after = {saying: each for each in intervals([*sayings, later]) for saying in each.evidence}
    for before in intervals(sayings):
        now = after[before.evidence[0]]
        joined_to_one_said_before = (
            now.evidence[0] in sayings and now.evidence[0].sort_key < before.evidence[0].sort_key
        )
        assert (
            id_of("Anna", "lives in", now) == id_of("Anna", "lives in", before) or joined_to_one_said_before
        )


def test_ids_are_of_the_subject_and_slot() -> None:
    (one,) = intervals([said("Oslo", 1)])
    assert id_of("Anna", "lives in", one) == id_of(" ANNA", "Lives in", one)
    assert (
        len({id_of("Anna", "lives in", one), id_of("Ben", "lives in", one), id_of("Anna", "home", one)}) == 3
    )


def test_the_values_of_one_instant_are_compared_in_linear_time(monkeypatch: pytest.MonkeyPatch):
    asked = []

    def counted(name: str) -> str:
        asked.append(name)
        return entity_key(name)

    monkeypatch.setattr("agentic_rag.memory.timeline.entity_key", counted)
    found = intervals(said(f"City {number}", 0, order=number) for number in range(500))
    assert len(found) == 500
    assert [one.value for one in found if not one.is_overruled] == ["City 499"]
    assert len(asked) < 10 * 500
