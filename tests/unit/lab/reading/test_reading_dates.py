from __future__ import annotations

from datetime import date

import pytest

from agentic_rag_lab.designs.reading.dates import moment_answer, times_of
from agentic_rag_lab.designs.reading.history import read_history
from agentic_rag_lab.designs.reading.questions import read_question
from agentic_rag_lab.designs.reading.statements import bearing_statements

SAID = date(2023, 5, 25)
"""A Thursday."""


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("I went there yesterday.", "24 May 2023"),
        ("It was fun last night.", "24 May 2023"),
        ("I go tomorrow.", "26 May 2023"),
        ("I go today.", "25 May 2023"),
        ("the day before yesterday", "23 May 2023"),
        ("two days ago", "23 May 2023"),
        ("10 days ago", "15 May 2023"),
        ("last week", "The week before 25 May 2023"),
        ("last weekend", "The weekend before 25 May 2023"),
        ("next week", "The week after 25 May 2023"),
        ("this week", "The week of 25 May 2023"),
        ("two weeks ago", "Two weeks before 25 May 2023"),
        ("last Saturday", "The saturday before 25 May 2023"),
        ("on Sunday", "The sunday before 25 May 2023"),
        ("next Friday", "The friday after 25 May 2023"),
        ("last month", "April 2023"),
        ("next month", "June 2023"),
        ("this month", "May 2023"),
        ("six months ago", "November 2022"),
        ("a year ago", "2022"),
        ("three years ago", "2020"),
        ("last year", "2022"),
        ("next year", "2024"),
        ("in 2019", "2019"),
        ("in June", "June 2023"),
        ("in June 2021", "June 2021"),
        ("on 3 June", "3 June 2023"),
        ("on June 3rd, 2021", "3 June 2021"),
        ("我昨天去了公园", "2023年5月24日"),
        ("我上个月去了北京", "2023年4月"),
        ("我去年结婚了", "2022年"),
        ("我上周去了", "2023年5月15日"),
    ],
)
def test_times(sentence: str, told: str) -> None:
    assert [time.text for time in times_of(sentence, SAID)] == [told]


@pytest.mark.parametrize(
    "sentence", ["I may come.", "We march on.", "I have two days.", "the week of fashion", ""]
)
def test_what_is_no_time(sentence: str) -> None:
    assert times_of(sentence, SAID) == []


def test_the_days_behind_the_words() -> None:
    days = [
        times_of(sentence, SAID)[0].day for sentence in ("last Saturday", "next Thursday", "last Thursday")
    ]
    assert days == [date(2023, 5, 20), date(2023, 6, 1), date(2023, 5, 18)]


def test_months_go_over_the_year() -> None:
    assert times_of("next month", date(2023, 12, 31))[0].text == "January 2024"
    assert times_of("last month", date(2024, 1, 31))[0].text == "December 2023"


def test_times_come_in_their_order() -> None:
    found = times_of("I left last year and came back yesterday.", SAID)
    assert [(time.text, time.start) for time in found] == [("2022", 7), ("24 May 2023", 31)]


def test_without_a_day_only_what_needs_none_is_told() -> None:
    assert times_of("I went yesterday, last week and two weeks ago.", None) == []
    assert [time.text for time in times_of("in June 2021", None)] == ["June 2021"]


@pytest.mark.parametrize(
    ("said", "sentences"),
    [
        (date(9999, 12, 31), "tomorrow|next week|next year|next month|next Friday|明年"),
        (date(1, 1, 1), "yesterday|last week|last year|300 years ago|99 months ago"),
    ],
)
def test_the_ends_of_time_are_no_error(said: date, sentences: str) -> None:
    assert all(len(times_of(sentence, said)) <= 1 for sentence in sentences.split("|"))


@pytest.mark.parametrize(
    ("question", "history", "expected"),
    [
        ("When did Amy run?", "(2023-05-08)Amy: I ran yesterday.", "7 May 2023"),
        ("When did Amy run?", "(2023-05-08)Amy: Yesterday was great. I ran.", "7 May 2023"),
        ("When did Amy run?", "(2023-05-08)Amy: I ran.", "8 May 2023"),
        ("Which year did Amy run?", "(2023-05-08)Amy: I ran last year.", "2022"),
        ("Which year did Amy run?", "(2023-05-08)Amy: I ran.", "2023"),
        ("When did Amy run?", "Amy: I ran.", ""),
        ("Which year did Amy run?", "Amy: I ran when I was young.", ""),
        ("When did Amy run?", "(2023-05-08)Amy: I swam today.\n(2023-06-08)Amy: I ran.", "8 June 2023"),
    ],
)
def test_when(question: str, history: str, expected: str) -> None:
    told = read_history(history)
    asked = read_question(question, told.speakers)
    assert moment_answer(asked, bearing_statements(asked, told), told) == expected
