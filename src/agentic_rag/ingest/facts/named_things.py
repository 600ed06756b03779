"""Named things in stored text and in questions, by how they are written: capitals, quotes, scripts; no model.

Latin, Greek and Cyrillic names by their capitals, titles in quotes, Chinese names by jieba's dictionary
(see ``han_names``), Japanese ones as runs of katakana. A text without capitals gives none of the former.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import regex

from agentic_rag.ingest.facts.han_names import han_names
from agentic_rag.ingest.facts.stopwords import (
    ABBREVIATIONS,
    CALENDAR_WORDS,
    CONNECTORS,
    EVENTS,
    FUNCTION_WORDS,
    OPENING_TIMES,
    OPENING_WORDS,
    PLAIN_CAPS,
)
from agentic_rag.text import CJK, HAN, KATAKANA

MAX_WORDS = 8
"""A longer run of capitalised words is a headline, not a name."""
MAX_TITLE_LETTERS = 60

_WORD = regex.compile(
    rf"(?:[^\W\d_{CJK}]\.){{2,}}|[^\W_{CJK}](?:[^\W_{CJK}\u0300-\u036f]|[\u0300-\u036f])*"
    rf"(?:[-'’&][^\W_{CJK}](?:[^\W_{CJK}]|[\u0300-\u036f])*)*"
)
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)
_POSSESSIVE_ENDS = frozenset("sSſ'’")
_GAP = re.compile(r"[ \t\u00a0]+")
_INITIAL_GAP = re.compile(r"[ \t]?\.[ \t]{1,2}")
_AFTER_OF = frozenset({"the", "la", "le", "las", "los", "der", "den"})
_ROMAN = re.compile(r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_NOT_NAMES = FUNCTION_WORDS | OPENING_WORDS
_OPENERS = frozenset('"“«„「『（([‘—–-*•#>|:：;；\n\r!?。！？…')
_QUOTES = re.compile(
    r"“(?P<curly>[^“”\n]{2,80})”|《(?P<book>[^《》\n]{1,40})》|「(?P<corner>[^「」\n]{2,30})」|『(?P<double>[^『』\n]{2,30})』|«(?P<angle>[^«»\n]{2,80})»"
)
_STRAIGHT = re.compile(r'"')
_SENTENCE_PUNCTUATION = re.compile(r"[.;:。；：，,？?！!…]|\s$")
_KATAKANA_NAME = regex.compile(rf"[{KATAKANA}]{{3,}}(?:[・＝=][{KATAKANA}]{{2,}})*")
_HAN_WORD = regex.compile(rf"[{HAN}]{{2}}")
_HAN = regex.compile(rf"[{HAN}]")


@dataclass(frozen=True, slots=True)
class NamedThing:
    """``text[start:end]`` names something; ``name`` is it in NFC with single spaces, without possessive."""

    name: str
    start: int
    end: int


class _Token(NamedTuple):
    """Of each word of a vault one is made: a tuple takes a third of the time of a frozen class."""

    text: str
    start: int
    end: int
    capital: bool
    possessive: bool
    opens: bool
    """Stands where a sentence, line, item or quotation begins, so that its capital says nothing."""

    @property
    def lower(self) -> str:
        return self.text.lower().replace("’", "'")


def named_things(text: str) -> list[NamedThing]:
    """Every named thing in order of place, not overlapping, repeated ones each time.

    >>> [thing.name for thing in named_things("When did Apollo 11 land, asked Anna's friend of the Duke of York.")]
    ['Apollo 11', 'Anna', 'Duke of York']
    """
    spans = list(_quoted_spans(text))
    spans += _capitalised_spans(text)
    spans += [match.span() for match in _KATAKANA_NAME.finditer(text)]
    if _HAN_WORD.search(text):
        spans += han_names(text)
    things: list[NamedThing] = []
    taken = 0
    # What is quoted comes first among spans that begin together, a longer one before a shorter.
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= taken:
            name = " ".join(unicodedata.normalize("NFC", text[start:end]).split())
            things.append(NamedThing(name, start, end))
            taken = end
    return things


def _quoted_spans(text: str) -> Iterator[tuple[int, int]]:
    for match in _QUOTES.finditer(text):
        group = match.lastgroup or ""
        start, end = _strip_span(text, *match.span(group))
        if start < end and (group == "book" or _looks_like_title(text[start:end])):
            yield start, end
    marks = [match.start() for match in _STRAIGHT.finditer(text)]
    position = 0
    while position + 1 < len(marks):
        start, end = _strip_span(text, marks[position] + 1, marks[position + 1])
        if start < end and _looks_like_title(text[start:end]):
            yield start, end
            position += 1
        position += 1


def _strip_span(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _looks_like_title(text: str) -> bool:
    """A quoted name or title, rather than speech: few words, capitalised, no sentence punctuation."""
    if len(text) > MAX_TITLE_LETTERS or "\n" in text or _SENTENCE_PUNCTUATION.search(text.rstrip("!?")):
        return False
    if _HAN.search(text):
        return 2 <= len(text) <= 12 and not re.search(r"[的了吗呢吧啊是我你他她]", text)
    words = text.split()
    if len(words) > MAX_WORDS or not words[0][0].isupper():
        return False
    main = [word for word in words if word.lower() not in _NOT_NAMES and word[0].isalpha()]
    if not main:  # "All for You"
        return len(words) > 1 and words[-1][0].isupper()
    return all(word[0].isupper() for word in main)


def _capitalised_spans(text: str) -> Iterator[tuple[int, int]]:
    letters = "".join(filter(str.isalpha, text))
    capitals = sum(map(str.isupper, letters))
    if capitals == 0 or (len(letters) > 12 and 2 * capitals > len(letters)):
        return
    tokens = list(_tokens(text))
    evidence = _Evidence.of(tokens)
    index = 0
    while index < len(tokens):
        begins = tokens[index].capital or _is_ordinal(tokens, index)
        last = _run(text, tokens, index) if begins else index
        if index < last <= index + 3 * MAX_WORDS:
            yield from _trim_span(tokens[index:last], tokens[index - 1] if index else None, evidence)
        index = max(last, index + 1)


def _tokens(text: str) -> Iterator[_Token]:
    end = 0
    for match in _WORD.finditer(text):
        word, start = match.group(), match.start()
        name = _POSSESSIVE.sub("", word) or word if word[-1] in _POSSESSIVE_ENDS else word
        opens = _opens(text, end, start)
        end = match.end()
        yield _Token(name, start, start + len(name), name[0].isupper(), name != word, opens)


def _opens(text: str, previous_end: int, start: int) -> bool:
    if previous_end == 0:
        gap = text[:start]
        return not gap or not _HAN.search(gap)
    gap = text[previous_end:start]
    if gap == " ":  # of nine words in ten
        return False
    if not _OPENERS.isdisjoint(gap):
        return gap.strip() != "-"
    if "." not in gap:
        return False
    # "J. Smith", "Dr. Chen": the dot belongs to the word before it.
    begin = previous_end
    while begin > 0 and text[begin - 1].isalnum():
        begin -= 1
    before = text[begin:previous_end]
    return not (len(before) == 1 and before.isupper()) and before.lower() not in ABBREVIATIONS


def _run(text: str, tokens: list[_Token], first: int) -> int:
    """The index after the last token of the name that begins at ``first``."""
    last = index = first + 1
    while index < len(tokens) and _adjoins(text, tokens[index - 1], tokens[index]):
        token = tokens[index]
        numbered = token.text.isdigit() and last == index and len(token.text) <= 4
        if token.capital or numbered or _is_ordinal(tokens, index):
            last = index + 1
        elif not (token.lower in CONNECTORS and _may_connect(tokens, index, last)):
            break
        index += 1
    return last


def _adjoins(text: str, before: _Token, token: _Token) -> bool:
    """Whether two words can belong to one name: only spaces between them, or the dot of an initial."""
    gap = text[before.end : token.start]
    if before.possessive or token.lower == "i":
        return False
    if _GAP.fullmatch(gap):
        return True
    initial = (len(before.text) == 1 and before.capital) or before.lower in ABBREVIATIONS
    return initial and _INITIAL_GAP.fullmatch(gap) is not None and token.lower not in FUNCTION_WORDS


def _is_ordinal(tokens: list[_Token], index: int) -> bool:
    """``44th`` in front of a capitalised word."""
    if not tokens[index].text[0].isdigit() or index + 1 == len(tokens) or not tokens[index + 1].capital:
        return False
    return tokens[index + 1].start - tokens[index].end == 1 and bool(_ORDINAL.fullmatch(tokens[index].text))


def _may_connect(tokens: list[_Token], index: int, last: int) -> bool:
    token = tokens[index]
    if index == last:
        return token.lower != "the"
    return index == last + 1 and token.lower in _AFTER_OF


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The words that are capitalised inside a sentence, and those in lower case."""

    inside: frozenset[str]
    lower: frozenset[str]

    @classmethod
    def of(cls, tokens: list[_Token]) -> _Evidence:
        inside = frozenset(token.text for token in tokens if token.capital and not token.opens)
        return cls(inside, frozenset(token.text for token in tokens if not token.capital))

    def is_name(self, token: _Token) -> bool:
        """Whether a single word at the start of a sentence is a name, though any word is capital there."""
        if token.text in self.inside or (token.possessive and token.lower not in self.lower):
            return True
        return _is_acronym(token.text) or any(map(str.isupper, token.text[1:]))


