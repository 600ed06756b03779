from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.dates.fit import INSIDE, OUTSIDE, SAME_END, SAME_START, asked_time, dates_match


def fit(question: str, content: str, **metadata: Any) -> float:
    stated = asked_time(question)
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


def test_a_passage_s_own_date_counts_as_one_within() -> None:
    assert fit("What happened in March 2024?", "We met.", date="2024-03-31") == INSIDE
    assert fit("What happened in March 2024?", "We met.", date="2024-04-01") == 0.0
    assert fit("What happened in March 2024?", "We met.", date="some day") == 0.0
    assert fit("What happened in March 2024?", "We met.", date=2024) == 0.0


def test_an_open_side_fits_anything() -> None:
    assert fit("What changed since March 2024?", "Changed in 2031.") == INSIDE
    assert fit("What changed before March 2024?", "Changed in 1031.") == INSIDE
