"""Reads files of the installed formats in a process of its own, within limits of time, memory and output.

A malformed file can crash the library that reads it, which no ``except`` catches. The process is started with the first
such file, kept for the next ones and started anew when it dies. It is a program of its own (``extraction_worker``), no
fork: nothing of this process is copied, and its ``__main__`` does not run again.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from agentic_rag.domain.identity import digest
from agentic_rag.errors import RunError
from agentic_rag.ingest.files.extracted_text import ExtractedText
from agentic_rag.ingest.files.extraction_worker import (
    EMPTY,
    MAX_OUTPUT,
    MEMORY_SPENT,
    TEXT,
    TOO_LARGE,
    TOO_LONG,
    receive,
    send,
)
from agentic_rag.ingest.files.source_text import NothingToRead, SourceError

if TYPE_CHECKING:
    from agentic_rag.settings.config import DocumentsConfig

READER = "agentic_rag.ingest.files.formats"
MAX_PROCESSES = 4
"""At a time; other files wait for their turn."""
TRIES = 3
"""Processes that a file may crash; the first may have been harmed by the file before."""
STARTS_WITHIN = 60.0
"""Seconds for a process to import the reader."""
EXITS_WITHIN = 5.0
"""Seconds from the end of a process's output to its exit, whose code says why."""
_AGAIN = "it is tried again when it changes"
_FROM_OUTSIDE = (-9, -15)
"""Codes of a process that was killed, by a person or for lack of the machine's memory: the file is tried again as long
as the time limit."""
_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from agentic_rag.ingest.files.extraction_worker import main; main(sys.argv[2])"


class ExtractionFailure(SourceError):
    """A file ended the process that read it, or was more than the limits allow: it will be so again until it changes."""


class _ProcessEnd(Exception):
    """The process is gone; ``code`` as in ``Popen.returncode``; ``late``: ended here because time was up."""

    def __init__(self, code: int, *, late: bool) -> None:
        super().__init__(code)
        self.code = code
        self.late = late


@dataclass(frozen=True, slots=True)
class Extractor:
    """Reads files in processes of their own.

    >>> Extractor(timeout_seconds=10).extract(b"<p>Oolong is a tea.</p>", ".html").text
    'Oolong is a tea.\\n'
    """

    timeout_seconds: float = 60.0
    """For one file."""
    memory: float = 2.0
    """GB that the process may take; not kept on Windows."""
    reader: str = READER
    """Module whose ``extract(raw, suffix)`` is called in the process."""

    @classmethod
    def of(cls, settings: DocumentsConfig) -> Extractor:
        """An extractor with the configured limits."""
        return cls(settings.timeout_seconds)

    def extract(self, raw: bytes, suffix: str) -> ExtractedText:
        """The text of a file's bytes; waits for its turn, and for the process.

        Raises:
            SourceError: it is damaged, locked, too large, or has only pictures; or the extra is missing, or the process
                does not start.
            ExtractionFailure: it ended the process, or is more than the limits allow.
            RunError: the process was interrupted (Ctrl-C, ``interrupt``).
        """
        crashes, until = 0, None
        while True:
            try:
                return self._answer(raw, suffix)
            except _ProcessEnd as ended:
                until = until or time.monotonic() + self.timeout_seconds
                crashes += ended.code not in _FROM_OUTSIDE
                if ended.late or ended.code in (MEMORY_SPENT, -signal.SIGINT):
                    raise self._failure(ended) from ended
                if crashes == TRIES or time.monotonic() > until:
                    raise self._failure(ended) from ended

    def interrupt(self) -> None:
        """End what this very object reads now, in another thread: that call raises ``RunError``."""
        _POOL.interrupt(self)

    def attempt(self, content_hash: str) -> str:
        """Identifies an attempt to read a document within these limits, for ``Failure.attempt``."""
        return digest(content_hash, str(self.timeout_seconds))

    def _answer(self, raw: bytes, suffix: str) -> ExtractedText:
        with _POOL.call(self) as call, _POOL.turns:
            process = _POOL.take(self)
            try:
                if call.is_interrupted:  # there was no process yet that could be
                    raise _ProcessEnd(-signal.SIGINT, late=False)
                answer = process.answer(raw, suffix)
                text = _text(answer[1:]) if answer[:1] == TEXT else None
            except BaseException:
                _POOL.drop(process)
                raise
            _POOL.give_back(process)
        if text is None:
            raise self._refusal(answer[:1], answer[1:])
        return text

    def _refusal(self, kind: bytes, body: bytes) -> SourceError:
        if kind == TOO_LARGE:
            return self._too_large()
        if kind == TOO_LONG:
            return ExtractionFailure(f"its text has more than {MAX_OUTPUT / 1e6:g} MB; divide it; {_AGAIN}")
        return (NothingToRead if kind == EMPTY else SourceError)(body.decode("utf-8", "replace"))

    def _failure(self, process_end: _ProcessEnd) -> RunError:
        """What to tell of a file in whose course the process ended."""
        if process_end.late:
            return ExtractionFailure(
                f"it was not read within {self.timeout_seconds:g} s; {_AGAIN}, or with a longer documents.timeout_seconds"
            )
        if process_end.code == MEMORY_SPENT:
            return self._too_large()
        if process_end.code == -signal.SIGINT:
            return RunError("reading documents was interrupted; run the same command again")
        return ExtractionFailure(
            f"reading it ended the process ({_exit_name(process_end.code)}) again and again: it is damaged, or takes more than "
            f"{self.memory:g} GB; save it anew; {_AGAIN}"
        )

    def _too_large(self) -> ExtractionFailure:
        return ExtractionFailure(f"to read it takes more than {self.memory:g} GB; {_AGAIN}")


