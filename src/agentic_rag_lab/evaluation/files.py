"""Evaluation, the files: reading with errors that name the place, and checks of output paths before a run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag.stores.whole_file import write_whole


def read_json(path: Path) -> Any:
    """The JSON value in a file; ``InputError`` names an invalid file."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def read_jsonl(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each record with its ``path:line``; blank lines are skipped.

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


HEADS = frozenset({"score", "relevance", "rel", "grade", "label"})
"""Header names of the last column."""


_ITERATIONS = frozenset({"0", "q0"})
"""Values of the second column in TREC's format: query, iteration, document, grade."""


@dataclass(frozen=True, slots=True)
class Qrels:
    """Judgements, and those with contradictory grades."""

    grades: Mapping[str, Mapping[str, int]]
    """Query id to document id to grade; the last one counts."""
    disputed_judgements: tuple[tuple[str, str, tuple[int, ...]], ...]
    """Query, document, and all its grades in the file's order, for contradictory grades."""


def read_qrels(path: Path) -> Qrels:
    """Judgements from lines with three tab-separated cells, or four in TREC's format, with or without a header.

    Raises:
        InputError: the file cannot be read, or a line has another number of cells.
    """
    given: dict[str, dict[str, list[int]]] = {}
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        of_trec = line.split()
        if len(of_trec) == 4 and len(cells) != 3 and of_trec[1].casefold() in _ITERATIONS:
            cells = [of_trec[0], *of_trec[2:]]
        where = f"{path}:{number}"
        if len(cells) != 3:
            raise InputError(f"{where}: expected query-id, corpus-id, score between tabs: {line!r:.80}")
        query, document, said = cells
        grade = _grade(said)
        if grade is not None:
            given.setdefault(query, {}).setdefault(document, []).append(grade)
        elif number > 1 or said.strip().casefold() not in HEADS:
            raise InputError(f"{where}: the score is {said!r:.40}; give a whole number")
    disputed = [
        (query, document, tuple(grades))
        for query, of_query in given.items()
        for document, grades in of_query.items()
        if len(set(grades)) > 1
    ]
    taken = {
        query: {document: grades[-1] for document, grades in of_query.items()}
        for query, of_query in given.items()
    }
    return Qrels(taken, tuple(disputed))


def _grade(text: str) -> int | None:
    """A whole number, ``1`` or ``1.0``; else None."""
    try:
        grade = float(text)
    except ValueError:
        return None
    return int(grade) if grade.is_integer() else None


def text_of(record: Mapping[str, Any], name: str, where: str, *, empty: bool = False) -> str:
    """A field that must be a string; not an empty one unless ``empty``."""
    value = record.get(name)
    if not isinstance(value, str) or not (value or empty):
        raise InputError(
            f"{where}: {name} is {value!r:.80}; give a string" + ("" if empty else " that is not empty")
        )
    return value


def _lines(path: Path) -> Iterator[str]:
    """Lines separated by ``\\n`` only, because a text may contain other separators."""
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            yield from file
    except (OSError, UnicodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


_INPUTS = ("corpus.jsonl", "queries.jsonl", "qrels.tsv", "dataset.json")


def check_writable(path: Path, *, source: Path | None = None, folder: bool = False) -> None:
    """Create the output folder, or the folder of an output file, before a run.

    Raises:
        InputError: it cannot be created or written, is of the other kind, or is a file of the labelled ``source``.
    """
    if source is not None and path.resolve() in _labelled_files(source):
        raise _unwritable(path, "it is what is evaluated; name another file")
    try:
        (path if folder else path.parent).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error
    if not folder and path.is_dir():
        raise _unwritable(path, "it is a folder; name a file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise _unwritable(path, "no permission")


def write_text(path: Path, text: str) -> None:
    """Write a file atomically; a missing folder is created.

    Raises:
        InputError: it cannot be written.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error


def _labelled_files(source: Path) -> set[Path]:
    files = [source, *(source / name for name in _INPUTS), *(source / "qrels").glob("*.tsv")]
    return {file.resolve() for file in files if file.is_file()}


def _unwritable(path: Path, why: str) -> InputError:
    return InputError(f"cannot write {path}: {why}")
