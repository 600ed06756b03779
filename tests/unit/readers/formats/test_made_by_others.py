"""Files that other programs wrote (Pandoc 3.9: Word, PowerPoint, HTML, EPUB; Typst 0.14: PDF), through ingest's scan."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentic_rag.domain import Document
from agentic_rag.ingest.files.discovery import discover

FILES = Path(__file__).parent / "made_by_others"
SENTENCE = "The dredger removes 10^6 cubic metres of mud & sand; water is H₂O (The mud is spread on the polder of Hulst). The price is < 100 crowns per metre."
TABLE = "| Item | Price |\n| --- | --- |\n| Piles | 210000 |\n| Cranes | 480000 |"


def parsed(name: str) -> Document:
    (item,) = discover([FILES / name]).items
    return item.parse()


@pytest.mark.parametrize("name", ["harbour.docx", "harbour.html", "harbour.epub"])
def test_a_report_is_the_same_in_every_format(name: str) -> None:
    document = parsed(name)
    for part in (
        SENTENCE,
        TABLE,
        "- first berth\n    - its crane lifts nine tonnes\n- second berth\n\n3. third pier",
    ):
        assert part in document.text
    assert "[the harbour office](https://example.org/office_a)" in document.text
    headings = [
        block.heading_path for block in document.blocks if "ferry" in document.text[block.start : block.end]
    ]
    assert headings == [("Dredging", "Tolls")]


def test_comments_and_changes_of_word_are_read_or_told() -> None:
    document = parsed("harbour.docx")
    assert "The lease ends in autumn.\n\n> Comment by Otto: Ask Ruth about the lease." in document.text
    assert "the barge was lost" not in document.text
    assert document.warnings == ("1 deleted passage was left out (tracked changes)",)


def test_slides_have_their_notes_on_their_page() -> None:
    document = parsed("slides.pptx")
    pages = {document.text[one.start : one.end].strip(): one.metadata["page"] for one in document.blocks}
    assert pages["The bank lends four million against the tolls."] == 1
    assert pages["## Prices"] == 2
    assert document.warnings == ()


def test_columns_of_a_page_are_whole_and_so_are_divided_words() -> None:
    text = " ".join(parsed("canal.pdf").text.split())
    assert "communicates extraordinary circumstances. A windlass moves" in text
    assert "opens irregularly. Complaints are considered by the commissioner." in text
