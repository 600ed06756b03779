"""The search: which settings are best on some queries, and how the queries are cut into folds.

Coordinate ascent over a grid: fusion together with whether to rerank, then each weight of the rerank, until
nothing gets better. Then simplified: what is not better than its default by more than one standard error of
the paired difference goes back to its default, so that noise changes no setting.

Source: the one-standard-error rule is Breiman, Friedman, Olshen, Stone, Classification and Regression Trees,
1984, 3.4.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from agentic_rag.domain.identity import digest
from agentic_rag.evaluation.datasets import EvalQuery
from agentic_rag.evaluation.scores import MOST_REFUSED, refusal_threshold
from agentic_rag.evaluation.tuning.replay import Changes, Floats, Places, SettingsOutcome, with_changes
from agentic_rag.fusion.strategy_selector import DEFAULT_WEIGHTS
from agentic_rag.rerank import offline
from agentic_rag.settings.parameters import FusionStrategy, RerankParameters

FOLDS = 5
ROUNDS = 3
TINY = 1e-9
"""Means that differ by less are equal."""
KS = (1, 5, 10, 20, 40, 60, 100, 200)
GRAPH_WEIGHTS = tuple(tenth / 10 for tenth in range(11))
THRESHOLDS = (1, 2, 3, 5, 10)
MIN_SCORES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MULTIPLES = (0.0, 0.25, 0.5, 0.75, 1.25, 1.5, 2.0, 3.0)
"""Of a rerank weight's default."""

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
WEIGHTS = tuple(f"rerank.{name}" for name in offline.WEIGHTS)
SEARCHED = (*FUSION, METHOD, *WEIGHTS)
"""Settings that the search sets, in the order they are shown in."""

Values = Mapping[str, Any]


class Replays(Protocol):
    """What the search asks: what settings did to each query; see ``Replay``."""

    ranked: Places

    def outcome(self, changes: Changes) -> SettingsOutcome: ...


def fusion_grid() -> list[Values]:
    """Every fusion that is tried, as settings; ``{}`` is the default one."""
    tried: list[Values] = [{}]
    tried += [{"fusion.strategy": "rrf", "fusion.k": k} for k in KS]
    for weight in GRAPH_WEIGHTS:
        strategy = FusionStrategy.WEIGHTED_GRAPHITI if weight > 0.5 else FusionStrategy.WEIGHTED_LANCEDB
        weights: dict[str, Any] = {"fusion.strategy": strategy.value}
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


def coordinates(weights: Iterable[str] = offline.WEIGHTS) -> list[list[Values]]:
    """What is varied together, each with the settings that are tried; None is the default.

    Args:
        weights: of the rerank, that can make a difference on the queries at hand.
    """
    unset = dict.fromkeys((*FUSION, METHOD))
    fusions = [{**unset, **fusion, METHOD: method} for method in (None, "none") for fusion in fusion_grid()]
    defaults = RerankParameters()
    found: list[list[Values]] = [[*fusions]]
    for name in weights:
        unit = getattr(defaults, name) or 1.0  # of a term that is not weighed by default, of 1
        values = [None, *(round(unit * multiple, 6) for multiple in MULTIPLES)]
        found.append([{f"rerank.{name}": value} for value in values])
    return found


def choose(replay: Replays, train: Places, varied: Sequence[Sequence[Values]]) -> Changes:
    """The settings with the highest mean on the training queries, simplified; () keeps all defaults.

    Args:
        replay: answers for any settings; only the training queries' values are looked at.
        train: numbers of queries; without a ranked one among them nothing is changed.
        varied: see ``coordinates``.
    """
    asked = np.intersect1d(train, replay.ranked)
    if asked.size == 0:
        return ()

    def mean(changes: Changes) -> float:
        return float(replay.outcome(changes).values[asked].mean())

    best: Changes = ()
    highest = mean(best)
    for _ in range(ROUNDS):
        before = best
        for options in varied:
            for option in options:
                tried = with_changes(best, option)
                reached = highest if tried == best else mean(tried)
                if reached > highest + TINY:
                    best, highest = tried, reached
        if best == before:
            break
    return _simplified(replay, best, asked)


def _simplified(replay: Replays, best: Changes, asked: Places) -> Changes:
    """Each group of settings back at its default where that costs no more than one standard error."""
    groups = [(METHOD,), *((name,) for name in WEIGHTS), ("fusion.normalization",), FUSION, SEARCHED]
    for names in groups:  # from one setting to all of them
        simpler = with_changes(best, dict.fromkeys(names))
        if simpler != best and not is_better(
            replay.outcome(best).values[asked], replay.outcome(simpler).values[asked]
        ):
            best = simpler
    return best


def is_better(first: Floats, second: Floats) -> bool:
    """Whether the first's mean is above the second's by more than one standard error of the paired difference."""
    differences = first - second
    error = float(differences.std(ddof=1)) / math.sqrt(differences.size) if differences.size > 1 else 0.0
    return float(differences.mean()) > error + TINY


def folds_of(queries: Sequence[EvalQuery]) -> list[Places]:
    """The queries that are held out together, fold by fold; every query is held out once.

    Where there is more than one search space (a conversation), each is a fold of its own. Else the queries are
    dealt out to ``FOLDS`` in the order of a hash of their ids.
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
"""A threshold is a whole number of these parts of 1."""
NEAR = 0.02
"""Shares of refused queries that differ by no more are the same."""


def abstention_threshold(answerable: Floats) -> float:
    """The threshold that refuses at most ``MOST_REFUSED`` of the answerable queries.

    Args:
        answerable: confidences of at least one query, in [0, 1].
    """
    return _down(refusal_threshold(answerable.tolist(), MOST_REFUSED))


def carried(threshold: float, before: Floats, after: Floats) -> float:
    """A threshold for new confidences that holds back as many queries as it did on the old ones.

    As it is where that is so already, up to ``NEAR``; scores of other settings have another scale.

    Args:
        threshold: on the old scale.
        before, after: confidences of the same queries; at least one.
    """
    held, would = float((before < threshold).mean()), float((after < threshold).mean())
    if abs(held - would) <= NEAR:
        return threshold
    return _down(refusal_threshold(after.tolist(), held))


def rightness(confidences: Floats, answerable: Floats, threshold: Floats | float) -> Floats:
    """Whether each query is rightly answered or abstained on, so weighted that both kinds count alike.

    The mean is the balanced accuracy: half the share of the answerable that is answered plus half the share
    of the unanswerable that is abstained on.

    Args:
        confidences: by query.
        answerable: 1 or 0 by query; both kinds occur.
        threshold: one, or one a query.
    """
    right = np.where(answerable > 0, confidences >= threshold, confidences < threshold).astype(np.float64)
    share = np.where(answerable > 0, answerable.mean(), 1.0 - answerable.mean())
    weighted: Floats = right / (2.0 * share)
    return weighted


def _down(threshold: float) -> float:
    """Rounded so that nothing more is refused."""
    return math.floor(threshold * STEPS) / STEPS
