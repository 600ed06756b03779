"""PowerPoint files: slides in their order, with notes, comments, tables, groups and diagrams."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[4] / "evaluation"))

from agentic_rag_readers.formats.slide_files import read_slides
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


RUNS = "<a:r><a:t>Photo</a:t></a:r><a:r><a:t>synthesis</a:t></a:r><a:br/><a:r><a:t>of algae</a:t></a:r>"


def test_a_word_of_several_runs_stays_whole() -> None:
    deck = Deck()
    title = shape("TITLE", kind="title").replace("<a:r><a:t>TITLE</a:t></a:r>", RUNS)
    assert RUNS in title
    comment = f"<p188:cmLst xmlns:p188='c' xmlns:a='a'><p188:cm><p188:txBody><a:p>{RUNS}</a:p></p188:txBody></p188:cm></p188:cmLst>"
    diagram = f"<dgm:dataModel xmlns:dgm='d' xmlns:a='a'><dgm:pt><dgm:t><a:p>{RUNS}</a:p><a:p><a:r><a:t>light</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>"
    deck.add(
        title + frame('<dgm:relIds r:dm="r2"/>'),
        {"comments/c1.xml": comment, "diagrams/data1.xml": diagram},
        {"comments/c1.xml": "comments", "diagrams/data1.xml": "diagramData"},
    )
    text = read_slides(deck.raw()).text
    assert text.startswith("## Photosynthesis of algae\n")
    assert "> Comment: Photosynthesis of algae" in text
    assert "Photosynthesis of algae; light" in text


def test_a_formula_keeps_its_levels() -> None:
    deck = Deck()
    math = (
        '<mc:AlternateContent xmlns:mc="mc"><mc:Choice><a14:m xmlns:a14="a14" xmlns:m="m"><m:oMath><m:sSup>'
        "<m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>6</m:t></m:r></m:sup></m:sSup></m:oMath></a14:m></mc:Choice>"
        "<mc:Fallback><a:r><a:t>106</a:t></a:r></mc:Fallback></mc:AlternateContent>"
    )
    deck.add(shape("BODY").replace("<a:r><a:t>BODY</a:t></a:r>", math))
    assert read_slides(deck.raw()).text == "10^6\n"
