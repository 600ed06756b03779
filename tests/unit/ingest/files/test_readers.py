"""Formats and readers that another package adds: in a folder, by name, by a kind of their own, and read anew."""

from __future__ import annotations

import zipfile
from functools import partial
from pathlib import Path

import pytest

from agentic_rag.domain import Document
from agentic_rag.domain.identity import digest
from agentic_rag.errors import InputError
from agentic_rag.ingest.files import formats, readers
from agentic_rag.ingest.files.discovery import discover, made_text
from agentic_rag.ingest.files.formats import TextFormat
from agentic_rag.ingest.files.readers import Reader, ScannedFile
from agentic_rag.ingest.files.scanning import SourceItem
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag.notes.markdown import parse_text


class Logbooks(Reader):
    """A line of a ``.log`` or of a packed ``log`` is a document; their number is told at the end of a root."""

    kinds = ("logbook",)
    lines = 0

    def read(self, root: Path, kind: str) -> None:
        self._add(root.read_text("utf-8"), ScannedFile(root, root, root.name, kind))

    def take(self, file: ScannedFile) -> bool:
        if file.suffix == ".zip" and zipfile.is_zipfile(file.path):
            with zipfile.ZipFile(file.path) as packed:
                text = packed.read("log").decode() if "log" in packed.namelist() else ""
            self._add(text, file)
            return bool(text)
        if file.suffix == ".log":
            self._add(file.path.read_text("utf-8"), file)
        return file.suffix == ".log"

    def refusal(self, file: ScannedFile) -> str:
        return "no logbook" if file.suffix == ".zip" else ""

    def end_root(self, root: Path) -> None:
        if self.lines:
            self.scan.recognised_exports.append((str(root), f"logbooks: {self.lines} lines"))
        self.lines = 0

    def _add(self, text: str, file: ScannedFile) -> None:
        for number, line in enumerate(text.splitlines(), 1):
            identity = f"{file.relative}/{number}"
            parse = partial(_parse, identity, file.relative, line)
            item = SourceItem(identity, file.relative, str(file.root), digest(identity, line), parse)
            self.scan.add(item, f"{file.path}:{number}")
            self.lines += 1


def _parse(identity: str, path: str, line: str) -> Document:
    return parse_text(identity, path, line)


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    others, known = readers._all_readers(), formats._all_formats()
    monkeypatch.setattr(readers, "_all_readers", lambda: (*others, Logbooks))
    outline = TextFormat((".opml",), lambda text: text.replace("<outline>", "- "))
    monkeypatch.setattr(formats, "_all_formats", lambda: (*known, outline))
    formats.text_formats.cache_clear()
    yield
    formats.text_formats.cache_clear()


def test_a_folder_has_what_another_package_reads(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("Rain.\nSun.\n")
    (tmp_path / "b.opml").write_text("<outline>Oolong\n")
    (tmp_path / "c.md").write_text("Tea.")
    scan = discover([tmp_path])
    assert {item.document_id: item.parse().text for item in scan.items} == {
        "a.log/1": "Rain.",
        "a.log/2": "Sun.",
        "b.opml": "- Oolong\n",
        "c.md": "Tea.",
    }
    assert (scan.exports, scan.skipped_files) == (((str(tmp_path), "logbooks: 2 lines"),), ())
    assert made_text(tmp_path, "a.log", "a.log/2") == "Sun."
    assert made_text(tmp_path, "b.opml", "b.opml") == "- Oolong\n"
    assert made_text(tmp_path, "c.md", "c.md") is None
    with pytest.raises(SourceError, match=r"a\.log does not hold 'a\.log/3' any more; ingest again"):
        made_text(tmp_path, "a.log", "a.log/3")


def test_a_zip_that_no_reader_before_it_takes(tmp_path: Path) -> None:
    for name in ("log", "other"):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as packed:
            packed.writestr(name, "Rain.")
    (item,) = discover([tmp_path / "log.zip"]).items
    assert (item.document_id, item.parse().text) == ("log.zip/1", "Rain.")
    (skipped,) = discover([tmp_path / "other.zip"]).skipped_files
    assert skipped.reason == (
        "no logbook; a zip that is no export of Notion; unpack it, and ingest the folder"
    )


def test_a_kind_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "diary").write_text("Rain.\nSun.\n")
    scan = discover([tmp_path / "diary"], "logbook")
    assert [item.document_id for item in scan.items] == ["diary/1", "diary/2"]
    with pytest.raises(InputError) as unknown:
        discover([tmp_path], "tarot")
    assert str(unknown.value) == (
        "unknown kind 'tarot'; use one of: auto, vault, files, chatgpt, claude, telegram, slack, whatsapp, locomo, "
        "beam, beam-control, logbook, jsonl"
    )