def _exit_name(code: int) -> str:
    try:
        return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _text(body: bytes) -> ExtractedText:
    """The text that a process sent. Raises ``SourceError`` if it is anything else: what read a hostile file may send that."""
    with suppress(Exception):
        value = _Values(io.BytesIO(body)).load()
        if isinstance(value, ExtractedText) and isinstance(value.text, str):
            return value
    raise SourceError("it is damaged (what was read of it is no text)")


class _Values(pickle.Unpickler):
    """Loads dataclasses of this package and plain values."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module.startswith("agentic_rag.") else None
        if not (isinstance(found, type) and is_dataclass(found)):
            raise SourceError("it is damaged (what was read of it is no text)")
        return found


class _Process:
    """A started process and its pipes."""

    def __init__(self, extractor: Extractor) -> None:
        self.extractor = extractor
        limits = extractor.reader, extractor.timeout_seconds, int(extractor.memory * 1e9), os.getpid()
        command = [sys.executable, "-c", _BOOT, json.dumps(sys.path), json.dumps(limits)]
        self._popen = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0 if hasattr(os, "killpg") else None,
        )
        self._to = cast(BinaryIO, self._popen.stdin)
        self._from = cast(BinaryIO, self._popen.stdout)

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def wait_ready(self) -> None:
        """Wait for the reader's import. Raises ``_ProcessEnd``."""
        self._within(STARTS_WITHIN, lambda: receive(self._from, 1))

    def answer(self, raw: bytes, suffix: str) -> bytes:
        """What it answers to a file. Raises ``_ProcessEnd``."""

        def talk() -> bytes | None:
            send(self._to, suffix.encode(), b"\n", raw)
            return receive(self._from, MAX_OUTPUT + 1)

        return self._within(self.extractor.timeout_seconds, talk)

    def interrupt(self) -> None:
        """As Ctrl-C does."""
        with suppress(OSError, ValueError):  # it is gone, or the system has no such signal
            self._popen.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """Kill it and what it started, which would keep its pipes open."""
        if not hasattr(os, "killpg"):
            self._popen.kill()
        elif self._popen.returncode is None:  # else its number may be another's by now
            with suppress(ProcessLookupError):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def end(self) -> int:
        """Kill it; its exit code."""
        self.kill()
        code = self._popen.wait()
        for pipe in (self._to, self._from):
            with suppress(OSError):  # what it did not read is lost
                pipe.close()
        return code

    def _wait_for_exit(self) -> None:
        """Give it time to exit: it closes its output before that, and killed in between it would have another's code."""
        until = time.monotonic() + EXITS_WITHIN
        while not self._has_exited() and time.monotonic() < until:
            time.sleep(0.005)

    def _has_exited(self) -> bool:
        """Leaves it to be waited for where the system can, so that ``kill`` still reaches what it started."""
        if not hasattr(os, "waitid"):
            return not self.is_alive
        return os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _within(self, seconds: float, talk: Callable[[], bytes | None]) -> bytes:
        late = threading.Event()

        def end() -> None:
            late.set()
            self.kill()

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            answer = talk()
        except OSError:  # the pipe is closed at its end
            answer = None
        finally:
            timer.cancel()
        if answer is None and not late.is_set():
            self._wait_for_exit()
        if answer is None or late.is_set():
            raise _ProcessEnd(self.end(), late=late.is_set())
        return answer


