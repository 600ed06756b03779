"""What a note's running text holds besides words: tags and Dataview fields, outside code and URLs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import regex

from agentic_rag.notes.links import is_escaped

MASK = "\x00"
"""Stands for a hidden character: no word character, no space, no bracket."""

_OF_A_LINE = re.compile(r"[^\r\n]+")
_TICKS_OR_MATH = re.compile(r"`+|\$\$")
_URL = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*://[^\s<>\]）)\x00]*|\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*+\)|<[A-Za-z/!][^<>]*>|\[\[[^\[\]\r\n]*\]\]"
)
# What Obsidian refuses in a tag, and the full-width punctuation that ends a word in Chinese and Japanese.
_TAG = re.compile(
    r"(?<![^\s(（\[【「『,，。、;；！？“>|])#"
    r"([^\s\x00-\x1f\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
    r"'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)"
)
_FIELD_KEY = r"\w[\w/-]*(?:[ \t]+[\w/-]+){0,5}"
_ITEM = r"^[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+(?:\[.\][ \t]+)?)?"
_LINE_VALUE = r"(?:[ \t]+|(?=\[\[))(?P<value>[^\s][^\r\n]*)"
_LINE_FIELD = regex.compile(rf"{_ITEM}(?P<key>{_FIELD_KEY})::{_LINE_VALUE}", regex.MULTILINE)
_MARKED_FIELD = regex.compile(
    rf"{_ITEM}(?P<mark>\*\*|__|\*|_)(?P<key>{_FIELD_KEY})(?:(?P=mark)::|::(?P=mark)){_LINE_VALUE}",
    regex.MULTILINE,
)
_BRACKET_FIELD = regex.compile(
    rf"(?<!\[)\[(?P<key>{_FIELD_KEY})::[ \t]*(?P<value>[^\[\]\r\n]*(?:\[\[[^\[\]\r\n]*\]\][^\[\]\r\n]*)*+)\]"
)
_PAREN_FIELD = regex.compile(rf"\((?P<key>{_FIELD_KEY})::[ \t]*(?P<value>[^()\r\n]*)\)")
_NUMBER = re.compile(r"[-+]?\d{1,15}(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class InlineField:
    """A Dataview field; ``start`` and ``end`` hold the value."""

    key: str
    value: Any
    start: int
    end: int


def mask_spans(text: str, spans: Iterable[tuple[int, int]], sign: str = MASK) -> str:
    """The text with each character of the spans (in order, apart) as the sign, but for line ends; same length."""
    parts, position = [], 0
    for start, end in spans:
        parts += [text[position:start], _OF_A_LINE.sub(lambda run: sign * len(run.group()), text[start:end])]
        position = end
    return "".join([*parts, text[position:]])


def hide_code(text: str, regions: list[tuple[int, int]]) -> str:
    """The text with everything outside the regions, code spans and ``$$`` formulas hidden; same length.

    Line ends stay, each as ``\\n``, so that line-wise patterns work on every kind of line end.
    """
    spans, position = [], 0
    for start, end in regions:
        spans += [(position, start), *_code_spans(text, start, end)]
        position = end
    return mask_spans(text, [*spans, (position, len(text))]).replace("\r", "\n")


def _code_spans(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Code spans: a run of n backticks up to the next run of exactly n (CommonMark 6.1)."""
    runs = [(match.start(), match.group()) for match in _TICKS_OR_MATH.finditer(text, begin, end)]
    places: dict[str, list[int]] = {}
    for start, run in runs:
        places.setdefault(run, []).append(start)
    position = begin
    for start, run in runs:
        if start < position:
            continue
        first = 1 if is_escaped(text, start) else 0
        run, start = run[first:], start + first
        closing = places.get(run, [])
        found = bisect_right(closing, start)
        if not run or found == len(closing):
            continue
        position = closing[found] + len(run)
        yield start, position


def tags(masked_text: str) -> Iterator[str]:
    """``#a/b`` in any script, without the sign; not in URLs or links, and not a mere number."""
    if "#" not in masked_text:
        return
    for match in _TAG.finditer(
        mask_spans(masked_text, (found.span() for found in _URL.finditer(masked_text)))
    ):
        tag = match.group(1).strip("/")
        if is_tag(tag):
            yield tag


def is_tag(name: str) -> bool:
    """A tag needs a character that is not a digit, as in Obsidian; ``#1984`` is text."""
    return any(not character.isdigit() and character not in "-_/" for character in name)


def fields(text: str, masked_text: str) -> list[InlineField]:
    """Dataview fields in order of place: ``key:: value`` lines and list items, ``[key:: v]``, ``(key:: v)``.

    ``::`` counts only before white space or a wikilink, so that ``std::vector`` stays text.
    """
    if "::" not in masked_text:
        return []
    found: dict[int, InlineField] = {}
    for pattern in (_LINE_FIELD, _MARKED_FIELD, _BRACKET_FIELD, _PAREN_FIELD):
        for match in pattern.finditer(masked_text):
            written = text[match.start("value") : match.end("value")].strip()
            if written:
                field = InlineField(match.group("key"), _typed_value(written), *match.span("value"))
                found.setdefault(match.start("value"), field)
    return [found[start] for start in sorted(found)]


def _typed_value(value_text: str) -> Any:
    """Numbers and true/false as such, so that filters can compare them; anything else as written."""
    if value_text in ("true", "false"):
        return value_text == "true"
    if _NUMBER.fullmatch(value_text):
        return float(value_text) if "." in value_text else int(value_text)
    return value_text
