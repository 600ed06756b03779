"""Execution of commands: the event loop, and JSON output on stdout."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

import typer

T = TypeVar("T")
EXIT_INTERRUPTED = 130
"""Exit code: 128 plus the number of the signal."""


def run(work: Coroutine[Any, Any, T], *, goes_on: bool = False, fresh: bool = False) -> T:
    """Run a coroutine; the only place where the command line starts the event loop.

    ``goes_on``: the command resumes where it was interrupted; the message then says so. ``fresh``: ``--fresh``
    was given, which would restart.
    """
    gc.freeze()
    gc.enable()  # a long ingest must not keep its garbage; see cli.main
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        same = "the same command without --fresh" if fresh else "the same command"
        hint = f"; {same} continues from there" if goes_on else ""
        sys.stderr.write(f"\ninterrupted{hint}\n")
        raise typer.Exit(EXIT_INTERRUPTED) from None


async def with_stderr_silenced(work: Coroutine[Any, Any, T]) -> T:
    """Silences stderr during work on damaged files: Lance writes a trace for each of them there."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        return await work
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def print_json(value: Any) -> None:
    """One JSON value on stdout, UTF-8."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")
