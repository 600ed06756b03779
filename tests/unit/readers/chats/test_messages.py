"""Exported messages as documents: one a day, a turn a message, with sender and time."""

from datetime import UTC, datetime

import pytest

from agentic_rag_readers.chats.messages import UNDATED_KEY, Message, Thread, branch, days, moment, parse_day


def message(key: str, text: str, time: datetime | None = None, *attachments: str) -> Message:
    return Message(key, "Ann", time, text, attachments)


def at(day: int, hour: int) -> datetime:
    return datetime(2024, 5, day, hour, 30, tzinfo=UTC)


def test_a_message_without_a_time_is_of_the_day_before_it():
    first, last = message("1", "a"), message("4", "d", at(2, 9))
    dated, follows, silent = message("2", "b", at(1, 9)), message("3", "c"), message("5", " ", at(3, 9))
    found = days(Thread("t", "T", (first, dated, follows, last, silent)))
    assert found == {UNDATED_KEY: (first,), "2024-05-01": (dated, follows), "2024-05-02": (last,)}


def test_each_message_is_a_turn_of_its_own():
    messages = (
        message("1", "a\nb", at(1, 9)),
        Message("", "", None, "c"),
        message("3", "", at(1, 10), "x.pdf", ""),
    )
    document = parse_day("id", "p", "Trip", messages, "https://u")
    assert document.text == "Ann: a\nb\nc\nAnn: [attached: x.pdf]"
    assert (document.title, document.date, document.url) == ("Trip, 1 May 2024", at(1, 9), "https://u")
    assert [document.text[block.start : block.end] for block in document.blocks] == [
        one.line for one in messages
    ]
    assert [(block.key, block.date) for block in document.blocks] == [
        ("1", at(1, 9)),
        (None, None),
        ("3", at(1, 10)),
    ]
    assert document.blocks[0].metadata == {
        "conversation": "Trip",
        "speaker": "Ann",
        "date": "2024-05-01",
        "time": "09:30:00",
    }
    assert parse_day("id", "p", "Trip", messages[1:2], None).title == "Trip"


def test_a_branch_ends_at_what_is_missing_or_was_passed():
    parents = {"a": None, "b": "a", "c": "b", "x": "y", "y": "x", "z": "gone"}
    assert branch(parents, "c") == ["a", "b", "c"]
    assert branch(parents, "x") == ["y", "x"]
    assert branch(parents, "z") == ["z"]
    assert branch(parents, "gone") == branch(parents, None) == []


@pytest.mark.parametrize(
    "value", [0, "0", 0.0, "1970-01-01", "1970-01-01T00:00:00Z", "1970-01-01T01:00:00+01:00"]
)
def test_moments(value: object):
    assert moment(value) == datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("value", [None, True, "", "soon", float("nan"), 1e300, -1e300, "9" * 400, [], {}])
def test_what_is_no_moment(value: object):
    assert moment(value) is None
