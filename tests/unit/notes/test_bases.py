"""Obsidian's Bases read, applied and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentic_rag.domain.filters import And, Comparison, Expression, Not, Or, parse_filters
from agentic_rag.domain.notes import Field, Note
from agentic_rag.errors import FilterError
from agentic_rag.notes.bases import BaseView, read_base, select, write_base

VAULTS = Path(__file__).resolve().parents[4] / "shared" / "data" / "vaults"
BOOKS = """\
filters:
  and:
    - file.hasTag("book")
formulas:
  title: if(note.title, note.title, file.basename)
  pace: pages / days
views:
  - type: table
    name: Rated
    filters: rating > 3
    order: [file.name, note.rating, formula.pace]
    sort:
      - {property: rating, direction: DESC}
      - {column: formula.title, direction: ASC}
    limit: 2
  - type: cards
    filters:
      and: [list(author).contains(this)]
    sort:
      - {property: formula.pace, direction: ASC}
    groupBy: {property: note.genre, direction: ASC}
    limit: 0
"""


def note(path: str, tags: tuple[str, ...] = (), links: tuple[str, ...] = (), **properties: Any) -> Note:
    title = str(properties.get("title") or path.rpartition("/")[2].removesuffix(".md"))
    fields = tuple(Field(key, value, 0, 0) for key, value in properties.items())
    return Note(path, path, title, tags=tags, links=links, fields=fields)


def paths(notes: list[Note]) -> list[str]:
    return [one.path for one in notes]


def test_views_of_a_base():
    rated, by_author = read_base(BOOKS, "Books.base").views
    assert rated == BaseView(
        name="Rated",
        filters=And((Comparison("tags", "$eq", "book"), Comparison("rating", "$gt", 3))),
        columns=("file.name", "rating", "formula.pace"),
        sort=(("rating", "DESC"), ("title", "ASC")),
        limit=2,
    )
    assert by_author == BaseView(
        name="Cards",
        filters=Comparison("tags", "$eq", "book"),
        group_by={"property": "note.genre", "direction": "ASC"},
        type="cards",
        unsupported_filters=("list(author).contains(this)", "sort: formula.pace", "limit: 0"),
    )


def test_a_base_without_views_shows_every_note():
    (view,) = read_base("", "Empty.base").views
    assert view == BaseView("Table")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("filters: [", r"Books\.base: a base must be valid YAML \(line 2: "),
        ("- a", r"Books\.base: a base must have filters and views, not \['a'\]"),
        ("views: 3", r"must be a list of views, not 3"),
        ("views: [a]", r"must be a list of views"),
        ("filters: &a {and: [*a]}", r"valid YAML \(values nested too deeply"),
        ("[" * 1000, r"nested too deeply"),
    ],
)
def test_what_is_no_base(text: str, reason: str):
    with pytest.raises(FilterError, match=reason):
        read_base(text, "Books.base")


def test_a_selection_is_sorted_and_limited():
    notes = [
        note("b.md", ("book",), rating=5),
        note("a.md", ("book",), rating=5),
        note("c.md", ("book/old",), rating=4),
        note("d.md", (), rating=5),
        note("e.md", ("book",), rating=3),
    ]
    assert paths(select(notes, read_base(BOOKS, "").views[0])) == ["a.md", "b.md"]


def test_numbers_come_before_texts_and_missing_values_last():
    values: list[Any] = ["b", 2, None, "A", 10, [], ["a", "c"]]
    notes = [note(f"{place}.md", x=value) for place, value in enumerate(values)]
    assert paths(select(notes, BaseView("", sort=(("x", "ASC"),)))) == [
        f"{n}.md" for n in (1, 4, 3, 6, 0, 2, 5)
    ]
    assert paths(select(notes, BaseView("", sort=(("x", "DESC"),)))) == [
        f"{n}.md" for n in (0, 6, 3, 4, 1, 2, 5)
    ]


def test_a_written_base():
    filters = parse_filters(
        {
            "folder": "games",
            "tags": {"$in": ["a", "b/c"]},
            "title": {"$contains": 'It\'s "X"'},
            "best-before": {"$lt": "2024-02-01"},
            "wellbeing.mood": {"$exists": True},
            "genre": {"$ne": "RPG"},
            "categories": "[[Books]]",
            "done": {"$ne": True},
        }
    )
    view = BaseView(
        "Yes: 1e3", filters, ("title", "best-before", "tags"), (("title", "ASC"), ("year", "DESC")), 20
    )
    assert write_base(view) == (
        """\
