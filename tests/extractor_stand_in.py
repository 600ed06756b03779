"""Reads files in place of ``agentic_rag.ingest.files.formats``, and does on purpose what a malformed file may make it do."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from contextlib import suppress
from typing import Any

from agentic_rag.ingest.files.extracted_text import ExtractedText
from agentic_rag.ingest.files.source_text import NothingToRead, SourceError

_state = {"is_harmed": False}


def extract(raw: bytes, suffix: str) -> ExtractedText:
    """The file's bytes as text; its first word may be something to do first."""
    command = raw.split(b" ")[0].decode()
    if _state["is_harmed"]:
        os.abort()
    _DEEDS.get(command, lambda: None)()
    told = {"pid": str(os.getpid()), "modules": " ".join(sys.modules)}
    text = "x" * 70_000_000 if command == "flood" else told.get(command, raw.decode())
    values: dict[str, Any] = {"list": [text], "number": ExtractedText(5, (0,), (7,))}  # type: ignore[arg-type]
    return values.get(command) or ExtractedText(text, (0,), (7,))


def _eat() -> None:
    held = []
    while True:
        held.append(bytearray(10_000_000))


def _eat_slowly() -> None:
    held = []
    while True:
        held.append(b"x" * 30_000_000)
        time.sleep(0.1)


def _hang_inside() -> None:
    """Without a way for other threads to run."""
    re.match("(a+)+$", "a" * 60 + "b")


def _close_output() -> None:
    """And exit a while later, as an interpreter that ends does."""
    for number in range(3, 64):
        with suppress(OSError):
            os.close(number)
    time.sleep(0.3)
    os._exit(3)


def _leave_a_child() -> None:
    """That keeps the pipes open."""
    if os.fork() == 0:
        time.sleep(600)
    os._exit(4)


def _send_nonsense() -> None:
    import gc
    import io
    import struct

    for pipe in gc.get_objects():
        if isinstance(pipe, io.BufferedWriter) and not pipe.closed and pipe.fileno() > 2:
            pipe.write(struct.pack(">Q", 5) + b"Txxxx")


def _print() -> None:
    os.write(1, b"a library says something " * 10_000)


def _damaged() -> None:
    raise SourceError("it is damaged (by hand)")


def _empty() -> None:
    raise NothingToRead("it holds no text")


def _unexpected() -> None:
    raise KeyError("of the reader's own")


_DEEDS = {
    "close-output": _close_output,
    "exit": lambda: os._exit(3),
    "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "hang": lambda: time.sleep(600),
    "hang-inside": _hang_inside,
    "memory": _eat,
    "memory-slowly": _eat_slowly,
    "leave-a-child": _leave_a_child,
    "nonsense": _send_nonsense,
    "print": _print,
    "damaged": _damaged,
    "empty": _empty,
    "unexpected": _unexpected,
    "harm": lambda: _state.update(is_harmed=True),
    "wait": lambda: time.sleep(0.05),
}
