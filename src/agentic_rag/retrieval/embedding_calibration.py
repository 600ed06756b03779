"""Which calibration reads an embedding's cosines: the one fitted for it, or that one carried over to its scale.

What related and unrelated texts have as their cosine is of each model's own: .86 and .77 under the bundled one,
.32 and .01 under another. So a model that nothing was fitted for first embeds reference pairs, a question and the
passage that answers it, twenty in English and the same in Chinese (``reference_pairs.json``). Where its related and
unrelated pairs lie says how far apart two cosines of it are, in steps of the model that was fitted.
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
from agentic_rag.retrieval.calibration import (
    COSINE_UNIT,
    SCRIPT_PAIRS,
    Calibration,
    Coefficients,
    GraphRelevance,
    Sense,
)
from agentic_rag.text.cache import TextCache

SCRIPTS = ("latin", "cjk")
"""Of the reference pairs."""
LEAST_SPREAD = 1e-3
"""Of cosines: a model that gives all texts one vector tells nothing apart, and divides by no zero either."""


class Levels(NamedTuple):
    """Cosines of a model's reference pairs, of one pair of scripts."""

    related: float
    """Mean of a question with the passage that answers it."""
    unrelated: float
    """Mean of a question with the others."""
    spread: float
    """Standard deviation of the unrelated."""

    @property
    def apart(self) -> float:
        """How much nearer the related are, in spreads of the unrelated."""
        return (self.related - self.unrelated) / max(self.spread, LEAST_SPREAD)


class Measured(NamedTuple):
    """What the reference pairs tell of a model."""

    levels: Mapping[str, Levels]
    """By script pair."""
    ordinary: Mapping[str, FloatArray]
    """See ``Calibration.ordinary``."""


class KeptLevels(Protocol):
    """Remembers what was measured of one model from process to process."""

    async def read(self) -> Measured | None:
        """None where nothing was measured yet."""

    async def write(self, measured: Measured) -> None:
        """Never raises: what cannot be kept is measured again."""


class FittedCalibration(NamedTuple):
    """What ships with the bundled model."""

    model: str
    """Name of the embedding that it was fitted for."""
    calibration: Calibration
    levels: Mapping[str, Levels]
    """Of that embedding, by script pair."""
    graph: GraphRelevance
    """Of what a walk visits; reads no cosine."""


class EmbeddingCalibration:
    """The calibration of one embedding, found when it is first needed.

    Args:
        embedding: the model whose cosines are read.
        calibration: what reads them, where that is known already.
        kept: where the levels of a model that nothing was fitted for are remembered; None: in this object alone.
    """

    def __init__(
        self, embedding: Embedding, calibration: Calibration | None = None, *, kept: KeptLevels | None = None
    ) -> None:
        self._embedding = embedding
        self._kept = kept
        fitted = fitted_calibration()
        self.of_words = calibration or fitted.calibration
        """To judge by words alone: no cosine is read."""
        self.is_fitted = calibration is not None or embedding.name == fitted.model
        """Whether it needs no reference pairs."""
        self._known = self.of_words if self.is_fitted else None
        self._measured = TextCache[Calibration](most=1)

    async def of_cosines(self) -> Calibration:
        """The calibration; embeds the reference pairs the first time, where nothing was fitted for the model and
        its levels were not kept.

        Raises:
            ModelError: the reference pairs cannot be embedded.
        """
        if self._known is None:
            self._known = (await self._measured.of([self._embedding.name], self._measure))[0]
        return self._known

    async def _measure(self, names: list[str]) -> list[Calibration]:
        return [carried_over(fitted_calibration(), await self._told()) for _ in names]

    async def _told(self) -> Measured:
        kept = await self._kept.read() if self._kept is not None else None
        fitted = fitted_calibration()
        if (
            kept is not None
            and kept.levels.keys() == fitted.levels.keys()
            and kept.ordinary.keys() == fitted.calibration.ordinary.keys()
        ):
            return kept
        told = await measured(self._embedding)
        if self._kept is not None:
            await self._kept.write(told)
        return told


async def measured(embedding: Embedding) -> Measured:
    """Where a model's related and unrelated reference pairs lie, and the mean of its passages in each script.

    Raises:
        ModelError: the model failed.
    """
    pairs: list[dict[str, dict[str, str]]] = json.loads(reference_pairs_text())
    questions = await embedding.embed_queries([text for one in pairs for text in one["question"].values()])
    passages = await embedding.embed_passages([text for one in pairs for text in one["passage"].values()])
    scripts = ["latin" if language == "en" else "cjk" for one in pairs for language in one["question"]]
    return Measured(
        {pair: _levels(questions, passages, scripts, pair) for pair in SCRIPT_PAIRS},
        {name: passages[[script == name for script in scripts]].mean(axis=0) for name in SCRIPTS},
    )


def carried_over(fitted: FittedCalibration, other: Measured) -> Calibration:
    """The fitted calibration for another model's cosines.

    A step of them is as many times the fitted model's as related and unrelated pairs lie farther apart, or, where
    that is more, as unrelated ones vary more: what a model hardly tells apart (a script it never learnt) counts as
    little. A typical relevant pair lies as many steps above an unrelated one as under the fitted model.
    """
    centres, units = {}, {}
    for pair, ours in fitted.levels.items():
        theirs = other.levels[pair]
        by_gap = (theirs.related - theirs.unrelated) / (ours.related - ours.unrelated)
        by_spread = max(theirs.spread, LEAST_SPREAD) / ours.spread
        times = max(by_gap, by_spread)
        units[pair] = COSINE_UNIT * times
        centres[pair] = theirs.unrelated + (fitted.calibration.centres[pair] - ours.unrelated) * times
    nearer = {
        asked_in: _nearer(fitted.levels, asked_in, said_in, COSINE_UNIT)
        - _nearer(other.levels, asked_in, said_in, units[asked_in])
        for asked_in, said_in in (SCRIPTS, SCRIPTS[::-1])
    }
    return replace(fitted.calibration, centres=centres, units=units, ordinary=other.ordinary, nearer=nearer)


def _nearer(held: Mapping[str, Levels], asked_in: str, said_in: str, unit: float) -> float:
    """By how many steps a question in a script is nearer to passages of it than to those in the other one."""
    return (held[asked_in].unrelated - held[f"{asked_in}_{said_in}"].unrelated) / unit


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
    """Of the questions and passages in a pair's scripts; the rows of both are in the same order."""
    asked_in, _, said_in = pair.partition("_")
    asked = questions[[script == asked_in for script in scripts]]
    said = passages[[script == (said_in or asked_in) for script in scripts]]
    cosines = asked @ said.T
    is_related = np.eye(len(cosines), dtype=bool)
    unrelated = cosines[~is_related]
    return Levels(float(cosines[is_related].mean()), float(unrelated.mean()), float(unrelated.std()))


def reference_pairs_text() -> str:
    """The file of reference pairs, each a question and a passage in ``en`` and ``zh``; under others a model has other levels."""
    file = resources.files("agentic_rag") / "retrieval/reference_pairs.json"
    return file.read_text(encoding="utf-8")
