"""Any text a person types, made harmless for full text; pure."""

from __future__ import annotations

import unicodedata

MAX_WORDS = 60
"""Graphiti drops the full-text leg beyond 63 words on one backend and 128 on another."""
MAX_CHARACTERS = 600
"""Bounds scripts that put no space between words."""


def searchable(query: str) -> str:
    """The query without control characters and surrogates, at most 60 words; may be empty."""
    printable = "".join(" " if unicodedata.category(c)[0] == "C" else c for c in query[: 20 * MAX_CHARACTERS])
    words = unicodedata.normalize("NFKC", printable).split()[:MAX_WORDS]
    return " ".join(words)[:MAX_CHARACTERS].strip()


def has_terms(text: str) -> bool:
    """Whether full text could find anything: at least one letter or digit of any script."""
    return any(character.isalnum() for character in text)
