"""Notes of messages that are being stored, so that a message sent again after a kill or an error replaces itself."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

from agentic_rag.domain.identity import digest
from agentic_rag.errors import StoreError

FOLDER = "remembering"
RESENT_WITHIN = 86_400.0
"""Seconds within which a message of the same content counts as sent again after an interrupted call."""


class Intents:
    """A small file for each call that has not returned: it is named by digests of user and content, and contains the id
    of the message. The caller holds the user's lock.

    Args:
        data: the data folder; None: nothing is noted, and a message sent again is stored twice.
    """

    def __init__(self, data: Path | None) -> None:
        self._folder = None if data is None else data / FOLDER

    def begin(self, dataset: str, content: str, name: str) -> None:
        """Note that the message ``name`` is about to be stored.

        Raises:
            StoreError: it cannot be noted.
        """
        if self._folder is not None:
            try:
                self._folder.mkdir(exist_ok=True)
                (self._folder / _file(dataset, content)).write_text(name, "utf-8")
            except OSError as error:
                raise StoreError(f"cannot write to {self._folder}: {error}") from error

    def pending(self, dataset: str, content: str) -> str | None:
        """The id of the message that a call with this content was about to store; None if the call returned."""
        try:
            file = (self._folder or Path()) / _file(dataset, content)
            recent = time.time() - file.stat().st_mtime < RESENT_WITHIN
            return file.read_text("utf-8") if recent else None
        except (OSError, ValueError):
            return None

    def end(self, dataset: str, content: str) -> None:
        """Delete the note of a call that returns."""
        if self._folder is not None:
            (self._folder / _file(dataset, content)).unlink(missing_ok=True)

    def forget(self, dataset: str, names: Collection[str] | None) -> None:
        """Delete the notes of some messages; None: of all of the user."""
        for file in [] if self._folder is None else self._folder.glob(_file(dataset, "*")):
            if names is None or file.read_text("utf-8", "replace") in names:
                file.unlink(missing_ok=True)


def _file(dataset: str, content: str) -> str:
    return f"{digest(dataset)}-{content}"
