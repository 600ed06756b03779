"""The reader: every form of a date, what is none, relations, ranges, and properties."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.dates.months import MONTHS
from agentic_rag.dates.reading import day_of, moment_in, read_spans
from agentic_rag.dates.spans import Span
from growth import assert_linear

TODAY = date(2024, 6, 12)
"""A Wednesday."""


def spans(text: str, today: date | None = None) -> list[str]:
    return [str(dated.span) for dated in read_spans(text, today=today)]


@pytest.mark.parametrize(
    "text",
    [
        "March 15th, 2024", "March 15, 2024", "Mar 15 2024", "Mar. 15, 2024", "march 15 2024", "MARCH 15 2024", "March the 15th, 2024",
        "15 March 2024", "15th of March 2024", "the 15th of March, 2024", "15 Mar 2024", "15-Mar-2024", "March-15-2024", "15 March of 2024",
        "Friday, March 15th, 2024", "Fri 15 March 2024", "the fifteenth of March 2024", "March fifteenth 2024", "fifteenth March 2024",
        "March 15 in the year 2024", "15. März 2024", "15 märz 2024",
        "2024-03-15", "2024/3/15", "2024/03/15", "2024.03.15", "2024_03_15", "2024-3-15", "15.3.2024", "15.03.2024", "15. 3. 2024",
        "3/15/2024", "03/15/2024", "15/3/2024", "15-03-2024", "2024-W11-5", "2024-03-15T10:30",
        "2024年3月15日", "2024年03月15号", "2024 年 3 月 15 日", "2024年3月15號", "二〇二四年三月十五日", "二零二四年三月十五号", "２０２４年３月１５日",
    ],
)  # fmt: skip
@pytest.mark.parametrize("around", ["{}", "What did I do on {}?", "我在{}做了什么？", "({}) [x]"])
def test_a_day_is_read_in_every_form(text: str, around: str) -> None:
    (dated,) = read_spans(around.format(text))
    assert (str(dated.span), dated.precision, dated.relation) == ("2024-03-15", "day", "in")


@pytest.mark.parametrize(
    ("text", "span", "precision"),
    [
        ("5.1.2024", "2024-01-05", "day"),
        ("3/3/2024", "2024-03-03", "day"),
        ("the thirty-first of January 2024", "2024-01-31", "day"),
        ("twenty second December 2024", "2024-12-22", "day"),
        ("5. Oktober 2023", "2023-10-05", "day"),
        ("29 February 2024", "2024-02-29", "day"),
        ("2024-03", "2024-03-01 to 2024-03-31", "month"),
        ("03/2024", "2024-03-01 to 2024-03-31", "month"),
        ("March 2024", "2024-03-01 to 2024-03-31", "month"),
        ("March, 2024", "2024-03-01 to 2024-03-31", "month"),
        ("the month of March of 2024", "2024-03-01 to 2024-03-31", "month"),
        ("Dez 2024", "2024-12-01 to 2024-12-31", "month"),
        ("2024年3月", "2024-03-01 to 2024-03-31", "month"),
        ("2024年3月份", "2024-03-01 to 2024-03-31", "month"),
        ("二〇二四年十二月", "2024-12-01 to 2024-12-31", "month"),
        ("2024-W18", "2024-04-29 to 2024-05-05", "week"),
        ("2024W18", "2024-04-29 to 2024-05-05", "week"),
        ("week 18 of 2024", "2024-04-29 to 2024-05-05", "week"),
        ("calendar week 18, 2024", "2024-04-29 to 2024-05-05", "week"),
        ("KW 18 2024", "2024-04-29 to 2024-05-05", "week"),
        ("2024, week 18", "2024-04-29 to 2024-05-05", "week"),
        ("2024年第18周", "2024-04-29 to 2024-05-05", "week"),
        ("2024年第十八周", "2024-04-29 to 2024-05-05", "week"),
        ("spring 2024", "2024-03-01 to 2024-05-31", "season/part"),
        ("the first half of 2024", "2024-01-01 to 2024-06-30", "season/part"),
        ("the third quarter of 2024", "2024-07-01 to 2024-09-30", "season/part"),
        ("Q2 2024", "2024-04-01 to 2024-06-30", "season/part"),
        ("2024-Q2", "2024-04-01 to 2024-06-30", "season/part"),
        ("2025上半年", "2025-01-01 to 2025-06-30", "season/part"),
        ("2024年秋天", "2024-09-01 to 2024-11-30", "season/part"),
        ("2024年第二季度", "2024-04-01 to 2024-06-30", "season/part"),
        ("2024", "2024-01-01 to 2024-12-31", "year"),
        ("in 2024", "2024-01-01 to 2024-12-31", "year"),
        ("my goals for 2024?", "2024-01-01 to 2024-12-31", "year"),
        ("in the year 2024", "2024-01-01 to 2024-12-31", "year"),
        ("2024年", "2024-01-01 to 2024-12-31", "year"),
        ("二〇二四年我做了什么", "2024-01-01 to 2024-12-31", "year"),
    ],
)  # fmt: skip
def test_other_precisions(text: str, span: str, precision: str) -> None:
    (dated,) = read_spans(text)
    assert (str(dated.span), dated.precision) == (span, precision)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("between 8 and 12 April 2024", "2024-04-08 to 2024-04-12"),
        ("between the 8th and the 12th of April 2024", "2024-04-08 to 2024-04-12"),
        ("between April 8 and April 12, 2024", "2024-04-08 to 2024-04-12"),
        ("between April 8 and 12, 2024", "2024-04-08 to 2024-04-12"),
        ("from 24 to 28 January 2022", "2022-01-24 to 2022-01-28"),
        ("from 24 January to 28 February 2022", "2022-01-24 to 2022-02-28"),
        ("from January 24 through January 28, 2022", "2022-01-24 to 2022-01-28"),
        ("April 8-12, 2024", "2024-04-08 to 2024-04-12"),
        ("8–12 April 2024", "2024-04-08 to 2024-04-12"),
        ("2024-04-08 to 2024-04-12", "2024-04-08 to 2024-04-12"),
        ("2024-04-08–2024-04-12", "2024-04-08 to 2024-04-12"),
        ("8.4.2024 - 12.4.2024", "2024-04-08 to 2024-04-12"),
        ("from March 2023 to June 2024", "2023-03-01 to 2024-06-30"),
        ("from March to June 2024", "2024-03-01 to 2024-06-30"),
        ("between March and June 2024", "2024-03-01 to 2024-06-30"),
        ("from December to January 2024", "2023-12-01 to 2024-01-31"),
        ("from December 2023 to January", "2023-12-01 to 2024-01-31"),
        ("2021 to 2023", "2021-01-01 to 2023-12-31"),
        ("2021–2023", "2021-01-01 to 2023-12-31"),
        ("week 18 of 2024 to week 20 of 2024", "2024-04-29 to 2024-05-19"),
        ("2024年4月8日到12日", "2024-04-08 to 2024-04-12"),
        ("2024年4月8日至4月12日", "2024-04-08 to 2024-04-12"),
        ("从2024年4月8日到2024年5月12日", "2024-04-08 to 2024-05-12"),
        ("2024年4月8日和12日之间", "2024-04-08 to 2024-04-12"),
        ("2024年三月到五月", "2024-03-01 to 2024-05-31"),
    ],
)
def test_ranges_run_to_the_end_of_their_last_date(text: str, span: str) -> None:
    (dated,) = read_spans(f"{text}?")
    assert (str(dated.span), dated.relation) == (span, "between")


@pytest.mark.parametrize(
    ("text", "relation", "span"),
    [
        ("before March 2024", "before", "before 2024-03-01"),
        ("prior to March 5th, 2024", "before", "before 2024-03-05"),
        ("before the fifth of March 2024", "before", "before 2024-03-05"),
        ("before 2024", "before", "before 2024-01-01"),
        ("after March 2024", "after", "since 2024-04-01"),
        ("later than 5.3.2024", "after", "since 2024-03-06"),
        ("since March 2024", "since", "since 2024-03-01"),
        ("from 2024 onwards", "since", "since 2024-01-01"),
        ("from 5 March 2024 on", "since", "since 2024-03-05"),
        ("from 2024 to the present", "since", "since 2024-01-01"),
        ("until March 2024", "until", "before 2024-04-01"),
        ("up to March 5, 2024", "until", "before 2024-03-06"),
        ("by 2024", "until", "before 2025-01-01"),
        ("2024年三月以前", "before", "before 2024-03-01"),
        ("2024年三月之前", "before", "before 2024-03-01"),
        ("2024年三月前", "before", "before 2024-03-01"),
        ("早于2024年3月5日", "before", "before 2024-03-05"),
        ("2024年三月以后", "after", "since 2024-04-01"),
        ("2024年三月之后", "after", "since 2024-04-01"),
        ("2024年三月以来", "since", "since 2024-03-01"),
        ("从2024年三月", "since", "since 2024-03-01"),
        ("2024年三月至今", "since", "since 2024-03-01"),
        ("直到2024年三月", "until", "before 2024-04-01"),
        ("到2024年三月为止", "until", "before 2024-04-01"),
    ],
)
def test_open_spans(text: str, relation: str, span: str) -> None:
    (dated,) = read_spans(text)
    assert (dated.relation, str(dated.span)) == (relation, span)
    assert (dated.start, dated.end) == (0, len(text))


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("today", "2024-06-12"), ("yesterday", "2024-06-11"), ("tomorrow", "2024-06-13"), ("the day before yesterday", "2024-06-10"),
        ("last week", "2024-06-03 to 2024-06-09"), ("this week", "2024-06-10 to 2024-06-16"), ("next week", "2024-06-17 to 2024-06-23"),
        ("last month", "2024-05-01 to 2024-05-31"), ("this month", "2024-06-01 to 2024-06-30"), ("next month", "2024-07-01 to 2024-07-31"),
        ("last year", "2023-01-01 to 2023-12-31"), ("this year", "2024-01-01 to 2024-12-31"), ("next year", "2025-01-01 to 2025-12-31"),
        ("last March", "2024-03-01 to 2024-03-31"), ("last June", "2023-06-01 to 2023-06-30"), ("next May", "2025-05-01 to 2025-05-31"),
        ("last Monday", "2024-06-10"), ("last Wednesday", "2024-06-05"), ("next Friday", "2024-06-14"), ("this Friday", "2024-06-14"),
        ("3 days ago", "2024-06-09"), ("a week ago", "2024-06-03 to 2024-06-09"), ("two months ago", "2024-04-01 to 2024-04-30"),
        ("7 months ago", "2023-11-01 to 2023-11-30"), ("two years ago", "2022-01-01 to 2022-12-31"), ("the last 3 days", "2024-06-09 to 2024-06-12"),
        ("今天", "2024-06-12"), ("昨天", "2024-06-11"), ("前天", "2024-06-10"), ("昨晚", "2024-06-11"), ("后天", "2024-06-14"),
        ("上周", "2024-06-03 to 2024-06-09"), ("上个星期", "2024-06-03 to 2024-06-09"), ("本周", "2024-06-10 to 2024-06-16"), ("上上周", "2024-05-27 to 2024-06-02"),
        ("上个月", "2024-05-01 to 2024-05-31"), ("上周三", "2024-06-05"), ("去年", "2023-01-01 to 2023-12-31"), ("今年", "2024-01-01 to 2024-12-31"),
        ("去年三月", "2023-03-01 to 2023-03-31"), ("去年3月5日", "2023-03-05"), ("前年", "2022-01-01 to 2022-12-31"), ("三天前", "2024-06-09"),
        ("两周前", "2024-05-27 to 2024-06-02"), ("过去三天", "2024-06-09 to 2024-06-12"),
        ("5 Jan", "2024-01-05"), ("March 15", "2024-03-15"), ("on the fifth of January", "2024-01-05"), ("24 December", "2023-12-24"),
        ("on june 12", "2024-06-12"), ("June 13th", "2023-06-13"), ("in March", "2024-03-01 to 2024-03-31"), ("in July", "2023-07-01 to 2023-07-31"),
        ("3月15日", "2024-03-15"), ("十二月", "2023-12-01 to 2023-12-31"), ("29 February", "2024-02-29"), ("4月8日至12日", "2024-04-08 to 2024-04-12"),
        ("between 8 and 12 April", "2024-04-08 to 2024-04-12"), ("since March", "since 2024-03-01"), ("before last March", "before 2024-03-01"),
        ("since last Monday", "since 2024-06-10"), ("from March 2024 to today", "2024-03-01 to 2024-06-12"),
        ("from December to January", "2023-12-01 to 2024-01-31"),
    ],
)  # fmt: skip
def test_dates_that_need_today(text: str, span: str) -> None:
    assert spans(f"{text}?", TODAY) == [span]


@pytest.mark.parametrize(
    "text",
    ["last week", "yesterday", "last March", "next Friday", "3 days ago", "去年三月", "上周三", "before May"],
)
def test_without_today_they_are_none(text: str) -> None:
    assert read_spans(text) == []


@pytest.mark.parametrize(
    ("text", "yearless"),
    [
        ("March 15", ((3, 15), (3, 15))),
        ("5 Jan", ((1, 5), (1, 5))),
        ("the fifth of January", ((1, 5), (1, 5))),
        ("3月15日", ((3, 15), (3, 15))),
        ("in March", ((3, 1), (3, 31))),
        ("4月8日至12日", ((4, 8), (4, 12))),
        ("from December 20 to January 5", ((12, 20), (1, 5))),
    ],
)
def test_a_day_without_a_year_is_of_any_year(text: str, yearless: object) -> None:
    (dated,) = read_spans(text)
    assert (dated.span, dated.yearless) == (Span(None, None), yearless)


def test_what_a_date_covers() -> None:
    (over_the_year,) = read_spans("from December 20 to January 5")
    assert [over_the_year.covers(date(2021, *day)) for day in ((12, 19), (12, 20), (1, 5), (1, 6))] == [False, True, True, False]  # fmt: skip
    (before,) = read_spans("before March 2024")
    assert [before.covers(date(2024, 2, 29)), before.covers(date(2024, 3, 1))] == [True, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in March and April 2024", ["2024-03-01 to 2024-03-31", "2024-04-01 to 2024-04-30"]),
        ("on 8 and 12 April 2024", ["2024-04-08", "2024-04-12"]),
        ("in 2021, 2022 and 2023", ["2021-01-01 to 2021-12-31", "2022-01-01 to 2022-12-31", "2023-01-01 to 2023-12-31"]),
        ("before 2000 or after 2010", ["before 2000-01-01", "since 2011-01-01"]),
        ("2024年三月和四月", ["2024-03-01 to 2024-03-31", "2024-04-01 to 2024-04-30"]),
        ("5.1.2024, 2024-03-15 and 3月15日", ["2024-01-05", "2024-03-15", "2024-03-15"]),
    ],
)  # fmt: skip
def test_several_dates_are_several(text: str, expected: list[str]) -> None:
    assert spans(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "no date", "2024-02-30", "31.4.2024", "29 February 2023", "week 60 of 2024", "2024-W54", "2023年13月", "2024年2月30日",
        "the thirty-first of April 2024", "3/4/2024", "2024/13/05", "from 1990 to 1980",
        "in 2000 houses", "above 2000", "$2000", "€ 2000", "2024 users", "it costs 2000.", "sold for 1500", "in 2000%", "1,994 cases", "v1.2024",
        "a total of 2000", "in 1994-style", "room 2024-B", "version 3.1.2024.7", "see /2024/03/05/note.md", "in 1994 BC",
        "early 2024", "in early March 2024", "mid-2024", "late 2024", "the day before 15 March 2024", "around 2024-03", "circa 1994", "the end of March 2024",
        "2024年底", "2024年初", "约2024年", "2016年前后", "2023年前三个月", "有2000年历史", "1990年代", "in the 1990s",
        "I may go", "the 5 may go", "march on", "3个月", "Mayor 2", "decide 5", "the summer 2016 Olympics", "2014年冬奥会", "ISBN 978-2024-03-15",
    ],
)  # fmt: skip
def test_what_is_no_date(text: str) -> None:
    assert read_spans(text, today=None) == []


FORMS = {
    "iso": lambda day: day.isoformat(),
    "slashes": lambda day: f"{day.year}/{day.month}/{day.day}",
    "dots": lambda day: f"{day.day}.{day.month}.{day.year}",
    "american": lambda day: f"{MONTHS[day.month - 1]} {day.day}, {day.year}",
    "short": lambda day: f"{day.day} {MONTHS[day.month - 1][:3]} {day.year}",
    "ordinal": lambda day: f"the {day.day}th of {MONTHS[day.month - 1]} {day.year}",
    "week": lambda day: "{}-W{:02}-{}".format(*day.isocalendar()),
    "han": lambda day: f"{day.year}年{day.month}月{day.day}日",
    "numerals": lambda day: f"{''.join('〇一二三四五六七八九'[int(digit)] for digit in str(day.year))}年{han(day.month)}月{han(day.day)}日",
}  # fmt: skip


def han(number: int) -> str:
    tens, ones = divmod(number, 10)
    return (
        ("" if tens < 2 else "一二三"[tens - 1])
        + ("十" if tens else "")
        + " 一二三四五六七八九"[ones].strip()
    )


@pytest.mark.parametrize("form", FORMS)
@given(day=st.dates(date(1000, 1, 9), date(2099, 12, 20)))
def test_a_day_is_read_back_as_exactly_that_day(form: str, day: date) -> None:
    (dated,) = read_spans(f"What did I do on {FORMS[form](day)}?")
    assert (dated.span, dated.precision) == (Span(day, day + timedelta(days=1)), "day")


@given(
    st.text(alphabet="from to since before 0123456789年月日到从前-–/., MarchthMay周", max_size=80), st.dates()
)
def test_never_fails_and_stays_in_order(text: str, today: date) -> None:
    for dated in [*read_spans(text), *read_spans(text, today=today)]:
        assert 0 <= dated.start < dated.end <= len(text)
        assert dated.span.start is None or dated.span.end is None or dated.span.start < dated.span.end


@pytest.mark.parametrize(
    "piece", ["1", "5 ", "March ", "between 2024-", "三", "2024 ", " ", "the first ", "last "]
)
def test_the_time_is_linear(piece: str) -> None:
    assert_linear(lambda text: read_spans(text, today=TODAY), piece, 4_000)


def day(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "start", "end"),
    [
        ("March 15th, 2024", "2024-03-15", "2024-03-16"),
        (20240315, "2024-03-15", "2024-03-16"),
        ("15.3.2024", "2024-03-15", "2024-03-16"),
        ("2024-W18", "2024-04-29", "2024-05-06"),
        (date(2024, 3, 15), "2024-03-15", "2024-03-16"),
        (datetime(2024, 3, 15, 10, 30), "2024-03-15T10:30", "2024-03-15T10:30"),
        ("2024-03-15 9:30", "2024-03-15T09:30", "2024-03-15T09:30"),
    ],
)
def test_a_property_that_is_a_date(value: object, start: str, end: str) -> None:
    assert day_of(value) == (day(start), day(end))


@pytest.mark.parametrize(
    "value", ["March 15th, 2024 or so", "March 15", 20241340, "", 1.5, "before", "2024-03-15 99:00"]
)
def test_a_property_that_is_none(value: object) -> None:
    assert day_of(value) is None


def test_a_zone_counts() -> None:
    value = datetime(2024, 3, 15, 10, tzinfo=timezone(timedelta(hours=8)))
    assert day_of(value) == (day("2024-03-15T02:00"),) * 2
    assert moment_in("on 15 March 2024 at 10:00+08:00") == day("2024-03-15T02:00")
