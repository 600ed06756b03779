"""The search: replays any settings on hits that were collected once, and chooses the best settings.

Replay. Under the offline rerank the fusion determines the results and their scores. So the terms of the rerank
are cached by the set of results, and evaluating a setting costs one sort per query.

Search. A grid of fusions, each with and without the rerank. Then simplification: a setting that is not better than its default by more than one standard
error of the paired difference is reset, so that noise changes no setting.

Source: the one-standard-error rule is Breiman, Friedman, Olshen, Stone, Classification and Regression Trees,
1984, 3.4.3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain import Hit
from agentic_rag.domain.identity import digest
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.odds import probabilities
from agentic_rag.domain.results import Result
from agentic_rag.fusion.strategy_selector import DEFAULT_WEIGHTS, SourceHits, fuse_adapted, resolve_parameters
from agentic_rag.rerank.features import relevance_odds, terms_of
from agentic_rag.rerank.offline import WEIGHTS, assigned_relevance
from agentic_rag.settings.parameters import FusionStrategy, Parameters
from agentic_rag_lab.evaluation.asking import ranking_of
from agentic_rag_lab.evaluation.datasets import EvalQuery
from agentic_rag_lab.evaluation.metrics import measure
from agentic_rag_lab.evaluation.scores import MAX_REFUSED, refusal_threshold

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
"""Indices of queries, of results, …"""
Changes = tuple[tuple[str, Any], ...]
"""Settings other than the defaults, by dotted name, sorted by name."""
Unit = Literal["document", "chunk"]


@dataclass(frozen=True, slots=True)
class CollectedQuery:
    """A labelled query with the hits of both sources."""

    query: EvalQuery
    text: str
    """The search text."""
    operation: str
    graph: list[Hit]
    vector: list[Hit]
    specificity: float | None = None
    """Specificity of the query's names in the graph, in [0, 1]; None without a walk."""
    names: tuple[str, ...] = ()
    """Names of graph entities in the query."""


@dataclass(frozen=True, slots=True)
class SettingsOutcome:
    """The values of each query under some settings."""

    values: Floats
    """The measure; NaN for a query that is not ranked."""
    confidences: Floats
    """The best relevance, in [0, 1], which decides whether the graph answers; 0 without results."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """One set of results in id order, with all features of their order except the fused score."""

    units: list[str]
    odds: Floats
    """Log-odds of relevance from the sources."""
    columns: Mapping[str, Floats]
    """The rerank's terms."""


@dataclass(frozen=True, slots=True)
class _View:
    """A fusion of one query: its results, scores and order."""

    rows: _Rows
    fused_scores: Floats
    """Scores, in the rows' order."""
    order: NDArray[np.int16]
    """The fused order, as places in the rows."""