def _is_acronym(word: str) -> bool:
    return len(word) >= 2 and word.isupper() and not word.isdigit() and not _ROMAN.fullmatch(word)


def _trim_span(tokens: list[_Token], before: _Token | None, evidence: _Evidence) -> Iterator[tuple[int, int]]:
    """The span of a name without words that only begin the sentence; nothing where no name is left."""
    while tokens and _only_opens(tokens, evidence):
        tokens = tokens[1:]
    while (
        tokens and (tokens[-1].lower in CONNECTORS or tokens[-1].lower in FUNCTION_WORDS) and len(tokens) > 1
    ):
        tokens = tokens[:-1]
    if not tokens or len(tokens) > MAX_WORDS or _only_calendar(tokens):
        return
    if len(tokens) == 1 and not _stands_alone(tokens[0], evidence):
        return
    start = tokens[0].start
    if before is not None and start - before.end == 1 and _is_edition(before, tokens):
        start = before.start
    yield start, tokens[-1].end


def _only_opens(tokens: list[_Token], evidence: _Evidence) -> bool:
    """Whether the first word is capital for the sentence's sake ("Yesterday Anna", "Support Anna")."""
    first = tokens[0]
    if first.text.isdigit() or first.lower in _NOT_NAMES or (first.opens and first.lower in OPENING_TIMES):
        return True
    joined = len(tokens) > 1 and tokens[1].lower not in CONNECTORS
    return first.opens and first.capital and joined and first.lower in evidence.lower


def _is_edition(before: _Token, tokens: list[_Token]) -> bool:
    """ "the 2008 Summer Olympics", but not "In 2008 Anna Lee"."""
    if len(tokens) < 2 or not _YEAR.fullmatch(before.text) or before.opens or before.possessive:
        return False
    return tokens[-1].lower in EVENTS


def _only_calendar(tokens: list[_Token]) -> bool:
    return all(token.lower in CALENDAR_WORDS or token.text.isdigit() for token in tokens)


def _stands_alone(token: _Token, evidence: _Evidence) -> bool:
    lower = token.lower
    if len(token.text) < 2 or lower in _NOT_NAMES or lower in PLAIN_CAPS or lower in CALENDAR_WORDS:
        return False
    if _ROMAN.fullmatch(token.text):
        return False
    if not token.opens:
        return True
    return evidence.is_name(token)
