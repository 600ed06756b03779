"""What the graph says of a result's chunk, as it is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PLAIN_RELATIONS = frozenset({"LINKS_TO", "MENTIONS", "CONTAINS", "HAS_TAG", "TALKS_ABOUT"})


def is_plain(fact: Mapping[str, Any]) -> bool:
    """Whether nobody said how the two are related."""
    return str(fact["name"]) in _PLAIN_RELATIONS


def arrow(fact: Mapping[str, Any]) -> str:
    """``source —relation→ target``."""
    relation = str(fact["name"]).replace("_", " ").lower()
    return f"{fact['source']} —{relation}→ {fact['target']}"
