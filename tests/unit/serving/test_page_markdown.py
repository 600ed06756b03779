"""Notes as HTML: the cited passage is marked at any place, and no script of a note runs."""

from __future__ import annotations

import re

import pytest

from agentic_rag_service.page.markdown import MAX_DRAWN, excerpt, note_html, render_markdown
from growth import assert_linear

NOTE = """---
tags: [tea]
---
# Tea

- **Leaf**: it *dries* well.
- [[Second note|another]] item

| a | b |
|---|---|
| 1 | two words |

> [!failure] I wrote
> black tea

Last `code` line.
"""


@pytest.mark.parametrize(
    ("passage", "told"),
    [
        ("- **Leaf**: it *dries* well.", "Leaf: it dries well."),
        ("| 1 | two words |", "1two words"),
        ("> black tea", "black tea"),
        ("# Tea", "Tea"),
        ("tags: [tea]", "tags: [tea]"),
        ("[[Second note|another]] item", "another item"),
        ("- **Leaf**: it *dries* well.\n- [[Second note|another]] item", "Leaf: it dries well.another item"),
    ],
)
def test_a_passage_is_marked(passage: str, told: str) -> None:
    start = NOTE.index(passage)
    html = note_html(NOTE, start, start + len(passage))
    marked = re.findall(r"<mark[^>]*>(.*?)</mark>", html, re.DOTALL)
    assert re.sub(r"<[^>]+>|\|", "", "".join(marked)).replace(" ", "") == told.replace(" ", "")
    assert html.count('id="passage"') == 1


def test_a_passage_that_is_none_is_not_marked() -> None:
    for start, end in [(None, None), (5, 5), (-1, 3), (3, 9_999)]:
        assert "<mark" not in note_html(NOTE, start, end)


def test_wikilinks_lead_to_notes_that_are_there() -> None:
    html = render_markdown(
        "[[Tea#Leaf|leaf]] and [[None]]", lambda name: "/read/d/Tea.md" if name == "Tea" else None
    )
    assert '<a href="/read/d/Tea.md" class="note-link" rel="noopener noreferrer">leaf</a> and None' in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "![x](http://evil.example/x.png)",
        '<a href="#" onclick="alert(1)">x</a>',
        "<style>*{display:none}</style>",
        "[[x|<img src=x onerror=alert(1)>]]",
    ],
)
def test_nothing_of_a_note_runs(text: str) -> None:
    html = note_html(text, 0, len(text)) + render_markdown(text)
    assert not re.search(r"<(?:script|img|style|iframe)|<[^>]+(?:javascript:|data:|on\w+=)", html)


def test_a_callout_has_a_title():
    html = render_markdown(
        "> [!info]+ Canvas embeds show *shapes*\n> Not the text.\n\n> [!quick-tip]\n> Press a key.\n"
    )
    assert "[!" not in html
    assert "<strong>Canvas embeds show </strong><em>shapes</em>" in html
    assert "<strong>Quick tip</strong><br>\nPress a key." in html
    assert "<script" not in render_markdown("> [!<script>x</script>] y\n> z\n")


@pytest.mark.parametrize(
    "text", ["a note\n" * 40_000, "[" * 300_000, "---\nyear: 2024\n---\n" + "- a\n" * 80_000]
)
@pytest.mark.parametrize("start", [None, -5, 0, 60_001, 150_003, 299_990, 400_000])
def test_of_a_long_note_a_part_around_the_passage_is_drawn(text: str, start: int | None) -> None:
    first, part = excerpt(text, start)
    assert part == text[first : first + MAX_DRAWN]
    if start is None or start < MAX_DRAWN // 2:
        assert first == 0
    elif start < len(text):
        assert first <= start < first + len(part)
        assert text[first - 1] in "\n["


def test_of_a_short_note_all_is_drawn() -> None:
    assert excerpt("a note", 3) == (0, "a note")


def test_tasks_fields_highlights_and_footnotes_are_drawn_as_in_obsidian() -> None:
    html = render_markdown(
        "- [x] paint\n- [ ] buy\n  - [/] half\n- [!] as it is\n\nHeld at [pressure:: 40 bar]."
    )
    assert '<li class="task">☑ paint</li>' in html
    assert '<li class="task">☐ buy' in html
    assert '<li class="task">◐ half</li>' in html
    assert "<li>[!] as it is</li>" in html
    assert '<span class="field"><strong>pressure</strong> 40 bar</span>' in html
    assert "rating:: 5<br" in render_markdown("rating:: 5\nThe boiler.")
    assert '<span class="highlight">dry</span> a == b' in render_markdown("==dry== a == b")
    assert (
        render_markdown("Sold[^1].\n\n[^1]: In May.")
        == "<p>Sold<sup>1</sup>.</p>\n<p><sup>1</sup> In May.</p>\n"
    )
    assert "<script" not in render_markdown("[a:: <script>x</script>] ==<script>== [^<script>]")


def test_the_passage_is_marked_in_a_task_and_in_a_field() -> None:
    for text, passage in (("- [ ] Buy a valve\n", "Buy a valve"), ("At [pressure:: 40 bar] now\n", "40 bar")):
        start = text.index(passage)
        html = note_html(text, start, start + len(passage))
        assert f'<mark id="passage" tabindex="-1">{passage}</mark>' in html
        assert "<pre" not in html


@pytest.mark.parametrize("piece", ["\t", " ", "[key::\t", "==a ", "[^a"])
def test_a_note_is_drawn_in_linear_time(piece: str) -> None:
    assert_linear(lambda text: render_markdown(f"[key::{text}a\n"), piece, length=20_000)


@pytest.mark.parametrize(
    "text", ["| a |\n|---|\n| b |\n", "> | a |\n> |---|\n> | b |\n", "- one\n\n  | a |\n  |---|\n  | b |\n"]
)
def test_a_table_scrolls_by_itself(text: str) -> None:
    html = render_markdown(text)
    assert html.count('<div class="scroll" tabindex="0"><table>') == html.count("</table></div>") == 1


def test_the_name_of_a_table_element_in_a_note_is_text() -> None:
    assert "scroll" not in render_markdown("Write `<table>` or <table>, then </table>.")
