"""What `agentic-rag init` writes: settings, and graphs for LangGraph's server."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from agentic_rag.errors import InputError
from agentic_rag.stores.whole_file import write_whole

STARTER_NAMES = {"env": ".env", "settings.toml": ".agentic-rag/settings.toml"}
"""Target paths of starter files that are stored under another name, because packaging easily omits dot files."""


def write_starter(folder: Path) -> list[Path]:
    """Write the starter folder; returns the files, as paths relative to it.

    Raises:
        InputError: a file exists already (then nothing is written), or the folder cannot be created.
    """
    with as_file(files("agentic_rag.cli") / "starter") as starter:
        given = sorted(path for path in starter.rglob("*") if path.is_file() and path.suffix != ".pyc")
        contents = {_target(path.relative_to(starter)): path.read_text(encoding="utf-8") for path in given}
    if present := [str(path) for path in contents if (folder / path).exists()]:
        raise InputError(f"{folder} has {', '.join(present)} already; name another folder")
    try:
        for path, text in contents.items():
            write_whole(folder / path, text)
    except OSError as error:
        raise InputError(
            f"cannot write into {folder}: {error.strerror or error}; name another folder"
        ) from error
    return list(contents)


def _target(path: Path) -> Path:
    return Path(STARTER_NAMES.get(str(path), path))
