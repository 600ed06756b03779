from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.dates.reading import day_of
from agentic_rag.dates.stated import (
    INSIDE,
    OUTSIDE,
    SAME_END,
    SAME_START,
    asked_interval,
    dates_match,
    named_dates,
    stated_interval,
)


def day(written: str | None) -> datetime | None:
    return None if written is None else datetime.fromisoformat(written).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("From March 2023 to June 2024 she led it.", "2023-03-01", "2024-07-01"),
        ("From March to June 2024 she led it.", "2024-03-01", "2024-07-01"),
        ("From 5 March 2023 until 6 April 2023.", "2023-03-05", "2023-04-07"),
        ("from 1999-2003", "1999-01-01", "2004-01-01"),
        ("Who led Zambia from Nov 1991 to 2002?", "1991-11-01", "2003-01-01"),
        ("between 1990 and 1995", "1990-01-01", "1996-01-01"),
        ("Secretary of War , during 1916-1920 , while he", "1916-01-01", "1921-01-01"),
        ("He has lived there since July 2024.", "2024-07-01", None),
        ("from 2019 onwards", "2019-01-01", None),
        ("from 1994 to the present", "1994-01-01", None),
        ("It ran until 2019.", None, "2020-01-01"),
        ("until May 5, 2020.", None, "2020-05-06"),
        ("Published in 1994.", "1994-01-01", "1995-01-01"),
        ("In November, 1994, he left.", "1994-11-01", "1994-12-01"),
        ("on 31 December 1999", "1999-12-31", "2000-01-01"),
        ("Which team did he join in 1994 after that?", "1994-01-01", "1995-01-01"),
        ("On 2023-03-05 we met.", "2023-03-05", "2023-03-06"),
        ("On 2023/3/5 we met.", "2023-03-05", "2023-03-06"),
        ("We met on 2023.03.05.", "2023-03-05", "2023-03-06"),
        ("from 2023/03/05 to 2023/04/06", "2023-03-05", "2023-04-07"),
        ("从2023年3月到2024年6月，他在北京。", "2023-03-01", "2024-07-01"),
        ("2023年3月至6月", "2023-03-01", "2023-07-01"),
        ("自2024年7月起实行新标准。", "2024-07-01", None),
        ("1994年至今", "1994-01-01", None),
        ("直到2019年", None, "2020-01-01"),
        ("到2019年为止", None, "2020-01-01"),
        ("他于1994年出生", "1994-01-01", "1995-01-01"),
        ("1994年5月3日生于北京", "1994-05-03", "1994-05-04"),
        ("2023年3月から2024年6月まで", "2023-03-01", "2024-07-01"),
        ("2024年まで", None, "2025-01-01"),
        ("2024年十月,他去了鹭湖。", "2024-10-01", "2024-11-01"),
        ("二〇二三年三月五日开课", "2023-03-05", "2023-03-06"),
        ("从二零二三年十一月到2024年二月，他在北京。", "2023-11-01", "2024-03-01"),
        ("一九九九年十二月三十一日", "1999-12-31", "2000-01-01"),
    ],
)
def test_reads_what_is_stated(text: str, start: str | None, end: str | None) -> None:
    assert stated_interval(text) == (day(start), day(end))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no date at all",
        "last year and since Tuesday",
        "In early 1994 he left.",
        "in the 1990s",
        "before 2000 or after 2010",
        "It was not until 2019 that he came.",
        "born in 1950, moved in 1970",
        "Built in 1794, it was home during 1916-1920",
        "In 1994 he read the 1984 edition",
        "It comes from bushes set in 1962 and roasted by Lin.",
        "He was, following his death in 2011, described so.",
        "in 2000 houses",
        "in 1994 BC and in 44 BC",
        "in 1994-style, in 1994/95, in 2000%, in 1,994 cases, version 1.1994",
        "from 1990 to 1980",
        "on 30 February 2023",
        "since 1800s",
        "It is the Brewing chart 2023.",
        "See 2024-03-09 Black tea.",
        "1990年代流行",
        "1994年前",
        "2023年5月前完成",
        "约1994年",
        "早于1994年",
        "2023年春",
        "2023年13月",
        "2023年十三月",
        "2023年二十月",
        "2024年十月以前的测验我都错了什么？",
        "公元二〇〇年",
    ],
)
def test_rather_none_than_a_wrong_one(text: str) -> None:
    assert stated_interval(text) is None


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("Who led it from 2019 to 2021?", "2019-01-01", "2022-01-01"),
        ("What did I get wrong in spring 2024, nothing later?", "2024-03-01", "2024-06-01"),
        ("the fall of 2023", "2023-09-01", "2023-12-01"),
        ("Winter 2024", "2024-01-01", "2025-03-01"),
        ("the first half of 2025", "2025-01-01", "2025-07-01"),
        ("in the second  half of 2025", "2025-07-01", "2026-01-01"),
        ("2024 年春天把车停到湖边", "2024-03-01", "2024-06-01"),
        ("2024年冬", "2024-01-01", "2025-03-01"),
        ("2024年秋季学了什么", "2024-09-01", "2024-12-01"),
        ("只看 2025 上半年的测验", "2025-01-01", "2025-07-01"),
        ("2025年下半年做了什么", "2025-07-01", "2026-01-01"),
        ("Before October 2024, to which cone?", None, "2024-10-01"),
        ("prior to 5 March 2023", None, "2023-03-05"),
        ("Who was the coach after 5 December 2016?", "2016-12-06", None),
        ("2024年十月以前的测验我都错了什么？", None, "2024-10-01"),
        ("二〇二四年之后呢", "2025-01-01", None),
        ("2024年前", None, "2024-01-01"),
    ],
)
def test_reads_what_is_asked_for(question: str, start: str | None, end: str | None) -> None:
    assert asked_interval(question) == (day(start), day(end))


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What did I do on March 15th, 2024?", "2024-03-15", "2024-03-16"),
        ("What did I do on January 5th, 2024?", "2024-01-05", "2024-01-06"),
        ("2024年3月15日我做了什么？", "2024-03-15", "2024-03-16"),
        ("What did I do on the fifth of January 2024?", "2024-01-05", "2024-01-06"),
        ("What did I work on between 8 and 12 April 2024?", "2024-04-08", "2024-04-13"),
        ("What did I work on before March 2024?", None, "2024-03-01"),
        ("2024年4月我做了什么？", "2024-04-01", "2024-05-01"),
        ("How much did the 2000 bricks of 5.1.2024 cost?", "2024-01-05", "2024-01-06"),
        ("What did I do last week?", "2024-06-03", "2024-06-10"),
        ("我1月5日做了什么？", "2024-01-05", "2024-01-06"),
    ],
)
def test_a_question_about_a_day_or_a_span(question: str, start: str | None, end: str | None) -> None:
    assert asked_interval(question, today=date(2024, 6, 12)) == (day(start), day(end))


