"""Commands of the shell that a process answers which has the data folder open: the same output, the same errors."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.backup import back_up
from agentic_rag.cli import command_server, open_process
from agentic_rag.cli.command_server import COMMANDS, command_function, commands_served
from agentic_rag.cli.open_process import CHANGING, SOCKET, answered_elsewhere, settings_digest, socket_path
from agentic_rag.errors import RunError
from command_line import Run, command_line

QUESTION = "What does shading do to theanine?"


@contextmanager
def serving(config: RagConfig) -> Iterator[None]:
    """A process's event loop, in a thread, that has the data folder open and serves commands."""
    ready, over = threading.Event(), asyncio.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def serve() -> None:
        loops.append(asyncio.get_running_loop())
        async with open_rag(config) as rag, commands_served(rag):
            ready.set()
            await over.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(60)
    try:
        yield
    finally:
        loops[0].call_soon_threadsafe(over.set)
        thread.join(60)


@pytest.fixture
def data(example_data: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(example_data, tmp_path / "data"))


@pytest.fixture
def command(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    monkeypatch.setenv("AGENTIC_RAG_DATA_DIR", str(data))
    return command_line(tmp_path, 120, monkeypatch, capsys)


@pytest.fixture
def only_elsewhere(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Called, no command opens a data folder itself any more."""

    def forbid() -> None:
        async def refuse(*arguments: Any) -> None:
            raise AssertionError("the command opened the data folder itself")

        monkeypatch.setattr("agentic_rag.cli.running._on_own_rag", refuse)

    return forbid


def _timeless(values: Any) -> Any:
    values.pop("seconds", None)
    for memory_outcome in values.get("outcomes", {}).values():
        if isinstance(memory_outcome, dict):
            memory_outcome.pop("ms")
    return values


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", QUESTION, "--json"),
        ("ask", QUESTION, "--explain", "--filter", "lang=en", "--set", "fusion.k=20", "--json"),
        ("ask", "谁种茶？", "--top-k", "2", "--json"),
        ("search", "theanine", "--strategy", "dense", "--json"),
        ("search", "theanine", "--threshold", "1", "--json"),
        ("ask", QUESTION, "--dataset", "nowhere"),
        ("ask", QUESTION, "--set", "fusion.k=many"),
        ("ask", " "),
        ("search", "tea", "--strategy", "psychic"),
        ("memory", "search", "tea", "--user-id", "nobody", "--json"),
        ("memory", "list", "--user-id", " "),
    ],
)
def test_output_errors_and_exit_code_are_the_same(
    arguments: tuple[str, ...], command: Run, data: Path, only_elsewhere: Callable[[], None]
) -> None:
    here = command(*arguments)
    with serving(RagConfig(data_dir=data)):
        only_elsewhere()
        there = command(*arguments)
    assert (there.code, there.err) == (here.code, here.err)
    if here.out and "--json" in arguments:
        assert _timeless(there.json) == _timeless(here.json)
    else:
        assert there.out == here.out


def test_a_memory_is_added_listed_exported_and_forgotten_there(
    command: Run, data: Path, tmp_path: Path, only_elsewhere: Callable[[], None]
) -> None:
    only_elsewhere()
    with serving(RagConfig(data_dir=data)):
        assert command("memory", "add", "I live in Oslo.", "--user-id", "ann").code == 0
        listed = command("memory", "list", "--user-id", "ann", "--json").json
        assert "I live in Oslo." in {one["content"] for one in listed["memories"]}
        exported = command("memory", "export", "ann.jsonl", "--user-id", "ann")
        assert exported.code == 0
        assert "written to" in exported.out
        assert (tmp_path / "ann.jsonl").exists()
        assert command("memory", "forget", "--all", "--yes", "--user-id", "ann").code == 0
        assert command("memory", "import", "ann.jsonl", "--user-id", "ann").code == 0
        again = command("memory", "list", "--user-id", "ann", "--json").json
        assert again["memories"] == listed["memories"]


def test_boards_and_bases_are_written_where_the_shell_is(
    command: Run, data: Path, tmp_path: Path, only_elsewhere: Callable[[], None]
) -> None:
    only_elsewhere()
    with serving(RagConfig(data_dir=data)):
        assert command("ask", QUESTION, "--canvas", "tea.canvas").code == 0
    assert (tmp_path / "tea.canvas").exists()


def test_other_settings_are_answered_by_the_command_itself(data: Path) -> None:
    asked = RagConfig(data_dir=data, fusion={"k": 20})
    with serving(RagConfig(data_dir=data)):
        assert answered_elsewhere(asked, "search", {}) is None


def test_settings_are_the_same_by_value_and_by_place(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = RagConfig(data_dir=data)
    assert settings_digest(here) == settings_digest(RagConfig(data_dir=Path("data")))
    assert settings_digest(here) == settings_digest(RagConfig(data_dir=data, service={"drain_seconds": 3}))
    keys = [RagConfig(data_dir=data, chat={"base_url": "http://a/v1", "api_key": key}) for key in "ab"]
    assert settings_digest(keys[0]) != settings_digest(keys[1])
    (tmp_path / "lance").mkdir()
    uri = RagConfig(data_dir=data, lancedb_uri="lance")
    digest = settings_digest(uri)
    (tmp_path / "elsewhere" / "lance").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert settings_digest(uri) != digest


async def test_the_socket_is_the_users_alone_and_goes_with_its_process(data: Path) -> None:
    async with open_rag(RagConfig(data_dir=data)) as rag:
        async with commands_served(rag):
            mode = (data / SOCKET).stat().st_mode
            assert stat.S_ISSOCK(mode)
            assert stat.S_IMODE(mode) == 0o600
            async with commands_served(rag):  # a second process leaves the first one's
                assert (data / SOCKET).exists()
            assert (data / SOCKET).exists()
            await back_up(rag.config, data.with_name("copy"))
            assert not (data.with_name("copy") / SOCKET).exists()
        assert not list(data.glob(f"{SOCKET}*"))


def test_a_socket_that_a_killed_process_left_is_replaced(data: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(socket_path(data)))
    config = RagConfig(data_dir=data)
    assert answered_elsewhere(config, "search", {}) is None
    with serving(config):
        found = answered_elsewhere(config, "memory list", {"user_id": "ann"})
    assert found is not None
    assert found.result["memories"] == []


def test_no_socket_where_its_path_is_too_long(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 120)
    shutil.move(data, deep)
    config = RagConfig(data_dir=deep)
    monkeypatch.chdir("/")
    with serving(config):
        assert answered_elsewhere(config, "search", {}) is None
    monkeypatch.chdir(tmp_path)
    monkeypatch.chdir(deep)
    with serving(config):  # from within, its name is short
        assert answered_elsewhere(config, "memory list", {"user_id": "ann"}) is not None


@contextmanager
def _answering(data: Path, reply: bytes) -> Iterator[None]:
    """A process that reads a line, writes the reply and hangs up."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(socket_path(data)))
    listening.listen()

    def answer() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.makefile("rb").readline()
            connection.sendall(reply)

    thread = threading.Thread(target=answer)
    thread.start()
    yield
    thread.join(10)
    listening.close()


def test_a_process_that_ends_while_it_reads_is_replaced_by_the_command(data: Path, command: Run) -> None:
    with _answering(data, b'{"result": {"ans'):
        answered = command("ask", QUESTION, "--json")
    assert answered.json["citations"]


@pytest.mark.parametrize("name", CHANGING)
def test_a_process_that_ends_while_it_changes_data_is_an_error(data: Path, name: str) -> None:
    with _answering(data, b""), pytest.raises(RunError, match="may have done it; look before"):
        answered_elsewhere(RagConfig(data_dir=data), name, {})


def test_a_version_without_the_command_declines(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = RagConfig(data_dir=data)
    with serving(config):
        assert answered_elsewhere(config, "ask again", {}) is None


def test_another_users_socket_is_not_asked(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = RagConfig(data_dir=data)
    with serving(config):
        monkeypatch.setattr(open_process.os, "getuid", lambda: os.geteuid() + 1)
        assert answered_elsewhere(config, "memory list", {"user_id": "ann"}) is None
        monkeypatch.setattr(open_process, "_connect", lambda path: _any_connection(path))
        # The process does not answer another user's command either.
        monkeypatch.setattr(command_server.os, "getuid", lambda: os.geteuid() + 1)
        assert answered_elsewhere(config, "memory list", {"user_id": "ann"}) is None


def _any_connection(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(path))
    return connection


def test_a_command_whose_shell_hangs_up_is_ended(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def long(rag: Any, **arguments: Any) -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    monkeypatch.setattr(command_server, "command_function", lambda name: long)
    config = RagConfig(data_dir=data)
    with serving(config):
        connection = _any_connection(socket_path(data))
        request = {"settings": settings_digest(config), "command": "ask", "arguments": {}}
        connection.sendall(json.dumps(request).encode() + b"\n")
        assert begun.wait(10)
        connection.close()
        assert ended.wait(10)


def test_what_is_no_request_is_refused_in_a_line(data: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = RagConfig(data_dir=data)
    settings = settings_digest(config)
    no_requests = [
        b"\n", b"{}\n", b"[]\n", b"7\n", b"null\n", b"tea\n", b"\xff\n", b"[" * 100_000 + b"\n",
        b'{"settings": 1, "command": 2, "arguments": {}}\n',
        json.dumps({"settings": settings, "command": "memory list"}).encode() + b"\n",
        json.dumps({"settings": settings, "command": "memory list", "arguments": []}).encode() + b"\n",
    ]  # fmt: skip
    with serving(config):
        for line in no_requests:
            reply = _replied(data, line)
            assert reply["is_input"], line
            assert reply["error"].startswith("this is no command; send one line of JSON"), line
        for arguments in ({}, {"user_id": "ann", "colour": "red"}):
            request = {"settings": settings, "command": "memory list", "arguments": arguments}
            reply = _replied(data, json.dumps(request).encode() + b"\n")
            assert "the arguments of the command 'memory list' are wrong" in reply["error"]
            assert reply["is_input"]
        assert answered_elsewhere(config, "memory list", {"user_id": "ann"}) is not None
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def _replied(data: Path, line: bytes) -> Any:
    with _any_connection(socket_path(data)) as connection:
        connection.sendall(line)
        return json.loads(connection.makefile("rb").readline())


def test_a_shell_that_hangs_up_at_once_harms_nothing(data: Path) -> None:
    config = RagConfig(data_dir=data)
    with serving(config):
        _any_connection(socket_path(data)).close()
        assert answered_elsewhere(config, "memory list", {"user_id": "ann"}) is not None


def test_every_command_has_its_function() -> None:
    assert all(callable(command_function(name)) for name in COMMANDS)
    assert set(CHANGING) < set(COMMANDS)
