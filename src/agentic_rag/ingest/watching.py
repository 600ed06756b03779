"""A dataset that follows its folders: caught up at the start, then brought up to date after every change.

One ingest at a time, by the pipeline that ``ingest`` uses, so whatever interrupts it, the next one finishes. Readers
are never disturbed: they read what is stored.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from watchfiles import Change, DefaultFilter, awatch

from agentic_rag.errors import AgenticRagError, InputError, StoreLocked
from agentic_rag.ingest.files.vaults import SETTINGS
from agentic_rag.ingest.pipeline import IngestReport

logger = logging.getLogger(__name__)
SETTLE_MS = 150
"""Time without a change after which a burst is over: editors save by writing beside the file and renaming."""
MAX_WAIT_MS = 1500
"""Longest time that a burst is waited for: a sync tool may write for minutes."""
RETRY_SECONDS = 2.0
"""Between tries where another process is writing, or a folder is gone."""


@dataclass(frozen=True, slots=True)
class WatchReport:
    """The result of one ingest of a watched folder, or why it failed."""

    report: IngestReport | None
    seconds: float
    problem: str | None = None
    """Reason of a failure, else None; the update is tried again."""


class _Notes(DefaultFilter):
    """Changes of readable files; hidden files (Obsidian's own, git's, editors' temporary ones) are ignored."""

    def __init__(self, roots: Sequence[Path]) -> None:
        super().__init__()
        self._roots = roots

    def __call__(self, change: Change, path: str) -> bool:
        root = next((one for one in self._roots if Path(path).is_relative_to(one)), None)
        inner = Path(path).relative_to(root).parts if root is not None else ()
        is_rules = inner[-1:] == (".gitignore",) or any(inner[-len(parts) :] == parts for parts in SETTINGS)
        return is_rules or not any(part.startswith(".") or part.endswith("~") for part in inner)


def roots_of(folders: Sequence[Path]) -> list[Path]:
    """The folders to follow, resolved.

    Raises:
        InputError: one is no folder.
    """
    roots = [folder.resolve() for folder in folders]
    for folder, root in zip(folders, roots, strict=True):
        if not root.is_dir():
            raise InputError(f"there is no folder {str(folder)!r} to watch")
    return roots


async def follow(
    folders: Sequence[Path],
    ingest: Callable[[Sequence[Path]], Awaitable[IngestReport]],
    stop: asyncio.Event | None = None,
) -> AsyncGenerator[WatchReport]:
    """Keep a dataset equal to its folders.

    A folder that is gone, such as a drive that is not mounted, is waited for: what came from it stays. A dataset that
    another process writes is waited for too. Whatever an ingest is refused for is told as its problem, and tried again.

    Args:
        folders: that are followed; each is there at the start.
        ingest: makes the dataset hold what the folders hold now.
        stop: ends it.

    Yields:
        What was done: once for the catching up, then for every burst of changes.

    Raises:
        InputError: at the start, a folder is none.
    """
    roots = roots_of(folders)
    stop = stop or asyncio.Event()
    while not stop.is_set():
        # Watched from before the ingest: what changes meanwhile is not lost. A folder that is gone cannot be watched.
        there = await asyncio.to_thread(_existing, roots)
        if not there:
            yield await _brought_up_to_date(roots, ingest)
            await asyncio.sleep(RETRY_SECONDS)
            continue
        changes = awatch(
            *there,
            watch_filter=_Notes(there),
            debounce=MAX_WAIT_MS,
            step=SETTLE_MS,
            stop_event=stop,
            yield_on_timeout=True,
            rust_timeout=round(RETRY_SECONDS * 1000),
        )
        behind = True
        async with aclosing(_from_the_start(changes)) as bursts:
            async for changed in bursts:
                if behind or changed:
                    done = await _brought_up_to_date(roots, ingest)
                    behind = done.problem is not None
                    yield done
                if await asyncio.to_thread(_existing, roots) != there:
                    break


def _existing(roots: Sequence[Path]) -> list[Path]:
    return [root for root in roots if root.is_dir()]


async def _from_the_start(
    changes: AsyncGenerator[set[tuple[Change, str]]],
) -> AsyncGenerator[set[tuple[Change, str]]]:
    """An empty set at once, then the changes, which are collected from the beginning."""
    first = asyncio.ensure_future(anext(changes))
    try:
        await asyncio.sleep(0)
        yield set()
        yield await first
        async for changed in changes:
            yield changed
    except (StopAsyncIteration, FileNotFoundError):  # gone before it was watched
        return
    finally:
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await changes.aclose()


async def _brought_up_to_date(
    roots: Sequence[Path], ingest: Callable[[Sequence[Path]], Awaitable[IngestReport]]
) -> WatchReport:
    started = time.perf_counter()
    there = await asyncio.to_thread(_existing, roots)
    gone = ", ".join(str(root) for root in roots if root not in there)
    problem = f"missing: {gone}; the documents from there stay in the dataset" if gone else None
    report = None
    try:
        report = await ingest(there) if there else None
    except StoreLocked as error:
        problem = str(error)
    except AgenticRagError as error:
        problem = str(error)
        logger.warning("watching failed and is tried again: %s", type(error).__name__)
    return WatchReport(report, round(time.perf_counter() - started, 3), problem)
