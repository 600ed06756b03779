"""A dataset's schema as short texts, for the terminal and the page: cut with "and N more"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def values_text(key: Mapping[str, Any], most: int, width: int) -> str:
    """The values of a property with their number of notes, or the least and the greatest of many numbers or dates.

    Args:
        key: a property of ``Schema.to_dict()``.
        most: values that are named.
        width: code points of a value.

    Example:
        >>> genre = {"values": {"Drama": 25, "War": 1, "Noir": 1}, "distinct": 3, "range": None}
        >>> values_text(genre, 2, 20)
        'Drama (25), War, and 1 more'
    """
    if key["range"] is not None and key["distinct"] > most:
        return " – ".join(key["range"])
    shown = list(key["values"].items())[:most]
    texts = [_cut(value, width) + (f" ({count})" if count > 1 else "") for value, count in shown]
    return _join_texts(texts, key["distinct"] - len(shown))


def counts_text(counts: Mapping[str, int], most: int, more: int = 0) -> str:
    """Names with their counts.

    Args:
        counts: the most frequent first.
        most: names that are shown.
        more: names that are not in ``counts``.

    Example:
        >>> counts_text({"tea": 3, "cup": 1, "pot": 1}, 2)
        'tea (3), cup (1), and 1 more'
    """
    shown = [f"{name} ({count})" for name, count in list(counts.items())[:most]]
    return _join_texts(shown, len(counts) - len(shown) + more)


def _join_texts(texts: list[str], more: int) -> str:
    return ", ".join([*texts, *([f"and {more} more"] if more else [])])


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
