"""Exports of other programs: a page is opened alone, and what has not changed is not read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentic_rag.errors import RunError
from agentic_rag.ingest.files.discovery import discover, made_text
from agentic_rag.ingest.files.scanning import SourceScan
from agentic_rag.ingest.remembered import SeenFiles
from agentic_rag_readers.programs.evernote_files import SUFFIX
from unit.readers.programs.test_logseq_files import BLOCK
from unit.readers.programs.test_logseq_files import FILES as LOGSEQ
from unit.readers.programs.test_notion_files import FILES as NOTION
from unit.readers.programs.test_notion_files import TEXTS, A, B
from written_files import write, zipped

ENEX = "<en-export><note><title>Tea</title><content>&lt;en-note&gt;Oolong&lt;/en-note&gt;</content></note></en-export>"


@pytest.fixture
def read_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that are read, settings apart, as they are read."""
    names: list[str] = []
    opened = Path.open

    def noting(self: Path, *given: object, **options: object) -> object:
        if self.suffix != ".json":
            names.append(self.name)
        return opened(self, *given, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", noting)
    monkeypatch.setattr("agentic_rag.ingest.remembered.SETTLED_NS", -(10**18))
    return names


def texts(scan: SourceScan) -> dict[str, str]:
    return {item.document_id: item.parse().text for item in scan.items}


def test_a_page_of_notion_is_opened_without_the_others(tmp_path: Path, read_files: list[str]) -> None:
    root = write(tmp_path, NOTION)
    read_files.clear()
    assert made_text(root, f"Home/Plan {B}.md", "Home/Plan.md") == TEXTS["Home/Plan.md"]
    assert read_files == [f"Plan {B}.md"]
    with pytest.raises(RunError, match=r"does not hold 'Plan\.md' any more"):
        made_text(root, f"Home/Plan {B}.md", "Plan.md")


def test_a_page_of_a_zip_is_opened_beside_a_damaged_one(tmp_path: Path) -> None:
    good = zipped({f"Home {A}.md": NOTION[f"Home {A}.md"], f"Home/Plan {B}.md": "# Plan\n\n" + "x" * 9})
    file = tmp_path / "Export.zip"
    end = good.index(b"Plan") + len(f"Plan {B}.md")
    file.write_bytes(good[:end] + b"\xff\xff" + good[end + 2 :])
    assert discover([file]).items == ()
    assert made_text(file, "Export.zip", "Home.md") == TEXTS["Home.md"]


def test_a_page_of_logseq_is_opened_with_others_only_for_their_blocks(
    tmp_path: Path, read_files: list[str]
) -> None:
    root = write(tmp_path, LOGSEQ)
    made = texts(discover([root]))
    read_files.clear()
    boiler, ida = "pages/House___Boiler.md", "pages/Ida.md"
    assert made_text(root, boiler, boiler) == made[boiler]
    assert read_files == ["House___Boiler.md"]
    assert made_text(root, ida, ida) == made[ida]
    assert BLOCK[:-1] in made[ida]
    assert "2024_03_05.md" in read_files


@pytest.mark.parametrize("program", ["notion", "logseq", "evernote", "zip"])
def test_an_unchanged_export_is_not_read_again(tmp_path: Path, read_files: list[str], program: str) -> None:
    root, changed = tmp_path / "Export.zip", tmp_path / "Export.zip"
    if program == "zip":
        root.write_bytes(zipped({f"Home {A}.md": "# Home\n\nOld"}))
    elif program == "notion":
        root = write(tmp_path / "notion", NOTION)
        changed = root / f"Home {A}.md"
    elif program == "logseq":
        root = write(tmp_path / "logseq", LOGSEQ)
        changed = root / "pages/Ida.md"
    else:
        root = changed = tmp_path / f"tea{SUFFIX}"
        changed.write_text(ENEX)
    seen = SeenFiles[object]()
    first = discover([root], seen_files=seen)
    assert first.items
    read_files.clear()
    again = discover([root], seen_files=seen)
    assert read_files == []
    assert (texts(again), again.exports, again.skipped_files) == (
        texts(first),
        first.exports,
        first.skipped_files,
    )
    if program == "zip":
        changed.write_bytes(zipped({f"Home {A}.md": "# Home\n\nNew"}))
    else:
        changed.write_text(
            changed.read_text().replace("Welcome", "New").replace("as said", "New").replace("Oolong", "New")
        )
    later = texts(discover([root], seen_files=seen))
    assert later != texts(first)
    assert any("New" in text for text in later.values())
    if program == "notion":
        (root / "Home" / f"Plan {B}.md").rename(root / "Home" / f"Idea {B}.md")
        assert "Home/Idea.md" in texts(discover([root], seen_files=seen))
