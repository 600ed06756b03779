"""The files of a table, looked at without LanceDB: what each of its versions consists of, and whether some are gone.

LanceDB opens a table whose latest such file was deleted at the version before, and one whose latest such file is all
zeros as an empty one, and says nothing.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def version_files(folder: Path) -> list[Path]:
    """The files of a table's versions, the latest first."""
    return sorted((folder / "_versions").glob("*.manifest"), key=version_of, reverse=True)


def has_data(folder: Path) -> bool:
    """Whether rows lie there; a table that is being made has none yet."""
    return any((folder / "data").glob("*.lance"))


def latest_hint(folder: Path) -> Path:
    """The file in which LanceDB notes the latest version, once that is written; nothing depends on it."""
    return folder / "_versions" / "latest_version_hint.json"


def is_latest_gone(folder: Path) -> bool:
    """Whether a version is noted that is later than all that are there."""
    try:
        # The note first: a version that is written in between is then no later than it.
        noted = json.loads(latest_hint(folder).read_bytes())["version"]
        return bool(noted > version_of(version_files(folder)[0]))
    except (OSError, ValueError, LookupError, TypeError):
        return False


async def is_blank(table: Any) -> bool:
    """Whether an open table has no columns: LanceDB reads a manifest of zeros, as a power cut leaves one, as version 0
    of nothing."""
    return not (await table.schema()).names


def version_of(file: Path) -> int:
    """LanceDB counts down from the largest number, so that the latest comes first; earlier releases counted up."""
    number = int(file.stem) if file.stem.isdecimal() else 0
    return 2**64 - 1 - number if len(file.stem) == 20 else number
