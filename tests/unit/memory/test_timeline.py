"""How the value of a slot changes: the laws that hold whatever is said in whatever order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain.identity import entity_key
from agentic_rag.memory.timeline import Said, ValueInterval, current, intervals

START = datetime(2024, 1, 1, tzinfo=UTC)
OSLO, BERGEN, LUND = "Oslo", "Bergen", "Lund"


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def said(
    order: int, value: str, at: int | None = None, *, since: int | None = None, ends: bool = False
) -> Said:
    """Said on a day, of a day."""
    return Said(
        evidence=f"said-{order}",
        value=value,
        text=f"{value}!",
        valid_at=None if since is None else day(since),
        said_at=None if at is None else day(at),
        order=order,
        ends=ends,
        start=0,
        end=1,
    )


def shown(values: tuple[ValueInterval, ...]) -> list[tuple[str, int | None, int | None]]:
    """Values with the days from and until which they hold."""

    def number(moment: datetime | None) -> int | None:
        return None if moment is None else (moment - START).days

    return [(one.value, number(one.valid_at), number(one.invalid_at)) for one in values]


@st.composite
def histories(draw: st.DrawFn) -> list[Said]:
    """What was said of one slot, in the order in which it was said."""
    days = st.integers(0, 20)
    number = draw(st.integers(0, 8))
    return [
        said(
            order,
            draw(st.sampled_from([OSLO, BERGEN, LUND, "oslo "])),
            draw(days),
            since=draw(st.none() | days),
            ends=draw(st.booleans()) and draw(st.booleans()),
        )
        for order in range(1, number + 1)
    ]


def test_a_value_holds_until_another_is_said():
    assert shown(intervals([said(1, OSLO, 0), said(2, BERGEN, 5)])) == [(OSLO, 0, 5), (BERGEN, 5, None)]


def test_what_is_said_again_is_confirmed():
    (only,) = intervals([said(1, OSLO, 0), said(2, "OSLO", 5)])
    assert [one.evidence for one in only.said] == ["said-1", "said-2"]
    assert (only.first.order, only.last.order, only.text) == (1, 2, "OSLO!")


def test_a_back_dated_saying_ends_nothing_that_began_after_it():
    found = intervals([said(1, OSLO, 10), said(2, BERGEN, 20, since=5)])
    assert shown(found) == [(BERGEN, 5, 10), (OSLO, 10, None)]


def test_a_value_that_is_restored_holds_twice():
    found = intervals([said(1, OSLO, 0), said(2, BERGEN, 5), said(3, OSLO, 9)])
    assert shown(found) == [(OSLO, 0, 5), (BERGEN, 5, 9), (OSLO, 9, None)]


@pytest.mark.parametrize(
    ("ending", "expected"),
    [(OSLO, [(OSLO, 0, 5)]), ("", [(OSLO, 0, 5)]), (BERGEN, [(OSLO, 0, None)])],
    ids=["its value", "whatever it was", "another value"],
)
def test_an_ending_ends_only_the_value_it_names(ending: str, expected: list[object]):
    assert shown(intervals([said(1, OSLO, 0), said(2, ending, 5, ends=True)])) == expected


def test_of_one_moment_the_later_said_wins_and_the_other_never_held():
    found = intervals([said(1, OSLO, 0), said(2, BERGEN, 0)])
    assert shown(found) == [(OSLO, 0, 0), (BERGEN, 0, None)]
    assert current(found, day(0)) == found[1]


def test_without_any_time_a_value_holds_always():
    (only,) = intervals([said(1, OSLO)])
    assert (only.valid_at, only.invalid_at, only.holds(datetime(1900, 1, 1))) == (None, None, True)


@given(histories(), st.randoms(use_true_random=False))
def test_the_order_in_which_sayings_come_in_changes_nothing(history: list[Said], random):
    shuffled = list(history)
    random.shuffle(shuffled)
    assert intervals(shuffled) == intervals(history)


@given(histories())
def test_values_follow_each_other_without_overlap(history: list[Said]):
    found = intervals(history)
    for before, after in pairwise(found):
        assert before.invalid_at is not None
        assert after.valid_at is not None
        assert before.invalid_at <= after.valid_at
    assert all(one.valid_at <= one.invalid_at for one in found if one.invalid_at is not None)


@given(histories(), st.integers(-1, 21))
def test_what_holds_is_what_was_said_last_before(history: list[Said], number: int):
    """An oracle: look at the sayings up to a moment, one after another."""
    moment = day(number) + timedelta(seconds=1)
    holds = ""
    for one in sorted(history, key=lambda one: (one.moment, one.said_at, one.order)):
        if one.moment <= moment:
            key = entity_key(one.value)
            holds = ("" if key == holds else holds) if one.ends else key
    found = current(intervals(history), moment)
    assert ("" if found is None else entity_key(found.value)) == holds


@given(histories())
def test_every_saying_that_opens_or_confirms_is_evidence_once(history: list[Said]):
    kept = [one.order for interval in intervals(history) for one in interval.said]
    assert sorted(kept) == [one.order for one in history if not one.ends]
