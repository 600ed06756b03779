"""The vault that an ingested folder belongs to, and what Obsidian's settings there say of its files."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from agentic_rag.dates.names import DAILY_SETTINGS, DailyNotes, read_daily_settings

CONFIG = ".obsidian"
TEMPLATE_SETTINGS = (
    ((CONFIG, "templates.json"), "folder"),
    ((CONFIG, "plugins", "templater-obsidian", "data.json"), "templates_folder"),
)
"""Files below the vault that name its folder of templates, each with the key: of Obsidian and of Templater."""
SETTINGS = (
    (CONFIG, "app.json"),
    *DAILY_SETTINGS,
    *(parts for parts, _ in TEMPLATE_SETTINGS),
)
"""Files by which a vault says what it leaves out and what its daily notes are called."""


@dataclass(frozen=True, slots=True)
class Vault:
    """A folder as a part of its vault; paths are POSIX."""

    folder: Path
    """Of the vault: the nearest at or above the given folder that holds ``.obsidian``, else the given folder."""
    inside: str = ""
    """Path of the given folder below the vault; "" where it is the vault."""
    daily: DailyNotes = field(default_factory=DailyNotes)
    templates: tuple[str, ...] = ()
    """Folders of templates below the given folder, relative to it, in NFC."""

    @classmethod
    def of(cls, resolved_folder: Path) -> Vault:
        """The vault of a resolved folder.

        Never raises: settings that cannot be read are none.
        """
        folder = next(
            (one for one in (resolved_folder, *resolved_folder.parents) if _holds_settings(one)),
            resolved_folder,
        )
        inside = PurePosixPath(resolved_folder.relative_to(folder).as_posix())
        templates = (
            str(one.relative_to(inside))
            for one in map(PurePosixPath, _template_folders(folder))
            if one.is_relative_to(inside) and one != inside
        )
        below = "" if inside == PurePosixPath() else str(inside)
        return cls(folder, below, read_daily_settings(folder), tuple(dict.fromkeys(templates)))

    def address(self, relative: str) -> str:
        """The ``obsidian://`` address of a file of the given folder."""
        file = quote(self._vault_path(relative), safe="", errors="replace")
        return f"obsidian://open?vault={quote(self.folder.name, safe='')}&file={file}"

    def day(self, relative: str) -> date | None:
        """The day of a daily note of the given folder; None for any other note."""
        return self.daily.day(self._vault_path(relative))

    def template_folder(self, relative: str) -> str | None:
        """The folder of templates that a file of the given folder lies in; None where it lies in none."""
        composed = unicodedata.normalize("NFC", relative)
        return next((one for one in self.templates if composed.startswith(f"{one}/")), None)

    def _vault_path(self, relative: str) -> str:
        """The path below the vault of a file of the given folder."""
        return f"{self.inside}/{relative}" if self.inside else relative


def _holds_settings(folder: Path) -> bool:
    try:
        return (folder / CONFIG).is_dir()
    except OSError:
        return False


def _template_folders(vault: Path) -> Iterator[str]:
    for parts, key in TEMPLATE_SETTINGS:
        written = _setting(vault.joinpath(*parts), key)
        folder = unicodedata.normalize("NFC", written).strip().strip("/") if isinstance(written, str) else ""
        if folder and ".." not in PurePosixPath(folder).parts:
            yield folder


def _setting(file: Path, key: str) -> Any:
    """A value of a JSON object in a file; None if it cannot be read."""
    try:
        loaded = json.loads(file.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    return loaded.get(key) if isinstance(loaded, dict) else None