class Replay:
    """The measures of any settings, computed from collected queries without a search.

    Args:
        collected_queries: the queries; those with relevant items are ranked, unanswerable ones only count for abstention.
        base: parameters that are in force without a change.
        unit: unit of the judgements.
        name: the measure, such as ``mrr@10``.
    """

    def __init__(
        self, collected_queries: Sequence[CollectedQuery], base: Parameters, unit: Unit, name: str
    ) -> None:
        self.collected_queries = list(collected_queries)
        self.base = base
        self.measure = name
        self.unit = unit
        self._outcomes: dict[str, SettingsOutcome] = {}
        self._views: dict[tuple[int, str], _View] = {}
        self._rows: dict[tuple[Any, ...], _Rows] = {}
        queries = [one.query for one in collected_queries]
        self.ranked_places = _places([query.answerable and bool(query.relevant) for query in queries])
        self.unanswerable = _places([not query.answerable for query in queries])
        self._is_ranked = set(self.ranked_places.tolist())

    def outcome(self, changes: Changes) -> SettingsOutcome:
        """The outcome of the offline rerank (or none) under the settings; cached.

        Raises:
            ConfigError: a change is unknown or out of range.
        """
        parameters = self.base.override(nest(changes))
        key = parameters.model_dump_json(include={"fusion", "rerank"})
        if key not in self._outcomes:
            told = [self._one(number, parameters) for number in range(len(self.collected_queries))]
            self._outcomes[key] = SettingsOutcome(*np.array(told, dtype=np.float64).reshape(-1, 2).T)
        return self._outcomes[key]

    def _one(self, number: int, parameters: Parameters) -> tuple[float, float]:
        """Measure and confidence of a query."""
        view = self._view(number, parameters)
        if not view.rows.units:
            return self.value(number, []), 0.0
        if parameters.rerank.method == "none":
            order, odds = view.order.astype(np.int64), view.rows.odds
        else:
            odds = assigned_relevance(view.fused_scores, view.rows.odds, view.rows.columns, WEIGHTS)
            order = np.argsort(-odds, kind="stable")  # rows are in id order, which breaks ties
        units = [view.rows.units[place] for place in order.tolist()]
        return self.value(number, units), float(probabilities(odds).max())

    def value(self, number: int, units: Sequence[str]) -> float:
        """The measure of one query's results, given by their units in order; NaN for a query that is not ranked."""
        if number not in self._is_ranked:
            return float("nan")
        return measure(
            self.measure, list(dict.fromkeys(units)), self.collected_queries[number].query.relevant
        )

    def _view(self, number: int, parameters: Parameters) -> _View:
        key = (number, parameters.fusion.model_dump_json())
        if key not in self._views:
            self._views[key] = self._compute_view(number, parameters)
        return self._views[key]

    def _compute_view(self, number: int, parameters: Parameters) -> _View:
        results = self._results(number, parameters)
        ordered = sorted(results, key=lambda result: result["id"])
        place = {result["id"]: row for row, result in enumerate(ordered)}
        key = (number, frozenset(name for result in results for name in result["sources"]), tuple(place))
        if key not in self._rows:
            self._rows[key] = self._rows_of(number, ordered)
        return _View(
            rows=self._rows[key],
            fused_scores=np.array([result["fused_score"] for result in ordered], dtype=np.float64),
            order=np.array([place[result["id"]] for result in results], dtype=np.int16),
        )

    def _rows_of(self, number: int, ordered_results: Sequence[Result]) -> _Rows:
        one = self.collected_queries[number]
        return _Rows(
            units=self._units(ordered_results),
            odds=np.array(relevance_odds(ordered_results), dtype=np.float64),
            columns=terms_of(one.text, ordered_results, one.operation),
        )

    def _results(self, number: int, parameters: Parameters) -> list[Result]:
        """Fused results, as the rerank reads them."""
        one = self.collected_queries[number]
        caller = parameters.fusion
        return fuse_adapted(
            SourceHits(one.graph, one.vector),
            resolve_parameters(one.operation, caller),
            None if caller.sets_weights else one.specificity,
        ).results

    def _units(self, results: Sequence[Result]) -> list[str]:
        return [ranking_of([dict(result)], self.unit)[0] for result in results]


def nest(changes: Changes) -> dict[str, Json]:
    """Dotted names as the sections that ``Parameters`` has."""
    sections: dict[str, Json] = {}
    for name, value in changes:
        section, _, key = name.partition(".")
        sections.setdefault(section, {})[key] = value
    return sections


def with_changes(changes: Changes, more: Mapping[str, Any]) -> Changes:
    """Both sets of changes, ``more`` winning; None removes a change."""
    joined = {**dict(changes), **more}
    return tuple(sorted((name, value) for name, value in joined.items() if value is not None))


def _places(flags: Sequence[bool]) -> Places:
    return np.flatnonzero(np.array(flags, dtype=bool)).astype(np.int64)


FOLDS = 5
TINY = 1e-9
"""Means with a smaller difference count as equal."""
KS = (1, 5, 10, 20, 40, 60, 100, 200)
GRAPH_WEIGHTS = tuple(tenth / 10 for tenth in range(11))
THRESHOLDS = (1, 2, 3, 5, 10)
MIN_SCORES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

FUSION = (
    "fusion.strategy",
    "fusion.k",
    "fusion.graphiti_weight",
    "fusion.lancedb_weight",
    "fusion.normalization",
    "fusion.graphiti_threshold",
    "fusion.graphiti_min_score",
)
METHOD = "rerank.method"
SEARCHED_SETTINGS = (*FUSION, METHOD)
"""Settings of the search, in display order."""

Values = Mapping[str, Any]


def fusion_grid() -> list[Values]:
    """Every fusion of the grid, as settings; ``{}`` is the default one."""
    tried: list[Values] = [{}]
    tried += [{"fusion.strategy": "rrf", "fusion.k": k} for k in KS]
    for weight in GRAPH_WEIGHTS:
        strategy = FusionStrategy.WEIGHTED_GRAPHITI if weight > 0.5 else FusionStrategy.WEIGHTED_LANCEDB
        weights: Json = {"fusion.strategy": strategy.value}
        if DEFAULT_WEIGHTS[strategy][0] != weight:
            weights |= {"fusion.graphiti_weight": weight, "fusion.lancedb_weight": round(1 - weight, 1)}
        tried += [weights, {**weights, "fusion.normalization": "z_score"}]
    tried += [
        {
            "fusion.strategy": "cascade",
            "fusion.graphiti_threshold": threshold,
            "fusion.graphiti_min_score": score,
        }
        for threshold in THRESHOLDS
        for score in MIN_SCORES
    ]
    return tried


