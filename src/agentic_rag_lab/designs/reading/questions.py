"""Parses a question: its kind, the people and names in it, the time it states."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from agentic_rag.dates.spans import Interval
from agentic_rag.dates.stated import stated_interval
from agentic_rag.text import starts_cjk
from agentic_rag_lab.designs.reading.words import Word, stem, telling, words_of

Kind = Literal["when", "year", "likely", "yes_no", "what"]

_BE_DO = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|should|am)"
_KIND_PATTERNS: Sequence[tuple[Kind, str]] = (
    ("what", rf"^(?:would|might|could|{_BE_DO})\b.*\bor\b|^(?:which|what|who)\b.*[,:]\s[^,:?]+\sor\s[^,:?]+\?"),
    ("year", r"\b(?:which|what) year\b"),
    ("when", r"^(?:since |until |by )?when\b|\b(?:what|which) (?:day|date|month|time)\b|什么时候|何时|哪天|几月"),
    ("likely", r"^(?:would|might|could)\b"),
    ("yes_no", rf"^{_BE_DO}\b"),
)  # fmt: skip
_FORMS = [(kind, re.compile(form, re.IGNORECASE)) for kind, form in _KIND_PATTERNS]
_ACCORDING = re.compile(
    r"\b(?:according to|(?:as )?(?:mentioned|said|described|suggested) by)\s+([^\W\d_]+)", re.I
)
_ASKING = frozenset(
    "what which who whom whose where when why how kind kinds type types sort sorts many much long often old "
    "name named called according mention mentioned say said tell told share shared would might likely".split()
)
_ASKING_HAN = re.compile(
    "什么时候|为什么|为何|何时|哪[里儿天个些年种]|什么|怎么样?|如何|多少|多久|多长时间|几[个次月]|[谁吗呢吧了的是在过请问]"
)
_TIME = re.compile(
    r"\d+(?:st|nd|rd|th)?|(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber"
)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A parsed question."""

    text: str
    kind: Kind
    people: tuple[str, ...]
    """Speakers named in it, in order."""
    subject: str
    """The person it asks about; "" if nobody is named, or two people together."""
    terms: frozenset[str]
    """Stems of its content words, without people."""
    names: frozenset[str]
    """Stems of its capitalised words, without people and the first word: places, titles, others."""
    interval: Interval | None
    """The time stated in it."""


def read_question(text: str, speakers: Sequence[str]) -> ParsedQuestion:
    """The parsed question; a speaker of the history who is named is the person it is about."""
    words = words_of(text)
    named = _name_positions(words, speakers)
    people = tuple(dict.fromkeys(name for _, name in named)) or _written_in(text, speakers)
    names = {words[position].stem for position, _ in named}
    interval = stated_interval(text)
    said = [
        word
        for word in words_of(_content_text(text, people))
        if not (word.function or word.lower in _ASKING or word.stem in names)
        and not (interval is not None and _TIME.fullmatch(word.lower))
    ]
    terms = telling(said) or frozenset(word.stem for word in words)
    return ParsedQuestion(
        text=text,
        kind=next((kind for kind, form in _FORMS if form.search(text.strip())), "what"),
        people=people,
        subject=_subject(text, words, named, people),
        terms=terms,
        names=frozenset(word.stem for word in said if word.capital and word.start > 0),
        interval=interval,
    )


def _name_positions(words: Sequence[Word], speakers: Sequence[str]) -> list[tuple[int, str]]:
    """Positions of words that name a speaker by first or full name."""
    by_first = {stem(name.split()[0]): name for name in reversed(speakers) if name.split()}
    return [(n, by_first[word.stem]) for n, word in enumerate(words) if word.stem in by_first]


def _written_in(text: str, speakers: Sequence[str]) -> tuple[str, ...]:
    """Speakers whose names occur without spaces around them, in order."""
    found = [(text.find(name), name) for name in speakers if starts_cjk(name) and name in text]
    return tuple(name for _, name in sorted(found))


def _content_text(text: str, people: Sequence[str]) -> str:
    """A question without Chinese question words and names: 小明在哪里工作？ becomes 工作."""
    for name in people:
        text = text.replace(name, " ") if starts_cjk(name) else text
    return _ASKING_HAN.sub(" ", text)


def _subject(
    text: str, words: Sequence[Word], name_positions: Sequence[tuple[int, str]], people: Sequence[str]
) -> str:
    """The person named as the source of a statement, else the first one named, unless two are named together."""
    source = _ACCORDING.search(text)
    if source is not None:
        for name in people:
            if stem(name.split()[0]) == stem(source[1]):
                return name
    together = any(
        later - earlier == 2 and words[earlier + 1].lower in {"and", "or"}
        for (earlier, _), (later, _) in pairwise(name_positions)
    )
    return "" if together or not people else people[0]
