"""A result as text for a chat model, with title and facts, because the passage alone seldom names its subject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.domain.results import GraphFact, Passage

MAX_FACTS = 5
"""Maximum facts of the graph per passage."""
_MIDNIGHT = "T00:00:00+00:00"


def passage_text(result: Passage) -> str:
    """A line with title, headings and date, the text, and a line for each labelled relation."""
    metadata = result["metadata"]
    stands = [metadata.get("title"), *(metadata.get("heading_path") or ())]
    place = " › ".join(dict.fromkeys(str(part) for part in stands if part))
    date = _day(metadata.get("date"))
    head = f"{place} ({date})" if place and date else place or date
    drawn = [
        _with_validity(fact)
        for fact in result.get("facts") or ()
        if not is_plain(fact) and fact["source"] and fact["target"]
    ]
    return "\n".join(filter(None, [head, result["content"].strip(), *drawn[:MAX_FACTS]]))


def _with_validity(fact: GraphFact) -> str:
    """The relation; if its end is known, with the start and end of its validity."""
    if fact.get("invalid_at") is None:
        return arrow(fact)
    since = f"from {_day(fact['valid_at'])} " if fact.get("valid_at") else ""
    return f"{arrow(fact)} ({since}until {_day(fact['invalid_at'])})"


def _day(moment: Any) -> str:
    """ISO 8601; midnight is left out."""
    return str(moment or "").removesuffix(_MIDNIGHT)


PLAIN_RELATIONS = {
    "LINKS_TO": "链接到",
    "MENTIONS": "提到",
    "CONTAINS": "包含",
    "HAS_TAG": "有标签",
    "TALKS_ABOUT": "谈到",
}
"""Relations that the ingest names, in Chinese; the others are the words of the notes."""


def is_plain(fact: Mapping[str, object]) -> bool:
    """Whether the fact has no labelled relation."""
    return str(fact["name"]) in PLAIN_RELATIONS


def relation(name: str, *, in_chinese: bool = False) -> str:
    """The relation of a fact as words."""
    words = name.replace("_", " ").lower()
    return PLAIN_RELATIONS.get(name, words) if in_chinese else words


def arrow(fact: Mapping[str, object], *, in_chinese: bool = False) -> str:
    """``source —relation→ target``."""
    return f"{fact['source']} —{relation(str(fact['name']), in_chinese=in_chinese)}→ {fact['target']}"
