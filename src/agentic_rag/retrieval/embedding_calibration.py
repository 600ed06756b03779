"""The calibration for an embedding's cosines: the fitted one, or the fitted one rescaled to another model.

Each model has its own mean cosine of related and of unrelated texts: .86 and .77 with the bundled model, .32 and
.01 with another. So a model without a fitted calibration first embeds reference pairs of a question and the
passage that answers it, twenty in English and the same in Chinese (``reference_pairs.json``). The cosines of its
related and unrelated pairs give the size of one step on the scale of the fitted model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import NamedTuple, Protocol

import numpy as np

from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.retrieval.calibration import COSINE_UNIT, SCRIPT_PAIRS, Calibration, Coefficients, Sense
from agentic_rag.retrieval.graph_relevance import GraphRelevance
from agentic_rag.text.cache import TextCache

SCRIPTS = ("latin", "cjk")
"""Of the reference pairs."""
MIN_SPREAD = 1e-3
"""Lower bound of a standard deviation of cosines; prevents a division by zero if a model gives all texts one
vector."""


class Levels(NamedTuple):
    """Cosines of a model's reference questions and passages, for one pair of scripts."""

    related_cosine: float
    """Mean of a question with the passage that answers it."""
    unrelated_cosine: float
    """Mean of a question with the others."""
    spread: float
    """Standard deviation of the unrelated."""

    @property
    def apart(self) -> float:
        """Mean of the related minus mean of the unrelated, in standard deviations of the unrelated."""
        return (self.related_cosine - self.unrelated_cosine) / max(self.spread, MIN_SPREAD)


class ModelMeasurements(NamedTuple):
    """Measurements of a model on the reference pairs."""

    levels: Mapping[str, Levels]
    """By script pair."""
    ordinary: Mapping[str, FloatArray]
    """See ``Calibration.ordinary``."""


class KeptLevels(Protocol):
    """Remembers what was measured of one model from process to process."""

    async def read(self) -> ModelMeasurements | None:
        """None where nothing was measured yet."""

    async def write(self, measurements: ModelMeasurements) -> None:
        """Never raises: what cannot be kept is measured again."""


class FittedCalibration(NamedTuple):
    """What ships with the bundled model."""

    model: str
    """Name of the embedding that it was fitted for."""
    calibration: Calibration
    levels: Mapping[str, Levels]
    """Of that embedding, by script pair."""
    graph: GraphRelevance
    """Relevance of the chunks that a walk visits; reads no cosine."""


class EmbeddingCalibration:
    """The calibration of one embedding, found when it is first needed.

    Args:
        embedding: the model whose cosines are read.
        calibration: the calibration to use; None: the fitted one, or one from the reference pairs.
        levels_file: stores the measured levels of a model without a fitted calibration; None: only this object keeps
            them.
    """

    def __init__(
        self,
        embedding: Embedding,
        calibration: Calibration | None = None,
        *,
        levels_file: KeptLevels | None = None,
    ) -> None:
        self._embedding = embedding
        self._levels_file = levels_file
        fitted = fitted_calibration()
        self.of_words = calibration or fitted.calibration
        """To judge by words alone: no cosine is read."""
        self.is_fitted = calibration is not None or embedding.name == fitted.model
        """Whether it needs no reference pairs."""
        self._current = self.of_words if self.is_fitted else None
        self._measurements = TextCache[Calibration](most=1)

    async def of_cosines(self) -> Calibration:
        """The calibration; the first call embeds the reference pairs if the model has neither a fitted
        calibration nor stored levels.

        Raises:
            ModelError: the reference pairs cannot be embedded.
        """
        if self._current is None:
            self._current = (await self._measurements.of([self._embedding.name], self._measure))[0]
        return self._current

    async def _measure(self, names: list[str]) -> list[Calibration]:
        return [carried_over(fitted_calibration(), await self._measure_and_store()) for _ in names]

    async def _measure_and_store(self) -> ModelMeasurements:
        kept = await self._levels_file.read() if self._levels_file is not None else None
        fitted = fitted_calibration()
        if (
            kept is not None
            and kept.levels.keys() == fitted.levels.keys()
            and kept.ordinary.keys() == fitted.calibration.ordinary.keys()
        ):
            return kept
        told = await measure_model(self._embedding)
        if self._levels_file is not None:
            await self._levels_file.write(told)
        return told


