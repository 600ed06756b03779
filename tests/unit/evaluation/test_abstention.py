"""Shares, the threshold, and the area, by hand."""

import pytest

from agentic_rag.evaluation.abstention import abstention_figures, refusal_threshold
from agentic_rag.evaluation.records import Record


def said(confidence: float, *, abstained: bool = False) -> Record:
    return Record("full", f"q{confidence}", (), 1.0, confidence=confidence, abstained=abstained)


@pytest.mark.parametrize(
    ("confidences", "most", "threshold"),
    [
        ([0.5], 0.1, 0.5),
        ([n / 10 for n in range(10)], 0.1, 0.1),
        ([n / 10 for n in range(10)], 0.3, 0.3),
        ([n / 10 for n in range(9)], 0.1, 0.0),
        ([0.2] * 5 + [0.9] * 5, 0.1, 0.2),
        ([0.1, 0.2], 1.0, 0.2),
    ],
)
def test_the_highest_threshold_that_refuses_no_more_than_it_may(
    confidences: list[float], most: float, threshold: float
):
    assert refusal_threshold(confidences[::-1], most) == threshold
    assert sum(value < threshold for value in confidences) <= most * len(confidences) + 1e-9


def test_figures():
    answerable = [said(0.1, abstained=True), *(said(0.5 + n / 100) for n in range(9))]
    unanswerable = [said(0.2, abstained=True), said(0.4, abstained=False), said(0.9)]
    found = abstention_figures(answerable, unanswerable)
    assert found["as_run"]["unanswerable_abstained"]["value"] == pytest.approx(1 / 3, abs=1e-6)
    assert found["as_run"]["answerable_refused"]["value"] == 0.1
    chosen = found["at_refused_10"]
    assert chosen["threshold"] == 0.5
    assert chosen["answerable_refused"]["value"] == 0.1
    assert chosen["unanswerable_abstained"]["value"] == pytest.approx(2 / 3, abs=1e-6)
    # 9 of 10 answerable are above 0.2 and above 0.4; none is above 0.9
    assert found["roc_area"]["value"] == pytest.approx((9 + 9 + 0) / 30)
    assert found["roc_area"]["low"] <= found["roc_area"]["value"] <= found["roc_area"]["high"]
    assert abstention_figures(answerable, unanswerable) == found
