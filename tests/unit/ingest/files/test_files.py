"""The files of a folder that are read, and their text: exclusions and encodings."""

from __future__ import annotations

import codecs
import json
from pathlib import Path

import pytest

from agentic_rag.ingest.files.folders import IgnoreRules, obsidian_filters, walk
from agentic_rag.ingest.files.source_text import SourceError, decode


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        *(
            ("a\r\nb\r茶\n".encode(name), "a\r\nb\r茶\n")
            for name in ("utf-8", "utf-8-sig", "utf-16", "utf-32")
        ),
        (codecs.BOM_UTF16_BE + "茶".encode("utf-16-be"), "茶"),
        (b"", ""),
        (codecs.BOM_UTF8, ""),
    ],
)
def test_marks_are_dropped_and_line_ends_kept(raw: bytes, text: str) -> None:
    assert decode(raw) == text


def test_single_nuls_are_kept_and_many_are_binary() -> None:
    assert decode(b"0123456789\0") == "0123456789\0"
    with pytest.raises(SourceError, match="binary"):
        decode(b"01\0")


@pytest.mark.parametrize(
    "raw", ["caf\xe9".encode("latin-1"), "茶".encode("gb18030"), b"\xff\xfea", b"\xed\xa0\x80"]
)
def test_other_encodings_say_what_to_do(raw: bytes) -> None:
    with pytest.raises(SourceError, match="save it as UTF-8"):
        decode(raw)


@pytest.mark.parametrize(
    ("path", "is_folder", "ignored"),
    [
        ("a.tmp", False, True),
        ("sub/a.tmp", False, True),
        ("sub/keep.tmp", False, False),
        ("build", True, True),
        ("build", False, False),
        ("top.md", False, True),
        ("sub/top.md", False, False),
        ("sub/own.md", False, True),
        ("own.md", False, False),
        ("sub/deep/own.md", False, False),
    ],
)
def test_gitignore(path: str, is_folder: bool, ignored: bool) -> None:
    rules = IgnoreRules().below("", "# c\n*.tmp\nbuild/\n/top.md\n\n!\n")
    rules = rules.below("sub", "!keep.tmp\n/own.md\n")
    if not path.startswith("sub/"):
        rules = IgnoreRules(rules.levels[:1])
    assert rules.ignores(path, is_folder=is_folder) is ignored


FILTERS = ["Templates/", "/\\.excalidraw\\.md$/", "", 5, "/[/", "Old note.md", "Work/Old/", "Old/", "/draft/"]


@pytest.mark.parametrize(
    ("inside", "path", "ignored"),
    [
        ("", "Templates", True),
        ("", "Templates/a.md", True),
        ("", "x/a.excalidraw.md", True),
        ("", "Old note.md", True),
        ("", "x/Templates/a.md", False),
        ("Work", "Old/a.md", True),
        ("Work", "New/Old/a.md", False),
        ("Old", "a.md", False),  # an excluded folder that is named itself is read
        ("Old", "draft.md", True),
    ],
)
def test_obsidian_filters(inside: str, path: str, ignored: bool) -> None:
    rules = IgnoreRules.of_vault(json.dumps({"userIgnoreFilters": FILTERS}), inside)
    assert rules.ignores(path, is_folder=path == "Templates") is ignored


@pytest.mark.parametrize(
    "app_json", ["", "{", "[]", "{}", '{"userIgnoreFilters": null}', '{"userIgnoreFilters": "x"}']
)
def test_no_filters(app_json: str) -> None:
    assert obsidian_filters(app_json) == ()


@pytest.mark.parametrize(
    "folder", ["node_modules", "code/node_modules", "__pycache__", "site-packages", "tea env"]
)
def test_folders_of_programs_are_left_out_and_told(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder / "pkg").mkdir(parents=True)
    (tmp_path / folder / "pkg" / "README.md").write_text("The package pads strings.", "utf-8")
    (tmp_path / "note.md").write_text("Tea.", "utf-8")
    if folder == "tea env":
        (tmp_path / folder / "pyvenv.cfg").write_text("home = /usr/bin\n", "utf-8")
    skipped: list[tuple[str, str]] = []

    def skip(path: object, reason: str, *, unread: bool = False) -> None:
        skipped.append((Path(str(path)).relative_to(tmp_path).as_posix(), reason))

    assert [relative for _, relative in walk(tmp_path, skip)] == ["note.md"]
    assert skipped == [(folder, "a folder of a program and not of notes; to read it, ingest it by its path")]
    assert [relative for _, relative in walk(tmp_path / folder / "pkg", skip)] == ["README.md"]
