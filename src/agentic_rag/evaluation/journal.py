"""Evaluation, the memory: a file of JSON lines that only grows, so that an interrupted run goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentic_rag.errors import InputError, StoreError


class RecordFile:
    """First the fingerprint of all that a row depends on, then one row a line.

    Args:
        path: made with its folder at the first row.
        fingerprint: of what the rows are of.
        fresh: start anew.

    Raises:
        InputError: the file holds something else, which stays as it is; or it has another fingerprint, or a line
            is no JSON object. A line that was cut off at the end is removed instead.
        StoreError: the file cannot be read.
    """

    def __init__(self, path: Path, fingerprint: str, *, fresh: bool = False) -> None:
        self.path = path
        self._head = json.dumps({"fingerprint": fingerprint}) + "\n"
        try:
            _check_ours(path)
            if fresh:
                path.unlink(missing_ok=True)
            lines = _whole_lines(path)
        except OSError as error:
            raise StoreError(f"the records in {path} cannot be used: {error.strerror or error}") from error
        if lines and lines[0] + "\n" != self._head:
            raise InputError(
                f"the records in {path} are of other data, settings or code; start anew with --fresh, "
                "or name another place for them"
            )
        self.rows = [_object(line, f"{path}:{number}") for number, line in enumerate(lines[1:], start=2)]
        """What the file held when it was opened."""

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row to the disk."""
        line = json.dumps(row) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="ascii") as file:
                file.write(line if file.tell() else self._head + line)
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror or error}") from error


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a journal, whatever its fingerprint; a line that was cut off is left out.

    Raises:
        InputError: a line is no JSON object.
        StoreError: the file cannot be read.
    """
    try:
        whole = path.read_bytes().decode("ascii", "replace").split("\n")[:-1]
    except OSError as error:
        raise StoreError(f"the records in {path} cannot be read: {error.strerror or error}") from error
    return [_object(line, f"{path}:{number}") for number, line in enumerate(whole[1:], start=2)]


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise InputError(f"{where} is no record; start anew with --fresh")
    return row


_BEGINNING = b'{"fingerprint": "'


def _check_ours(path: Path) -> None:
    """Somebody's own file is neither cut off nor begun anew."""
    if not path.exists():
        return
    with path.open("rb") as file:
        begins = file.read(len(_BEGINNING))
    if not _BEGINNING.startswith(begins):  # of a head that was cut off there is only a part
        raise InputError(f"{path} holds no records but something else; name another place for them")


def _whole_lines(path: Path) -> list[str]:
    """Lines that were written to their end; what follows them is cut off in the file too."""
    if not path.is_file():
        return []
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return whole.decode("ascii", "replace").split("\n")[:-1]
