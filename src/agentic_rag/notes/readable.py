"""Markdown as a person reads it: links by their display text, no markup, no comments, no marks of lists and blocks."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import regex

from agentic_rag.text import CJK

_WIKILINK = re.compile(r"!?\[\[([^\[\]|#\r\n]*)(#[^\[\]|\r\n]*)?(?:\\?\|([^\[\]\r\n]*))?\]\]")
_ESCAPED_ALIAS = re.compile(r"\\\|(?=[^\[\]|\r\n]*\]\])")
"""As a link has it in a table, and in text that was taken out of one: ``[[A\\|b]]``."""
_IMAGE = re.compile(r"!\[[^\[\]]{0,500}\]\((?:[^()\r\n]|\([^()\r\n]{0,200}\)){0,500}\)|!\[\[[^\[\]\r\n]*\]\]")
_LINK = re.compile(r"\[([^\[\]]{0,500})\]\((?:[^()\r\n]|\([^()\r\n]{0,200}\)){0,500}\)")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_ROLE = re.compile(
    r"(?<![\w`])\{[a-z][\w:-]*\}`(?:(?P<text>[^`<>\r\n]+?)[ \t]*<[^`<>\r\n]*>|(?P<name>[^`\r\n]+))`"
)
"""A role of MyST, ``{term}`Ketch``` or ``{doc}`the rig <rig>```: what it shows."""
_AUTOLINK = re.compile(r"<(https?://[^\s<>]+)>")
_HTML = re.compile(
    r"</?(?P<apart>br|center|div|p|li|ul|ol|tr|td|th|table|hr|details|summary|h[1-6])(?:\s[^<>\r\n]*)?/?>|</?[A-Za-z][\w-]*(?:\s[^<>\r\n]*)?/?>",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^[ \t]*(?:>[ \t]*)*(?:\[![^\]\r\n]*\][+-]?)?[ \t]*(?:(?:#{1,6}|[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?)*",
    re.MULTILINE,
)
_MARKS = regex.compile(
    r"\*{2,3}|__|~~|==|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*(])|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)"
    r"|\[\^[^\[\]\s]*\]:?|(?:^|[ \t])\^[\w-]+[ \t\r]*$",
    regex.MULTILINE,
)
_EMPHASIS = regex.compile(rf"(?<![^\W{CJK}]|\*)\*([^\s*](?:[^*\r\n，。；]*[^\s*])?)\*(?![^\W{CJK}]|\*)")
"""By a pair of single stars; it may begin or end within a run of Chinese, which is written without spaces: 加*少许*盐."""
_ESCAPED_SIGN = re.compile(r"\\([!-/:-@\[-`{-~])")
_SIGN = re.compile(r"[\x00`\\\[\]<&*_~=^]")
"""What every form of markup begins with, but for marks at the start of a line."""
_COMMENT = re.compile(
    r"(?P<kept>^[ \t>]*(?P<fence>`{3,}+|~{3,}+)[^\r\n]*\r?\n(?s:.*?)(?:^[ \t>]*(?P=fence)[`~]*[ \t]*\r?$|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)[^\r\n]{0,500}?(?<!`)(?P=ticks)(?!`))"
    r"|%%(?s:.*?)(?:%%|\Z)|<!--(?s:.*?)-->",
    re.MULTILINE,
)


def comments(text: str) -> Iterator[tuple[int, int]]:
    """Spans of ``%%…%%`` and ``<!--…-->`` outside of code, in order. An unclosed ``%%`` reaches to the text's end."""
    return (match.span() for match in _COMMENT.finditer(text) if match["kept"] is None)


def link_text(match: re.Match[str]) -> str:
    """What a wikilink shows: its alias, else the name of its note, else its heading."""
    target = match.group(1).replace("\\", "/").rstrip("/").rpartition("/")[2].strip().removesuffix(".md")
    return (match.group(3) or target or (match.group(2) or "")[1:]).strip()


def readable(markup: str) -> str:
    """Markdown on one line as it is read.

    ``[[A|b]]`` is b and ``[[folder/A#B]]`` is A; pictures, footnote marks and block ids are left out; code keeps its
    signs.

    >>> readable("- [ ] See **[[tea/Oolong|oolong]]** and [this](x.md) &amp; `a*b`.[^1]")
    'See oolong and this & a*b.'
    """
    if _SIGN.search(markup) is None:  # most texts, in a fifth of the time
        return " ".join(_LEAD.sub("", markup).split())
    kept: list[str] = []

    def keep(text: str) -> str:
        kept.append(text)
        return f"\x00{len(kept) - 1}\x00"

    text = _ROLE.sub(lambda role: role["text"] or role["name"], markup.replace("\x00", ""))
    text = _CODE.sub(lambda code: keep(code[2]), text)
    text = _ESCAPED_ALIAS.sub("|", text)
    text = _ESCAPED_SIGN.sub(lambda sign: keep(sign[1]), text)
    text = _LINK.sub(r"\1", _WIKILINK.sub(link_text, _IMAGE.sub("", text)))
    text = _AUTOLINK.sub(r"\1", text)
    text = _HTML.sub(lambda tag: " " if tag["apart"] else "", text)
    text = html.unescape(_MARKS.sub("", _EMPHASIS.sub(r"\1", _LEAD.sub("", text))))
    text = re.sub("\x00(\\d+)\x00", lambda place: kept[int(place[1])], text)
    return " ".join(text.split())
