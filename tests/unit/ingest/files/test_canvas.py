"""Canvases: a readable rendering, relations with labels, and every way a canvas can be odd."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain import Document
from agentic_rag.errors import RunError
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.files.canvas import parse_canvas
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag.notes.catalogue import note_of


def canvas(nodes: Any, edges: Any = ()) -> Document:
    return parse_canvas(
        "b/Board.canvas", "b/Board.canvas", json.dumps({"nodes": nodes, "edges": list(edges)})
    )


def text_node(key: str, text: str, x: int = 0, y: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": key, "type": "text", "text": text, "x": x, "y": y, "width": 10, "height": 10, **more}


def group_node(key: str, label: str, x: int, y: int, width: int, height: int) -> dict[str, Any]:
    return {"id": key, "type": "group", "label": label, "x": x, "y": y, "width": width, "height": height}


def warnings(document: Document) -> list[str]:
    return list(document.warnings)


def with_properties(values: Any) -> Document:
    raw = {
        "nodes": [text_node("1", "Green #drink")],
        "metadata": {"version": "1.0-1.0", "frontmatter": values},
    }
    return parse_canvas("2024-03-05.canvas", "2024-03-05.canvas", json.dumps(raw))


def test_properties_are_those_of_a_note() -> None:
    values = {
        "tags": ["tea"],
        "author": "[[Ida]]",
        "aliases": "Board of tea",
        "rating": 5,
        "created": "2023-01-02",
    }
    document = with_properties(values)
    assert (document.metadata, document.tags, document.aliases) == (
        values,
        ("tea", "drink"),
        ("Board of tea",),
    )
    assert document.date is not None
    assert document.date.date().isoformat() == "2023-01-02"
    assert [document.text[link.start : link.end] for link in document.links] == ["[[Ida]]"]
    assert document.links[0].relation == "author"
    assert [block.kind for block in document.blocks] == ["properties", "card"]
    note = note_of(document)
    assert [(one.key, one.value, document.text[one.start : one.end]) for one in note.fields[-2:]] == [
        ("rating", 5, "rating: 5"),
        ("created", "2023-01-02", "created: '2023-01-02'"),
    ]
    assert note.rows == ()


@pytest.mark.parametrize(
    "values",
    [None, [], {}, "x", {"a": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}],
)
def test_properties_that_are_none(values: Any) -> None:
    document = with_properties(values)
    assert (document.text, document.metadata) == ("Green #drink", {})
    assert document.date is not None
    assert len(document.warnings) == (isinstance(values, dict) and len(values))


def test_rendering_groups_cards_and_edges() -> None:
    document = canvas(
        [
            text_node("1", "# Tea\nGreen or black, see [[Leaves|the leaves]] #drink", 5, 5),
            group_node("g", "Drinks", 0, 0, 100, 100),
            {"id": "2", "type": "file", "file": "notes/Caffeine.md", "subpath": "#Effects", "x": 500, "y": 0, "width": 9, "height": 9},
            {"id": "3", "type": "link", "url": "https://example.org", "x": 600, "y": 0, "width": 9, "height": 9},
        ],
        [{"id": "e", "fromNode": "1", "toNode": "2", "label": "contains"}, {"fromNode": "2", "toNode": "3"}],
    )  # fmt: skip
    assert document.title == "Board"
    assert document.text == (
        "Drinks\n\n# Tea\nGreen or black, see [[Leaves|the leaves]] #drink\n\n![[notes/Caffeine.md#Effects]]\n\n"
        "https://example.org\n\n- Tea —contains→ Caffeine\n- Caffeine → https://example.org"
    )
    assert [(block.kind, block.key, block.heading_path) for block in document.blocks] == [
        ("card", "g", ("Drinks",)),
        ("card", "1", ("Drinks",)),
        ("card", "2", ()),
        ("card", "3", ()),
        ("list", None, ()),
    ]
    assert [(r.source, r.name, r.target, document.text[r.start : r.end]) for r in document.relations] == [
        ("Drinks", "CONTAINS", "Tea", "# Tea\nGreen or black, see [[Leaves|the leaves]] #drink"),
        ("Tea", "contains", "Caffeine", "- Tea —contains→ Caffeine"),
        ("Caffeine", "LINKS_TO", "https://example.org", "- Caffeine → https://example.org"),
    ]
    assert [(k.target, k.heading, k.embed, document.text[k.start : k.end]) for k in document.links] == [
        ("Leaves", None, False, "[[Leaves|the leaves]]"),
        ("notes/Caffeine.md", "Effects", True, "![[notes/Caffeine.md#Effects]]"),
    ]
    assert document.tags == ("drink",)
    assert document.metadata == {}


@pytest.mark.parametrize(
    ("ends", "line", "pairs"),
    [
        ({}, "- A —x→ B", [("A", "B")]),
        ({"fromEnd": "arrow"}, "- A ←x→ B", [("A", "B"), ("B", "A")]),
        ({"fromEnd": "arrow", "toEnd": "none"}, "- A ←x— B", [("B", "A")]),
        ({"toEnd": "none"}, "- A —x— B", [("A", "B")]),
    ],
)
def test_arrows_give_the_direction(ends: dict[str, str], line: str, pairs: list[tuple[str, str]]) -> None:
    document = canvas(
        [text_node("1", "A"), text_node("2", "B")], [{"fromNode": "1", "toNode": "2", "label": "x", **ends}]
    )
    assert document.text.splitlines()[-1] == line
    assert [(r.source, r.target) for r in document.relations] == pairs


def test_names_of_cards() -> None:
    nodes = [
        text_node("1", "[[folder/Note.md#H|alias]]"),
        text_node("2", "---\n- [ ] **Bold** task\nmore"),
        text_node("3", "word " * 40),
        {"id": "4", "type": "file", "file": "a/pic.png"},
        text_node("5", "-5 degrees"),
    ]
    names = canvas(nodes, [{"fromNode": "1", "toNode": str(n)} for n in range(2, 6)]).relations
    assert [r.source for r in names] == ["Note"] * 4
    assert [r.target for r in names] == ["Bold task", ("word " * 16).strip() + "…", "pic.png", "-5 degrees"]


def test_groups_nest_by_geometry() -> None:
    nodes = [
        group_node("in", "Inner", 10, 10, 50, 50),
        group_node("out", "Outer", 0, 0, 100, 100),
        group_node("same", "Same place", 0, 0, 100, 100),
        text_node("card", "Card", 20, 20),
    ]
    document = canvas(nodes)
    assert [(r.source, r.target) for r in document.relations] == [
        ("Outer", "Inner"),
        ("Same place", "Outer"),
        ("Inner", "Card"),
    ]
    assert document.blocks[-1].heading_path == ("Same place", "Outer", "Inner")


@pytest.mark.parametrize("source", ["", " \n", "{}", '{"nodes": null}'])
def test_an_empty_canvas(source: str) -> None:
    document = parse_canvas("a.canvas", "2023-01-02.canvas", source)
    assert (document.text, document.blocks, document.metadata) == ("", (), {})


@pytest.mark.parametrize("source", ["{", "not json", "[]", "3", "null", '"x"', "[" * 100_000, "9" * 5000])
def test_what_is_no_json_object_is_a_source_error(source: str) -> None:
    with pytest.raises(SourceError, match=r"a\.canvas is not a canvas") as caught:
        parse_canvas("a.canvas", "a.canvas", source)
    assert isinstance(caught.value, RunError)


def test_the_second_of_two_equal_ids_is_kept_with_a_suffix() -> None:
    document = canvas(
        [text_node("1", "A"), text_node("1", "B"), text_node("2", "C")], [{"fromNode": "1", "toNode": "2"}]
    )
    assert [block.key for block in document.blocks] == ["1", "1~2", "2", None]
    assert [(r.source, r.target) for r in document.relations] == [("A", "C")]
    assert "two nodes have the id '1'" in warnings(document)[0]


def test_dangling_edges_are_dropped_with_a_warning() -> None:
    document = canvas(
        [text_node("1", "A"), text_node("2", " ")],
        [
            {"id": "e1", "fromNode": "1", "toNode": "9"},
            {"id": "e2"},
            {"id": "e3", "fromNode": "1", "toNode": "2"},
        ],
    )
    assert document.relations == ()
    assert [
        name in warning for name, warning in zip(["e1", "e2", "e3"], warnings(document), strict=True)
    ] == [True] * 3


def test_unknown_types_and_missing_places_are_told() -> None:
    document = canvas(
        [
            {"id": "1", "type": "sticker"},
            {"id": "2", "type": "mind", "text": "T"},
            {"type": "text", "text": "U"},
            7,
        ]
    )
    assert document.text == "T\n\nU"
    told = " | ".join(warnings(document))
    for part in ("'sticker' and was left out", "read as 'text'", "has no id", "no place", "not an object"):
        assert part in told


@pytest.mark.parametrize("wrong", [True, "5", None, float("nan"), float("inf"), 10**400, [1]])
def test_odd_coordinates(wrong: object) -> None:
    document = canvas([group_node("g", "G", 0, 0, 100, 100), {**text_node("1", "A"), "x": wrong}])
    assert [r.name for r in document.relations] == []
    assert document.text == "G\n\nA"


def test_lone_surrogates_cannot_break_a_store() -> None:
    source = '{"nodes": [{"id": "1", "type": "text", "text": "a\\ud800", "x": 0, "y": 0, "width": 1, "height": 1}]}'
    assert parse_canvas("a", "a.canvas", source).text == "a\ufffd"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.sampled_from(["", "1", "text", "group", "a [[b]]"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["id", "type", "text", "label", "file", "x", "y", "width", "height", "fromNode", "toNode"]), inner),
    max_leaves=8,
)  # fmt: skip


@given(VALUES, VALUES, st.lists(VALUES, max_size=5), st.lists(VALUES, max_size=5))
def test_any_json_parses(nodes: Any, edges: Any, more_nodes: list[Any], more_edges: list[Any]) -> None:
    for source in ({"nodes": nodes, "edges": edges}, {"nodes": more_nodes, "edges": more_edges}):
        document = parse_canvas("a", "a.canvas", json.dumps(source))
        chunks = chunk_document(
            document, max_tokens=9, count_tokens=lambda texts: [len(text) for text in texts]
        )
        assert "".join(chunk.text for chunk in chunks) == document.text
        json.dumps(dict(document.metadata), allow_nan=False)


@pytest.mark.parametrize("file", ["", " ", "\n", "notes/ .md"])
def test_a_file_card_without_a_name_gives_no_relation(file: str) -> None:
    card = {"id": "1", "type": "file", "file": file, "x": 0, "y": 0, "width": 9, "height": 9}
    document = canvas([card, text_node("2", "Tea")], [{"id": "e", "fromNode": "1", "toNode": "2"}])
    assert document.relations == ()
    assert "joins a card without text" in warnings(document)[-1]
