"""Parses a history text into lines (date, speaker, text) and their sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from agentic_rag.text.sentences import split_sentences
from agentic_rag_lab.designs.reading.words import Word, telling, words_of
from agentic_rag_lab.sources.locomo import parse_session_date

_BULLET = re.compile(r"^\s*(?:[-*•]\s+|\d{1,4}[.)]\s+|\[\d{1,4}\]\s*)+")
_LEADING_DATE = re.compile(r"^[(\[](?P<date>[^()\[\]\n]{4,60})[)\]]\s*")
_SPEAKER = re.compile(r"^(?P<speaker>[^:：()\[\]\n]{1,40})[:：]\s*(?P<text>.*)$")
_LEADING_SPEAKER = re.compile(
    r"^(?P<speaker>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){0,2})[:：]\s+(?P<text>.+)$"
)
_PREAMBLE = re.compile(r"(?:the following|below) (?:is|are)\b[^:：\n]*[.:]?\s*$", re.IGNORECASE)
_PHOTO = re.compile(r"\[shares a photo: (?P<caption>[^\]]*)\]?")


@dataclass(frozen=True, slots=True)
class Line:
    """A turn, or a line of plain text."""

    index: int
    """Index in the history, from 0."""
    date: date | None
    speaker: str
    """"" without a speaker."""
    text: str

    @property
    def terms(self) -> frozenset[str]:
        """Stems of its content words."""
        return _terms(self.text)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a line, or the caption of a photo that was shared with it."""

    line: Line
    place: int
    """Index in its line, from 0."""
    text: str
    caption: bool = False

    @property
    def words(self) -> tuple[Word, ...]:
        return words_of(self.text)

    @property
    def terms(self) -> frozenset[str]:
        """Stems of its content words."""
        return _terms(self.text)

    @property
    def asks(self) -> bool:
        """Whether the sentence is a question."""
        return self.text.rstrip("\"'”’) ").endswith(("?", "？"))


@dataclass(frozen=True, slots=True)
class History:
    """A parsed history."""

    lines: tuple[Line, ...]
    sentences: tuple[Sentence, ...]
    """The sentences of all lines, in order."""

    @property
    def speakers(self) -> tuple[str, ...]:
        """All speakers, in order of first appearance; without speakers, the names that lines begin with, whom plain
        statements are about."""
        named = dict.fromkeys(line.speaker for line in self.lines if line.speaker)
        return tuple(named or dict.fromkeys(filter(None, map(_opening_name, self.lines))))


@lru_cache(maxsize=8)
def read_history(text: str) -> History:
    """Lines and sentences. Bullets and an opening "The following is …" are left out; a repeated line counts once. The
    date of a line is before it."""
    lines: list[Line] = []
    seen: set[tuple[date | None, str, str]] = set()
    for written in text.splitlines():
        bare = _BULLET.sub("", written).strip()
        if not bare or _PREAMBLE.fullmatch(bare):
            continue
        line = _line(len(lines), bare)
        key = (line.date, line.speaker, line.text)
        if line.text and key not in seen:
            seen.add(key)
            lines.append(line)
    sentences = [
        Sentence(line, place, part, caption)
        for line in lines
        for place, (part, caption) in enumerate(_parts(line.text))
    ]
    return History(tuple(lines), tuple(sentences))


def _line(index: int, text: str) -> Line:
    """Parses a line; of several dates before it (one added to an existing one) the last counts."""
    found = None
    while (dated := _LEADING_DATE.match(text)) is not None and (when := _date(dated["date"])) is not None:
        found, text = when, text[dated.end() :]
    spoken = (_LEADING_SPEAKER if found is None else _SPEAKER).match(text)
    speaker, said = (spoken["speaker"].strip(), spoken["text"]) if spoken is not None else ("", text)
    return Line(index, found, speaker, said.strip())


def _opening_name(line: Line) -> str:
    words = words_of(line.text)
    return words[0].text if words and words[0].capital and not words[0].function else ""


@lru_cache(maxsize=1024)
def _date(text: str) -> date | None:
    found = parse_session_date(text)
    return None if found is None else found.date()


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[tuple[str, bool], ...]:
    """Sentences, then captions of photos, each with whether it is a caption. Cached, because a history grows by
    lines."""
    captions = [match["caption"].strip() for match in _PHOTO.finditer(text)]
    said = _PHOTO.sub(" ", text)
    spoken = [(said[start:end], False) for start, end in split_sentences(said)]
    return tuple(spoken + [(caption, True) for caption in captions if caption])


@lru_cache(maxsize=16_384)
def _terms(text: str) -> frozenset[str]:
    return telling(words_of(text))
