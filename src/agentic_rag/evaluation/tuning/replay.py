"""The replay: what any settings would have ranked, from hits that were collected once.

Under the offline rerank the fusion decides which results there are and with which scores, so the rerank's
terms are kept by the set of results, and a setting costs one sort a query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain import Hit
from agentic_rag.domain.odds import probabilities
from agentic_rag.evaluation.datasets import EvalQuery
from agentic_rag.evaluation.metrics import measure
from agentic_rag.evaluation.run import ranking_of
from agentic_rag.fusion.strategy_selector import fuse_for_operation
from agentic_rag.rerank.features import TERMS, relevance_odds, terms_of
from agentic_rag.rerank.offline import dealt_odds
from agentic_rag.settings.parameters import Parameters

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
"""Numbers of queries, of results, …"""
Changes = tuple[tuple[str, Any], ...]
"""Settings that are not the default, by dotted name, in name order."""
Unit = Literal["document", "chunk"]


@dataclass(frozen=True, slots=True)
class Collected:
    """A labelled query with everything both sources found for it."""

    query: EvalQuery
    text: str
    """What was searched for."""
    operation: str
    graph: list[Hit]
    vector: list[Hit]
    telling: float | None = None
    """How much the graph knows of it, in [0, 1]; None where it made no walk."""
    names: tuple[str, ...] = ()
    """Of what the graph knows, that it names."""


@dataclass(frozen=True, slots=True)
class SettingsOutcome:
    """What settings did to each query."""

    values: Floats
    """The measure; not a number where the query has nothing to be ranked."""
    confidences: Floats
    """The best relevance, in [0, 1], by which the graph answers or abstains; 0 where nothing was found."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """One set of results in id order, with all but the fused score that decides their order under any weights."""

    units: list[str]
    odds: Floats
    """Log-odds of relevance by the sources."""
    columns: Mapping[str, Floats]
    """The rerank's terms."""


@dataclass(frozen=True, slots=True)
class _View:
    """A fusion of one query: which results, with which scores, in which order."""

    rows: _Rows
    fused: Floats
    """Scores, in the rows' order."""
    order: NDArray[np.int16]
    """The fused order, as places in the rows."""


class Replay:
    """Settings to measures, over collected queries.

    Args:
        collected: the queries; those with something relevant are ranked, the unanswerable only judged.
        base: parameters in force where nothing is changed.
        unit: what the judgements name.
        name: the measure, such as ``mrr@10``.
    """

    def __init__(self, collected: Sequence[Collected], base: Parameters, unit: Unit, name: str) -> None:
        self.collected = list(collected)
        self.base = base
        self.measure = name
        self._unit = unit
        self._outcomes: dict[str, SettingsOutcome] = {}
        self._views: dict[tuple[int, str], _View] = {}
        self._rows: dict[tuple[Any, ...], _Rows] = {}
        queries = [one.query for one in collected]
        self.ranked = _places([query.answerable and bool(query.relevant) for query in queries])
        self.unanswerable = _places([not query.answerable for query in queries])
        self._is_ranked = set(self.ranked.tolist())

    def outcome(self, changes: Changes) -> SettingsOutcome:
        """What the offline rerank (or none) does under the settings; remembered.

        Raises:
            ConfigError: a change that is no parameter, or out of range.
        """
        parameters = self.base.overridden(nested(changes))
        key = parameters.model_dump_json(include={"fusion", "rerank"})
        if key not in self._outcomes:
            told = [self._one(number, parameters) for number in range(len(self.collected))]
            self._outcomes[key] = SettingsOutcome(*np.array(told, dtype=np.float64).reshape(-1, 2).T)
        return self._outcomes[key]

    def telling_weights(self) -> list[str]:
        """``prior``, and the weights whose terms differ between some query's results: the others decide nothing."""
        rows = [self._view(number, self.base).rows for number in range(len(self.collected))]
        telling = [name for name in TERMS if any(len(set(of.columns[name].tolist())) > 1 for of in rows)]
        return ["prior", *telling]

    def _one(self, number: int, parameters: Parameters) -> tuple[float, float]:
        """Measure and confidence of a query."""
        view = self._view(number, parameters)
        if not view.rows.units:
            return self.value(number, []), 0.0
        if parameters.rerank.method == "none":
            order, odds = view.order.astype(np.int64), view.rows.odds
        else:
            odds = dealt_odds(view.fused, view.rows.odds, view.rows.columns, parameters.rerank)
            order = np.argsort(-odds, kind="stable")  # rows are in id order, which settles what is equal
        units = [view.rows.units[place] for place in order.tolist()]
        return self.value(number, units), float(probabilities(odds).max())

    def value(self, number: int, units: Sequence[str]) -> float:
        """The measure of one query's results, given by their units in order; not a number if not ranked."""
        if number not in self._is_ranked:
            return float("nan")
        return measure(self.measure, list(dict.fromkeys(units)), self.collected[number].query.relevant)

    def _view(self, number: int, parameters: Parameters) -> _View:
        key = (number, parameters.fusion.model_dump_json())
        if key not in self._views:
            self._views[key] = self._viewed(number, parameters)
        return self._views[key]

    def _viewed(self, number: int, parameters: Parameters) -> _View:
        results = self._results(number, parameters)
        ordered = sorted(results, key=lambda result: str(result["id"]))
        place = {str(result["id"]): row for row, result in enumerate(ordered)}
        key = (number, frozenset(name for result in results for name in result["sources"]), tuple(place))
        if key not in self._rows:
            self._rows[key] = self._rows_of(number, ordered)
        return _View(
            rows=self._rows[key],
            fused=np.array([result["fused_score"] for result in ordered], dtype=np.float64),
            order=np.array([place[str(result["id"])] for result in results], dtype=np.int16),
        )

    def _rows_of(self, number: int, ordered: Sequence[Mapping[str, Any]]) -> _Rows:
        one = self.collected[number]
        return _Rows(
            units=self._units(ordered),
            odds=np.array(relevance_odds(ordered), dtype=np.float64),
            columns=terms_of(one.text, ordered, one.operation),
        )

    def _results(self, number: int, parameters: Parameters) -> list[dict[str, Any]]:
        """Fused results as the rerank reads them, without the copies that the graph's state needs."""
        one = self.collected[number]
        found = fuse_for_operation(
            one.operation, one.graph, one.vector, parameters.fusion, telling=one.telling
        )
        return [{name: getattr(result, name) for name in _READ} for result in found.results]

    def _units(self, results: Sequence[Mapping[str, Any]]) -> list[str]:
        return [ranking_of([dict(result)], self._unit)[0] for result in results]


def nested(changes: Changes) -> dict[str, dict[str, Any]]:
    """Dotted names as the sections that ``Parameters`` has."""
    sections: dict[str, dict[str, Any]] = {}
    for name, value in changes:
        section, _, key = name.partition(".")
        sections.setdefault(section, {})[key] = value
    return sections


def with_changes(changes: Changes, more: Mapping[str, Any]) -> Changes:
    """Both, ``more`` winning; None takes a change back."""
    joined = {**dict(changes), **more}
    return tuple(sorted((name, value) for name, value in joined.items() if value is not None))


_READ = ("id", "content", "metadata", "sources", "fused_score")


def _places(chosen: Sequence[bool]) -> Places:
    return np.flatnonzero(np.array(chosen, dtype=bool)).astype(np.int64)
