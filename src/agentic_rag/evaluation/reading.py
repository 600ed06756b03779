"""Evaluation, the files: JSON, JSON lines and judgements, refused with their place where they are broken."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentic_rag.errors import InputError


def read_json(path: Path) -> Any:
    """The JSON value in a file; ``InputError`` names the file that has none."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def read_jsonl(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each record with ``path:line``; blank lines are skipped.

    Raises:
        InputError: the file cannot be read, or a line is no JSON object.
    """
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: no JSON: {error}") from error
        if not isinstance(record, dict):
            raise InputError(f"{where}: expected an object, not {line!r:.80}")
        yield where, record


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Query id to document id to grade, from lines of three cells between tabs, with or without a head.

    Raises:
        InputError: the file cannot be read, or a line has other cells.
    """
    judged: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_lines(path), start=1):
        cells = line.rstrip("\r\n").split("\t")
        if not line.strip() or (number == 1 and cells[-1].strip() == "score"):
            continue
        try:
            query, document, grade = cells
            judged.setdefault(query, {})[document] = int(grade)
        except ValueError:
            raise InputError(
                f"{path}:{number}: expected query-id, corpus-id, score between tabs: {line!r:.80}"
            ) from None
    return judged


def text_of(record: Mapping[str, Any], name: str, where: str, *, empty: bool = False) -> str:
    """A field that must be a string; not an empty one unless ``empty``."""
    value = record.get(name)
    if not isinstance(value, str) or not (value or empty):
        raise InputError(
            f"{where}: {name} is {value!r:.80}; give a string" + ("" if empty else " that is not empty")
        )
    return value


def _lines(path: Path) -> Iterator[str]:
    """Lines as ``\\n`` ends them: other separators may stand inside a text."""
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            yield from file
    except (OSError, UnicodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
