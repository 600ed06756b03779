"""``check`` and ``due``: mark a filled-in board, and list the questions that are due again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from agentic_rag.cli.render import console
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import RunError

if TYPE_CHECKING:
    from agentic_rag.boards.checking import CheckReport
    from agentic_rag.boards.reviews import Review
    from agentic_rag.settings.config import RagConfig

_STYLES = {"right": "green", "partly": "yellow", "wrong": "red", "empty": "dim"}


async def check_file(config: RagConfig, board: Path, user_id: str) -> CheckReport:
    """See ``Rag.check``."""
    from agentic_rag.rag import open_rag

    async with open_rag(config) as rag:
        return await rag.check(board, user_id=user_id)


def print_check(report: CheckReport) -> None:
    """One row per question, and the follow-up actions."""
    out = console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("", "question", "your answer", "the notes say"):
        table.add_column(name, overflow="fold")
    for one in report.answers:
        style = _STYLES[one.mark]
        expected = escape("; ".join(one.expected)) if one.mark != "right" else "[dim]the same[/dim]"
        if one.mark == "empty":
            expected = "[dim]…[/dim]"  # hide the answer until the question is answered
        table.add_row(f"[{style}]{one.mark}[/{style}]", escape(one.asks), escape(one.given), expected)
    out.print(table)
    answered = [one for one in report.answers if one.mark != "empty"]
    counts = ", ".join(f"{report.count(mark)} {mark}" for mark in ("right", "partly", "wrong", "empty"))
    out.print(f"{counts}", markup=False)
    if report.degraded:
        out.print(
            f"degraded: the chat model failed, so the marks compare words alone: {report.degraded}",
            style="red",
            markup=False,
        )
    notes = [one.note for one in answered if one.note and one.mark != "right"]
    for note in notes:
        out.print(f"mistake note: {note}", markup=False, soft_wrap=True)
    if notes:
        out.print(
            "ingest the vault again, so that weak_point_clustering finds the mistake notes", style="dim"
        )
    if dues := [one.due for one in answered if one.due]:
        out.print(
            f"the next review is due on {min(dues):%Y-%m-%d}; list reviews with: agentic-rag due", style="dim"
        )


def due_reviews(config: RagConfig, user_id: str, dataset: str | None, *, everything: bool) -> list[Review]:
    """Questions that are due now, or all with ``everything``."""
    from agentic_rag.boards.reviews import FOLDER, Reviews

    reviews = Reviews(config.data_dir / FOLDER, user_id)
    end = datetime.max.replace(tzinfo=UTC) if everything else datetime.now(UTC)
    return reviews.due(end, dataset)


def write_anki(reviews: Sequence[Review], path: Path) -> None:
    """Write a text file that Anki imports.

    Raises:
        RunError: the file cannot be written.
    """
    from agentic_rag.boards.anki import anki_text
    from agentic_rag.stores.whole_file import write_whole

    try:
        write_whole(path, anki_text(reviews))
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error}") from error


def due_json(reviews: Sequence[Review]) -> list[Json]:
    """The values printed by ``due --json``."""
    return [
        {
            "asks": one.asks,
            "expected": list(one.expected),
            "due": one.due.isoformat(),
            "mark": one.mark,
            "given": one.given,
            "dataset": one.dataset,
            "source": one.source,
            "board": one.board,
        }
        for one in reviews
    ]


def print_due(reviews: Sequence[Review]) -> None:
    """Questions with their board, without their answers."""
    out = console()
    if not reviews:
        out.print("no review is due; fill in a board, then run: agentic-rag check BOARD")
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("due", "last", "question", "board"):
        table.add_column(name, overflow="fold")
    for one in reviews:
        style = _STYLES[one.mark]
        board = Path(one.board).name
        table.add_row(
            f"{one.due:%Y-%m-%d}", f"[{style}]{one.mark}[/{style}]", escape(one.asks), escape(board)
        )
    out.print(table)
