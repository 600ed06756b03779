"""Which files of a folder are left out: ``.gitignore`` by git's rules, and Obsidian's excluded files."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that hold in one folder: those of its parents and its own.

    ``levels`` are (folder relative to the root, its ``.gitignore``), outermost first.
    """

    levels: tuple[tuple[str, GitIgnoreSpec], ...] = ()
    filters: tuple[re.Pattern[str], ...] = ()

    def below(self, folder: str, gitignore: str) -> IgnoreRules:
        """The rules inside ``folder`` (relative, POSIX, "" for the root) that has this ``.gitignore``."""
        spec = _spec(gitignore)
        return self if spec is None else IgnoreRules((*self.levels, (folder, spec)), self.filters)

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether ``path`` (relative to the root, POSIX) is left out; the innermost rule that speaks decides."""
        shown = path + "/" if is_folder else path
        if any(pattern.search(shown) for pattern in self.filters):
            return True
        for folder, spec in reversed(self.levels):
            inner = shown[len(folder) + 1 :] if folder else shown
            decision = spec.check_file(inner).include
            if decision is not None:
                return decision
        return False


def _spec(gitignore: str) -> GitIgnoreSpec | None:
    lines = [line for line in gitignore.splitlines() if line.strip() and _is_valid(line)]
    return GitIgnoreSpec.from_lines(lines) if lines else None


def _is_valid(line: str) -> bool:
    """Git passes over a pattern that it cannot read; pathspec raises."""
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def obsidian_filters(app_json: str) -> tuple[re.Pattern[str], ...]:
    """``userIgnoreFilters`` of a vault's ``app.json``: ``/…/`` is a regular expression, other text a path's beginning."""
    try:
        loaded = json.loads(app_json)
    except (ValueError, RecursionError):
        return ()
    written = loaded.get("userIgnoreFilters") if isinstance(loaded, dict) else None
    patterns = []
    for entry in written if isinstance(written, list) else []:
        if not isinstance(entry, str) or not entry.strip("/ "):
            continue
        is_pattern = len(entry) > 2 and entry.startswith("/") and entry.endswith("/")
        try:
            patterns.append(re.compile(entry[1:-1] if is_pattern else "^" + re.escape(entry)))
        except re.error:
            continue
    return tuple(patterns)
