"""The learned ranker: trained, calibrated and judged on queries it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from agentic_rag.evaluation.tuning.replay import Changes, Floats, Fused, Outcome, Places, Replay, nested
from agentic_rag.evaluation.tuning.search import METHOD, Values, choose, folds_of
from agentic_rag.parameters import RerankParameters
from agentic_rag.rerank.learned import LearnedRanker, fit_calibration, fit_trees
from agentic_rag.rerank.offline import WEIGHTS, offline_odds

INNER_FOLDS = 3


@dataclass(frozen=True, slots=True)
class Learned:
    """A ranker, the fusion it ranks, and what it did."""

    changes: Changes
    """Of the fusion; the rerank's weights are the ranker's own."""
    ranker: LearnedRanker
    outcome: Outcome
    """Over all queries; over the training ones it is flattered."""
    inner: Outcome
    """Over the training queries, each by a ranker that was trained without it; elsewhere not a number."""
    inner_tuned: Floats
    """The same queries' measure under the settings that were chosen without them, for comparison."""


def learn(replay: Replay, train: Places, varied: Sequence[Sequence[Values]]) -> Learned:
    """Train on the training queries, beginning from the settings that are best on them.

    The calibration is fitted to the inner folds' results, each ranked by trees that did not see its query.

    Raises:
        MissingExtra: LightGBM is not installed.
        InputError: no training query's results hold a relevant one.
    """
    count = len(replay.collected)
    odds: dict[int, Floats] = {}
    relevant: list[bool] = []
    values, tuned = np.full(count, np.nan), np.full(count, np.nan)
    for held in folds_of([one.query for one in replay.collected], train, INNER_FOLDS):
        rest = np.setdiff1d(train, held)
        settings = choose(replay, rest, varied)
        tuned[held] = replay.outcome(settings).values[held]
        trees = _Trees.fitted(replay, rest, settings)
        for number in held.tolist():
            odds[number] = trees.odds(number)
            values[number] = trees.value(number, odds[number])
            relevant += [grade > 0 for grade in trees.fused[number].grades]
    trees = _Trees.fitted(replay, train, choose(replay, train, varied))
    raw = np.concatenate([*odds.values(), np.zeros(0)])
    slope, intercept = fit_calibration(raw, np.array(relevant, dtype=bool))
    ranker = replace(trees.ranker, slope=slope, intercept=intercept)
    final = [trees.odds(number) for number in range(count)]
    inner = np.full(count, np.nan)
    for number, of_query in odds.items():
        inner[number] = _confidence(ranker, of_query)
    return Learned(
        changes=trees.changes,
        ranker=ranker,
        outcome=Outcome(
            np.array([trees.value(number, of_query) for number, of_query in enumerate(final)]),
            np.array([_confidence(ranker, of_query) for of_query in final]),
        ),
        inner=Outcome(values, inner),
        inner_tuned=tuned,
    )


@dataclass(frozen=True, slots=True)
class _Trees:
    """Trees before calibration, on the fusion that they were trained on."""

    replay: Replay
    changes: Changes
    ranker: LearnedRanker
    fused: list[Fused]

    @classmethod
    def fitted(cls, replay: Replay, train: Places, settings: Changes) -> _Trees:
        """Where no rerank at all was best, they begin from the default one: they read the fused order too."""
        changes = tuple((name, value) for name, value in settings if name != METHOD)
        weights = replay.base.overridden(nested(changes)).rerank
        fused = replay.fused(changes)
        taught = [fused[number] for number in np.intersect1d(train, replay.ranked).tolist()]
        trees = fit_trees(
            [offline_odds(of_query.terms, weights) for of_query in taught],
            [of_query.table for of_query in taught],
            [of_query.grades for of_query in taught],
        )
        told = {name: float(getattr(weights, name)) for name in WEIGHTS}
        return cls(replay, changes, LearnedRanker(trees, told), fused)

    def odds(self, number: int) -> Floats:
        """Of a query's results, in the fused order."""
        of_query = self.fused[number]
        weights = RerankParameters.model_validate(self.ranker.weights)
        return self.ranker.odds(offline_odds(of_query.terms, weights), of_query.table)

    def value(self, number: int, odds: Floats) -> float:
        """The measure of a query's results in the order of these odds."""
        of_query = self.fused[number]
        order = sorted(range(odds.size), key=lambda place: (-float(odds[place]), of_query.ids[place]))
        return self.replay.value(number, [of_query.units[place] for place in order])


def _confidence(ranker: LearnedRanker, odds: Floats) -> float:
    return max(ranker.relevances(odds), default=0.0)