@dataclass(slots=True, eq=False)
class _Call:
    """A file that is read, or waits for its turn or for a process."""

    extractor: Extractor
    is_interrupted: bool = False


class _Pool:
    """The processes of this process; an idle one is used again."""

    def __init__(self) -> None:
        self.turns = threading.BoundedSemaphore(MAX_PROCESSES)
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()
        self._calls: set[_Call] = set()

    @contextmanager
    def call(self, extractor: Extractor) -> Iterator[_Call]:
        """What an extractor reads, to be interrupted from its beginning on."""
        call = _Call(extractor)
        with self._lock:
            self._calls.add(call)
        try:
            yield call
        finally:
            with self._lock:
                self._calls.discard(call)

    def take(self, extractor: Extractor) -> _Process:
        """An idle process, or a new one. Raises ``_ProcessEnd`` if it was killed, ``SourceError`` if it does not start."""
        while (process := self._first_idle(extractor)) is not None:
            if process.is_alive:
                process.extractor = extractor
                return process
            self.drop(process)
        try:
            process = _Process(extractor)
        except OSError as error:
            raise SourceError(
                f"the process that reads it does not start: {error.strerror or error}"
            ) from error
        with self._lock:
            self._all.add(process)
        try:
            process.wait_ready()
        except BaseException as error:
            self.drop(process)
            if isinstance(error, _ProcessEnd) and error.code not in (*_FROM_OUTSIDE, -signal.SIGINT):
                raise SourceError(
                    f"the process that reads it does not start ({_exit_name(error.code)}); "
                    f"it may need more than {extractor.memory:g} GB"
                ) from error
            raise
        return process

    def _first_idle(self, extractor: Extractor) -> _Process | None:
        with self._lock:
            same = next((one for one in self._idle if one.extractor == extractor), None)
            if same is not None:
                self._idle.remove(same)
            return same

    def give_back(self, process: _Process) -> None:
        """Keep it for the next file, if none is kept."""
        with self._lock:
            is_kept = not self._idle
            if is_kept:
                self._idle.append(process)
        if not is_kept:
            self.drop(process)

    def drop(self, process: _Process) -> None:
        process.end()
        with self._lock:
            self._all.discard(process)

    def interrupt(self, extractor: Extractor) -> None:
        """End what this very extractor reads, and the processes that read for it."""
        with self._lock:
            for call in self._calls:
                call.is_interrupted |= call.extractor is extractor
            busy = [one for one in self._all.difference(self._idle) if one.extractor is extractor]
        for process in busy:
            process.interrupt()

    def close(self) -> None:
        """End all."""
        with self._lock:
            gone, self._all, self._idle = self._all, set(), []
        for process in gone:
            process.end()


_POOL = _Pool()
_OF_PARENT: list[_Pool] = []
"""After a fork the pool of the process that was copied: its pipes are not to be used, nor its processes waited for."""


def _forget() -> None:
    global _POOL
    _OF_PARENT.append(_POOL)
    _POOL = _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
atexit.register(lambda: _POOL.close())
