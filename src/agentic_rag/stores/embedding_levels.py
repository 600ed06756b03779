"""Levels of embedding models, each measured once: a file of the data folder, so that no process asks for them again."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np

from agentic_rag.retrieval.embedding_calibration import Levels, ModelMeasurements
from agentic_rag.stores.whole_file import write_whole

FILE = "embedding_levels.json"
"""In the data folder: by model, what ``ModelMeasurements`` holds."""

logger = logging.getLogger(__name__)


class LevelsFile:
    """``KeptLevels`` of one model; a file that cannot be read or written only costs that they are measured anew.

    Args:
        path: of the file, which other models share.
        model: tells one model (with the prefix it is asked with) from another.
    """

    def __init__(self, path: Path, model: str) -> None:
        self._path = path
        self._model = model

    async def read(self) -> ModelMeasurements | None:
        """What was kept of the model; None where nothing was."""
        return await asyncio.to_thread(self._read)

    async def write(self, measurements: ModelMeasurements) -> None:
        """Keep it, beside those of other models; the file is written whole or not at all."""
        try:
            await asyncio.to_thread(self._write, measurements)
        except OSError as error:
            logger.warning(
                "the calibration of the embedding model cannot be written to %s: %s", self._path, error
            )

    def _read(self) -> ModelMeasurements | None:
        try:
            held = self._stored_levels()[self._model]
            levels = {pair: Levels(*map(float, told)) for pair, told in held["levels"].items()}
            means = {name: np.array(mean, dtype=np.float32) for name, mean in held["ordinary"].items()}
            return ModelMeasurements(levels, means)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def _write(self, measurements: ModelMeasurements) -> None:
        means = {name: mean.tolist() for name, mean in measurements.ordinary.items()}
        told = {"levels": measurements.levels, "ordinary": means}
        write_whole(self._path, json.dumps({**self._stored_levels(), self._model: told}))

    def _stored_levels(self) -> dict[str, Any]:
        try:
            held = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return held if isinstance(held, dict) else {}
