"""Notion's export, a folder or a zip: names, links, properties, databases, and what is no such zip."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.ingest.files.discovery import discover, made_text
from agentic_rag.ingest.files.scanning import SourceScan
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag.notes.catalogue import note_of
from agentic_rag_readers.programs import notion_files
from agentic_rag_readers.programs.notion_files import database_text, is_of_notion, names_of, page_text
from growth import assert_linear
from written_files import write, zipped

A, B, C, D = (f"{letter}123456789abcdef0123456789abcdef" for letter in "abcd")
FILES = {
    f"Home {A}.md": f"# Home\n\nWelcome to [Plan](Home/Plan%20{B}.md), [Tasks](Home/Tasks%20{C}.csv), [out](https://x.org/a.md).\n",
    f"Home/Plan {B}.md": f"# Plan: the whole of it\n\nBack [home](../Home%20{A}.md#top).\n",
    f"Home/Tasks {C}.csv": "\ufeffName,Status\nCall plumber,Done\n",
    f"Home/Tasks {C}_all.csv": "\ufeffName,Status\nCall plumber,Done\n\"Buy pump, or |two|\",Open\n",
    f"Home/Tasks/Call plumber {D}.md": (
        f"# Call plumber\n\nStatus: Done\nDue: March 5, 2024 2:00 PM\nCost: 250\nOwner: Ida (../People/Ida%20{A}.md)\n\nAt nine.\n"
    ),
}  # fmt: skip
TEXTS = {
    "Home.md": "# Home\n\nWelcome to [Plan](Home/Plan.md), [Tasks](Home/Tasks.md), [out](https://x.org/a.md).\n",
    "Home/Plan.md": "---\ntitle: 'Plan: the whole of it'\n---\n# Plan: the whole of it\n\nBack [home](Home.md#top).\n",
    "Home/Tasks.md": "# Tasks\n\n- [Call plumber](Home/Tasks/Call%20plumber.md)\n\n| Name | Status |\n| --- | --- |\n| Buy pump, or \\|two\\| | Open |\n",
    "Home/Tasks/Call plumber.md": "---\nStatus: Done\nDue: '2024-03-05'\nCost: 250\nOwner: '[[Ida]]'\n---\n# Call plumber\n\nAt nine.\n",
}


def texts(scan: SourceScan) -> dict[str, str]:
    return {item.document_id: item.parse().text for item in scan.items}


def test_a_folder(tmp_path: Path) -> None:
    write(tmp_path, FILES | {"My own.md": "Mine."})
    scan = discover([tmp_path])
    assert texts(scan) == TEXTS | {"My own.md": "Mine."}
    assert scan.skipped_files == ()
    assert scan.exports == ((str(tmp_path), "Notion's export: 4 pages and databases"),)
    documents = {item.document_id: item.parse() for item in scan.items}
    assert documents["Home/Plan.md"].title == "Plan: the whole of it"
    task = documents["Home/Tasks/Call plumber.md"]
    assert (task.title, task.path) == ("Call plumber", "Home/Tasks/Call plumber.md")
    assert [(one.key, one.value) for one in note_of(task).fields] == [
        ("Status", "Done"), ("Due", "2024-03-05"), ("Cost", 250), ("Owner", "[[Ida]]"),
    ]  # fmt: skip
    assert {item.path for item in scan.items} >= {f"Home {A}.md"}
    assert made_text(tmp_path, f"Home {A}.md", "Home.md") == TEXTS["Home.md"]
    assert made_text(tmp_path, "My own.md", "My own.md") is None
    assert texts(discover([tmp_path], "files")) == TEXTS | {"My own.md": "Mine."}


@pytest.mark.parametrize("depth", [0, 1])
def test_a_zip_and_a_zip_in_a_zip(tmp_path: Path, depth: int) -> None:
    raw = zipped({**FILES, "Home/pic.png": b"x"})
    for _ in range(depth):
        raw = zipped({"Export-Part-1.zip": raw})
    (tmp_path / "Export.zip").write_bytes(raw)
    scan = discover([tmp_path / "Export.zip"])
    assert texts(scan) == TEXTS
    assert scan.exports == ((str(tmp_path / "Export.zip"), "Notion's export: 4 pages and databases"),)
    assert made_text(tmp_path / "Export.zip", "Export.zip", "Home.md") == TEXTS["Home.md"]
    with pytest.raises(SourceError, match=r"does not hold 'Gone\.md' any more"):
        made_text(tmp_path / "Export.zip", "Export.zip", "Gone.md")
    assert {(item.path, item.root) for item in scan.items} == {("Export.zip", str(tmp_path / "Export.zip"))}


def test_zips_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = zipped(FILES)
    deep = good
    for _ in range(3):
        deep = zipped({"a.zip": deep})
    cases = {
        "broken": (good[:-40], "no zip that can be read"),
        "empty": (b"", "no zip that can be read"),
        "other": (zipped({"a.md": "x"}), "no export of Notion"),
        "deep": (deep, "packed too often"),
        "latin": (zipped({f"Home {A}.md": b"\xff\xfe\x00"}), "not valid"),
    }
    for name, (raw, told) in cases.items():
        (tmp_path / f"{name}.zip").write_bytes(raw)
        scan = discover([tmp_path / f"{name}.zip"])
        assert (scan.items, [told in one.reason for one in scan.skipped_files]) == ((), [True]), name
    monkeypatch.setattr(notion_files, "MAX_BYTES", 10_000)
    (tmp_path / "bomb.zip").write_bytes(zipped({f"Home {A}.md": "x" * 20_000_000}))
    (skipped,) = discover([tmp_path / "bomb.zip"]).skipped_files
    assert "unpacks to more than" in skipped.reason


def test_twins_keep_their_ids_and_a_first_paragraph_stays() -> None:
    twins = [f"a/Plan {A}.md", f"a/Plan {B}.md", f"b/Plan {A}.md", "c/Plain.md"]
    assert names_of(twins) == {
        **{twin: twin for twin in twins[:2]},
        twins[2]: "b/Plan.md",
        twins[3]: twins[3],
    }
    names = {"a.md": "a.md"}
    text = "# a\n\nStatus: open\nand a line\n"
    assert page_text(text, "a.md", names) == text
    assert page_text("", "a.md", names) == "\n"
    assert database_text("", "T.csv", {"T.csv": "T.csv"}) == "# T\n"


@given(st.text(alphabet='# ab:,|()[]\n"./%20md', max_size=200))
def test_any_text_is_read_and_the_paragraph_after_it(text: str) -> None:
    assert page_text(f"{text}\n\nplain words\n", "a.md", {"a.md": "a.md"}).endswith("\nplain words\n")
    assert database_text(text, "T.csv", {"T.csv": "T.csv"}).startswith("# T\n")


@pytest.mark.parametrize("piece", ["](", "a: b\n", "](a.md", "a (b.md), "])
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(lambda text: page_text(f"# a\n\n{text}", "a.md", {"a.md": "a.md"}), piece)


@pytest.mark.parametrize(
    ("name", "is_exported"),
    [
        ("Plan 0123456789abcdef0123456789abcdef.md", True),
        ("Café_0123456789abcdef0123456789abcdef.md", True),
        ("da39a3ee5e6b4b0d3255bfef95601890afd80709.md", False),
        ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.md", False),
        ("note-da39a3ee5e6b4b0d3255bfef95601890afd80709.md", False),
    ],
)
def test_a_longer_digest_is_no_id_of_a_page(name: str, is_exported: bool) -> None:
    assert is_of_notion(name) == is_exported
