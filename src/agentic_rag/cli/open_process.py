"""Asking the process that has the data folder open: a service or a watch listens on a socket in that folder.

Imports the standard library alone, because a command that is answered there should start in a tenth of a second.

One line of JSON goes each way::

    {"settings": "…", "command": "ask", "arguments": {…}}
    {"result": …}  or  {"error": "…", "is_input": true}  or  {"declined": "…"}
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_rag.errors import InputError, RunError

if TYPE_CHECKING:
    from agentic_rag.settings.config import RagConfig

SOCKET = "commands.sock"
"""Name of the socket in the data folder."""
CHANGING = ("memory add", "memory forget", "memory import")
"""Commands that change data. The others may be run again where the other process ended while it worked."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the other process answered; ``result`` are JSON values."""

    result: Any


def socket_path(data_dir: Path) -> Path:
    """The path of the data folder's socket, from the current folder where that is shorter: systems allow about a
    hundred bytes."""
    path = data_dir.absolute() / SOCKET
    return min(path, Path(os.path.relpath(path)), key=lambda one: len(str(one)))


def settings_digest(config: RagConfig) -> str:
    """Equal where two processes would answer alike: of all settings but the service's own.

    Passwords are among them, so it goes to a process of the same user alone. Files are compared by where they lie.
    """
    values = _comparable(config.model_dump(exclude={"service"}))
    return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _comparable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _comparable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_comparable(one) for one in value]
    if hasattr(value, "get_secret_value"):
        return value.get_secret_value()
    if isinstance(value, str | Path):
        return str(Path(value).resolve()) if _is_there(value) else str(value)
    return value


def _is_there(path: str | Path) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # the text of a setting need not be a path
        return False


def as_json(value: Any) -> Any:
    """What the value is after a way through JSON, so that a command prints the same wherever it ran."""
    return json.loads(json.dumps(value, default=str))


def answered_elsewhere(config: RagConfig, command: str, arguments: Mapping[str, Any]) -> Reply | None:
    """The command's result from the process that has the data folder open.

    None: there is none, it belongs to another user, it has other settings, or it ended while it read.

    Raises:
        InputError: the command's arguments are wrong.
        RunError: the command failed there, or the process ended while it changed data.
    """
    connection = _connect(socket_path(config.data_dir))
    if connection is None:
        return None
    request = {"settings": settings_digest(config), "command": command, "arguments": arguments}
    with connection, connection.makefile("rb") as lines:
        try:
            connection.sendall(json.dumps(request, default=str).encode() + b"\n")
            line = lines.readline()
        except ConnectionError:
            line = b""
    if line.endswith(b"\n"):
        return _reply(json.loads(line))
    if command in CHANGING:
        raise RunError(
            f"the process that has {config.data_dir} open ended while it worked, and may have done it; "
            "look before you run the command again"
        )
    return None


def _connect(path: Path) -> socket.socket | None:
    """A connection to the socket if a process of this user listens there."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    connection = socket.socket(socket.AF_UNIX)
    try:
        if path.stat().st_uid == os.getuid():
            connection.connect(str(path))
            return connection
    except OSError:  # there is no socket, nobody listens, or its path is too long
        pass
    connection.close()
    return None


def _reply(reply: Mapping[str, Any]) -> Reply | None:
    if "error" in reply:
        raise (InputError if reply["is_input"] else RunError)(reply["error"])
    return Reply(reply["result"]) if "result" in reply else None
