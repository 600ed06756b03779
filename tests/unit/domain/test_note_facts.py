"""What filters compare of a note."""

from __future__ import annotations

from agentic_rag.domain.notes import Field, Note


def note(path: str, *fields: tuple[str, object], **others: object) -> Note:
    written = tuple(Field(key, value, 0, 0) for key, value in fields)
    return Note(document_id=path, path=path, title="Title", fields=written, **others)  # type: ignore[arg-type]


def test_places_of_a_note():
    facts = note("a/b/Tea time.md", tags=("food/Tea",), links=("Pot",), date="2024-01-01").facts()
    assert facts == {
        "document_id": "a/b/Tea time.md",
        "path": "a/b/Tea time.md",
        "title": "Title",
        "date": "2024-01-01",
        "folder": ["a/b", "a"],
        "tags": ["food/Tea", "food"],
        "links": ["Pot"],
        "file.name": "Tea time",
        "file.folder": "a/b",
        "file.ext": "md",
    }


def test_at_the_root():
    facts = note("Board.canvas").facts()
    assert (facts["file.folder"], facts["file.ext"]) == ("/", "canvas")
    assert not {"folder", "tags", "links"} & facts.keys(), "what is empty is not there"


def test_a_property_goes_before_a_place_and_beside_links():
    facts = note(
        "n.md", ("title", 1984), ("links", ["https://x.org"]), ("name", "mine"), links=("Pot",)
    ).facts()
    assert (facts["title"], facts["links"], facts["file.name"]) == (1984, ["Pot", "https://x.org"], "n")


def test_a_key_that_comes_twice_has_all_values():
    assert note("n.md", ("a", 1), ("a", [2, 3]), ("b", [1])).facts()["a"] == [1, 2, 3]
