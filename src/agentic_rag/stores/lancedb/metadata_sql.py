"""Filter expressions as LanceDB SQL, exact for arbitrary user metadata.

A chunk's metadata is stored as ``meta``, a list of JSON texts with a label-list index: ``["year"]`` says
that the key is there, ``["year", 2023]`` that the value (or a member of a list value) is 2023. Equality
and membership are then one ``array_has_any``. Ranges are resolved first, against the distinct values
that the dataset holds under the key, by the very function that defines what a filter means.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentic_rag.filters import And, Comparison, Expression, Not, Or, Scalar, matches
from agentic_rag.stores.lancedb.connection import quoted

NOTHING = "(chunk_id IS NULL)"
"""Never true: the key column is not nullable. A literal ``false`` is not accepted everywhere."""


def metadata_items(metadata: Mapping[str, Any]) -> list[str]:
    """The ``meta`` list of a chunk: presence and value items, sorted, without duplicates."""
    items: set[str] = set()
    for key, value in metadata.items():
        if value is None:
            continue
        items.add(metadata_item(key))
        members = value if isinstance(value, list | tuple) else [value]
        items.update(metadata_item(key, member) for member in members if _is_scalar(member))
    return sorted(items)


def stored_key(item: str) -> str:
    """The metadata key an item is about, as ASCII JSON: a key may hold what no column can."""
    return json.dumps(json.loads(item)[0])


def range_keys(expression: Expression) -> set[str]:
    """Keys that an ordering operator is applied to: their distinct values are needed by ``to_sql``."""
    match expression:
        case And(parts) | Or(parts):
            return set().union(*(range_keys(part) for part in parts))
        case Not(part):
            return range_keys(part)
        case Comparison(key, operator, _):
            return {key} if operator in ("$gt", "$gte", "$lt", "$lte") else set()


def to_sql(expression: Expression, values: Mapping[str, Sequence[str]], *, negated: bool = False) -> str:
    """A boolean SQL expression that is true exactly where ``filters.matches`` is.

    NOT is carried down to the comparisons: LanceDB refuses a NOT of a NOT, and takes exponential time
    for many of them.

    Args:
        expression: the filter.
        values: for each of ``range_keys(expression)``, the value items the dataset holds under it.
        negated: true exactly where ``filters.matches`` is false.
    """
    match expression:
        case And(parts):
            return _joined("OR" if negated else "AND", parts, values, negated)
        case Or(parts):
            return _joined("AND" if negated else "OR", parts, values, negated)
        case Not(part):
            return to_sql(part, values, negated=not negated)
        case Comparison():
            return _comparison(expression, values, negated)


def _joined(
    word: str, parts: Sequence[Expression], values: Mapping[str, Sequence[str]], negated: bool
) -> str:
    return "(" + f" {word} ".join(to_sql(part, values, negated=negated) for part in parts) + ")"


def _comparison(comparison: Comparison, values: Mapping[str, Sequence[str]], negated: bool) -> str:
    key, operator, value = comparison.key, comparison.operator, comparison.value
    if operator in ("$ne", "$nin"):
        negated = not negated
    if operator == "$exists":
        found = _has([metadata_item(key)])
        negated = negated == bool(value)
    elif operator in ("$in", "$nin"):
        found = _is_one_of(key, value)  # type: ignore[arg-type]
    elif operator in ("$eq", "$ne"):
        found = _is_one_of(key, (value,))  # type: ignore[arg-type]
    else:
        held = values.get(key, ())
        found = _has([item for item in held if matches(comparison, {key: json.loads(item)[1]})])
    return f"(NOT {found})" if negated else found


def _is_one_of(key: str, wanted: Sequence[Scalar]) -> str:
    found = _has(sorted({metadata_item(key, value) for value in wanted}))
    return f"({found} OR NOT {_has([metadata_item(key)])})" if None in wanted else found


def _has(items: Sequence[str]) -> str:
    if not items:
        return NOTHING
    return f"array_has_any(meta, [{', '.join(quoted(item) for item in items)}])"


def metadata_item(*parts: Any) -> str:
    """A key, or a key and a value, as a ``meta`` list holds it."""
    return json.dumps([_canonical(part) for part in parts], ensure_ascii=True, separators=(",", ":"))


def _canonical(value: Any) -> Any:
    """One spelling per number: 2023.0 is 2023. (ASCII JSON keeps NUL and quotes out of the SQL.)"""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _is_scalar(value: Any) -> bool:
    if isinstance(value, float):
        return value == value and value not in (float("inf"), float("-inf"))
    return value is None or isinstance(value, str | int | bool)
