"""Execution of commands: the event loop, and JSON output on stdout."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from agentic_rag.cli.open_process import answered_elsewhere, as_json
from agentic_rag.cli.options import warm

if TYPE_CHECKING:
    from agentic_rag.settings.config import RagConfig

T = TypeVar("T")
WITHOUT_COLLECTION = frozenset({"ask", "search"})
"""Commands of one question, whose process ends before its garbage matters: to collect it takes .6 s of a question to 100,000
chunks."""
EXIT_INTERRUPTED = 130
"""Exit code: 128 plus the number of the signal."""


def run(
    work: Coroutine[Any, Any, T], *, goes_on: bool = False, fresh: bool = False, collects: bool = True
) -> T:
    """Run a coroutine; the only place where the command line starts the event loop.

    ``goes_on``: the command resumes where it was interrupted; the message then says so. ``fresh``: ``--fresh``
    was given, which would restart. ``collects``: garbage, which a long ingest must not keep; see ``cli.main``.
    """
    gc.freeze()
    if collects:
        gc.enable()
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        same = "the same command without --fresh" if fresh else "the same command"
        hint = f"; {same} continues from there" if goes_on else ""
        sys.stderr.write(f"\ninterrupted{hint}\n")
        raise typer.Exit(EXIT_INTERRUPTED) from None


def run_on_rag(config: RagConfig, command: str, **arguments: Any) -> Any:
    """A command's result as JSON values, from the process that has the data folder open, else from this one.

    Args:
        command: one of ``command_server.COMMANDS``.
        arguments: those of its function; paths absolute, because another process may read them.

    Raises:
        AgenticRagError: what the command raises.
    """
    if reply := answered_elsewhere(config, command, arguments):
        return reply.result
    # Imports go before ``run``, which lets garbage be collected: during imports that takes .5 s.
    warm(config)
    from agentic_rag.cli.command_server import command_function

    work = _on_own_rag(config, command_function(command), arguments)
    return as_json(run(work, collects=command not in WITHOUT_COLLECTION))


async def _on_own_rag(
    config: RagConfig, function: Callable[..., Awaitable[Any]], arguments: Mapping[str, Any]
) -> Any:
    from agentic_rag.rag import open_rag

    # Failed sources and agents are reported below the answer, or in the error.
    for name in ("agentic_rag.nodes.retrieve", "agentic_rag.memory"):
        logging.getLogger(name).setLevel(logging.ERROR)
    async with open_rag(config) as rag:
        return await function(rag, **arguments)


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


def print_result(value: Any, as_json: bool, print_text: Callable[[], None]) -> None:
    """A command's result: ``value`` as JSON where ``--json`` is given, else as ``print_text`` prints it."""
    if as_json:
        print_json(value)
    else:
        print_text()
