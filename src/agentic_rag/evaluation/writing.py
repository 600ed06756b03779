"""Evaluation, the files it writes: looked at before a long run, written after it."""

from __future__ import annotations

import os
from pathlib import Path

from agentic_rag.errors import InputError
from agentic_rag.stores.whole_file import write_whole

_INPUTS = ("corpus.jsonl", "queries.jsonl", "qrels.tsv", "dataset.json")


def check_writable(path: Path, *, source: Path | None = None, folder: bool = False) -> None:
    """Make the folder of a file, or the folder itself, that a run is to write.

    Raises:
        InputError: it cannot be made, is of the other kind, is not writable, or is a file of the labelled ``source``.
    """
    if source is not None and path.resolve() in _labelled(source):
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
    """The whole file or nothing, in a folder that is made where there is none.

    Raises:
        InputError: it cannot be written.
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error


def _labelled(source: Path) -> set[Path]:
    files = [source, *(source / name for name in _INPUTS), *(source / "qrels").glob("*.tsv")]
    return {file.resolve() for file in files if file.is_file()}


def _unwritable(path: Path, why: str) -> InputError:
    return InputError(f"cannot write {path}: {why}")
