"""Shapes: each operation's answer, every claim with the number of its citation."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from agentic_rag.answering.citations import CitationList
from agentic_rag.answering.operations.selection import units_of
from agentic_rag.answering.operations.shapes import SHAPES, not_found
from agentic_rag.answering.quotes import Card, Quote
from agentic_rag.fusion.strategy_selector import CanvasOperation

FACT = {"source": "Oolong", "name": "COMES_FROM", "target": "Fujian", "text": "Oolong comes from Fujian."}


def quote(document: str, text: str, *facts: dict[str, Any], order: int = 0, **metadata: Any) -> Quote:
    result = {
        "id": f"{document}#0",
        "content": text,
        "type": "document",
        "metadata": {"document_id": document, "title": document, "heading_path": [], "start": 0, **metadata},
        "facts": list(facts),
        "rerank_score": 0.8,
    }
    return Quote.of(units_of(result)[0], result, 1.0, order)


QUOTES = [
    quote(
        "Oolong",
        "[[Oolong]] tea, which is half fermented, comes from the mountains of Fujian.",
        FACT,
        order=0,
    ),
    quote("Milk", "Milk makes a cup of tea taste sweet, and is best added late.", tags=["drinks"], order=1),
    quote("茶", "绿茶没有经过发酵，产自浙江的山里。", tags=["drinks"], order=2),
]


def shaped(operation: CanvasOperation, quotes: list[Quote] = QUOTES) -> tuple[str, list[dict[str, Any]]]:
    cited, shape, query = CitationList(), SHAPES[operation], "Where does oolong come from?"
    return shape.render(query, shape.brings(query, quotes), cited), cited.all()


@pytest.mark.parametrize("operation", list(CanvasOperation))
def test_every_quote_is_cited_and_every_number_is_there(operation: CanvasOperation):
    text, citations = shaped(operation)
    numbers = {int(number) for number in re.findall(r"\[(\d+)\]", text)}
    assert numbers == {citation["n"] for citation in citations} == {1, 2, 3}
    assert {citation["quote"] for citation in citations} == {quote.text for quote in QUOTES}


def test_passages_stand_one_a_line_in_order():
    lines = shaped(CanvasOperation.DOCUMENT_RETRIEVAL)[0].splitlines()
    assert [line[-3:] for line in lines] == ["[1]", "[2]", "[3]"]
    assert lines[0].startswith("Oolong tea, which is half fermented")


def test_a_property_stands_after_the_note_it_is_of():
    text, _ = shaped(
        CanvasOperation.DOCUMENT_RETRIEVAL,
        [quote(name, "---\nrating: 7\n---\n", kind="properties") for name in ("Kyoto", "Nara")],
    )
    assert text == "Kyoto: rating: 7 [1]\nNara: rating: 7 [2]"


def test_a_question_stands_above_its_answer():
    note = replace(QUOTES[0], card=Card("Where is oolong from?", "Fujian", "amount"))
    assert shaped(CanvasOperation.VERIFICATION_CANVAS, [note])[0] == (
        "1. Where is oolong from?\n   → Fujian [1]"
    )


def test_a_board_is_of_cards_alone_and_else_of_what_is_remembered():
    shape = SHAPES[CanvasOperation.VERIFICATION_CANVAS]
    note = quote("Tea", "It grows in the mountains.").result
    memory = {"id": "m", "content": "I live in Oslo now.", "metadata": {}, "facts": []}
    assert shape.quotes("Where do I live?", [dict(note)], limit=3) == []
    assert [one.text for one in shape.quotes("Where do I live?", [dict(note), memory], limit=3)] == [
        "I live in Oslo now."
    ]


@pytest.mark.parametrize("tags", [2024, True, "tea", ["tea", 2024], [], None])
def test_clusters_take_tags_as_people_write_them(tags: Any):
    notes = [quote(name, "Oolong is rolled and roasted.", tags=tags) for name in ("a", "b", "c")]
    text = shaped(CanvasOperation.WEAK_POINT_CLUSTERING, [*notes[:2], quote("d", "Milk is white.")])[0]
    assert len(re.findall(r"^  - ", text, flags=re.MULTILINE)) == 3


def test_clusters_read_links_in_lists_as_those_in_texts():
    notes = [
        quote("a", "Half of it is gone.", about="[[Fractions]]"),
        quote("b", "A third of it is left.", about=["[[Fractions]]", "[[Algebra]]"]),
        quote("c", "A circle is round.", about=["[[Geometry]]"]),
    ]
    text = shaped(CanvasOperation.WEAK_POINT_CLUSTERING, notes)[0]
    assert "Fractions (2)" in text


def test_what_a_failure_callout_says_is_marked_as_wrong():
    content = "> [!failure] My answer\n> [[Oolong]] comes from Assam, where it is hot.\n\n[[Oolong]] comes from Fujian."
    result = {"id": "a", "content": content, "metadata": {"title": "Origins"}, "facts": []}
    quotes = [Quote.of(unit, result, 1.0) for unit in units_of(result)]
    for operation in CanvasOperation:
        text = shaped(operation, quotes)[0]
        assert "✗ Oolong comes from Assam, where it is hot. [1]" in text
        assert text.count("✗") == 1


def test_clusters_count_their_members():
    text = shaped(CanvasOperation.WEAK_POINT_CLUSTERING)[0]
    heads = [int(count) for count in re.findall(r"\((\d+)\)$", text, flags=re.MULTILINE)]
    assert sum(heads) == len(QUOTES)
    assert len(re.findall(r"^  - ", text, flags=re.MULTILINE)) == len(QUOTES)
    assert "#drinks (2)" in text


def test_relations_are_drawn_once_with_the_sentence_that_says_so():
    twice = [QUOTES[0], quote("Copy", "Fujian is where the oolong is grown and roasted.", FACT, order=1)]
    text = shaped(CanvasOperation.CONCEPT_RELATION, twice)[0]
    assert text.count("Oolong —comes from→ Fujian") == 1
    assert text.splitlines()[0].startswith("Oolong —comes from→ Fujian: Oolong tea")


def test_a_relation_stands_before_the_sentence_that_says_it():
    content = "Oolong is half fermented. Oolong comes from Fujian."
    opening = quote("Oolong", content, FACT)
    cited = CitationList()
    shape, query = SHAPES[CanvasOperation.CONCEPT_RELATION], "Where does oolong come from?"
    text = shape.render(query, shape.brings(query, [opening]), cited)
    assert text.split("\n") == [
        "Oolong is half fermented. [1]",
        "Oolong —comes from→ Fujian: Oolong comes from Fujian. [2]",
    ]
    assert [content[c["start"] : c["end"]] for c in cited.all()] == [c["quote"] for c in cited.all()]


def test_a_sentence_that_states_relations_of_two_quotes_is_brought_once():
    content = "Oolong is half fermented. It is roasted twice. Oolong comes from Fujian."
    first = quote("Oolong", content, FACT)
    second = Quote.of(units_of(first.result)[1], first.result, 1.0)
    brought = SHAPES[CanvasOperation.CONCEPT_RELATION].brings("Where does oolong come from?", [first, second])
    assert [one.text for one in brought] == [first.text, "Oolong comes from Fujian.", second.text]


@pytest.mark.parametrize(("name", "drawn"), [("LINKS_TO", "链接到"), ("COMES_FROM", "comes from")])
def test_relations_that_the_ingest_names_are_drawn_in_the_questions_language(name: str, drawn: str):
    named = quote("铜壶", "铜壶用来煮茶。", FACT | {"source": "铜壶", "name": name, "target": "茶"})
    shape, query = SHAPES[CanvasOperation.CONCEPT_RELATION], "铜壶和茶有什么关系？"
    text = shape.render(query, [named], CitationList())
    assert text == f"铜壶 —{drawn}→ 茶: 铜壶用来煮茶。 [1]"


def test_a_link_is_not_drawn_where_a_label_says_how_the_two_are_connected():
    link = FACT | {"id": "link", "name": "LINKS_TO"}
    text, _ = shaped(
        CanvasOperation.CONCEPT_RELATION, [quote("Oolong", "Oolong comes from Fujian.", link, FACT)]
    )
    assert text == "Oolong —comes from→ Fujian: Oolong comes from Fujian. [1]"


def test_what_a_relation_points_at_is_named_by_a_whole_word():
    fact = FACT | {"target": "tea", "text": "Oolong is a tea."}
    text, _ = shaped(CanvasOperation.CONCEPT_RELATION, [quote("Oolong", "Oolong is in its team.", fact)])
    assert text == "Oolong is in its team. [1]"


def test_a_relation_that_no_sentence_of_the_passage_says_is_not_drawn():
    text, citations = shaped(
        CanvasOperation.CONCEPT_RELATION, [quote("Oolong", "Oolong is half fermented.", FACT)]
    )
    assert (text, len(citations)) == ("Oolong is half fermented. [1]", 1)


def test_not_found_is_said_in_the_questions_language():
    assert not_found("Where is it?") == "Not found in your notes."
    assert not_found("它在哪里？") == "在你的笔记里没有找到。"