async def measure_model(embedding: Embedding) -> ModelMeasurements:
    """Levels of a model's related and unrelated reference pairs, and the mean vector of the passages in each
    script.

    Raises:
        ModelError: the model failed.
    """
    pairs: list[dict[str, dict[str, str]]] = json.loads(reference_pairs_text())
    questions = await embedding.embed_queries([text for one in pairs for text in one["question"].values()])
    passages = await embedding.embed_passages([text for one in pairs for text in one["passage"].values()])
    scripts = ["latin" if language == "en" else "cjk" for one in pairs for language in one["question"]]
    return ModelMeasurements(
        {pair: _levels(questions, passages, scripts, pair) for pair in SCRIPT_PAIRS},
        {name: passages[[script == name for script in scripts]].mean(axis=0) for name in SCRIPTS},
    )


def carried_over(fitted_calibration: FittedCalibration, other: ModelMeasurements) -> Calibration:
    """The fitted calibration for another model's cosines.

    Its step is the fitted model's step times the larger of two ratios: of the distances between related and
    unrelated pairs, and of the standard deviations of unrelated pairs. So differences that a model hardly
    resolves (a script it never learnt) count little. A typical relevant pair lies as many steps above an
    unrelated one as with the fitted model.
    """
    centres, units = {}, {}
    for pair, ours in fitted_calibration.levels.items():
        theirs = other.levels[pair]
        by_gap = (theirs.related_cosine - theirs.unrelated_cosine) / (
            ours.related_cosine - ours.unrelated_cosine
        )
        by_spread = max(theirs.spread, MIN_SPREAD) / ours.spread
        times = max(by_gap, by_spread)
        units[pair] = COSINE_UNIT * times
        centres[pair] = (
            theirs.unrelated_cosine
            + (fitted_calibration.calibration.centres[pair] - ours.unrelated_cosine) * times
        )
    nearer = {
        asked_in: _nearer(fitted_calibration.levels, asked_in, said_in, COSINE_UNIT)
        - _nearer(other.levels, asked_in, said_in, units[asked_in])
        for asked_in, said_in in (SCRIPTS, SCRIPTS[::-1])
    }
    return replace(
        fitted_calibration.calibration, centres=centres, units=units, ordinary=other.ordinary, nearer=nearer
    )


def _nearer(levels_by_script: Mapping[str, Levels], asked_in: str, said_in: str, unit: float) -> float:
    """Mean cosine of a script's questions with unrelated passages in that script minus that in the other, in
    steps."""
    return (
        levels_by_script[asked_in].unrelated_cosine
        - levels_by_script[f"{asked_in}_{said_in}"].unrelated_cosine
    ) / unit


@lru_cache(maxsize=1)
def fitted_calibration() -> FittedCalibration:
    """What ships with the bundled model (``calibration.json``)."""
    file = resources.files("agentic_rag") / "models/multilingual-e5-small/calibration.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    models = {name: Coefficients(**model) for name, model in data["models"].items()}
    ordinary = {name: np.array(mean, dtype=np.float32) for name, mean in data["ordinary"].items()}
    calibration = Calibration(data["centres"], models, Sense(**data["sense"]), ordinary=ordinary)
    levels_held = {pair: Levels(*held) for pair, held in data["levels"].items()}
    return FittedCalibration(data["model"], calibration, levels_held, GraphRelevance(**data["graph"]))


def _levels(questions: FloatArray, passages: FloatArray, scripts: list[str], pair: str) -> Levels:
    """Levels for one pair of scripts; row i of ``passages`` answers row i of ``questions``."""
    asked_in, _, said_in = pair.partition("_")
    asked = questions[[script == asked_in for script in scripts]]
    said = passages[[script == (said_in or asked_in) for script in scripts]]
    cosines = asked @ said.T
    is_related = np.eye(len(cosines), dtype=bool)
    unrelated = cosines[~is_related]
    return Levels(float(cosines[is_related].mean()), float(unrelated.mean()), float(unrelated.std()))


def reference_pairs_text() -> str:
    """The file of reference pairs, each a question and a passage in ``en`` and ``zh``; levels depend on these
    pairs."""
    file = resources.files("agentic_rag") / "retrieval/reference_pairs.json"
    return file.read_text(encoding="utf-8")
