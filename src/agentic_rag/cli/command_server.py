"""Commands of the shell, run in a process that has the data folder open already; see ``open_process``."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from agentic_rag.cli.open_process import settings_digest, socket_path
from agentic_rag.cli.options import place_of
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import AgenticRagError, InputError, UnknownDataset
from agentic_rag.rag import Rag
from agentic_rag.settings.config import RagConfig

logger = logging.getLogger(__name__)

COMMANDS = {
    "ask": "agentic_rag.cli.ask:answer_json",
    "search": "agentic_rag.cli.ask:search_json",
    "memory add": "agentic_rag.cli.memory:add_memory",
    "memory search": "agentic_rag.cli.memory:search_memories",
    "memory list": "agentic_rag.cli.memory:list_memories",
    "memory forget": "agentic_rag.cli.memory:forget_memories",
    "memory export": "agentic_rag.cli.memory:export_memories",
    "memory import": "agentic_rag.cli.memory:import_memories",
}
"""By a command's name the coroutine function that takes the open ``Rag`` and the command's arguments."""
MAX_REQUEST = 64 * 1024 * 1024
"""Bytes."""


@dataclass(frozen=True, slots=True)
class CommandRequest:
    """What a shell asks for in one line of JSON."""

    settings: str
    """See ``settings_digest``."""
    command: str
    arguments: Mapping[str, object]
    """Of the command's function, by name."""

    @classmethod
    def read(cls, line: bytes) -> CommandRequest:
        """The request in a line.

        Raises:
            InputError: the line is no JSON object of the three values.
        """
        with suppress(ValueError, RecursionError):
            match json.loads(line):
                case {"settings": str(settings), "command": str(command), "arguments": dict(arguments)}:
                    return cls(settings, command, arguments)
        raise InputError(
            'this is no command; send one line of JSON: {"settings": TEXT, "command": NAME, "arguments": {…}}'
        )


def command_function(name: str) -> Callable[..., Awaitable[Any]]:
    """The function of a command; raises ``KeyError`` for one that this version does not have."""
    module, _, function = COMMANDS[name].partition(":")
    command: Callable[..., Awaitable[Any]] = getattr(import_module(module), function)
    return command


@asynccontextmanager
async def commands_served(rag: Rag) -> AsyncIterator[None]:
    """Within the block, commands of the same user's shell are answered through a socket in the data folder.

    Not where another process serves them already, nor where the system or the folder allows no socket: commands then
    open the folder themselves.
    """
    listener = await asyncio.to_thread(_listen, rag.config)
    if listener is None:
        yield
        return
    commands = _Commands(rag, listener.settings)
    server = await asyncio.start_unix_server(commands.serve, sock=listener.socket, limit=MAX_REQUEST)
    try:
        yield
    finally:
        server.close()
        await commands.cancel()
        await asyncio.to_thread(listener.remove)


@dataclass(frozen=True, slots=True)
class _Listener:
    """A socket that listens in the data folder, readable by this user alone."""

    socket: socket.socket
    path: Path
    inode: int
    settings: str
    """See ``settings_digest``."""

    def remove(self) -> None:
        """Delete it, unless another process's is there by now."""
        with suppress(OSError):
            if self.path.stat().st_ino == self.inode:
                self.path.unlink()


def _listen(config: RagConfig) -> _Listener | None:
    """None where the folder is served already, or can have no socket."""
    path = socket_path(config.data_dir)
    if not hasattr(socket, "AF_UNIX") or _is_served(path):
        return None
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.bind(str(beside))
        beside.chmod(0o600)  # before it listens: nobody else can have connected
        listening.listen()
        beside.replace(path)
    except OSError as error:
        listening.close()
        with suppress(OSError):
            beside.unlink()
        logger.info("commands of the shell open the data folder themselves: no socket at %s: %s", path, error)
        return None
    return _Listener(listening, path, path.stat().st_ino, settings_digest(config))


def _is_served(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as other, suppress(OSError):
        other.connect(str(path))
        return True
    return False


class _Commands:
    """The commands that are running; each connection brings one."""

    def __init__(self, rag: Rag, settings: str) -> None:
        self._rag = rag
        self._settings = settings
        self._running: set[asyncio.Task[Any]] = set()

    async def cancel(self) -> None:
        """End what is running."""
        await _cancel_all(*self._running)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Run the command and write its reply; whoever hangs up before ends it."""
        try:
            if _is_same_user(writer):
                task = asyncio.ensure_future(self._reply(await reader.readline()))
                self._running.add(task)
                task.add_done_callback(self._running.discard)
                hang_up = asyncio.ensure_future(reader.read(1))
                await asyncio.wait((task, hang_up), return_when=asyncio.FIRST_COMPLETED)
                reply = task.result() if task.done() and not task.cancelled() else None
                await _cancel_all(task, hang_up)
                if reply is not None:
                    writer.write(json.dumps(reply, default=str).encode() + b"\n")
                    await writer.drain()
        except (OSError, ValueError) as error:
            logger.info("a command of the shell could not be read or answered: %s", error)
        finally:
            writer.close()

    async def _reply(self, line: bytes) -> Json:
        try:
            request = CommandRequest.read(line)
            if request.settings != self._settings:
                return {"declined": "other settings"}
            if request.command not in COMMANDS:
                return {"declined": "another version"}
            function = await asyncio.to_thread(command_function, request.command)
            result = await function(self._rag, **_checked_arguments(function, request))
        except UnknownDataset as error:
            place = await asyncio.to_thread(place_of, self._rag.config)
            return _error(UnknownDataset(error.dataset, error.known_names, place))
        except AgenticRagError as error:
            return _error(error)
        except Exception as error:
            logger.exception("a command of the shell failed")
            return _error(error)
        return {"result": result}


def _checked_arguments(function: Callable[..., Awaitable[Any]], request: CommandRequest) -> Mapping[str, Any]:
    """The arguments of a command; ``InputError`` where one is missing or unknown."""
    try:
        signature(function).bind(None, **request.arguments)
    except TypeError as error:
        raise InputError(f"the arguments of the command {request.command!r} are wrong: {error}") from error
    return request.arguments


def _error(error: Exception) -> Json:
    text = str(error) if isinstance(error, AgenticRagError) else f"{type(error).__name__}: {error}"
    return {"error": text, "is_input": isinstance(error, InputError)}


async def _cancel_all(*tasks: asyncio.Future[Any]) -> None:
    """Returns when all have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _is_same_user(writer: asyncio.StreamWriter) -> bool:
    """Beside the socket's mode, which not every file system keeps; only Linux tells the other end's user."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    other = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return bool(struct.unpack("3i", other)[1] == os.getuid())
