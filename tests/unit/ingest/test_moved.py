"""A note that was moved to another folder is stored under its new id, and nothing of it is embedded again."""

from __future__ import annotations

from pathlib import Path

from agentic_rag import RagConfig, open_rag
from agentic_rag.ingest.documents import DocumentWriter
from agentic_rag.ingest.pipeline import IngestPipeline
from agentic_rag.stores.in_memory import InMemoryChunkStore, InMemoryLedger
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding


async def test_a_moved_note_keeps_its_vectors(tmp_path: Path) -> None:
    embedding = HashingEmbedding(16)
    chunks = InMemoryChunkStore(dimension=16)
    writer = DocumentWriter(chunks, InMemoryGraphStore(embedding), embedding, lambda texts: [1] * len(texts))
    pipeline = IngestPipeline(writer, InMemoryLedger())
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for number in range(3):
        (tmp_path / "a" / f"{number}.md").write_text(f"# Note {number}\n\nIt says {number}.")
    await pipeline.run([tmp_path], "notes")
    before, old = len(embedding.embedded_texts), await chunks.document_ids("notes")
    for note in sorted((tmp_path / "a").iterdir()):
        note.rename(tmp_path / "b" / note.name)
    report = await pipeline.run([tmp_path], "notes")
    assert (report.count("added"), report.count("removed")) == (3, 3)
    assert len(embedding.embedded_texts) == before
    assert await chunks.document_ids("notes") == {one.replace("a/", "b/") for one in old}

    (tmp_path / "b" / "0.md").rename(tmp_path / "b" / "new name.md")
    await pipeline.run([tmp_path], "notes")
    assert len(embedding.embedded_texts) > before, "the title is a part of what is embedded"


async def test_what_a_moved_note_says_of_others_keeps_its_vectors(tmp_path: Path) -> None:
    embedding = HashingEmbedding(64)
    vault = tmp_path / "vault"
    (vault / "old").mkdir(parents=True)
    (vault / "Oolong.md").write_text("Oolong is partly oxidised.")
    (vault / "old" / "Fujian.md").write_text("Fujian is where [[Oolong]] comes from.\n\nIt has [[hills]].")
    async with open_rag(RagConfig(data_dir=tmp_path / "data"), embedding=embedding) as rag:
        facts = (await rag.ingest(vault)).facts
        assert facts > 1
        before = len(embedding.embedded_texts)
        (vault / "old").rename(vault / "new")
        report = await rag.ingest(vault)
        assert (report.count("added"), report.count("removed"), report.facts) == (1, 1, facts)
        assert len(embedding.embedded_texts) == before
        found = await rag.related_facts("Oolong")
        assert any("comes from" in one.text for one in found)
