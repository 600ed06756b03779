"""Links as such: forms, escapes, and what is not a local file."""

from __future__ import annotations

import pytest

from agentic_rag.notes.links import is_escaped, markdown_links, wikilinks


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("[[a b]]", "a b"),
        ("[[a|x [1] y]]", "a"),
        ("[[a.b/c.md]]", "a.b/c.md"),
        ("[[[a]]]", "a"),
        ("[[a]]]]", "a"),
        ("\\\\[[a]]", "a"),
        ("\\![[a]]", "a"),
    ],
)
def test_wikilink(text: str, target: str) -> None:
    assert [link.target for link in wikilinks(text, 0, len(text))] == [target]


@pytest.mark.parametrize("text", ["[[]]", "[[a\nb]]", "\\[[a]]", "[[a]", "[a]]", "[[#]]", "[[|a]]"])
def test_no_wikilink(text: str) -> None:
    assert list(wikilinks(text, 0, len(text))) == []


@pytest.mark.parametrize(
    ("text", "target", "heading"),
    [
        ("[a](b.md)", "b.md", None),
        ("[a]( <b c.md> 'title' )", "b c.md", None),
        ("[a](%E7%AC%94%E8%AE%B0.md#%23x)", "笔记.md", "#x"),
        ("[a](b%23c.md)", "b#c.md", None),
        ("[a](b\\)c.md)", "b)c.md", None),
        ("[a [b] c](d.md)", "d.md", None),
    ],
)
def test_markdown_link(text: str, target: str, heading: str | None) -> None:
    (link,) = markdown_links(text, 0, len(text), masked_text=text)
    assert (link.target, link.heading) == (target, heading)


@pytest.mark.parametrize(
    "text",
    [
        "[a](https://e.org)",
        "[a](//e.org/b)",
        "[a](mailto:x@y.z)",
        "[a](C:\\b.md)",
        "[a]()",
        "[a](b c.md)",
        "\\[a](b.md)",
        "[a](#)",
    ],
)
def test_no_local_file(text: str) -> None:
    assert list(markdown_links(text, 0, len(text), masked_text=text)) == []


def test_an_escaped_exclamation_mark_is_no_embed() -> None:
    text = "\\![[a]] \\![b](c.md) ![[d]]"
    found = [*wikilinks(text, 0, len(text)), *markdown_links(text, 0, len(text), masked_text=text)]
    assert [(link.target, link.embed, text[link.start]) for link in found] == [
        ("a", False, "["),
        ("d", True, "!"),
        ("c.md", False, "["),
    ]


def test_escapes() -> None:
    assert [is_escaped(text, len(text) - 1) for text in ("x", "\\x", "\\\\x", "\\\\\\x")] == [
        False,
        True,
        False,
        True,
    ]
