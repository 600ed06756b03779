"""Numbers, superlatives, negation and states that a question states in words."""

from __future__ import annotations

import pytest

from agentic_rag.questions.comparisons import MARKS, comparisons, extreme, free, negated, state
from agentic_rag.questions.words import Span


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("more than 20 dollars", [("$gt", 20.0, "dollars")]),
        ("over $30", [("$gt", 30.0, "$")]),
        ("> 20", [("$gt", 20.0, "")]),
        ("cheaper than 9.99 €", [("$lt", 9.99, "€")]),
        ("under 1,000 pages", [("$lt", 1000.0, "pages")]),
        ("at least 4 stars", [("$gte", 4.0, "stars")]),
        ("20 or more", [("$gte", 20.0, "")]),
        ("no more than 3", [("$lte", 3.0, "")]),
        ("rated 5", [("$eq", 5.0, "")]),
        ("5/5", [("$eq", "5/5", "")]),
        ("5 / 5", [("$eq", "5/5", "")]),
        ("four-star hotels", [("$eq", 4.0, "stars")]),
        ("50%", [("$eq", 50.0, "%")]),
        ("超过20元", [("$gt", 20.0, "元")]),
        ("多于3万元", [("$gt", 30_000.0, "元")]),
        ("不到一百页", [("$lt", 100.0, "页")]),
        ("至少三星", [("$gte", 3.0, "星")]),
        ("20分钟以内", [("$lte", 20.0, "分钟")]),
        ("mehr als 3", [("$gt", 3.0, "")]),
        ("over 3 pages, under 9", [("$gt", 3.0, "pages"), ("$lt", 9.0, "")]),
        ("2024-03-15", []),
        ("v2.10", []),
        ("two books", []),
        ("more than enough", []),
        ("", []),
    ],
)
def test_numbers_with_their_direction(text: str, expected: list[tuple[str, float | str, str]]):
    found = comparisons(text)
    assert [(one.operator, one.value, one.unit) for one in found] == expected
    assert all(0 <= one.span.start < one.span.end <= len(text) for one in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the most expensive game", ("price", True)),
        ("最便宜的", ("price", False)),
        ("newest note", ("date", True)),
        ("most recent note", ("date", True)),
        ("oldest", ("date", False)),
        ("longest film", ("duration", True)),
        ("best-rated", ("rating", True)),
        ("评分最低", ("rating", False)),
        ("largest room", ("size", True)),
        ("fewest pages", ("size", False)),
        ("älteste Notiz", ("date", False)),
        ("almost", None),
        ("blast", None),
        ("", None),
    ],
)
def test_superlatives(text: str, expected: tuple[str, bool] | None):
    found = extreme(text)
    assert (None if found is None else (found.concept, found.largest)) == expected


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("free games", "free"),
        ("games for free", "for free"),
        ("免费的游戏", "免费"),
        ("freedom", None),
        ("sugar-free cake", None),
        ("free-form", None),
        ("", None),
    ],
)
def test_what_costs_nothing(text: str, written: str | None):
    place = free(text)
    assert (None if place is None else text[place.start : place.end]) == written


@pytest.mark.parametrize(
    ("text", "name", "negation"),
    [
        ("not on Steam", "Steam", "not"),
        ("without alcohol", "alcohol", "without"),
        ("other than Steam", "Steam", "other than"),
        ("不含酒精", "酒精", "不含"),
        ("on Steam", "Steam", None),
        ("nothing finished", "finished", None),
        ("not the games of last year with alcohol", "alcohol", None),
        ("Steam and not Switch", "Steam", None),
    ],
)
def test_a_negation_is_right_before_what_it_negates(text: str, name: str, negation: str | None):
    at = text.index(name)
    place = negated(text, Span(at, at + len(name)))
    assert (None if place is None else text[place.start : place.end]) == negation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("still open", "open"),
        ("not done yet", "open"),
        ("unread books", "open"),
        ("未完成", "open"),
        ("没做的", "open"),
        ("in progress", "doing"),
        ("正在做", "doing"),
        ("cancelled", "cancelled"),
        ("already done", "done"),
        ("已完成", "done"),
        ("opened", None),
        ("abandon", None),
        ("", None),
    ],
)
def test_the_state_of_tasks(text: str, expected: str | None):
    found = state(text)
    assert (None if found is None else found[0]) == expected
    assert found is None or found[0] in MARKS
