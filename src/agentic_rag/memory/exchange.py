"""One user's memories as a file of JSON lines: a header line, then one line per memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError
from agentic_rag.memory.records import MemoryRecord, from_plain, plain

FORMAT = "agentic-rag-memory"
VERSION = 1


def written_export(path: Path, user_id: str, records: Sequence[MemoryRecord]) -> None:
    """Write the file atomically.

    Raises:
        InputError: the file cannot be written.
    """
    heading = {"format": FORMAT, "version": VERSION, "user_id": user_id, "memories": len(records)}
    lines = [heading, *map(plain, records)]
    partial = path.with_name(f"{path.name}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"cannot write {path}: {error.strerror or error}; choose another file") from error


def read_export(path: Path) -> list[MemoryRecord]:
    """The memories in an exported file.

    Raises:
        InputError: the file cannot be opened, is no export or is incomplete, or a line is no memory.
    """
    try:
        # Only line feeds separate lines, because texts may contain all other line separators.
        lines = path.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}; give a file that export wrote") from error
    heading = _parse_line(path, 1, lines[0])
    if heading.get("format") != FORMAT or heading.get("version") != VERSION:
        raise InputError(
            f"{path} is no export of memories (its first line says format {FORMAT!r}, version {VERSION})"
        )
    records = [_record(path, number, line) for number, line in enumerate(lines[1:], start=2)]
    if len(records) != heading.get("memories"):
        raise InputError(
            f"{path} holds {len(records)} memories and should hold {heading.get('memories')}; it was cut short"
        )
    return records


def _record(path: Path, number: int, line: str) -> MemoryRecord:
    try:
        return from_plain(_parse_line(path, number, line))
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}, line {number}, is no memory: {type(error).__name__}: {error}") from error


def _parse_line(path: Path, number: int, line: str) -> Json:
    try:
        parsed = json.loads(line)
    except ValueError as error:
        raise InputError(f"{path}, line {number}, is no JSON: {error}") from error
    if not isinstance(parsed, dict):
        raise InputError(f"{path}, line {number}, is no JSON object")
    return parsed
