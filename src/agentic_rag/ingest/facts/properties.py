"""What a note's properties, tags and headings name, and the interval for which it says it holds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import regex

from agentic_rag.dates.reading import day_of
from agentic_rag.dates.spans import Interval
from agentic_rag.ingest.facts.named_things import named_things
from agentic_rag.ingest.facts.names import Target, TitleIndex
from agentic_rag.ingest.facts.stopwords import GENERIC_TITLES, NAMING_KEYS, NO_NAME_KEYS
from agentic_rag.text import HAN

MAX_PROPERTIES = 64
MAX_VALUES = 20
"""Of one property that is a list."""
MAX_VALUE_LENGTH = 80
MAX_RELATION_LENGTH = 60

_HAN_NAME = regex.compile(rf"[{HAN}·]{{2,10}}")
_LIST_NUMBER = re.compile(r"\d+[.)、]?\s*|[一二三四五六七八九十]+、\s*")
_LATIN_WORD = re.compile(r"[^\W\d_]{2,}")


def relation_name(label: str) -> str:
    """A property key or a drawn label in UPPER_SNAKE, letters of any script; LINKS_TO where nothing is left.

    >>> relation_name("is a kind of"), relation_name("导致")
    ('IS_A_KIND_OF', '导致')
    """
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", label))
    return "_".join(words).upper()[:MAX_RELATION_LENGTH].rstrip("_") or "LINKS_TO"


def note_interval(metadata: Mapping[str, Any]) -> Interval:
    """``valid_from`` and ``valid_until`` (or ``from`` and ``until``) of a note; the last day still counts."""
    folded = {re.sub(r"[\s-]+", "_", key.casefold()): value for key, value in metadata.items()}
    starts = [day_of(folded.get(key)) for key in ("valid_from", "from")]
    ends = [day_of(folded.get(key)) for key in ("valid_until", "until")]
    start: datetime | None = next((unit[0] for unit in starts if unit is not None), None)
    end: datetime | None = next((unit[1] for unit in ends if unit is not None), None)
    return (None, None) if start is not None and end is not None and end <= start else (start, end)


def named_values(metadata: Mapping[str, Any], titles: TitleIndex) -> Iterator[tuple[str, str, Target | None]]:
    """Key, value and what it means, for values that are names: of a document, of a named thing as a whole (None), or
    one word under a key such as author.

    Links in properties are in ``Document.links`` and left out here.
    """
    for key, value in list(metadata.items())[:MAX_PROPERTIES]:
        folded = key.casefold().strip()
        if folded in NO_NAME_KEYS or folded.startswith("_"):
            continue
        for member in (value if isinstance(value, list) else [value])[:MAX_VALUES]:
            if isinstance(member, str) and (name := " ".join(member.split())) and _could_be_name(name):
                target = titles.document_named(name)
                if target is not None or _is_name(folded, name):
                    yield key, name, target


def tag_names(tag: str) -> list[str]:
    """``#a/b`` and the ``#a`` it lies under."""
    parts = [part for part in tag.split("/") if part]
    return ["#" + "/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def is_subject(heading: str) -> bool:
    """Whether a heading names a subject: not generic, not a sentence, two words or three Chinese characters."""
    name = _LIST_NUMBER.sub("", heading.strip(), count=1)
    if (
        name.casefold() in GENERIC_TITLES
        or len(name) > MAX_VALUE_LENGTH
        or re.search(r"[.?!:。？！：，,;；]", name)
    ):
        return False
    if _HAN_NAME.search(name):
        return 3 <= len(name) <= 16
    words = _LATIN_WORD.findall(name)
    informative = [word for word in words if word.casefold() not in GENERIC_TITLES]
    return 2 <= len(words) <= 6 and len(informative) >= 2


def _could_be_name(value: str) -> bool:
    if len(value) > MAX_VALUE_LENGTH or "[[" in value or "://" in value or "@" in value:
        return False
    return any(map(str.isalpha, value)) and value.casefold() not in GENERIC_TITLES


def _is_name(key: str, value: str) -> bool:
    if _HAN_NAME.fullmatch(value):
        return key in NAMING_KEYS or _whole(value)
    if key in NAMING_KEYS and value[0].isupper() and len(value.split()) == 1 and value.isalpha():
        return True
    return _whole(value)


def _whole(value: str) -> bool:
    things = named_things(value)
    return len(things) == 1 and (things[0].start, things[0].end) == (0, len(value))
