"""Figures by hand: means, families of comparisons, categories, latencies."""

import pytest

from agentic_rag.evaluation.datasets import EvalQuery
from agentic_rag.evaluation.records import Record
from agentic_rag.evaluation.scores import MEASURES, UNCATEGORISED, comparisons, measured, system_figures
from agentic_rag.evaluation.statistics import bootstrap_interval, holm, randomisation_test


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
        UNCATEGORISED: 1,
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
    assert measured([query(1), query(2)], [["x", "a"], ["b"]])["mrr@10"] == [0.5, 1.0]
