"""Rerank by a ranker learned on labelled queries: trees that correct the offline score (extra ``learned``).

    odds(result) = offline log-odds + trees(features)          trees: LightGBM, lambdarank
    score        = 1 / (1 + exp(-(slope · odds + intercept)))  Platt's calibration

The trees begin where the offline rerank ends, so that few labels change little. ``agentic-rag tune --learned``
trains them and writes one text file: LightGBM's own model format (LightGBM reads it too), and a last line with
the features' names and version, the offline weights and the calibration.

Source: Burges, From RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82; Platt, Probabilistic Outputs for
Support Vector Machines, 1999.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentic_rag.errors import ConfigError, InputError, MissingExtra, ModelError
from agentic_rag.identity import digest
from agentic_rag.odds import MOST_ODDS, probabilities, probability
from agentic_rag.parameters import RerankParameters
from agentic_rag.rerank.features import FEATURES, FEATURES_VERSION, features, terms_of
from agentic_rag.rerank.offline import WEIGHTS, offline_odds

Floats = NDArray[np.float64]
HEAD = "agentic_rag:"
"""Begins the file's last line, which LightGBM does not read."""
AGAIN = "tune again: agentic-rag tune DATASET --learned"
ROUNDS = 100
GRADES = 30
"""Highest grade told apart."""
LEAST_SLOPE = 0.01
"""Of the calibration: it must not turn the order around."""
_TRAINING: Mapping[str, Any] = {
    "objective": "lambdarank",
    "label_gain": list(range(GRADES + 1)),  # linear, as the measures' gain
    "lambdarank_truncation_level": 20,
    "learning_rate": 0.05,
    "num_leaves": 7,
    "min_data_in_leaf": 20,
    "lambda_l2": 1.0,
    "seed": 0,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}


@dataclass(frozen=True, slots=True, eq=False)
class LearnedRanker:
    """Trees, the offline weights they correct, and the calibration of their sum."""

    booster: Any
    """A ``lightgbm.Booster`` over the columns of ``FEATURES``."""
    weights: Mapping[str, float]
    """Of the offline rerank, by name."""
    slope: float = 1.0
    """At least ``LEAST_SLOPE``."""
    intercept: float = 0.0

    def odds(self, offline: Floats, table: Floats) -> Floats:
        """Before calibration: offline log-odds (results,) and features (results, ``FEATURES``) to (results,)."""
        if len(table) == 0:
            return offline
        trees: Floats = self.booster.predict(table, raw_score=True, num_threads=1)
        return offline + trees

    def relevances(self, odds: Floats) -> list[float]:
        """Calibrated, in [0, 1]; order as the odds'."""
        return [probability(self.slope * value + self.intercept) for value in odds.tolist()]

    def scores(
        self, query: str, results: Sequence[Mapping[str, Any]], operation: str | None = None
    ) -> list[float]:
        """Relevance in [0, 1] of each fused result, given in the fused order."""
        weights = RerankParameters.model_validate(self.weights)
        terms = terms_of(query, results, operation)
        offline = offline_odds(terms, weights)
        return self.relevances(self.odds(offline, features(query, results, terms)))

    def to_text(self) -> str:
        """The file's content; ``parse_ranker`` reads it."""
        trees = self.booster.model_to_string().rstrip()
        head = {
            "features_version": FEATURES_VERSION,
            "features": list(FEATURES),
            "weights": dict(self.weights),
            "slope": self.slope,
            "intercept": self.intercept,
            "digest": digest(trees),
        }
        return f"{trees}\n{HEAD}{json.dumps(head)}\n"


def rerank_learned(
    query: str,
    results: Sequence[dict[str, Any]],
    parameters: RerankParameters,
    operation: str | None = None,
) -> list[dict[str, Any]]:
    """Results in a new order, each with ``rerank_score`` in [0, 1]; descending, then id.

    Raises:
        ConfigError, MissingExtra: as ``load_ranker``.
        ModelError: LightGBM failed.
    """
    ranker = load_ranker(parameters.model)
    if not results:
        return []
    try:
        scores = ranker.scores(query, results, operation)
    except _lightgbm().basic.LightGBMError as error:
        raise ModelError(f"the learned ranker {parameters.model} failed: {error}") from error
    scored = [{**result, "rerank_score": score} for result, score in zip(results, scores, strict=True)]
    return sorted(scored, key=lambda result: (-result["rerank_score"], result["id"]))


