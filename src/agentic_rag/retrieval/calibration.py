"""From raw scores to relevance in [0, 1]: a logistic model per set of legs, fitted on labelled pairs.

A raw cosine does not judge: its level differs from model to model and from script to script. What does
is how far the cosine lies from the level of relevant pairs in that script, how far from the query's
best, and how much of the query's words the passage has. 0.5 means that, at even odds beforehand, as
many relevant as irrelevant passages look like this one. The coefficients ship with the model, in
``calibration.json`` beside it; they were fitted on the twenty best candidates of each query of seven BEIR
sets (hotpot, musique, 2wiki, cmrc, rgb in Chinese and English, cranfield), with and without the relevant
passages, each query counting alike.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from agentic_rag.text import Script

CROSS = "cross"
COSINE_UNIT = 0.03
BM25_UNIT = 10.0
BM25_CAP = 40.0
COVERAGE = 3.0
"""Weight of the share of the question's words a passage has, where no cosine says what they mean: a
best BM25 made of "what is the" must not look relevant."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the legs say of one passage for one query; None where a leg did not find it or did not run."""

    cosine: float | None
    bm25: float | None
    best_cosine: float | None
    """Best in the query's whole list, same leg; None where the leg did not run."""
    best_bm25: float | None
    worst_cosine: float | None
    """Lowest in the dense leg's list: a passage missing from it lies no higher."""
    scripts: tuple[Script, Script]
    """Of the query and of the passage."""
    coverage: float | None = None
    """Share of the query's telling words that the passage has; read only where there is no cosine."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """One logistic model: intercept and cosine slope by script, the rest shared."""

    intercept: Mapping[str, float]
    cosine: Mapping[str, float]
    below_best: float
    bm25_share: float
    bm25_level: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Turns ``Evidence`` into relevance.

    ``centres`` are the cosines of typical relevant pairs by script pair (``latin``, ``cjk``, ``cross``);
    ``models`` the coefficients by which legs ran: ``dense``, ``sparse`` or ``hybrid``.
    """

    centres: Mapping[str, float]
    models: Mapping[str, Coefficients]

    @classmethod
    def for_model(cls, name: str) -> Calibration:
        """The calibration shipped for an embedding model; an unknown model gets the bundled one's."""
        return _shipped()

    def relevance(self, evidence: Evidence) -> float:
        """Relevance in [0, 1] of a passage that at least one leg found."""
        pair = script_pair(evidence.scripts)
        family = "cjk" if pair == "cjk" else "latin"
        ran = _legs_that_ran(evidence)
        model = self.models[ran]
        logit = model.intercept[family]
        if ran != "sparse":
            distance = self._distance(evidence, pair)
            logit += model.cosine[family] * distance
            logit += model.below_best * min(0.0, distance - self._best_distance(evidence, pair))
        if ran != "dense" and evidence.bm25 is not None and evidence.best_bm25:
            share = evidence.bm25 / evidence.best_bm25
            logit += share * (
                model.bm25_share + model.bm25_level * min(evidence.best_bm25, BM25_CAP) / BM25_UNIT
            )
        if evidence.cosine is None and evidence.coverage is not None:
            logit += COVERAGE * (evidence.coverage - 0.5)
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit))))

    def of_cosine(self, cosine: float, scripts: tuple[Script, Script]) -> float:
        """Relevance of something judged by its cosine alone (a fact, an entity name)."""
        return self.relevance(Evidence(cosine, None, cosine, None, cosine, scripts))

    def _distance(self, evidence: Evidence, pair: str) -> float:
        known = evidence.cosine if evidence.cosine is not None else evidence.worst_cosine
        return 0.0 if known is None else (known - self.centres[pair]) / COSINE_UNIT

    def _best_distance(self, evidence: Evidence, pair: str) -> float:
        if evidence.best_cosine is None:
            return 0.0
        return (evidence.best_cosine - self.centres[pair]) / COSINE_UNIT


def script_pair(scripts: tuple[Script, Script]) -> str:
    """``latin``, ``cjk`` or ``cross``; a text without letters goes with the other one."""
    query, passage = scripts
    if query == "other":
        query = passage
    if passage == "other":
        passage = query
    if query != passage:
        return CROSS
    return "cjk" if query == "cjk" else "latin"


def _legs_that_ran(evidence: Evidence) -> str:
    if evidence.best_bm25 is None:
        return "dense"
    return "sparse" if evidence.best_cosine is None else "hybrid"


@lru_cache(maxsize=1)
def _shipped() -> Calibration:
    file = resources.files("agentic_rag") / "models/multilingual-e5-small/calibration.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    return Calibration(
        data["centres"], {name: Coefficients(**model) for name, model in data["models"].items()}
    )
