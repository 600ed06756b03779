"""Reading documents in a process of its own: whatever happens there is told about the file, and the next is read."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentic_rag.errors import RunError
from agentic_rag.ingest.files import extraction
from agentic_rag.ingest.files.extracted_text import ExtractedText
from agentic_rag.ingest.files.extraction import ExtractionFailure, Extractor, _Values
from agentic_rag.ingest.files.source_text import NothingToRead, SourceError

STAND_IN = "extractor_stand_in"
extractor = Extractor(timeout_seconds=20, memory=0.4, reader=STAND_IN)


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    extraction._POOL.close()  # another test's process may be kept
    yield
    extraction._POOL.close()


def read(text: str, by: Extractor = extractor) -> str:
    return by.extract(text.encode(), ".html").text


def test_a_process_reads_one_file_after_the_other() -> None:
    assert extractor.extract("tea ü".encode(), ".html") == ExtractedText("tea ü", (0,), (7,))
    first = read("pid")
    assert int(first) != os.getpid()
    assert read("pid") == first
    assert read("print 1") == "print 1"
    assert read("pid") == first


def test_what_the_reader_raises_is_raised_here() -> None:
    first = read("pid")
    with pytest.raises(SourceError, match=r"^it is damaged \(by hand\)$"):
        read("damaged")
    with pytest.raises(NothingToRead, match="no text"):
        read("empty")
    with pytest.raises(SourceError, match=r"it is damaged .*the reader's own"):
        read("unexpected")
    assert read("pid") == first


@pytest.mark.parametrize(
    ("deed", "told"),
    [
        ("exit", r"ended the process \(exit code 3\)"),
        ("close-output", r"ended the process \(exit code 3\)"),
        ("crash", r"ended the process \(SIGSEGV\)"),
        ("hang", r"not read within 1 s; .*documents\.timeout_seconds"),
        ("hang-inside", "not read within 1 s"),
        ("memory", r"takes more than 0\.4 GB; it is tried again"),
        ("flood", "more than 64 MB"),
    ],
)
def test_a_file_that_is_too_much_is_told_and_the_next_is_read(deed: str, told: str) -> None:
    seconds = 1 if deed.startswith("hang") else 30
    quick = Extractor(timeout_seconds=seconds, memory=0.4, reader=STAND_IN)
    with pytest.raises(ExtractionFailure, match=told) as failure:
        read(deed, quick)
    assert "\n" not in str(failure.value)
    assert "again when it changes" in str(failure.value)
    assert read("tea", quick) == "tea"


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups here")
def test_what_the_process_started_ends_with_it() -> None:
    quick = Extractor(timeout_seconds=1, memory=0.4, reader=STAND_IN)
    with pytest.raises(ExtractionFailure, match="not read within 1 s"):
        read("leave-a-child", quick)
    assert read("tea", quick) == "tea"


@pytest.mark.parametrize("deed", ["nonsense", "list", "number"])
def test_what_is_no_text_is_damage_and_the_next_file_is_read(deed: str) -> None:
    with pytest.raises(SourceError, match="no text"):
        read(deed)
    assert read("tea") == "tea"


def test_memory_is_watched_where_the_system_keeps_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        extraction, "_BOOT", f"import resource; resource.setrlimit = print; {extraction._BOOT}"
    )
    with pytest.raises(ExtractionFailure, match=r"takes more than 0\.4 GB"):
        read("memory-slowly")


def test_a_process_that_an_earlier_file_harmed_is_not_the_files_fault() -> None:
    read("harm")
    assert read("tea") == "tea"


def test_a_process_that_died_meanwhile_is_started_anew() -> None:
    first = int(read("pid"))
    os.kill(first, signal.SIGKILL)
    assert int(read("pid")) != first


def test_kills_from_outside_lose_nothing() -> None:
    killed: set[int] = set()
    is_over = threading.Event()

    def kill() -> None:
        while len(killed) < 20 and not is_over.is_set():
            for pid in {process._popen.pid for process in list(extraction._POOL._all)} - killed:
                killed.add(pid)
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        texts = [f"wait {number}" for number in range(40)]
        with ThreadPoolExecutor(2) as threads:
            assert list(threads.map(read, texts)) == texts
            while len(killed) < 20:  # in a row, of one file
                assert read("wait 1") == "wait 1"
    finally:
        is_over.set()
        killer.join()
    assert len(killed) >= 20  # one round may kill several


def test_many_files_at_once_wait_for_their_turn() -> None:
    with ThreadPoolExecutor(12) as threads:
        most = list(threads.map(lambda n: (read(f"wait {n}"), len(extraction._POOL._all))[1], range(60)))
    assert 1 < max(most) <= extraction.MAX_PROCESSES
    assert len(extraction._POOL._all) == 1


def test_a_reader_that_cannot_start_is_told() -> None:
    with pytest.raises(SourceError, match=r"does not start \(exit code 1\)") as failure:
        read("tea", Extractor(reader="no_such_module"))
    assert not isinstance(failure.value, ExtractionFailure)


def test_an_answer_is_data_alone() -> None:
    assert _Values.__mro__[1] is pickle.Unpickler

    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("true",)

    import io

    for hostile in (Evil(), extraction.Extractor.extract, extraction.atexit):
        try:
            packed = pickle.dumps(hostile)
        except TypeError:  # a module
            continue
        with pytest.raises(SourceError, match="damaged"):
            _Values(io.BytesIO(packed)).load()


def test_a_raised_limit_is_another_attempt() -> None:
    attempts = {one.attempt("hash") for one in (Extractor(), Extractor(61), Extractor())}
    assert len(attempts) == 2


def test_the_process_loads_little() -> None:
    loaded = {name.split(".")[0] for name in read("modules").split()}
    assert "agentic_rag" in loaded
    assert not loaded & {
        "lancedb",
        "numpy",
        "pydantic",
        "langgraph",
        "langchain_core",
        "onnxruntime",
        "jieba",
    }


PROGRAM = """
import multiprocessing, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
from agentic_rag.ingest.files.extraction import Extractor
extractor = Extractor(timeout_seconds=20, reader="extractor_stand_in")
def read(text):
    return extractor.extract(text.encode(), ".html").text
