"""Progress bars with the time left, on stderr, on terminals only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich import progress as rich_progress
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from agentic_rag.domain.progress import Progress

SPEED_PERIOD = 600.0
"""Seconds that the speed is an average of: embedding and storing take turns, and neither alone is the pace."""


@contextmanager
def bars(stages: Mapping[str, str], *, quiet: bool) -> Iterator[Progress]:
    """A bar for each stage, in the given words, from when it is first told of; none if quiet."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    shown = console.is_terminal and not quiet
    shape = rich_progress.Progress(
        *columns, console=console, transient=True, disable=not shown, speed_estimate_period=SPEED_PERIOD
    )
    with shape as bar:
        tasks = {
            stage: bar.add_task(words, start=False, total=None, visible=False)
            for stage, words in stages.items()
        }

        def told(stage: str, done: int, total: int) -> None:
            bar.start_task(tasks[stage])
            bar.update(tasks[stage], completed=done, total=total, visible=True)

        yield told
