"""Event loops and the threads beside them: stores and models work on the loop that opened them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from agentic_rag.errors import InputError

T = TypeVar("T")


def result_of(work: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop | None) -> T:
    """The result of ``work`` on another thread's event loop.

    Raises:
        InputError: called on the loop's own thread, or the loop does not run.
    """
    if loop is None or not loop.is_running() or loop is running_loop():
        work.close()
        raise InputError(
            "stores and models work on the event loop that opened them; in a coroutine use the asynchronous call: await "
            "graph.ainvoke(…), await tool.ainvoke(…); and in a program without an event loop: with "
            "open_rag_blocking(…) as rag: rag.ask(…)"
        )
    return asyncio.run_coroutine_threadsafe(work, loop).result()


def check_loop(loop: asyncio.AbstractEventLoop | None) -> None:
    """Check that a graph runs on the event loop of its stores and models, which would fail one by one on another.

    Args:
        loop: theirs; None: any.

    Raises:
        InputError: another loop runs.
    """
    if loop not in (None, asyncio.get_running_loop()):
        raise InputError(
            "this graph was opened on another event loop; open it with open_rag in the loop that asks it, or use "
            "open_rag_blocking, whose calls may come from any thread and loop"
        )


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs in this thread; None where none does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
