"""The one span of days that a question names."""

from __future__ import annotations

from datetime import date

import pytest

from agentic_rag.questions.times import named_time

TODAY = date(2024, 6, 30)
DAYS = (date(2023, 3, 15), date(2024, 3, 15), date(2024, 4, 2))


@pytest.mark.parametrize(
    ("question", "start", "end", "written"),
    [
        ("What did I do on 2024-03-15?", "2024-03-15", "2024-03-16", "on 2024-03-15"),
        ("on 15.3.2024", "2024-03-15", "2024-03-16", "on 15.3.2024"),
        ("What did I do in 2024?", "2024-01-01", "2025-01-01", "in 2024"),
        ("between 8 and 12 April 2024", "2024-04-08", "2024-04-13", "between 8 and 12 April 2024"),
        ("before March 2024", None, "2024-03-01", "before March 2024"),
        ("since 2023", "2023-01-01", None, "since 2023"),
        ("yesterday", "2024-06-29", "2024-06-30", "yesterday"),
        ("last week", "2024-06-17", "2024-06-24", "last week"),
        ("2024年4月我做了什么", "2024-04-01", "2024-05-01", "2024年4月"),
        ("2023年我做了什么", "2023-01-01", "2024-01-01", "2023年"),
        ("去年三月", "2023-03-01", "2023-04-01", "去年三月"),
        # without a year: the latest that has a note
        ("What did I do on March 15th?", "2024-03-15", "2024-03-16", "on March 15th"),
    ],
)
def test_a_span_that_is_named(question: str, start: str | None, end: str | None, written: str):
    time = named_time(question, TODAY, DAYS)
    assert time is not None
    assert (time.start, time.end) == (start, end)
    assert question[time.span.start : time.span.end] == written


@pytest.mark.parametrize(
    "question",
    [
        "",
        "no date",
        "the 2018 World Cup",
        "in March, or what about May 2024?",
        "after May 2024 and before March 2024",
        "on December 24th",
        "2024-13-45",
        "\ud800",
    ],
)
def test_none_or_several_spans_are_no_time(question: str):
    assert named_time(question, TODAY, DAYS) is None


@pytest.mark.parametrize(
    ("question", "parts", "written"),
    [
        ("What did I do in March and in May 2024?", [("2024-03-01", "2024-04-01"), ("2024-05-01", "2024-06-01")],
         "in March and in May 2024"),
        ("in January 2023 and March", [("2023-01-01", "2023-02-01"), ("2023-03-01", "2023-04-01")],
         "in January 2023 and March"),
        ("2024年3月和5月我做了什么？", [("2024-03-01", "2024-04-01"), ("2024-05-01", "2024-06-01")], "2024年3月和5月"),
        ("on March 15th or April 2nd", [("2024-03-15", "2024-03-16"), ("2024-04-02", "2024-04-03")],
         "on March 15th or April 2nd"),
        ("in 2021 and 2023", [("2021-01-01", "2022-01-01"), ("2023-01-01", "2024-01-01")], "in 2021 and 2023"),
    ],
)  # fmt: skip
def test_spans_that_are_named_together(question: str, parts: list[tuple[str, str]], written: str):
    time = named_time(question, TODAY, DAYS)
    assert time is not None
    assert list(time.parts) == parts
    assert (time.start, time.end) == (parts[0][0], parts[-1][1])
    assert question[time.span.start : time.span.end] == written


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("in 2023 and 2024", "2023-01-01", "2025-01-01"),
        ("2024年3月和4月", "2024-03-01", "2024-05-01"),
        ("after March 2023 and before May 2024", "2023-04-01", "2024-05-01"),
    ],
)
def test_spans_that_meet_or_bound_each_other_are_one(question: str, start: str, end: str):
    time = named_time(question, TODAY, DAYS)
    assert time is not None
    assert (time.start, time.end, time.parts) == (start, end, ())