def grid() -> list[Values]:
    """Every fusion with and without the offline rerank, as settings; None is the default."""
    unset = dict.fromkeys(SEARCHED_SETTINGS)
    return [{**unset, **fusion, METHOD: method} for method in (None, "none") for fusion in fusion_grid()]


def choose(replay: Replay, train: Places, options: Sequence[Values]) -> Changes:
    """The settings with the highest mean on the training queries, simplified; () keeps all defaults.

    Args:
        replay: evaluates settings; only values of the training queries are used.
        train: indices of queries; without a ranked one nothing is changed.
        options: see ``grid``.
    """
    asked = np.intersect1d(train, replay.ranked_places)
    if asked.size == 0:
        return ()
    best: Changes = ()
    highest = float(replay.outcome(best).values[asked].mean())
    for option in options:
        tried = with_changes((), option)
        reached = float(replay.outcome(tried).values[asked].mean())
        if reached > highest + TINY:
            best, highest = tried, reached
    return _simplify(replay, best, asked)


def _simplify(replay: Replay, best: Changes, query_places: Places) -> Changes:
    """Each group of settings reset to its defaults if that costs no more than one standard error."""
    groups = [(METHOD,), ("fusion.normalization",), FUSION, SEARCHED_SETTINGS]
    for names in groups:  # from one setting to all of them
        simpler = with_changes(best, dict.fromkeys(names))
        if simpler != best and not is_better(
            replay.outcome(best).values[query_places], replay.outcome(simpler).values[query_places]
        ):
            best = simpler
    return best


def is_better(first: Floats, second: Floats) -> bool:
    """Whether the first mean is higher by more than one standard error of the paired difference."""
    differences = first - second
    error = float(differences.std(ddof=1)) / math.sqrt(differences.size) if differences.size > 1 else 0.0
    return float(differences.mean()) > error + TINY


def folds_of(queries: Sequence[EvalQuery]) -> list[Places]:
    """The held-out queries of each fold; every query is held out once.

    With several search spaces (conversations), each is a fold. Otherwise the queries are distributed over
    ``FOLDS`` in the order of a hash of their ids.
    """
    numbers = range(len(queries))
    spaces = sorted({query.dataset_key for query in queries}, key=digest)
    if len(spaces) > 1:
        folds = [[number for number in numbers if queries[number].dataset_key == space] for space in spaces]
    else:
        shuffled = sorted(numbers, key=lambda number: digest(queries[number].id))
        folds = [sorted(shuffled[start::FOLDS]) for start in range(min(len(queries), FOLDS))]
    return [np.array(fold, dtype=np.int64) for fold in folds]


STEPS = 10_000
"""Resolution of thresholds: whole multiples of 1 / STEPS."""
NEAR = 0.02
"""Tolerance: shares of refused queries with a smaller difference count as equal."""


def abstention_threshold(answerable: Floats) -> float:
    """The threshold that refuses at most ``MAX_REFUSED`` of the answerable queries.

    Args:
        answerable: confidences of at least one query, in [0, 1].
    """
    return _down(refusal_threshold(answerable.tolist(), MAX_REFUSED))


def carry_threshold(threshold: float, before: Floats, after: Floats) -> float:
    """A threshold on new confidences that refuses as many queries as the given one did on the old ones.

    Unchanged if that is already so, up to ``NEAR``; different settings give scores on different scales.

    Args:
        threshold: on the old scale.
        before, after: confidences of the same queries; at least one.
    """
    held, would = float((before < threshold).mean()), float((after < threshold).mean())
    if abs(held - would) <= NEAR:
        return threshold
    return _down(refusal_threshold(after.tolist(), held))


def rightness(confidences: Floats, answerable: Floats, threshold: Floats | float) -> Floats:
    """Whether each query is correctly answered or abstained on, weighted so that both kinds count alike.

    The mean is the balanced accuracy: half the share of the answerable ones that are answered plus half the share of
    the unanswerable ones that are abstained on.

    Args:
        confidences: by query.
        answerable: 1 or 0 by query; both kinds occur.
        threshold: one value, or one per query.
    """
    right = np.where(answerable > 0, confidences >= threshold, confidences < threshold).astype(np.float64)
    share = np.where(answerable > 0, answerable.mean(), 1.0 - answerable.mean())
    weighted: Floats = right / (2.0 * share)
    return weighted


def _down(threshold: float) -> float:
    """Rounded down, so that no further query is refused."""
    return math.floor(threshold * STEPS) / STEPS
