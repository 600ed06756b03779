"""Real vaults, corpora and conversations parse and chunk without an exception, and as counted by hand."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from agentic_rag.domain import Document
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.files.discovery import discover
from agentic_rag.text.sentences import split_sentences

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
VAULTS = (
    "canvas-samples",
    "jsoncanvas",
    "kepano-obsidian",
    "obsidian-help-en",
    "obsidian-help-sandbox",
    "obsidian-tasks-demo",
)
CORPORA = (
    "cmrc2018/trial", "cranfield", "multihop/2wiki_train500", "multihop/hotpot_train100", "multihop/musique_train100",
    "rgb/en_fact", "rgb/zh_fact", "scifact/train", "timeqa_human/train", "vault_weak/obsidian-help-en_anchors",
)  # fmt: skip
LINES = 300

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason=f"no folder with data to develop on at {SHARED}")


def count_tokens(texts: list[str]) -> list[int]:
    return [len(re.findall(r"\w{1,4}|[^\w\s]", text)) for text in texts]


def check(documents: list[Document]) -> int:
    """Blocks, links and chunks of every document keep what they promise; gives the number of chunks."""
    number = 0
    for document in documents:
        end = 0
        for block in document.blocks:
            assert end <= block.start < block.end, document.id
            assert not document.text[end : block.start].strip(), document.id
            end = block.end
        assert not document.text[end:].strip(), document.id
        chunks = chunk_document(document, max_tokens=400, count_tokens=count_tokens)
        assert "".join(chunk.text for chunk in chunks) == (document.text if document.text.strip() else "")
        assert len({chunk.id for chunk in chunks}) == len(chunks)
        for chunk in chunks:
            assert count_tokens([chunk.text])[0] <= 400
            assert split_sentences(chunk.text)
        number += len(chunks)
    return number


def vault(name: str) -> list[Document]:
    scan = discover([SHARED / "vaults" / name])
    expected = ("files of other kinds", "the vault's folder of templates")
    assert all(skipped.reason.startswith(expected) for skipped in scan.skipped_files)
    # A PDF and files of pictures are in them, too, whose text there may be none of.
    return [item.parse() for item in scan.items if not item.is_extracted]


@pytest.mark.parametrize("name", VAULTS)
def test_vault(name: str) -> None:
    documents = vault(name)
    assert documents
    assert check(documents) >= len(documents) - 1


def test_help_vault_has_its_wikilinks() -> None:
    """1,867 wikilinks stand outside fenced code; 60 of them in code spans, where they are only shown."""
    documents = vault("obsidian-help-en")
    wikilinks = [
        link
        for document in documents
        for link in document.links
        if document.text[link.end - 2 : link.end] == "]]"
    ]
    assert len(documents) == 173
    assert len(wikilinks) == 1867 - 60


def test_unparsable_properties_are_told() -> None:
    """A vault's templates are read where their folder itself is given; their properties are placeholders."""
    documents = vault("kepano-obsidian/Templates")
    broken = [document.path for document in documents if document.warnings]
    assert len(broken) == 28


@pytest.mark.parametrize("name", CORPORA)
def test_corpus(name: str, tmp_path: Path) -> None:
    with (SHARED / "beir" / name / "corpus.jsonl").open(encoding="utf-8") as stream:
        (tmp_path / "corpus.jsonl").write_text("".join(itertools.islice(stream, LINES)), encoding="utf-8")
    (tmp_path / "queries.jsonl").touch()
    scan = discover([tmp_path])
    assert scan.skipped_files == ()
    documents = [item.parse() for item in scan.items]
    assert check(documents) >= len(documents) > 100


def test_locomo() -> None:
    scan = discover([SHARED / "locomo" / "locomo_conv26_conv30_conv49.json"])
    documents = [item.parse() for item in scan.items]
    assert scan.skipped_files == ()
    assert len(documents) == 63
    assert sum(len(document.blocks) for document in documents) == 1297
    assert all(document.date is not None for document in documents)
    assert check(documents) == 1297