"""


def program(text: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM + text], text=True, env=env, start_new_session=True, **pipes
    )


def output(text: str) -> list[str]:
    running = program(text)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, "")
    return out.split()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_has_a_process_of_its_own() -> None:
    ours, theirs, again = output(
        "print(read('pid'), flush=True)\n"
        "child = os.fork()\n"
        "print(read('pid'), flush=True)\n"
        "os.waitpid(child, 0) if child else os._exit(0)\n"
    )
    assert len({ours, theirs, again}) == 2


def test_a_daemon_process_may_start_it() -> None:
    # A script without a guard of __main__ is not run again by the process that reads.
    assert output(
        "def work():\n    print(read('tea'), flush=True)\n"
        "one = multiprocessing.get_context('fork').Process(target=work, daemon=True)\n"
        "one.start(); one.join(30); print(one.exitcode)\n"
    ) == ["tea", "0"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("sent", "text"), [(signal.SIGINT, "hang 1"), (signal.SIGKILL, "tea"), (signal.SIGTERM, "hang 1")]
)
def test_no_process_is_left_behind(sent: signal.Signals, text: str) -> None:
    running = program(
        f"print(read('pid'), flush=True)\nread({text!r})\nprint('idle', flush=True)\nread('hang')\n"
    )
    try:
        reader = int(running.stdout.readline())  # type: ignore[union-attr]
        time.sleep(0.2)
        # A terminal's Ctrl-C reaches all processes of the group, other signals the program alone.
        (os.killpg if sent == signal.SIGINT else os.kill)(running.pid, sent)
        running.communicate(timeout=10)
    finally:
        running.kill()
    deadline = time.monotonic() + 5
    while Path(f"/proc/{reader}").exists() and _runs(reader):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_interrupt_is_no_fault_of_the_file() -> None:
    read("pid")
    (process,) = extraction._POOL._all
    threading.Timer(0.3, lambda: os.kill(process._popen.pid, signal.SIGINT)).start()
    with pytest.raises(RunError, match="interrupted") as interrupt:
        read("hang")
    assert not isinstance(interrupt.value, SourceError)


def test_an_interrupt_counts_before_there_is_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    extractor, start = Extractor(30, reader="extractor_stand_in"), extraction._POOL.take

    def interrupted_start(of: Extractor) -> object:
        extractor.interrupt()
        return start(of)

    monkeypatch.setattr(extraction._POOL, "take", interrupted_start)
    with pytest.raises(RunError, match="interrupted"):
        extractor.extract(b"hang now", ".html")
    monkeypatch.undo()
    assert extractor.extract(b"Oolong.", ".html").text  # the next file is read as ever
