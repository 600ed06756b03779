"""A document's running text without its markup: offsets kept for finding names, sentences made readable for facts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import regex

from agentic_rag.domain import Document
from agentic_rag.notes.inline import mask_spans
from agentic_rag.text.sentences import split_sentences

MAX_SENTENCE = 600
"""Maximum code points of a fact's sentence, cut around its subject."""

_HIDDEN_BLOCKS = ("properties", "code", "html")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]|\r\n]*)(?:\\?\|([^\[\]\r\n]*))?\]\]")
_MD_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\((?:[^()\r\n]|\([^()\r\n]{0,200}\)){0,500}\)")
_HIDDEN_TEXT = re.compile(
    r"(?<!`)(`+)(?!`)[^\r\n]{0,500}?(?<!`)\1(?!`)|%%(?s:.*?)%%|<!--(?s:(?:(?!<!--).)*?)-->|&\w+;|(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s<>)\]]+|</?[A-Za-z][^<>\r\n]*>"
)
_MARKS = regex.compile(
    r"\*\*|__|~~|==|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|^[ \t]*\[\^[^\]\s]+\]:|\[\^[^\]\s]*\]"
    r"|^[ \t]*(?:>[ \t]*)*(?:\[![^\]\r\n]*\][+-]?)?[ \t]*(?:(?:#{1,6}|[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?)?"
    r"|(?:^|[ \t])\^[\w-]+[ \t\r]*$|^[ \t]*\|[ \t:|-]*\r?$|(?<!\\)\|",
    regex.MULTILINE,
)
_CODE_OR_HTML = re.compile(
    r"(?P<code>`+[^`\r\n]+`+)|(?P<line></?(?:br|center|div|p)(?:\s[^<>\r\n]*)?/?>)"
    r"|</?(?:a|abbr|b|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|small|span|strong|su[bp]|u)(?:\s[^<>\r\n]*)?/?>",
    re.IGNORECASE,
)
_FENCE = re.compile(
    r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<fence>`{3,}(?=[^`\r\n]*\r?$)|~{3,})", re.MULTILINE
)
_TAG = re.compile(r"(?<!\S)#[^\s#.,;:!?()\[\]，。；：！？]+")
_LINK_STANDS_HERE = "\ufffc"
_ATTACHMENT = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif|ico|pdf|mp[34]|m4a|wav|ogg|flac|3gp|webm|mov|mkv|ogv|zip|base|css|js|json|csv|docx?|xlsx?|pptx?)$",
    re.IGNORECASE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prose:
    """``text`` is as long as the document's, with markup and hidden blocks as spaces."""

    source: str
    text: str
    spans: tuple[tuple[int, int], ...]
    has_markup: bool

    def span_at(self, position: int) -> tuple[int, int]:
        """The sentence around a code point, or the empty span at the point."""
        index = bisect_right(self.spans, (position, len(self.source) + 1)) - 1
        if index < 0 or self.spans[index][1] <= position:
            return position, position
        return self.spans[index]

    def sentence_at(self, position: int, *, within: tuple[int, int]) -> str:
        """The sentence around a code point as it is read, no longer than ``MAX_SENTENCE``, inside ``within``."""
        start, end, before, after = self._cut(position, within)
        piece = self.source[start:end]
        return before + (readable(piece) if self.has_markup else " ".join(piece.split())) + after

    def words_at(self, position: int, *, within: tuple[int, int]) -> str:
        """The author's own words of that sentence: without links, as a note's name may hold a date."""
        start, end, _, _ = self._cut(position, within)
        piece = self.source[start:end]
        return readable(_MD_LINK.sub("…", _WIKILINK.sub("…", piece))) if self.has_markup else piece

    def _cut(self, position: int, within: tuple[int, int]) -> tuple[int, int, str, str]:
        start, end = self.span_at(position)
        start, end = max(start, within[0]), min(end, within[1])
        if end - start <= MAX_SENTENCE:
            return start, end, "", ""
        first = max(start, position - MAX_SENTENCE // 2)
        last = min(end, first + MAX_SENTENCE)
        return first, last, "…" if first > start else "", "…" if last < end else ""


def prose(document: Document) -> Prose:
    """The running text of a document; without markup in plain text, dialogue and records."""
    has_markup = document.kind in ("markdown", "canvas")
    text = document.text
    if has_markup:
        text = mask_spans(text, ((b.start, b.end) for b in document.blocks if b.kind in _HIDDEN_BLOCKS), " ")
        text = _blank_marks(mask_spans(text, _inner_code(text), " "))
    return Prose(document.text, text, tuple(split_sentences(document.text)), has_markup)


def readable(markup: str) -> str:
    """Markdown as it is read: ``[[A|b]]`` is b, ``[[folder/A#B]]`` is A; no emphasis, no HTML around words, no marks
    of lists, headings, footnotes and blocks.

    >>> readable("- See **[[tea/Oolong|oolong]]** and [this](x.md).")
    'See oolong and this.'
    """
    text = _WIKILINK.sub(_link_text, markup)
    text = _MD_LINK.sub(r"\1", text)
    text = _CODE_OR_HTML.sub(lambda match: match["code"] or (" " if match["line"] else ""), text)
    text = _MARKS.sub("", text).replace("`", "").replace("::", ":")
    return " ".join(text.split())


def link_name(target: str) -> str:
    """What a link's target is called: the last part of a path, without ``.md``."""
    return target.replace("\\", "/").rstrip("/").rpartition("/")[2].strip().removesuffix(".md").strip()


def is_attachment(target: str) -> bool:
    """Whether a link leads to a picture or another file that is not a note."""
    return _ATTACHMENT.search(target.strip()) is not None


def _link_text(match: re.Match[str]) -> str:
    if match.group(3):
        return match.group(3)
    target, _, heading = match.group(2).partition("#")
    return link_name(target) or heading


def _inner_code(text: str) -> Iterator[tuple[int, int]]:
    """Fenced code inside lists and quotes, which are blocks as a whole."""
    unclosed: set[str] = set()
    opening = _FENCE.search(text)
    while opening is not None:
        fence, after = opening["fence"], opening.end()
        closing = None if fence in unclosed else _closing(fence).search(text, after)
        if closing is None:
            unclosed.add(fence)
        else:
            yield opening.start("fence"), closing.end()
            after = closing.end()
        opening = _FENCE.search(text, after)


@cache
def _closing(fence: str) -> re.Pattern[str]:
    return re.compile(rf"^[ \t>]*{fence}{fence[0]}*[ \t\r]*$", re.MULTILINE)


def _blank_marks(text: str) -> str:
    text = mask_spans(text, (match.span() for match in _HIDDEN_TEXT.finditer(text)), " ")
    # A wikilink is told as a link; its words name its target and nothing else ("[[2024 Tea fair]]" is no tea).
    text = mask_spans(text, (match.span() for match in _WIKILINK.finditer(text)), _LINK_STANDS_HERE)
    around = ((match.span(), match.span(1)) for match in _MD_LINK.finditer(text))
    text = mask_spans(text, (side for (a, d), (b, c) in around for side in ((a, b), (c, d))), " ")
    text = mask_spans(text, (match.span() for match in _TAG.finditer(text)), " ")
    # The bar between two cells stays, so that no name reaches from one into the other.
    return mask_spans(text, (match.span() for match in _MARKS.finditer(text) if match.group() != "|"), " ")
