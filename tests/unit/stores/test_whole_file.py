"""Atomic writes: a file has its old or its new contents."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from agentic_rag.stores.whole_file import whole_file, write_whole


def test_it_is_written_with_its_folder_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b.json"
    write_whole(file, "一\n")
    write_whole(file, "二\n")
    assert file.read_bytes() == "二\n".encode()
    assert list(file.parent.iterdir()) == [file]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    file, link = tmp_path / "settings.toml", tmp_path / "link.toml"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_whole(link, "new")
    assert link.is_symlink()
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o640)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_what_cannot_be_written_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    file = tmp_path / "b.json"
    file.write_text("old")

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os if failing == "fsync" else Path, failing, full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(file, "new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_who_fails_in_the_middle_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    write_whole(path, "before")
    with suppress(KeyError), whole_file(path) as file:
        file.write(b"half")
        raise KeyError
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
