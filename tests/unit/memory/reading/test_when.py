from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from agentic_rag.memory.reading.when import held_interval, since

WEDNESDAY = datetime(2024, 6, 12, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("I moved to Bergen", None),
        ("I've lived in Bergen since March 2021", "2021-03-01"),
        ("I moved to Bergen on 5 May 2023", "2023-05-05"),
        ("On November 22, 2023 I moved to Bergen", "2023-11-22"),
        ("I moved to Bergen in 2020", "2020-01-01"),
        ("I moved to Bergen in March 2023 with my dog", "2023-03-01"),
        ("I moved to Bergen in 2024", None),
        ("I moved to Bergen in June 2024", None),
        ("I moved to Bergen last week", "2024-06-10"),
        ("I moved to Bergen last month", "2024-06-01"),
        ("I moved to Bergen last year", "2024-01-01"),
        ("I moved to Bergen yesterday", "2024-06-11"),
        ("I moved to Bergen three days ago", "2024-06-09"),
        ("I moved to Bergen 2 weeks ago", "2024-05-29"),
        ("I moved to Bergen a year ago", "2023-06-12"),
        ("I finished sprint 1 on March 29", "2024-03-29"),
        ("I met her on 24 December", "2023-12-24"),
        ("My workshop is on September 15", None),
        ("It was on February 30", None),
        ("from May 10 to May 12", None),
        ("我上周搬到了上海", "2024-06-10"),
        ("我去年搬到了上海", "2024-01-01"),
        ("我三天前搬到了上海", "2024-06-09"),
        ("我2023年3月5日搬到了上海", "2023-03-05"),
        ("I moved 999 years ago", "1025-06-12"),
        ("I have 250 ms", None),
    ],
)
def test_since(clause: str, expected: str | None) -> None:
    found = since(clause, WEDNESDAY)
    assert (None if found is None else found.date().isoformat()) == expected


def test_without_a_moment_only_whole_dates_are_read() -> None:
    assert since("I moved to Bergen last week", None) is None
    assert since("I met her on 24 December", None) is None
    assert since("I moved to Bergen on 5 May 2023", None) == datetime(2023, 5, 5, tzinfo=UTC)


def test_days_are_those_of_utc() -> None:
    late = datetime(2024, 6, 12, 1, tzinfo=timezone(timedelta(hours=9)))
    assert since("I moved yesterday", late) == datetime(2024, 6, 10, tzinfo=UTC)
    assert since("I moved yesterday", datetime(2024, 6, 12, 1)) == datetime(2024, 6, 11, tzinfo=UTC)


def test_what_lies_before_the_calendar_has_no_date() -> None:
    assert since("I moved 999 years ago", datetime(900, 1, 1, tzinfo=UTC)) is None


def test_held_wants_both_ends() -> None:
    assert held_interval("I lived in Oslo from 2019 to 2021") == (
        datetime(2019, 1, 1, tzinfo=UTC),
        datetime(2022, 1, 1, tzinfo=UTC),
    )
    assert held_interval("I lived in Oslo in 2019") is None
    assert held_interval("I lived in Oslo until 2019") is None
    assert held_interval("I lived in Oslo") is None
