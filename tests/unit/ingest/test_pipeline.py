"""The pipeline on stores in memory: what one ingest after another makes of a folder."""

from __future__ import annotations

from pathlib import Path

from agentic_rag.ingest.pipeline import IngestPipeline
from agentic_rag.ingest.report import IngestReport
from agentic_rag.stores.in_memory import InMemoryChunkStore, InMemoryLedger
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding


def pipeline() -> IngestPipeline:
    embedding = HashingEmbedding()
    return IngestPipeline(
        InMemoryChunkStore(dimension=embedding.dimension),
        InMemoryGraphStore(embedding),
        InMemoryLedger(),
        embedding,
        lambda texts: [len(text.split()) for text in texts],
    )


def write(root: Path, notes: dict[str, str]) -> Path:
    for name, text in notes.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def actions(report: IngestReport) -> dict[str, str]:
    return {file.path: file.action for file in report.files}


async def test_a_new_note_without_words_in_its_name_is_found_by_links(tmp_path: Path) -> None:
    vault = write(tmp_path, {"Day.md": "How I felt: [[🙂]].", "Other.md": "Nothing."})
    ingest = pipeline()
    await ingest.run([vault], "d")
    report = await ingest.run([write(vault, {"🙂.md": "---\ntitle: Smile\n---\nGlad."})], "d")
    assert actions(report) == {"Day.md": "relinked", "Other.md": "unchanged", "🙂.md": "added"}


async def test_notes_of_one_title_are_spelt_alike(tmp_path: Path) -> None:
    vault = write(tmp_path, {"b/Tea.md": "Author:: [[Lu Yu]]", "Other.md": "Nothing."})
    ingest = pipeline()
    await ingest.run([vault], "d")
    report = await ingest.run([write(vault, {"a/TEA.md": "Another."})], "d")
    assert actions(report) == {"a/TEA.md": "added", "b/Tea.md": "relinked", "Other.md": "unchanged"}


async def test_of_two_folders_the_one_that_holds_a_note_is_read_again(tmp_path: Path) -> None:
    write(tmp_path, {"one/N.md": "First.", "two/N.md": "Second."})
    ingest = pipeline()
    await ingest.run([tmp_path / "two"], "d")
    write(tmp_path, {"two/N.md": "Second, edited."})
    report = await ingest.run([tmp_path / "one", tmp_path / "two"], "d")
    assert actions(report) == {str(tmp_path / "one" / "N.md"): "skipped", "N.md": "changed"}
