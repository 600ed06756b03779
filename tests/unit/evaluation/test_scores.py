"""Hand-computed scores: means, families of comparisons, categories, latencies, abstention; baselines without a search."""

import pytest

from agentic_rag_lab.evaluation.datasets import EvalQuery
from agentic_rag_lab.evaluation.records import Record
from agentic_rag_lab.evaluation.scores import (
    MEASURES,
    NO_CATEGORY,
    abstention_figures,
    comparisons,
    degenerate_rankings,
    measure_all,
    not_mentioned,
    refusal_threshold,
    system_figures,
)
from agentic_rag_lab.evaluation.statistics import bootstrap_interval, holm, randomisation_test


def query(number: int, category: str | None = None) -> EvalQuery:
    return EvalQuery(f"q{number}", "t", {"a": 1, "b": 1}, category=category)


def answer(
    *ranking: str, milliseconds: float = 1.0, calls: int = 0, degraded: tuple[str, ...] = ()
) -> Record:
    return Record("s", "q", ranking, milliseconds, calls, degraded=degraded)


def test_a_query_without_results_counts_0() -> None:
    queries = [query(1), query(2)]
    figures = system_figures(queries, {"s": [answer("a", "b"), answer()]}, "s")["s"]
    assert [figures[name]["value"] for name in MEASURES] == [0.5] * 5


def test_latency_calls_and_failures() -> None:
    records = [
        answer("a", milliseconds=float(n), calls=n % 2, degraded=("lancedb",) if n < 2 else ())
        for n in range(11)
    ]
    figures = system_figures([query(n) for n in range(11)], {"s": records}, "s")["s"]
    assert figures["latency_ms"] == {"p50": 5.0, "p95": 9.5}
    assert figures["model_calls"] == {"mean": round(5 / 11, 6), "total": 5}
    assert figures["degraded"] == 2
    assert (figures["by_category"], figures["against_baseline"]) == ({}, {})


def test_categories_have_their_own_means() -> None:
    queries = [query(1, "temporal"), query(2, "多跳"), query(3), query(4, "temporal")]
    records = [answer("a"), answer("x", "a", "b"), answer(), answer("x", "b")]
    found = system_figures(queries, {"s": records}, "s")["s"]["by_category"]
    assert {name: figures["queries"] for name, figures in found.items()} == {
        "temporal": 2,
        NO_CATEGORY: 1,
        "多跳": 1,
    }
    assert found["temporal"]["mrr@10"]["value"] == (1 + 1 / 2) / 2
    assert found["temporal"]["all_gold@10"]["value"] == 0
    assert found["多跳"]["all_gold@10"] == {"value": 1.0, "low": 1.0, "high": 1.0}


def test_the_family_is_every_other_system_times_every_measure() -> None:
    values = {
        "base": {"m": [0.1 * n for n in range(10)], "n": [0.5] * 10},
        "good": {"m": [0.1 * n + 0.3 for n in range(10)], "n": [0.5] * 10},
        "bad": {"m": [0.0] * 10, "n": [0.1] * 10},
    }
    found = comparisons(values, "base")
    assert list(found) == ["base", "good", "bad"]
    assert found["base"] == {}
    raw = {
        f"{name} {measure}": randomisation_test(values[name][measure], values["base"][measure])
        for name in ("good", "bad")
        for measure in ("m", "n")
    }
    adjusted = holm(raw)
    for name in ("good", "bad"):
        for measure, figures in found[name].items():
            assert list(figures) == ["difference", "low", "high", "p", "p_holm"]
            assert figures["p"] == pytest.approx(raw[f"{name} {measure}"], abs=1e-6)
            assert figures["p_holm"] == pytest.approx(adjusted[f"{name} {measure}"], abs=1e-6)
    assert found["good"]["m"]["difference"] == pytest.approx(0.3)
    assert found["bad"]["m"]["difference"] == pytest.approx(-0.45)
    interval = bootstrap_interval([-0.1 * n for n in range(10)])
    assert found["bad"]["m"]["low"] == pytest.approx(interval.low, abs=1e-6)
    assert found["good"]["n"]["p_holm"] == 1.0


def test_measured_keeps_the_order_of_the_queries() -> None:
    assert measure_all([query(1), query(2)], [["x", "a"], ["b"]])["mrr@10"] == [0.5, 1.0]


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


SESSIONS = {"c": [["a1", "a2"], ["b1", "b2", "b3"], []], "empty": [[]]}


def asked(number: int, conversation: str = "c") -> EvalQuery:
    return EvalQuery(f"q{number}", "t", {"a1": 1}, dataset_key=conversation)


def test_rankings_do_not_look_at_the_question():
    found = degenerate_rankings([asked(1), asked(2, "empty")], SESSIONS)
    assert found["last_session"] == [["b3", "b2", "b1"], []]
    assert found["full_context"] == [["a1", "a2", "b1", "b2", "b3"], []]
    assert sorted(found["random"][0]) == ["a1", "a2", "b1", "b2", "b3"]
    assert found["random"][1] == []
    assert degenerate_rankings([asked(1)], SESSIONS, depth=2)["last_session"] == [["b3", "b2"]]


def test_random_is_seeded_by_question():
    queries = [asked(number) for number in range(20)]
    found = degenerate_rankings(queries, SESSIONS)["random"]
    assert found == degenerate_rankings(queries, SESSIONS)["random"]
    assert found[5:6] == degenerate_rankings(queries[5:6], SESSIONS)["random"]
    assert len({tuple(ranking) for ranking in found}) > 5


def test_without_sessions_there_is_nothing_to_give():
    assert degenerate_rankings([asked(1)], {}) == {}


def test_always_not_mentioned():
    assert not_mentioned(1540, 446) == {
        "unanswerable_abstained": 1.0,
        "answerable_refused": 1.0,
        "right": round(446 / 1986, 6),
    }
