"""Evaluation, the files it writes: looked at before a long run, written after it."""

from __future__ import annotations

import os
from pathlib import Path

from agentic_rag.errors import InputError


def check_writable(path: Path, *, folder: bool = False) -> None:
    """Make the folder of a file, or the folder itself, that a run is to write.

    Raises:
        InputError: it cannot be made, is of the other kind, or is not writable.
    """
    try:
        (path if folder else path.parent).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error
    if not folder and path.is_dir():
        raise _unwritable(path, "it is a folder; name a file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise _unwritable(path, "no permission")


def write_text(path: Path, text: str) -> None:
    """UTF-8, in a folder that is made where there is none.

    Raises:
        InputError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise _unwritable(path, error.strerror or str(error)) from error


def _unwritable(path: Path, why: str) -> InputError:
    return InputError(f"cannot write {path}: {why}")
