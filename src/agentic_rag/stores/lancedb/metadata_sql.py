"""Filter expressions as LanceDB SQL, exact for arbitrary user metadata.

A chunk's items (see ``stores.metadata_items``) are stored as ``meta``, a list of texts with a label-list
index; a condition on them is ``array_has_any``, joined by AND and OR.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentic_rag.domain.filters import Expression
from agentic_rag.stores.lancedb.connection import quoted
from agentic_rag.stores.metadata_items import condition, translate

NOTHING = "(chunk_id IS NULL)"
"""Never true: the key column is not nullable. A literal ``false`` is not accepted everywhere."""
MOST_REMEMBERED = 256
"""Filters whose SQL is kept for the next search."""


class FilterSql:
    """``to_sql`` that remembers: people search with the same filter again, and a range looks at every value."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Mapping[str, Sequence[str]], str]] = {}

    def of(self, expression: Expression, values: Mapping[str, Sequence[str]]) -> str:
        """See ``to_sql``; translated anew where the dataset holds other values."""
        spelled = repr(expression)  # 1, 1.0 and True are equal, and not the same filter
        held, sql = self._known.get(spelled, (None, ""))
        if held == values:
            return sql
        sql = to_sql(expression, values)
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[spelled] = values, sql
        return sql


def to_sql(expression: Expression, values: Mapping[str, Sequence[str]]) -> str:
    """A boolean SQL expression that is true exactly where ``filters.matches`` is.

    NOT stands at the items alone: LanceDB refuses a NOT of a NOT, and takes exponential time for many
    of them.

    Args:
        expression: the filter.
        values: for each of ``range_keys(expression)``, the value items the dataset holds under it.
    """
    return translate(condition(expression, values), _has_any, _all_of, _any_of)


def _has_any(items: Sequence[str], negated: bool) -> str:
    found = NOTHING
    if items:
        found = f"array_has_any(meta, [{', '.join(quoted(item) for item in items)}])"
    return f"(NOT {found})" if negated else found


def _all_of(parts: Sequence[str]) -> str:
    return f"({' AND '.join(parts)})"


def _any_of(parts: Sequence[str]) -> str:
    return f"({' OR '.join(parts)})"
