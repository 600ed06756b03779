"""Levels of embedding models, each measured once: a file of the data folder, so that no process asks for them again."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentic_rag.retrieval.embedding_calibration import Levels
from agentic_rag.whole_file import write_whole

FILE = "embedding_levels.json"
"""In the data folder: by model, by script pair, what ``Levels`` holds."""

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

    async def read(self) -> Mapping[str, Levels] | None:
        """What was kept of the model; None where nothing was."""
        return await asyncio.to_thread(self._read)

    async def write(self, levels: Mapping[str, Levels]) -> None:
        """Keep them, beside those of other models; the file is written whole or not at all."""
        try:
            await asyncio.to_thread(self._write, levels)
        except OSError as error:
            logger.warning("the levels of the embedding model cannot be kept in %s: %s", self._path, error)

    def _read(self) -> Mapping[str, Levels] | None:
        try:
            return {pair: Levels(*map(float, held)) for pair, held in self._held()[self._model].items()}
        except (KeyError, TypeError, ValueError, AttributeError):
            return None

    def _write(self, levels: Mapping[str, Levels]) -> None:
        write_whole(self._path, json.dumps({**self._held(), self._model: levels}, indent=1))

    def _held(self) -> dict[str, Any]:
        try:
            held = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return held if isinstance(held, dict) else {}
