"""Notes: blocks with exact offsets, properties, fields, headings, links, tags; and every odd input."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.domain import Document
from agentic_rag.notes.markdown import (
    MAX_FIELD_TEXT,
    block_tokens,
    line_starts,
    paragraphs,
    parse_markdown,
    parse_text,
    plain,
)
from growth import assert_linear


def note(text: str, path: str = "folder/Note.md") -> Document:
    return parse_markdown(path, path, text)


def kinds(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def check_blocks(document: Document) -> None:
    """In order, without overlap, covering the text up to white space."""
    end = 0
    for block in document.blocks:
        assert end <= block.start < block.end <= len(document.text)
        assert not document.text[end : block.start].strip()
        end = block.end
    assert not document.text[end:].strip()
    for link in document.links:
        assert 0 <= link.start < link.end <= len(document.text)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "lone-cr"])
def test_blocks_of_every_kind_with_every_line_end(end: str) -> None:
    parts = [
        "---\ntitle: T\n---",
        "# One",
        "Two\nlines",
        "Setext\n======",
        "- a\n  - b",
        "1. c",
        "```py\n# no heading\n```",
        "    indented",
        "| a | b |\n|---|---|\n| c | d |",
        "> quote\n> more",
        "> [!note] Callout\n> text",
        "<div>\nhtml\n</div>",
        "[^1]: A footnote.",
        "***",
    ]
    parts = [part.replace("\n", end) for part in parts]
    document = note((end * 2).join(parts) + end)
    check_blocks(document)
    assert [text.strip() for _, text in kinds(document)] == [part.strip() for part in parts]
    assert [kind for kind, _ in kinds(document)] == [
        "properties",
        "heading",
        "paragraph",
        "heading",
        "list",
        "list",
        "code",
        "code",
        "table",
        "quote",
        "callout",
        "html",
        "paragraph",
        "paragraph",
    ]


def test_heading_paths_follow_the_levels() -> None:
    document = note("intro\n\n# A\n\n## B *em* [[C|see]] `x` ^id\n\nt\n\n### D\n\n# E\n\nu\n\n> # quoted\n")
    paths = [block.heading_path for block in document.blocks]
    assert paths == [
        (),
        ("A",),
        ("A", "B em see x"),
        ("A", "B em see x"),
        ("A", "B em see x", "D"),
        ("E",),
        ("E",),
        ("E",),
    ]


def test_plain_shows_links_by_what_they_show() -> None:
    assert plain("**Bold** [[Note#H]] [[a|b]] [text](x.md) ~~old~~ snake_case 2 * 3") == (
        "Bold Note#H b text old snake_case 2 * 3"
    )


def test_wikilinks_of_every_form() -> None:
    text = "[[A]] [[b/A#H|x]] [[A#^blk]] [[#Here]] ![[pic.png|100]] ![[A#H1#H2]] [[笔记|别名]] [[ ]] [[|x]] \\[[no]]"
    found = [(k.target, k.heading, k.block, k.alias, k.embed) for k in note(text).links]
    assert found == [
        ("A", None, None, None, False),
        ("b/A", "H", None, "x", False),
        ("A", None, "blk", None, False),
        ("", "Here", None, None, False),
        ("pic.png", None, None, "100", True),
        ("A", "H1#H2", None, None, True),
        ("笔记", None, None, "别名", False),
    ]


def test_a_pipe_is_escaped_in_a_table() -> None:
    (link,) = note("| a | b |\n|---|---|\n| [[Note\\|shown]] | c |").links
    assert (link.target, link.alias) == ("Note", "shown")


def test_markdown_links_to_local_files() -> None:
    text = (
        "[x](My%20note.md#A%20b) ![i](<a b.png>) [web](https://e.org/a.md) [m](mailto:a@b.c) [h](#Here) "
        '[p](a(1).md "Title") [![in](in.png)](out.md)\n\n[ref]: other.md\n[^1]: note.md'
    )
    found = [(k.target, k.heading, k.alias, k.embed) for k in note(text).links]
    assert found == [
        ("My note.md", "A b", "x", False),
        ("a b.png", None, "i", True),
        ("", "Here", "h", False),
        ("a(1).md", None, "p", False),
        ("out.md", None, "![in](in.png)", False),
        ("in.png", None, "in", True),
        ("other.md", None, "ref", False),
    ]


def test_nothing_is_read_from_code() -> None:
    text = (
        "`[[a]] #t k:: v` ``x ` [[b]]`` \\`[[real]]\\` \n\n```\n[[c]] #t\nkey:: v\n```\n\n    [[d]]\n\n"
        "- item\n\n  ~~~\n  [[e]]\n  ~~~\n\n<!-- [[f]] #t -->\n\n$$\n[[g]]\n$$"
    )
    document = note(text)
    assert [link.target for link in document.links] == ["real"]
    assert document.tags == ()
    assert document.metadata == {}


def test_an_unclosed_backtick_hides_nothing() -> None:
    assert [link.target for link in note("a ` b [[x]] `` c").links] == ["x"]


def test_tags_in_any_script() -> None:
    text = "#tag #a/b, (#paren) #水果。#日本語 #1984 #y1984 a#no [x](#here) https://e.org/#frag [[#H]] \\#esc #Tag <b x=#c>"
    assert note(text).tags == ("tag", "a/b", "paren", "水果", "日本語", "y1984")


def test_headings_are_no_tags() -> None:
    assert note("# Title\n\n## Sub #real\n\n#nospace").tags == ("real", "nospace")


def test_front_tags_and_aliases_as_list_or_text() -> None:
    document = note("---\ntags: [a, '#b', 2024]\naliases: [One, 2]\n---\n#A #c")
    assert (document.tags, document.aliases) == (("a", "b", "c"), ("One", "2"))
    document = note("---\ntag: a, b c\nalias: One, Two words\n---\n")
    assert (document.tags, document.aliases) == (("a", "b", "c"), ("One", "Two words"))


def test_dataview_fields_become_metadata_and_relations() -> None:
    text = (
        "---\nauthor: Ann\n---\nauthor:: [[Kevin Kelly]]\n- rating:: 4.5\n- [ ] task [due:: 2024-01-02] (done:: true)\n"
        "**Bold key**:: x\n_em::_ y\n作者:: [[李]]\nstd::vector is C++\nA sentence:: \n> quoted:: 3\n"
    )
    document = note(text)
    assert document.metadata == {
        "author": ["Ann", "[[Kevin Kelly]]"],
        "rating": 4.5,
        "due": "2024-01-02",
        "done": True,
        "Bold key": "x",
        "em": "y",
        "作者": "[[李]]",
        "quoted": 3,
    }
    assert [(link.target, link.relation) for link in document.links] == [
        ("Kevin Kelly", "author"),
        ("李", "作者"),
    ]


def test_a_link_after_a_bracketed_field_is_not_under_it() -> None:
    links = note("- [by:: [[A]]] and [[B]]").links
    assert [(link.target, link.relation) for link in links] == [("A", "by"), ("B", None)]


def test_title_aliases_and_file_name() -> None:
    assert note("---\ntitle: ' A  title '\n---").title == "A title"
    assert note("---\ntitle: 1984\n---").title == "1984"
    assert note("text", "a/b/My note.v2.md").title == "My note.v2"
    assert note("text", "Cafe\u0301.md").title == "Café"


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        (
            "---\ncreated: 2023-01-02\ndate: 2024-03-04 05:06\n---",
            "n.md",
            datetime(2024, 3, 4, 5, 6, tzinfo=UTC),
        ),
        ("---\ncreated: 2023-01-02T23:00:00-05:00\n---", "n.md", datetime(2023, 1, 3, 4, tzinfo=UTC)),
        ('---\nstart: "[[2023-09-12]]"\n---', "n.md", datetime(2023, 9, 12, tzinfo=UTC)),
        ("---\ndate: no date\n---", "2023-09-12 Walk.md", datetime(2023, 9, 12, tzinfo=UTC)),
        ("date:: 2022-02-03", "n.md", datetime(2022, 2, 3, tzinfo=UTC)),
        ("", "202309121530 Zettel.md", datetime(2023, 9, 12, tzinfo=UTC)),
        ("", "日记 2023年9月1日.md", datetime(2023, 9, 1, tzinfo=UTC)),
        ("---\ndate: 2023-13-45\n---", "2023-99-99.md", None),
        ("text", "n.md", None),
    ],
)
def test_date(text: str, path: str, expected: datetime | None) -> None:
    assert note(text, path).date == expected


def test_an_empty_note_has_no_blocks() -> None:
    document = note("")
    assert (document.blocks, document.links, document.metadata) == ((), (), {})


def test_broken_yaml_is_kept_as_a_block_with_a_warning() -> None:
    document = note("---\ntitle: {{x}}\nauthor: '[[Ann]]'\n---\nBody [[B]]")
    assert kinds(document)[0] == ("properties", "---\ntitle: {{x}}\nauthor: '[[Ann]]'\n---")
    assert (document.metadata, len(document.warnings)) == ({}, 1)


def test_a_property_may_have_any_name() -> None:
    document = note("---\n_warnings: 5\n---\nBody")
    assert (document.metadata, document.warnings) == ({"_warnings": 5}, ())


def test_broken_yaml_still_has_its_title_and_links() -> None:
    document = note("---\ntitle: {{x}}\nauthor: '[[Ann]]'\n---\nBody [[B]]")
    assert document.title == "Note"
    assert [(link.target, link.relation) for link in document.links] == [("Ann", "author"), ("B", None)]


def test_nul_characters_keep_the_offsets() -> None:
    document = note("a\0b [[X]]\n\n# H\0 [[Y]]")
    check_blocks(document)
    assert [document.text[link.start : link.end] for link in document.links] == ["[[X]]", "[[Y]]"]


def test_embed_cycles_and_missing_targets_are_only_links() -> None:
    assert note("![[B]] [[Nowhere]]", "A.md").links[0].target == "B"
    assert note("![[A]] ![[B]]", "B.md").links[0].target == "A"


def test_plain_text_has_paragraphs_and_no_markup() -> None:
    document = parse_text("a.txt", "2023-09-12 a.txt", "# no\n[[no]]\n\n \nsecond\r\rthird")
    assert kinds(document) == [("paragraph", "# no\n[[no]]"), ("paragraph", "second"), ("paragraph", "third")]
    assert (document.links, document.tags, document.date) == ((), (), datetime(2023, 9, 12, tzinfo=UTC))


def test_line_starts_count_every_line_end_once() -> None:
    assert line_starts("a\r\nb\rc\nd") == [0, 3, 5, 7]
    assert line_starts("a\n") == [0]
    assert line_starts("") == [0]
    assert paragraphs(" \n") == ()


NOTES = st.text(
    alphabet=st.sampled_from("ab1 .:!\n\n\r\t#>-*|`~[]()<>\\=$茶\x00\u2028\x0b\x85\ufeff"), max_size=300
)


@settings(max_examples=250)
@given(st.sampled_from(["", "---\n", "---\na: b\n---\n", "- ", "> ", "```\n"]), NOTES)
def test_any_text_parses_and_is_covered(start: str, text: str) -> None:
    check_blocks(note(start + text))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "# H\n\n[[a]] #t k:: v\n\n",
        "[",
        "`",
        "\\`",
        "> ",
        "- ",
        "[[a",
        "[a](b ",
        "(a:: ",
        "a\r",
        "#",
        "$$",
        "http://",
    ],
)
def test_parsing_takes_linear_time(piece: str) -> None:
    assert_linear(note, piece)


def test_a_note_of_nothing_but_fields_is_not_copied_into_each_of_its_chunks() -> None:
    lines = [f"Anna:: {number} said\n" for number in range(5_000)]
    document = note("mood:: good\n" + "".join(lines))
    held = document.metadata["Anna"]
    assert held == [line[7:].strip() for line in lines[: len(held)]]
    assert MAX_FIELD_TEXT - 30 < sum(len(value) + 4 for value in held) <= MAX_FIELD_TEXT
    (warning,) = document.warnings
    assert f"from 'Anna' at character {document.text.index(lines[len(held)]) + 7:,} on" in warning


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("- [ ] Water it [start:: 2024-05-01]", None),
        ("> 1. [x] Done (created:: 2024-05-01)", None),
        ("- [ ] Water it [created:: 2024-05-01]\r\n\r\ndate:: 2024-06-02", 2),
        ("- date:: 2024-06-02", 2),
        ("Written on [date:: 2024-06-02].", 2),
    ],
)
def test_the_date_of_a_task_is_not_that_of_its_note(text: str, day: int | None) -> None:
    assert note(text).date == (None if day is None else datetime(2024, 6, day, tzinfo=UTC))


def test_a_table_takes_a_token_a_row() -> None:
    rows = 1000
    table = "|a|b|c|\n|-|-|-|\n" + "|1|2|[[x]]|\n" * rows
    assert len(block_tokens(f"One.\n\n{table}\nTwo.\n")) <= rows + 10
    assert len(note(table).links) == rows