def load_ranker(path: str | Path | None) -> LearnedRanker:
    """The ranker in a file that tune wrote; remembered until the file changes.

    Raises:
        MissingExtra: LightGBM is not installed.
        ConfigError: no file is set, or it cannot be read, is damaged, or learned with other features.
    """
    if path is None:
        raise ConfigError(
            "rerank.method is 'learned' but rerank.model is not set; agentic-rag tune DATASET --learned "
            "trains a ranker and writes both settings"
        )
    _lightgbm()
    place = Path(path)
    try:
        told = place.stat()
    except OSError as error:
        raise ConfigError(
            f"cannot read the learned ranker {place}: {error.strerror or error}; {AGAIN}"
        ) from error
    return _loaded(place, told.st_mtime_ns, told.st_size)


@lru_cache(maxsize=4)
def _loaded(path: Path, changed: int, size: int) -> LearnedRanker:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the learned ranker {path}: {error}; {AGAIN}") from error
    return parse_ranker(text, str(path))


def parse_ranker(text: str, name: str) -> LearnedRanker:
    """The ranker that ``LearnedRanker.to_text`` wrote; ``name`` is for errors.

    Raises:
        MissingExtra: LightGBM is not installed.
        ConfigError: the text is something else, damaged, or of a ranker learned with other features.
    """
    lightgbm = _lightgbm()
    trees, found, last = text.rpartition(f"\n{HEAD}")
    try:
        head: Any = json.loads(last) if found else None
        version, names = head["features_version"], head["features"]
        weights = {weight: float(head["weights"][weight]) for weight in WEIGHTS if weight in head["weights"]}
        slope, intercept, mark = float(head["slope"]), float(head["intercept"]), head["digest"]
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"{name} is no ranker that tune wrote; {AGAIN}") from error
    if version != FEATURES_VERSION or names != list(FEATURES) or weights.keys() != set(WEIGHTS):
        raise ConfigError(
            f"the ranker {name} was learned with other features (version {version}) than this program's "
            f"(version {FEATURES_VERSION}); {AGAIN}"
        )
    # LightGBM may crash on what it did not write.
    if mark != digest(trees) or slope < LEAST_SLOPE:
        raise ConfigError(f"the ranker {name} is damaged; {AGAIN}")
    booster = lightgbm.Booster(model_str=f"{trees}\n")
    return LearnedRanker(booster, weights, slope, intercept)


def fit_trees(offline: Sequence[Floats], tables: Sequence[Floats], grades: Sequence[Sequence[int]]) -> Any:
    """A booster that corrects offline log-odds so that the relevant come first; the same input, the same trees.

    Args:
        offline: by query the log-odds of its results.
        tables: by query their features, shape (results, ``FEATURES``).
        grades: by query their relevance, relevant from 1. A query without a relevant result teaches nothing.

    Raises:
        MissingExtra: LightGBM is not installed.
        InputError: no query has a relevant result.
    """
    lightgbm = _lightgbm()
    told = [number for number, of_query in enumerate(grades) if any(grade > 0 for grade in of_query)]
    if not told:
        raise InputError("there is nothing to learn from: no query's results hold a relevant one")
    data = lightgbm.Dataset(
        np.concatenate([tables[number] for number in told]),
        label=[min(max(grade, 0), GRADES) for number in told for grade in grades[number]],
        group=[len(grades[number]) for number in told],
        init_score=np.concatenate([offline[number] for number in told]),
        feature_name=list(FEATURES),
    )
    return lightgbm.train(dict(_TRAINING), data, num_boost_round=ROUNDS)


def fit_calibration(odds: Floats, relevant: NDArray[np.bool_]) -> tuple[float, float]:
    """Platt's slope (at least ``LEAST_SLOPE``) and intercept, by maximum likelihood.

    Args:
        odds, relevant: of results that the trees were not trained on; (1, 0) where there are none.
    """
    from scipy.optimize import minimize

    if odds.size == 0:
        return 1.0, 0.0
    hits = int(relevant.sum())
    # Platt's targets: a Laplace estimate, so that separable data do not drive the slope to infinity.
    targets = np.where(relevant, (hits + 1) / (hits + 2), 1 / (relevant.size - hits + 2))
    values = np.clip(odds, -MOST_ODDS, MOST_ODDS)

    def loss(line: Floats) -> tuple[float, Floats]:
        logits = line[0] * values + line[1]
        error = probabilities(logits) - targets
        total = np.logaddexp(0.0, logits) - targets * logits
        return float(total.mean()), np.array([(error * values).mean(), error.mean()])

    found = minimize(
        loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B", bounds=[(LEAST_SLOPE, None), (None, None)]
    )
    return float(found.x[0]), float(found.x[1])


def require_learning() -> None:
    """Raises ``MissingExtra`` where LightGBM is not installed: before a run that needs it, not after."""
    _lightgbm()


def _lightgbm() -> Any:
    try:
        import lightgbm
    except ImportError as error:
        raise MissingExtra("a learned ranker", "learned") from error
    return lightgbm
