"""Bases in a vault: documents without text, whose source is in the catalogue."""

from __future__ import annotations

from pathlib import Path

from agentic_rag.ingest.files.base_files import unreadable
from agentic_rag.ingest.planning import FileReport
from agentic_rag.retrieval.catalogue import Catalogue
from in_memory_pipeline import actions, pipeline
from written_files import write

SOURCE = "filters: tags.contains('book')\nviews:\n  - name: To read\n"
NOTES = {"Dune.md": "# Dune\n\nBooks about sand. #book", "Tea.md": "Tea and Books."}


class Held:
    """In-memory stores with the pipeline that fills them."""

    def __init__(self) -> None:
        self.ingest = pipeline()
        self.chunks, self.ledger = self.ingest._chunks, self.ingest._ledger
        self.catalogue = Catalogue(self.ledger)


async def test_a_base_is_a_document_without_text_and_no_note(tmp_path: Path) -> None:
    held = Held()
    vault = write(tmp_path, {**NOTES, "lists/Books.base": SOURCE})
    report = await held.ingest.run([vault], "d")
    assert report.files[-1] == FileReport("lists/Books.base", "added")
    assert report.documents == 3
    snapshot = await held.catalogue.snapshot("d")
    assert [note.title for note in snapshot.notes] == ["Dune", "Tea"]
    assert (snapshot.schema.notes, snapshot.schema.folders) == (2, ())
    base = snapshot.bases["books"]
    assert (base.path, base.name, base.views[0].name) == ("lists/Books.base", "Books", "To read")
    assert "lists/Books.base" not in await held.chunks.document_ids("d")
    assert (await held.ledger.records("d"))["lists/Books.base"].names == ()


async def test_a_base_changes_nothing_of_the_notes(tmp_path: Path) -> None:
    """Its name is none that a note can mention, so that nothing is derived anew."""
    held = Held()
    before = await held.ingest.run([write(tmp_path, NOTES)], "d")
    report = await held.ingest.run([write(tmp_path, {"Books.base": SOURCE})], "d")
    assert actions(report) == {"Books.base": "added", "Dune.md": "unchanged", "Tea.md": "unchanged"}
    assert (report.chunks, report.entities, report.facts) == (before.chunks, before.entities, before.facts)
    report = await held.ingest.run([write(tmp_path, {"Books.md": "On books."})], "d")
    assert actions(report)["Books.base"] == "unchanged"
    assert actions(await held.ingest.run([tmp_path], "d")) == dict.fromkeys(
        ["Books.base", "Books.md", "Dune.md", "Tea.md"], "unchanged"
    )


async def test_an_edited_a_moved_and_a_removed_base(tmp_path: Path) -> None:
    held = Held()
    vault = write(tmp_path, {**NOTES, "Books.base": SOURCE})
    await held.ingest.run([vault], "d")
    report = await held.ingest.run([write(vault, {"Books.base": SOURCE.replace("To read", "All")})], "d")
    assert actions(report)["Books.base"] == "changed"
    assert (await held.catalogue.snapshot("d")).bases["books"].views[0].name == "All"
    (vault / "in").mkdir()
    (vault / "Books.base").rename(vault / "in" / "Books.base")
    report = await held.ingest.run([vault], "d")
    assert {path: action for path, action in actions(report).items() if "base" in path} == {
        "Books.base": "removed",
        "in/Books.base": "added",
    }
    report = await held.ingest.remove([vault], "d")
    assert (report.documents, (await held.catalogue.snapshot("d")).bases) == (0, {})


async def test_a_base_that_cannot_be_read_is_reported_and_keeps_nothing(tmp_path: Path) -> None:
    held = Held()
    vault = write(tmp_path, {"Tea.md": "Tea.", "Books.base": SOURCE})
    await held.ingest.run([vault], "d")
    report = await held.ingest.run([write(vault, {"Books.base": "views: 5"})], "d")
    reason = "the views of a base must be a list of views, not 5; mend it, or leave it out"
    files = {file.action: file for file in report.files if "base" in file.path}
    assert files == {
        "skipped": FileReport(str(vault / "Books.base"), "skipped", reason),
        "removed": FileReport("Books.base", "removed"),
    }
    assert (await held.catalogue.snapshot("d")).bases == {}


async def test_bases_are_read_also_among_templates_and_by_themselves(tmp_path: Path) -> None:
    vault = write(
        tmp_path,
        {
            ".obsidian/templates.json": '{"folder": "Templates"}',
            "Templates/Bases/Books.base": SOURCE,
            "Templates/Book.md": "{{title}}",
            "Tea.md": "Tea.",
        },
    )
    held = Held()
    report = await held.ingest.run([vault], "d")
    assert actions(report) == {
        "Templates/Bases/Books.base": "added",
        "Tea.md": "added",
        str(vault / "Templates"): "skipped",
    }
    report = await held.ingest.run([vault / "Templates/Bases/Books.base"], "one")
    assert actions(report) == {"Books.base": "added"}


def test_why_a_base_cannot_be_read() -> None:
    assert unreadable(SOURCE, "a/Books.base") is None
    assert unreadable("", "a/Books.base") is None
    assert unreadable("- a", "a/Books.base") is not None
    assert str(unreadable("a: [", "a/Books.base")).startswith("a base must be valid YAML (line 2")
