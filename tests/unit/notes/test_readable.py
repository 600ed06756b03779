"""Markdown as a person reads it, and where its comments are."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.notes.readable import comments, readable


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("[[A|b]]", "b"),
        ("[[folder/A#B]]", "A"),
        ("[[a/b.md]]", "b"),
        ("[[#B]]", "B"),
        ("[[A\\|b]]", "b"),
        ("x \\| [[a/A#B\\|the B]]", "x | the B"),
        ("`[[A\\|b]]`", "[[A\\|b]]"),
        ("[[A#^id|]]", "A"),
        ("![[p.png]] and ![a](x.png)", "and"),
        ("[t](x_(y).md)", "t"),
        ("<https://x.org>", "https://x.org"),
        ("`a*b` and ``a ` b``", "a*b and a ` b"),
        ("**b** _i_ ~~s~~ ==h== __u__", "b i s h u"),
        ("snake_case 2*3*4, 5 * 3", "snake_case 2*3*4, 5 * 3"),
        ("切*0.15cm 宽*条，加*少许*盐", "切0.15cm 宽条，加少许盐"),
        ("日本の*とても*良い", "日本のとても良い"),
        ("2*(a+b), *a*(b), 长*宽，2*(长+宽)", "2*(a+b), a(b), 长*宽，2*(长+宽)"),
        ("***都***是 ***both*** are", "都是 both are"),
        ("\\*not\\* \\#", "*not* #"),
        ("- [ ] task", "task"),
        ("1. step", "step"),
        ("### Heading", "Heading"),
        ("> [!tip]+ Title", "Title"),
        ("> > quoted", "quoted"),
        ("text ^id-1", "text"),
        ("said[^1] so", "said so"),
        ("a<br>b <b>c</b>&nbsp;&lt;", "a b c <"),
        ("over\nlines\t x", "over lines x"),
        ("a\x00b \x001\x00", "ab 1"),
        ("**never closed", "never closed"),
        ("", ""),
        ("\ud800", "\ud800"),
    ],
)
def test_what_is_read(markup: str, expected: str):
    assert readable(markup) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a %% b %% c", ["%% b %%"]),
        ("a %% never closed", ["%% never closed"]),
        ("<!-- a\nb --> c", ["<!-- a\nb -->"]),
        ("<!-- never closed", []),
        ("`%% x %%` %% y %%", ["%% y %%"]),
        ("```\n%% x %%\n```\n%% y %%", ["%% y %%"]),
        ("```\n%% in a fence that is never closed", []),
        ("%%%% a", ["%%%%"]),
        ("100 % of 5%", []),
        ("", []),
    ],
)
def test_comments_are_outside_of_code(text: str, expected: list[str]):
    assert [text[start:end] for start, end in comments(text)] == expected


@given(st.text(alphabet="[]()!`*_~=<>%&#^|\\- \n\x00ab1", max_size=60))
def test_any_markup_is_read_as_one_line(markup: str):
    read = readable(markup)
    assert read == " ".join(read.split())
    spans = list(comments(markup))
    assert all(a < b <= c < d for (a, b), (c, d) in itertools.pairwise(spans))