filters:
  and:
  - file.inFolder("games")
  - or:
    - file.hasTag("a")
    - file.hasTag("b/c")
  - 'formula.title.toString().lower().contains("it''s \\"x\\"")'
  - 'note["best-before"] < date("2024-02-01")'
  - 'note.wellbeing.mood != null'
  - '!list(note.genre).contains("RPG")'
  - list(note.categories).contains(link("Books"))
  - '!(note.done == true)'
formulas:
  title: 'if(note.title, note.title, file.basename)'
properties:
  formula.title:
    displayName: Title
views:
- type: table
  name: 'Yes: 1e3'
  order:
  - file.name
  - note.best-before
  - file.tags
  sort:
  - property: formula.title
    direction: ASC
  - property: note.year
    direction: DESC
  limit: 20
"""
    )


def test_what_cannot_be_written():
    with pytest.raises(FilterError, match=r"without list\(author\)\.contains\(this\); sort: formula\.pace"):
        write_base(read_base(BOOKS, "").views[1])
    with pytest.raises(FilterError, match=r"a base cannot compare 'tags' with \$gt"):
        write_base(BaseView("", Comparison("tags", "$gt", "a")))


FOLDERS = ["games", "games/old", "茶"]
TAGS = ["tea", "food/Pasta", "food", "a-b"]
LINKS = ["Tea", 'Say "x"']
NAMES = ["Tea", "it's", '"q"', "b.c"]
KEYS = [
    "rating",
    "best-before",
    "of mine",
    "wellbeing.mood",
    "year",
    "k\"'",
    "评分",
    "file",
    "length",
    "a.length",
]
TEXTS = [
    "",
    "RPG",
    "rpg tactics",
    "[[Books]]",
    "2024-01-01",
    "2024-01-01T10:00:00",
    'it\'s "x"\\',
    "乌龙茶",
    "a\nb",
    "true",
]
SCALARS: list[Any] = [*TEXTS, 0, 1, -2.5, 10**20, True, False]
PLACES = {
    "folder": FOLDERS,
    "tags": TAGS,
    "links": LINKS,
    "title": NAMES,
    "file.name": NAMES,
    "file.folder": [*FOLDERS, "/"],
}
PLACES |= {
    "path": ["games/Tea.md", "Tea.md"],
    "date": TEXTS,
    "file.ext": ["md", "canvas"],
    "document_id": ["Tea.md"],
}
ORDERED = st.sampled_from([key for key in [*KEYS, *PLACES] if key not in ("folder", "tags", "links")])
ANY_KEY = st.sampled_from([*KEYS, *PLACES])


def _values(key: str) -> st.SearchStrategy[Any]:
    return st.sampled_from([*PLACES.get(key, []), *_named(key, SCALARS), None])


def _named(key: str, values: list[Any]) -> list[Any]:
    """The values, for a folder without the empty one: a base calls the vault's own folder "/" alone."""
    return [value for value in values if value not in ("", "/")] if key.endswith("folder") else values


