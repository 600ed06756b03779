"""Numbers, superlatives, negation and states that a question states in words."""

from __future__ import annotations

import pytest

from agentic_rag.questions.comparisons import MARKS, comparisons, extreme, free, negation_before, state
from agentic_rag.questions.words import Place


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
        ("between 3 and 5", (3.0, 5.0, "")),
        ("rated 3 to 5", (3.0, 5.0, "")),
        ("3-5 stars", (3.0, 5.0, "stars")),
        ("from 10 to 20 dollars", (10.0, 20.0, "dollars")),
        ("between 20 and 8 pages", (8.0, 20.0, "pages")),
        ("3到5星", (3.0, 5.0, "星")),
        ("在3和5之间", (3.0, 5.0, "")),
        ("pages 3-5", None),
        ("2024-03-15", None),
        ("3到5月", None),
        ("2021 and 2023", None),
    ],
)
def test_ranges(text: str, expected: tuple[float, float, str] | None):
    found = [(one.value, one.upper, one.unit) for one in comparisons(text) if one.upper is not None]
    assert found == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("text", "values"),
    [("rated 4 or 5", (4.0, 5.0)), ("3, 4 or 5 stars", (3.0, 4.0, 5.0)), ("4 and 5", None)],
)
def test_one_of_several_values(text: str, values: tuple[float, ...] | None):
    found = [(one.value, *one.others) for one in comparisons(text) if one.others]
    assert found == ([] if values is None else [values])


@pytest.mark.parametrize(
    ("text", "value"),
    [("难度是1？", 1.0), ("难度为三的菜", 3.0), ("难度1的", 1.0), ("评分等于5", 5.0), ("第3章", None), ("3年", None), ("三菜", None)],
)  # fmt: skip
def test_a_number_right_behind_a_chinese_word_is_equal_to_it(text: str, value: float | None):
    found = [(one.operator, one.value) for one in comparisons(text)]
    assert found == ([] if value is None else [("$eq", value)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("larger than 15", ("$gt", "size")),
        ("more expensive than 30", ("$gt", "price")),
        ("heavier than 2", ("$gt", "weight")),
        ("shorter than 90", ("$lt", "duration")),
        ("比30贵", ("$gt", "price")),
        ("比2公斤轻", ("$lt", "weight")),
        ("more than 20", ("$gt", "")),
        ("大于3", ("$gt", "")),
    ],
)
def test_what_a_comparative_compares(text: str, expected: tuple[str, str]):
    assert [(one.operator, one.concept) for one in comparisons(text)] == [expected]


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
    place = negation_before(text, Place(at, at + len(name)))
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
