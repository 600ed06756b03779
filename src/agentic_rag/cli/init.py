"""What ``init`` does: a folder to start in, with notes to ask and what LangGraph Studio needs."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from agentic_rag.errors import InputError
from agentic_rag.stores.whole_file import write_whole

RENAMED = {"env": ".env", "settings.toml": ".agentic-rag/settings.toml"}
"""Where a file of the starter goes, if not to its own place: names with a dot are easily left out of a package."""


def started(folder: Path) -> list[Path]:
    """Write the starting folder; the files, as paths relative to it.

    Raises:
        InputError: one of them is there already (nothing is written then), or the folder cannot be made.
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
    return Path(RENAMED.get(str(path), path))
