"""Which passages record what somebody got wrong: what weak-point clustering is asked to group."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

_NAMED = re.compile(
    r"(?<![a-z])(?:mistakes?|errors?|errata|misconceptions?|weak(?:ness(?:es)?|[ _-]?(?:points?|spots?)))(?![a-z])"
    r"|[错錯][题題误誤]|易[错錯]|[误誤][区區]|薄弱|弱[点點]",
    re.IGNORECASE,
)
_CALLOUT = re.compile(r"^[ \t]*>[ \t]*\[!fail(?:ure)?\].*(?:\n[ \t]*>.*)*", re.IGNORECASE | re.MULTILINE)
"""Obsidian's for what failed, with the lines it quotes."""


def records_mistake(result: Mapping[str, Any]) -> bool:
    """Whether a tag, a folder, the title or a heading calls it a mistake, or the passage holds a failure callout."""
    metadata = result["metadata"]
    tags = metadata.get("tags")
    folders = PurePosixPath(str(metadata.get("path") or "")).parts[:-1]
    names = [
        *(tags if isinstance(tags, list | tuple) else [tags]),
        *folders,
        metadata.get("title"),
        *(metadata.get("heading_path") or ()),
    ]
    called = any(isinstance(name, str) and _NAMED.search(name) for name in names)
    return called or _CALLOUT.search(result["content"]) is not None


def failures(content: str) -> list[tuple[int, int]]:
    """Spans of the failure callouts of a passage: what was answered or done, and was wrong."""
    return [callout.span() for callout in _CALLOUT.finditer(content)]
