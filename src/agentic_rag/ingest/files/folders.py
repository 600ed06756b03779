"""The files of a folder that are read, and their text: git's and Obsidian's rules, links, encodings."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, cast

from pathspec import GitIgnoreSpec

from agentic_rag.errors import InputError
from agentic_rag.ingest.files.source_text import reason
from agentic_rag.ingest.files.timed_patterns import TimedPattern
from agentic_rag.ingest.files.vaults import CONFIG, Vault

NO_FILE = "neither a file nor a folder"


class Skip(Protocol):
    """Called with each file left out: its path, the reason, and whether it exists but could not be read now."""

    def __call__(self, path: object, reason: str, *, is_unread: bool = False) -> None: ...


def walk(root: Path, skip: Skip, vault: Vault | None = None) -> Iterator[tuple[Path, str]]:
    """Files of the tree that no rule leaves out, each with its path below the root, in order of path; links are not followed.

    ``vault``: whose settings hold; None: the root's own.
    """
    vault = vault or Vault(root)
    rules = IgnoreRules.of_vault(_read_if_there(vault.folder / CONFIG / "app.json"), vault.inside)
    todo: list[tuple[str, IgnoreRules]] = [("", rules)]
    while todo:
        folder, rules = todo.pop()
        try:
            with os.scandir(root / folder) as listing:
                entries = sorted(listing, key=lambda entry: _name_order(entry.name))
        except OSError as error:
            skip(root / folder, reason(error), is_unread=True)
            continue
        rules = rules.below(folder, _read_if_there(root / folder / ".gitignore"))
        inner: list[tuple[str, IgnoreRules]] = []
        for entry in entries:
            relative = f"{folder}/{entry.name}" if folder else entry.name
            kind = _entry_kind(root, entry, relative, rules, skip)
            if kind == "folder":
                inner.append((relative, rules))
            elif kind == "file":
                yield root / relative, relative
        todo += reversed(inner)


def _entry_kind(
    root: Path, entry: os.DirEntry[str], relative: str, rules: IgnoreRules, skip: Skip
) -> Literal["file", "folder", "none"]:
    if entry.name.startswith("."):
        return "none"
    try:
        if entry.is_symlink():
            if not rules.ignores(relative, is_folder=False):
                skip(root / relative, _link_reason(root, root / relative))
            return "none"
        is_folder = entry.is_dir()
        if rules.ignores(relative, is_folder=is_folder):
            return "none"
        if is_folder and _is_of_a_program(entry):
            skip(root / relative, "a folder of a program and not of notes; to read it, ingest it by its path")
            return "none"
        if is_folder:
            return "folder"
        if entry.is_file():
            return "file"
        skip(root / relative, NO_FILE)
    except OSError as error:
        skip(root / relative, reason(error), is_unread=True)
    return "none"


_OF_PROGRAMS = frozenset({"node_modules", "bower_components", "__pycache__", "site-packages"})
"""Names of folders in which programs keep what they install or make."""
_ENVIRONMENT = "pyvenv.cfg"
"""File of a virtual environment of Python, whatever its folder is called."""


def _is_of_a_program(folder: os.DirEntry[str]) -> bool:
    return folder.name in _OF_PROGRAMS or (Path(folder.path) / _ENVIRONMENT).is_file()


def _link_reason(root: Path, link: Path) -> str:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return "a broken link: its target is missing"
    if target.is_relative_to(root):
        return "a link inside the folder; its target is read under its own name"
    return f"a link to {target}, outside the folder; ingest that path separately"


def _name_order(name: str) -> tuple[str, bool]:
    """By NFC name; of twins that differ only in normal form, the NFC one comes first and is kept."""
    composed = unicodedata.normalize("NFC", name)
    return composed, composed != name


def _read_if_there(path: Path) -> str:
    """A rule file's text; "" if it is missing or unreadable, as in git and Obsidian."""
    try:
        return path.read_bytes().decode("utf-8-sig", "replace") if path.is_file() else ""
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that hold in one folder: those of its parents and its own.

    ``levels`` are (folder relative to the root, its ``.gitignore``), outermost first.
    """

    levels: tuple[tuple[str, GitIgnoreSpec], ...] = ()
    filters: tuple[TimedPattern, ...] = ()
    inside: str = ""
    """Path of the root below its vault, to which the filters refer."""

    @classmethod
    def of_vault(cls, app_json: str, inside: str = "") -> IgnoreRules:
        """The rules of a vault's ``app.json`` for a folder at ``inside``; one that is itself excluded was named on
        purpose, and is read."""
        filters = obsidian_filters(app_json)
        if inside:
            filters = tuple(one for one in filters if not one.search(f"{inside}/"))
        return cls(filters=filters, inside=inside)

    def below(self, folder: str, gitignore: str) -> IgnoreRules:
        """The rules inside ``folder`` (relative, POSIX, "" for the root) that has this ``.gitignore``."""
        spec = _spec(gitignore)
        return self if spec is None else replace(self, levels=(*self.levels, (folder, spec)))

    def ignores(self, path: str, *, is_folder: bool) -> bool:
        """Whether ``path`` (relative to the root, POSIX) is left out; the innermost rule that speaks decides."""
        shown = path + "/" if is_folder else path
        placed = f"{self.inside}/{shown}" if self.inside else shown
        if any(pattern.search(placed) for pattern in self.filters):
            return True
        for folder, spec in reversed(self.levels):
            inner = shown[len(folder) + 1 :] if folder else shown
            decision = spec.check_file(inner).include
            if decision is not None:
                return decision
        return False


def _spec(gitignore: str) -> GitIgnoreSpec | None:
    lines = [line for line in gitignore.splitlines() if line.strip() and _is_valid(line)]
    if not lines:
        return None
    spec = GitIgnoreSpec.from_lines(lines)
    for pattern in spec.patterns:
        if pattern.regex is not None:
            pattern.regex = cast(Any, TimedPattern(pattern.regex.pattern, str(pattern.pattern)))
    return spec


def _is_valid(line: str) -> bool:
    """Git passes over a pattern that it cannot read; pathspec raises."""
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def obsidian_filters(app_json: str) -> tuple[TimedPattern, ...]:
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
            patterns.append(TimedPattern(entry[1:-1] if is_pattern else "^" + re.escape(entry), entry))
        except InputError:
            continue
    return tuple(patterns)
