"""The vault of a board, and the paths by which its cards name notes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from agentic_rag.domain.identity import entity_key


@dataclass(frozen=True, slots=True)
class Vault:
    """Paths of notes in a board's cards: relative to the vault's root, with ``/``."""

    root: Path | None
    """None: the board's place is unknown, and paths stay as in the citations."""

    @classmethod
    def around(cls, board: Path, citations: Sequence[Mapping[str, Any]], within: Path | None = None) -> Vault:
        """The vault of a board: the nearest folder above it with Obsidian's settings, else the vault of the cited
        notes, else the board's own folder; never a folder above ``within``."""
        above = [
            folder for folder in board.absolute().parents if within is None or folder.is_relative_to(within)
        ]
        named = {name for citation in citations if (name := vault_name(citation))}
        if (root := next(filter(_has_settings, above), None)) is not None:
            return cls(root)
        return cls(next((folder for folder in above if folder.name in named), above[0]))

    def file_of(self, citation: Mapping[str, Any]) -> str | None:
        """The file of a citation; None without a file: a record, a turn of a conversation, a memory."""
        path = citation.get("path")
        if not path or not (citation.get("url") or (self.root and (self.root / str(path)).is_file())):
            return None
        return self._from_root(str(path), citation)

    def link(self, citation: Mapping[str, Any]) -> str | None:
        """A wikilink to the citation's place, shown as its title; None without a file."""
        file = self.file_of(citation)
        if file is None:
            return None
        heading = heading_of(citation)
        place = file.removesuffix(".md") + (f"#{heading}" if heading else "")
        called = re.sub(r"[\[\]|]+", " ", str(citation.get("title") or file)).strip()
        return f"[[{place}|{called}]]"

    def note(self, name: str, results: Sequence[Mapping[str, Any]]) -> str | None:
        """The file of the note with this name: among the answer's results, else in the vault."""
        for result in results:
            metadata = result["metadata"]
            if metadata.get("url") and entity_key(str(metadata.get("title") or "")) == entity_key(name):
                return self._from_root(str(metadata["path"]), metadata)
        return self._note_named(name)

    def _from_root(self, path: str, metadata: Mapping[str, Any]) -> str:
        """From a path below the ingested folder to one below the vault's root, which may contain that folder."""
        vault, file = vault_name(metadata), _in_address(metadata, "file")
        if self.root is None:
            return path
        if file and vault == self.root.name and (self.root / file).exists():
            return file
        if (self.root / path).exists():
            return path
        inner = (folder for folder in _folders(self.root) if folder.name == vault)
        found = next((folder / path for folder in inner if (folder / path).exists()), None)
        return path if found is None else found.relative_to(self.root).as_posix()

    def _note_named(self, name: str) -> str | None:
        if self.root is None:
            return None
        wanted = entity_key(name)
        paths = sorted(
            note.relative_to(self.root).as_posix()
            for folder in _folders(self.root)
            for note in folder.glob("*.md")
            if entity_key(note.stem) == wanted
        )
        return min(paths, key=lambda path: (path.count("/"), path), default=None)


def _folders(root: Path) -> list[Path]:
    """The root and all folders below it that are not hidden."""
    found = []
    for folder, inner, _ in os.walk(root):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        found.append(Path(folder))
    return found


def heading_of(citation: Mapping[str, Any]) -> str:
    """The last heading above a citation, in Obsidian's spelling for links; "" without a heading."""
    path = citation.get("heading_path") or []
    return re.sub(r"\s+", " ", re.sub(r"[#|^:\[\]%\\]+", " ", str(path[-1]))).strip() if path else ""


def vault_name(metadata: Mapping[str, Any]) -> str | None:
    """The vault's name in an ``obsidian://open?vault=…`` address."""
    return _in_address(metadata, "vault")


def _in_address(metadata: Mapping[str, Any], part: str) -> str | None:
    named = parse_qs(urlsplit(str(metadata.get("url") or "")).query).get(part)
    return named[0] if named else None


def root_above(path: Path) -> Path | None:
    """The nearest folder above a file with Obsidian's settings."""
    return next(filter(_has_settings, path.absolute().parents), None)


def _has_settings(folder: Path) -> bool:
    return (folder / ".obsidian").is_dir()
