"""The process that reads documents for ``extraction``: one file after the other, until its input ends.

A frame on its pipes is a length of 8 bytes and as many bytes. It gets a suffix, a line feed and a file's bytes, and
sends a letter and what belongs to it. A library that crashes, hangs or eats memory ends this process and no other.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import pickle
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

LENGTH = struct.Struct(">Q")
READY, TEXT, UNREADABLE, EMPTY, TOO_LONG, TOO_LARGE = b"R", b"T", b"U", b"E", b"L", b"M"
"""Letters: ready for a file; its text, pickled; damaged, with the reason; without text, with the reason; more text
than allowed; more memory than allowed."""
MAX_OUTPUT = 64_000_000
"""Bytes of a file's text, pickled."""
MEMORY_SPENT, IDLE = 86, 87
"""Exit codes: the memory reached its limit; nothing came for IDLE_SECONDS."""
IDLE_SECONDS = 60.0
WATCH_SECONDS = 0.25
GRACE_SECONDS = 5.0
"""After the time limit, which the parent keeps, this process ends itself: the parent may be gone."""


_UNTIL = [math.inf]


def seconds_left() -> float:
    """Seconds left for the file that is read; infinite in any other process."""
    return _UNTIL[0] - time.monotonic()


def receive(stream: BinaryIO, most: int | None = None) -> bytes | None:
    """The next frame; None where the stream ends before it does, or it is longer than ``most``."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    if most is not None and length > most:
        return None
    body = stream.read(length)
    return body if len(body) == length else None


def send(stream: BinaryIO, *parts: bytes) -> None:
    """Write a frame."""
    stream.write(LENGTH.pack(sum(map(len, parts))))
    for part in parts:
        stream.write(part)
    stream.flush()


def main(options: str) -> None:
    """Serve stdin and stdout; ``options``: JSON of module, seconds, memory in bytes, and the parent's process id."""
    module, seconds, memory, parent = json.loads(options)
    if os.name == "posix":
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it even inside a library
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the frames
    state = _State(memory, parent)
    threading.Thread(target=state.watch, daemon=True).start()
    reader = importlib.import_module(module).extract
    _limit_memory(memory)
    with suppress(OSError):  # where memory runs short, Linux is to end this process and not its parent
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")
    send(answers, READY)
    while (frame := receive(sys.stdin.buffer)) is not None:
        state.is_busy = True
        _UNTIL[0] = time.monotonic() + seconds
        _set_alarm(seconds + GRACE_SECONDS)
        suffix, _, raw = frame.partition(b"\n")
        del frame
        send(answers, *_answer(reader, raw, suffix.decode()))
        _set_alarm(0)
        state.is_busy, state.since = False, time.monotonic()


def _answer(reader: Callable[[bytes, str], Any], raw: bytes, suffix: str) -> tuple[bytes, bytes]:
    from agentic_rag.ingest.files.source_text import NothingToRead, SourceError

    try:
        text = pickle.dumps(reader(raw, suffix), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        return TOO_LARGE, b""
    except SourceError as error:
        return EMPTY if isinstance(error, NothingToRead) else UNREADABLE, str(error).encode(
            "utf-8", "replace"
        )
    except BaseException as error:  # noqa: BLE001  # a panic of a Rust library is no Exception
        told = (str(error).splitlines() or [type(error).__name__])[0]
        return UNREADABLE, f"it is damaged ({told[:120]})".encode("utf-8", "replace")
    return (TOO_LONG, b"") if len(text) > MAX_OUTPUT else (TEXT, text)


def _limit_memory(memory: int) -> None:
    """Refuse more on Linux: of what is written, as address space that is only reserved costs nothing. Other systems
    accept the limit and do not keep it; there ``_State.watch`` alone does."""
    try:
        import resource
    except ImportError:  # Windows
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    soft = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _set_alarm(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


class _State:
    """Ends the process where its memory reaches the limit, its parent is gone, or nothing comes any more."""

    def __init__(self, memory: int, parent: int) -> None:
        self._memory = memory
        self._parent = parent
        self.is_busy = False
        self.since = time.monotonic()

    def watch(self) -> None:
        while True:
            time.sleep(WATCH_SECONDS)
            if _resident() > self._memory:
                os._exit(MEMORY_SPENT)
            if os.getppid() != self._parent:
                os._exit(0)
            if not self.is_busy and time.monotonic() - self.since > IDLE_SECONDS:
                os._exit(IDLE)


def _resident() -> int:
    """Bytes of memory in use; the most there were where the system tells only that; 0 where it tells neither."""
    try:
        # Not ru_maxrss on Linux, which a process inherits from the one that started it.
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