COMPARISONS: st.SearchStrategy[Expression] = st.one_of(
    ANY_KEY.flatmap(lambda key: st.builds(Comparison, st.just(key), st.sampled_from(["$eq", "$ne"]), _values(key))),
    ANY_KEY.flatmap(
        lambda key: st.builds(
            Comparison, st.just(key), st.sampled_from(["$in", "$nin"]), st.lists(_values(key), max_size=3).map(tuple)
        )
    ),
    ANY_KEY.flatmap(
        lambda key: st.builds(
            Comparison, st.just(key), st.just("$contains"), st.sampled_from(_named(key, [*PLACES.get(key, []), *TEXTS, "E", "/"]))
        )
    ),
    st.builds(
        Comparison,
        ORDERED,
        st.sampled_from(["$gt", "$gte", "$lt", "$lte"]),
        st.sampled_from([value for value in SCALARS if not isinstance(value, bool)]),
    ),
    st.builds(Comparison, ANY_KEY, st.just("$exists"), st.booleans()),
)  # fmt: skip


def _joined(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(parts, max_size=3).map(tuple)
    return st.one_of(st.builds(And, several), st.builds(Or, several), st.builds(Not, parts))


EXPRESSIONS = st.recursive(COMPARISONS, _joined, max_leaves=5)
VALUE = st.sampled_from(SCALARS) | st.lists(st.sampled_from(SCALARS), max_size=2)
NOTES = st.lists(
    st.builds(
        lambda folder, name, suffix, tags, links, properties: note(
            f"{folder}/{name}{suffix}".removeprefix("/"), tuple(tags), tuple(links), **properties
        ),
        st.sampled_from(["", *FOLDERS]),
        st.sampled_from(NAMES),
        st.sampled_from([".md", ".canvas"]),
        st.lists(st.sampled_from(TAGS), max_size=2),
        st.lists(st.sampled_from(LINKS), max_size=2),
        st.dictionaries(st.sampled_from([*KEYS, "title", "date"]), VALUE, max_size=4),
    ),
    max_size=6,
    unique_by=lambda one: one.path,
)
VIEWS = st.builds(
    BaseView,
    name=st.sampled_from(["Mine", "1e3", "yes", "a: 'b' \"c\"", "茶", "0o7", ""]),
    filters=EXPRESSIONS,
    columns=st.lists(ANY_KEY, max_size=3).map(tuple),
    sort=st.lists(st.tuples(ANY_KEY, st.sampled_from(["ASC", "DESC"])), max_size=2).map(tuple),
    limit=st.none() | st.integers(1, 4),
)


@settings(max_examples=150)
@example(BaseView("Mine", And((Comparison("folder", "$exists", False),)), (), (), None), [note("Tea.md")])
@example(
    BaseView("Mine", And((Comparison("folder", "$eq", None),)), (), (), None),
    [note("Tea.md"), note("tea/Oolong.md")],
)
@example(
    BaseView("Mine", And((Comparison("folder", "$nin", (None, "tea")),)), (), (), None), [note("Tea.md")]
)
@example(BaseView("Mine", And((Comparison("file.folder", "$gt", ""),)), (), (), None), [note("Tea.md")])
@given(VIEWS, NOTES)
def test_a_base_that_is_written_selects_the_same_notes(view: BaseView, notes: list[Note]):
    (again,) = read_base(write_base(view), "Mine.base").views
    assert again.unsupported_filters == ()
    assert again.name == (view.name or "Table")
    assert paths(select(notes, again)) == paths(select(notes, view))
    assert len(again.columns) == len(view.columns)


def test_the_bases_of_real_vaults_are_read():
    files = sorted(VAULTS.rglob("*.base"))
    if not files:
        pytest.skip("needs ../shared/data/vaults")
    views = [view for file in files for view in read_base(file.read_text("utf-8"), file.name).views]
    whole = [view for view in views if not view.unsupported_filters]
    # Of the others, most speak of the note that shows the base, or sort by a formula.
    assert len(views) >= 78
    assert len(whole) >= 34
    for view in whole:
        (again,) = read_base(write_base(view), "").views
        assert again.unsupported_filters == ()
        assert again.filters is not None or view.filters is None
