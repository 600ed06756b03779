"""Schedules each question again by the marks of its answers, with FSRS. One JSON file per user in the data folder."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from fsrs import Card, Rating, Scheduler

from agentic_rag.boards.marking import Mark
from agentic_rag.domain.identity import digest
from agentic_rag.errors import RunError
from agentic_rag.stores.lancedb.process_lock import process_lock
from agentic_rag.stores.whole_file import write_whole

FOLDER = "reviews"
"""In the data folder."""
_RATINGS = {"right": Rating.Good, "partly": Rating.Hard, "wrong": Rating.Again}
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Review:
    """One question and its schedule."""

    card_id: str
    asks: str
    expected: tuple[str, ...]
    dataset: str
    board: str
    """File of the board of the last answer."""
    source: str
    """Title of the note with the answer."""
    given: str
    """The last answer, as it was marked."""
    mark: Mark
    due: datetime
    note: str | None
    """File of the mistake note of this question."""
    state: dict[str, Any]
    """The card's state in FSRS."""


class Reviews:
    """A user's questions. The file is read whole, changed under a lock, and written whole.

    Args:
        folder: folder of the files; created if missing.
        user_id: the user.
    """

    def __init__(self, folder: Path, user_id: str) -> None:
        self._path = folder / f"{digest(unicodedata.normalize('NFC', user_id), size=8)}.json"
        # Steps of days only: nobody opens a board again after ten minutes.
        self._scheduler = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)

    def all(self) -> dict[str, Review]:
        """All reviews by card id.

        Raises:
            RunError: the file cannot be read.
        """
        try:
            raw = json.loads(self._path.read_text("utf-8")) if self._path.exists() else {"cards": []}
            return {one["card_id"]: _review(one) for one in raw["cards"]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(
                f"the review schedule {self._path} cannot be read: {error}; "
                "move that file away to start a new schedule"
            ) from error

    def due(self, at: datetime, dataset: str | None = None) -> list[Review]:
        """Reviews that are due at a time, longest overdue first."""
        found = [one for one in self.all().values() if dataset in (None, one.dataset) and one.due <= at]
        return sorted(found, key=lambda one: (one.due, one.card_id))

    def forget(self) -> int:
        """Delete all of the user's reviews; returns their number.

        Raises:
            RunError: the file cannot be read or deleted.
        """
        number = len(self.all())
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            raise RunError(f"{self._path} cannot be deleted: {error}") from error
        return number

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[dict[str, Review]]:
        """All reviews, to be changed in place; written at the end. One change at a time, across processes.

        Raises:
            RunError: the file cannot be read or written.
        """
        async with process_lock(str(self._path.parent), self._path.stem):
            reviews = self.all()
            yield reviews
            self._write(reviews)

    def _write(self, reviews: Mapping[str, Review]) -> None:
        rows = [{**asdict(one), "due": one.due.isoformat()} for _, one in sorted(reviews.items())]
        try:
            write_whole(
                self._path, json.dumps({"version": _VERSION, "cards": rows}, ensure_ascii=False, indent=1)
            )
        except OSError as error:
            raise RunError(f"the review schedule {self._path} cannot be written: {error}") from error

    def schedule(self, before: Review | None, now: Review, at: datetime) -> Review:
        """The review with its next date. The same answer repeated before that date counts once."""
        if before is not None and before.given == now.given and at < before.due:
            return replace(now, due=before.due, state=before.state)
        card = Card(card_id=0) if before is None else Card.from_dict(cast(Any, before.state))
        reviewed, _ = self._scheduler.review_card(card, _RATINGS[now.mark], at.astimezone(UTC))
        return replace(now, due=reviewed.due, state=dict(reviewed.to_dict()))


def _review(raw: dict[str, Any]) -> Review:
    read = {"expected": tuple(raw["expected"]), "due": datetime.fromisoformat(raw["due"])}
    return Review(**{**raw, **read})