@pytest.mark.parametrize(
    "question",
    [
        "",
        "last spring",
        "In early 1994",
        "before 2000 or after 2010",
        "fall 2023 and spring 2024",
        "not before 2019",
        "before 30 February 2023",
        "2016年前后",
        "2023年前三个月",
        "2023年后半年",
        "before the flood",
        "2014年冬奥会在哪举办",
        "2016年夏季奥运会",
        "the summer 2016 Olympics",
        "2024年春节去哪了",
    ],
)
def test_asks_for_no_time(question: str) -> None:
    assert asked_interval(question) is None


@pytest.mark.parametrize(
    ("value", "start", "end"),
    [
        (2024, "2024-01-01", "2025-01-01"),
        ("2024-12", "2024-12-01", "2025-01-01"),
        ("2024-06-30", "2024-06-30", "2024-07-01"),
        ("June 2024", "2024-06-01", "2024-07-01"),
        ("2024年6月", "2024-06-01", "2024-07-01"),
        ("二〇二四年六月", "2024-06-01", "2024-07-01"),
        ("2024-06-30T12:00:00", "2024-06-30T12:00:00", "2024-06-30T12:00:00"),
    ],
)
def test_reads_a_property(value: object, start: str, end: str) -> None:
    assert day_of(value) == (day(start), day(end))


@pytest.mark.parametrize(
    "value", [None, True, 7, "soon", ["2024"], "2024-13", "2024-06-30T99:00", "[[Anna]]"]
)
def test_other_properties_state_no_moment(value: object) -> None:
    assert day_of(value) is None


def test_a_zone_is_read() -> None:
    assert day_of("2024-06-30T12:00:00+08:00") == (day("2024-06-30T04:00:00"),) * 2


@given(st.text(alphabet="from to since until in on 12034年月日到从至起March-–,. ", max_size=60))
def test_never_raises_and_never_ends_before_it_starts(text: str) -> None:
    stated = stated_interval(text)
    if stated is not None:
        start, end = stated
        assert start is not None or end is not None
        assert start is None or end is None or start < end


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("no date, 3.1990 of 12,1850 and 21990", []),
        ("in 1994", [("1994-01-01", "1995-01-01")]),
        ("March 2023, 5 April 2023 and May 6th, 2023", [("2023-03-01", "2023-04-01"), ("2023-04-05", "2023-04-06"), ("2023-05-06", "2023-05-07")]),
        ("2024-10-19, 2024-10", [("2024-10-19", "2024-10-20"), ("2024-10-01", "2024-11-01")]),
        ("1916-20, 1916–1920", [("1916-01-01", "1917-01-01"), ("1920-01-01", "1921-01-01")] * 2),
        ("the season of 2004-05", [("2004-01-01", "2005-01-01"), ("2005-01-01", "2006-01-01")]),
        ("2023年3月5日、2024 年、二〇二四年十月", [("2023-03-05", "2023-03-06"), ("2024-01-01", "2025-01-01"), ("2024-10-01", "2024-11-01")]),
        ("30 February 2023", [("2023-01-01", "2024-01-01")]),
        ("2023-13-40", [("2023-01-01", "2024-01-01")]),
        ("maybe 1994", [("1994-01-01", "1995-01-01")]),
    ],
)  # fmt: skip
def test_dates_that_a_text_names(text: str, named: list[tuple[str, str]]) -> None:
    assert list(named_dates(text)) == [(day(start), day(end)) for start, end in named]


