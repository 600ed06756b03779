"""LanceDB predicates for the graph's tables, built from values only; pure.

Column names are literals of this package; every value goes through ``quote``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from agentic_rag.stores.lancedb.sql import is_one_of, quote

NOTHING = "1 = 0"


def is_in(column: str, values: Collection[str]) -> str:
    """``column`` is one of the values; never true for none."""
    clean = [value for value in values if "\0" not in value]
    if not clean:
        return NOTHING
    return is_one_of(column, clean)


def has_any(column: str, values: Collection[str]) -> str:
    """The list column shares an item with the values."""
    clean = [value for value in values if "\0" not in value]
    if not clean:
        return NOTHING
    return f"array_has_any({column}, make_array({', '.join(quote(value) for value in clean)}))"


def every(conditions: Iterable[str | None]) -> str | None:
    """The conjunction of the conditions; None without conditions."""
    present = [condition for condition in conditions if condition]
    return " AND ".join(present) if present else None
