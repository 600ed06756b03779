"""Evaluation, the figures: from every system's answers to means, intervals and comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agentic_rag.evaluation.abstention import as_figure
from agentic_rag.evaluation.datasets import EvalQuery
from agentic_rag.evaluation.metrics import DEFAULT_MEASURES, measure
from agentic_rag.evaluation.records import Record
from agentic_rag.evaluation.statistics import bootstrap_interval, holm, randomisation_test

MEASURES = DEFAULT_MEASURES
UNCATEGORISED = "uncategorised"

Values = dict[str, list[float]]
"""By measure, one value for each query."""


def measured(queries: Sequence[EvalQuery], rankings: Sequence[Sequence[str]]) -> Values:
    """Every measure of every query; a ranking each, in the queries' order."""
    pairs = list(zip(queries, rankings, strict=True))
    return {name: [measure(name, ranking, query.relevant) for query, ranking in pairs] for name in MEASURES}


def mean_figures(values: Values) -> dict[str, Any]:
    """By measure ``value``, ``low``, ``high``: the mean with its 95 % bootstrap interval."""
    return {name: as_figure(bootstrap_interval(of_queries)) for name, of_queries in values.items()}


def system_figures(
    queries: Sequence[EvalQuery], answers: Mapping[str, Sequence[Record]], baseline: str
) -> dict[str, dict[str, Any]]:
    """Everything the report says of each system's ranking.

    Args:
        queries: answerable, judged; at least one.
        answers: by system a record for each query, in the queries' order.
        baseline: the system that the others are compared with.

    Returns:
        By system: each measure, ``latency_ms`` (``p50``, ``p95``), ``model_calls`` (``mean`` a query,
        ``total``), ``degraded`` (queries on which a source or model failed), ``by_category`` and
        ``against_baseline``.
    """
    values = {
        name: measured(queries, [record.ranking for record in records]) for name, records in answers.items()
    }
    compared = comparisons(values, baseline)
    return {
        name: {
            **mean_figures(values[name]),
            "latency_ms": _latency([record.milliseconds for record in records]),
            "model_calls": _calls([record.model_calls for record in records]),
            "degraded": sum(bool(record.degraded) for record in records),
            "by_category": _by_category(queries, values[name]),
            "against_baseline": compared[name],
        }
        for name, records in answers.items()
    }


def comparisons(values: Mapping[str, Values], baseline: str) -> dict[str, dict[str, dict[str, float]]]:
    """By system and measure: mean paired difference from the baseline with its interval, ``p``, ``p_holm``.

    The family that Holm's correction is over is every other system times every measure, over all queries
    together; categories are not tested.
    """
    base = values[baseline]
    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in values}
    p_values: dict[str, float] = {}
    for name, own in values.items():
        for measure_name, of_queries in own.items() if name != baseline else ():
            differences = [a - b for a, b in zip(of_queries, base[measure_name], strict=True)]
            interval = as_figure(bootstrap_interval(differences))
            p_value = randomisation_test(of_queries, base[measure_name])
            p_values[f"{name} {measure_name}"] = p_value
            interval["difference"] = interval.pop("value")
            found[name][measure_name] = {
                **{key: interval[key] for key in ("difference", "low", "high")},
                "p": round(p_value, 6),
            }
    adjusted = holm(p_values)
    for name, by_measure in found.items():
        for measure_name, figures in by_measure.items():
            figures["p_holm"] = round(adjusted[f"{name} {measure_name}"], 6)
    return found


def _by_category(queries: Sequence[EvalQuery], values: Values) -> dict[str, Any]:
    """In the order of each category's name; nothing where no query has one."""
    names = [query.category or UNCATEGORISED for query in queries]
    if all(query.category is None for query in queries):
        return {}
    figures = {}
    for category in sorted(set(names)):
        places = [place for place, name in enumerate(names) if name == category]
        chosen = {name: [of_queries[place] for place in places] for name, of_queries in values.items()}
        figures[category] = {"queries": len(places), **mean_figures(chosen)}
    return figures


def _latency(milliseconds: Sequence[float]) -> dict[str, float]:
    p50, p95 = np.percentile(milliseconds, [50, 95])
    return {"p50": round(float(p50), 2), "p95": round(float(p95), 2)}


def _calls(calls: Sequence[int]) -> dict[str, float]:
    return {"mean": round(sum(calls) / len(calls), 6), "total": sum(calls)}
