"""PowerPoint files: slides in their order, with notes, comments, tables, groups and diagrams."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3] / "evaluation"))

from agentic_rag.ingest.slide_files import read_slides
from made_documents.slides import Deck, frame, notes, paragraphs, shape


def test_notes_are_on_the_page_of_their_slide() -> None:
    deck = Deck()
    for number, text in ((1, "The bank lends four million."), (2, "Nordkai pays.")):
        part = f"notesSlides/notesSlide{number}.xml"
        page = notes(text).replace("</p:spTree>", shape(str(number), kind="sldNum") + "</p:spTree>")
        deck.add(shape(f"Slide {number}", kind="title"), {part: page}, {part: "notesSlide"})
    found = read_slides(deck.raw())
    assert found.text == (
        "## Slide 1\n\nNotes:\n\nThe bank lends four million.\n\n## Slide 2\n\nNotes:\n\nNordkai pays.\n"
    )
    assert [found.page_at(found.text.index(text)) for text in ("bank", "Nordkai")] == [1, 2]
    assert found.warnings == ()


def test_the_order_is_the_presentations_and_empty_slides_are_named() -> None:
    deck = Deck()
    for text in ("First", "", "Third"):
        deck.add(shape(text))
    found = read_slides(deck.raw(reverse=True))
    assert (found.text, found.pages) == ("First\n\nThird\n", (1, 3))
    assert found.warnings == ("slides without text, perhaps pictures: 2",)


def test_the_title_is_a_heading_wherever_it_stands() -> None:
    deck = Deck()
    deck.add(shape("Body") + shape("Costs", kind="title"))
    assert read_slides(deck.raw()).text == "## Costs\n\nBody\n"


def test_lists_have_their_levels() -> None:
    items = (
        '<a:p><a:pPr lvl="0"><a:buChar char="•"/></a:pPr><a:r><a:t>Piles</a:t></a:r></a:p>'
        '<a:p><a:pPr lvl="1"/><a:r><a:t>of oak</a:t></a:r></a:p>'
    )
    deck = Deck()
    deck.add(shape("@").replace(paragraphs("@"), items))
    assert read_slides(deck.raw()).text == "- Piles\n    - of oak\n"


@pytest.mark.parametrize("kind", ["diagramData", "chart"])
def test_drawn_things_are_read_from_their_parts(kind: str) -> None:
    reference = '<dgm:relIds r:dm="r1"/>' if kind == "diagramData" else '<c:chart r:id="r1"/>'
    content = (
        f'<x xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">{paragraphs("Buy", "Sell")}</x>'
    )
    deck = Deck()
    deck.add(shape("Plan") + frame(reference), {"drawn/one.xml": content}, {"drawn/one.xml": kind})
    assert read_slides(deck.raw()).text == "Plan\n\nBuy; Sell\n"
