"""Where a board lies, and by what path its cards name the notes beside it."""

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
    """Paths of notes as a board's cards give them: from the vault's root, with ``/``."""

    root: Path | None
    """None: no board's place is known, and paths stay as the citations have them."""

    @classmethod
    def around(cls, board: Path, citations: Sequence[Mapping[str, Any]]) -> Vault:
        """The vault that a board lies in: the next folder above it with Obsidian's settings, else the one that the
        cited notes were ingested from, else the board's own folder."""
        above = board.absolute().parents
        named = {name for citation in citations if (name := vault_name(citation))}
        for folder in above:
            if (folder / ".obsidian").is_dir():
                return cls(folder)
        return cls(next((folder for folder in above if folder.name in named), above[0]))

    def file_of(self, citation: Mapping[str, Any]) -> str | None:
        """The file that a citation stands in; None where it is none: a record, a turn of a conversation, a memory."""
        path = citation.get("path")
        if not path or not (citation.get("url") or (self.root and (self.root / str(path)).is_file())):
            return None
        return self._from_root(str(path), vault_name(citation))

    def link(self, citation: Mapping[str, Any]) -> str | None:
        """A wikilink to where a citation stands, called by its title; None where it is no file."""
        file = self.file_of(citation)
        if file is None:
            return None
        heading = heading_of(citation)
        place = file.removesuffix(".md") + (f"#{heading}" if heading else "")
        called = re.sub(r"[\[\]|]+", " ", str(citation.get("title") or file)).strip()
        return f"[[{place}|{called}]]"

    def note(self, name: str, results: Sequence[Mapping[str, Any]]) -> str | None:
        """The note of that name: among what was found for the answer, else in the vault."""
        for result in results:
            metadata = result["metadata"]
            if metadata.get("url") and entity_key(str(metadata.get("title") or "")) == entity_key(name):
                return self._from_root(str(metadata["path"]), vault_name(metadata))
        return self._named(name)

    def _from_root(self, path: str, vault: str | None) -> str:
        """A path below the ingested folder, from the vault's root, of which that folder may be a part."""
        if self.root is None or (self.root / path).exists():
            return path
        inner = (folder for folder in _folders(self.root) if folder.name == vault)
        found = next((folder / path for folder in inner if (folder / path).exists()), None)
        return path if found is None else found.relative_to(self.root).as_posix()

    def _named(self, name: str) -> str | None:
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
    """The last heading above it, as Obsidian spells one in a link; "" where there is none."""
    path = citation.get("heading_path") or []
    return re.sub(r"\s+", " ", re.sub(r"[#|^:\[\]%\\]+", " ", str(path[-1]))).strip() if path else ""


def vault_name(placed: Mapping[str, Any]) -> str | None:
    """The vault that an ``obsidian://open?vault=…`` address names."""
    named = parse_qs(urlsplit(str(placed.get("url") or "")).query).get("vault")
    return named[0] if named else None