@pytest.mark.parametrize(
    "text", ["**March 2024**", "(March 2024)", "[[March 2024]]", "“March 5, 2024”", "#2:Mar. 2024"]
)
def test_a_month_is_read_behind_any_mark(text: str) -> None:
    ((start, end),) = named_dates(text)
    assert start.month == 3
    assert end - start <= timedelta(days=31)


@pytest.mark.parametrize("text", ["2024/03/05", "2024.3.5", "(2024/3/05)", "寄于2024.03.05。"])
def test_a_day_may_be_written_with_slashes_or_dots(text: str) -> None:
    assert list(named_dates(text)) == [(day("2024-03-05"), day("2024-03-06"))]


@pytest.mark.parametrize(
    "text", ["2024/13/05", "2024.03.05.1", "12024.3.5", "2024/03.05", "/2024/03/05/note.md"]
)
def test_what_only_looks_like_such_a_day_is_none(text: str) -> None:
    assert (day("2024-03-05"), day("2024-03-06")) not in named_dates(text)


@given(st.text(alphabet="0123456789-–/.年月日, MarchOctober"))
def test_naming_dates_never_fails(text: str) -> None:
    assert all(start < end for start, end in named_dates(text))


def fit(question: str, content: str, **metadata: Any) -> float:
    stated = asked_interval(question)
    assert stated is not None
    return dates_match(stated, {"content": content, "metadata": metadata})


@pytest.mark.parametrize(
    ("question", "content", "expected"),
    [
        ("Who led it from 1994 to 1997?", "She led it from 1994 to 1997.", SAME_START + SAME_END + INSIDE),
        ("Who led it from 1994 to 1997?", "He was there in 1997.", SAME_END + INSIDE),
        ("Who led it from 1994 to 1997?", "He was there in 1996.", INSIDE),
        ("Who led it from 1994 to 1997?", "He came in 1993 and left in 1998.", 0.0),
        ("Who led it in 1994?", "She led it in 1994.", SAME_START + INSIDE),
        ("Who led it in March 1994?", "She led it in 1994.", SAME_START + INSIDE),
        ("Who led it in March 1994?", "She led it until October 1994.", OUTSIDE * SAME_START),
        ("Who led it before October 1994?", "Asked again on 1994-10-19.", OUTSIDE * SAME_END),
        ("Who led it before October 1994?", "Asked again on 1994-09-30.", SAME_END + INSIDE),
        ("Who led it from 1916 to 1920?", "Secretary of War (1916–20)", SAME_START + SAME_END + INSIDE),
        ("2024 年十月以前我错了什么?", "二〇二四年十一月的测验", OUTSIDE * SAME_END),
    ],
)  # fmt: skip
def test_a_date_in_the_text_counts_as_exactly_as_it_stands_there(
    question: str, content: str, expected: float
) -> None:
    assert fit(question, content) == pytest.approx(expected)


def test_dates_of_title_and_headings_count() -> None:
    question = "2015年谁来过？"
    assert fit(question, "来了三位客人。", title="客人", heading_path=["2015年"]) == SAME_START + INSIDE
    assert fit(question, "来了三位客人。", title="2015年的客人") == SAME_START + INSIDE
    assert fit(question, "来了三位客人。", title="客人", heading_path=["2016年"]) == 0.0


def test_a_passage_s_own_date_counts_as_one_within() -> None:
    assert fit("What happened in March 2024?", "We met.", date="2024-03-31") == INSIDE
    assert fit("What happened in March 2024?", "We met.", date="2024-04-01") == 0.0
    assert fit("What happened in March 2024?", "We met.", date="some day") == 0.0
    assert fit("What happened in March 2024?", "We met.", date=2024) == 0.0


def test_an_open_side_fits_anything() -> None:
    assert fit("What changed since March 2024?", "Changed in 2031.") == INSIDE
    assert fit("What changed before March 2024?", "Changed in 1031.") == INSIDE


PIECES = (
    "2004", "１９９９", "二〇〇四年", "二〇〇五年三月", "1998–05", "1999/04", "winter 2003", "2004 冬季", "2003-W53", "Q4 2003",
    "31 December 2003", "1 Jan 2006", "March", "week 1 of 2005", "2005年的上半年", "price 2005.50", " ", ", ", "and", "v2004", "in",
)  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), max_size=8),
    st.sampled_from(["2003-12-31", "2004-01-01", "2004-06-15", "2005-01-01", None]),
    st.sampled_from([1, 40, 366, 900, None]),
)
def test_only_what_names_no_year_of_the_interval_is_left_unread(
    pieces: list[str], start: str | None, days: int | None
):
    begins = day(start)
    ends = None if days is None else (begins or datetime(2004, 1, 1, tzinfo=UTC)) + timedelta(days=days)
    text = " ".join(pieces)
    result = {"content": text, "metadata": {}}
    read = dates_match((begins, ends), result)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agentic_rag.dates.stated._may_name", lambda *_: True)
        assert dates_match((begins, ends), result) == read
