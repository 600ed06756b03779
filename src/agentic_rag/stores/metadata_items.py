"""User metadata as a set of texts, and filters as conditions on the set; the base of every store's filter
translation.

A chunk's metadata becomes items, JSON texts: ``["year"]`` says that the key is there, ``["year", 2023]``
that the value (or a member of a list value) is 2023. Equality and membership are then "has one of these
items", which every store can index. Ranges and ``$contains`` are resolved first, against the distinct values that
the dataset holds under the key, by the very function that defines what a filter means.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from agentic_rag.domain.filters import And, Comparison, Expression, Not, Or, Scalar, matches


@dataclass(frozen=True, slots=True)
class HasAny:
    """At least one of the items is present (never for no items); ``is_negated``: the opposite."""

    items: tuple[str, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A part holds."""

    parts: tuple[Condition, ...]


Condition = HasAny | AllOf | AnyOf
_OF_EACH_VALUE = ("$gt", "$gte", "$lt", "$lte", "$contains")
"""Operators that no item answers: each stored value is compared."""
T = TypeVar("T")


def metadata_items(metadata: Mapping[str, Any]) -> list[str]:
    """The items of a chunk: presence and value items, sorted, without duplicates."""
    items: set[str] = set()
    for key, value in metadata.items():
        if value is None:
            continue
        items.add(metadata_item(key))
        members = value if isinstance(value, list | tuple) else [value]
        items.update(metadata_item(key, member) for member in members if _is_scalar(member))
    return sorted(items)


def value_keys(metadata: Mapping[str, Any]) -> set[str]:
    """The keys under which a chunk has a value item."""
    return {key for item in metadata_items(metadata) for key, *value in [json.loads(item)] if value}


def metadata_item(*parts: Any) -> str:
    """The item of a key, or of a key and a value."""
    return json.dumps([_canonical(part) for part in parts], ensure_ascii=True, separators=(",", ":"))


def stored_key(item: str) -> str:
    """The metadata key an item is about, as ASCII JSON: a key may hold what no column can."""
    return json.dumps(json.loads(item)[0])


def range_keys(expression: Expression) -> set[str]:
    """Keys that an ordering operator or ``$contains`` is applied to: ``condition`` needs their distinct values."""
    match expression:
        case And(parts) | Or(parts):
            return set().union(*(range_keys(part) for part in parts))
        case Not(part):
            return range_keys(part)
        case Comparison(key, operator, _):
            return {key} if operator in _OF_EACH_VALUE else set()


def condition(
    expression: Expression, values: Mapping[str, Sequence[str]], *, is_negated: bool = False
) -> Condition:
    """The condition on a chunk's items that holds exactly where ``filters.matches`` does.

    NOT is carried down to the items: no store has to nest it.

    Args:
        expression: the filter.
        values: for each of ``range_keys(expression)``, the value items the dataset holds under it.
        is_negated: true exactly where ``filters.matches`` is false.
    """
    match expression:
        case And(parts) | Or(parts):
            inner = tuple(condition(part, values, is_negated=is_negated) for part in parts)
            return AllOf(inner) if isinstance(expression, And) != is_negated else AnyOf(inner)
        case Not(part):
            return condition(part, values, is_negated=not is_negated)
        case Comparison():
            return _of_comparison(expression, values, is_negated)


def translate(
    wanted_condition: Condition,
    has_any: Callable[[tuple[str, ...], bool], T],
    all_of: Callable[[list[T]], T],
    any_of: Callable[[list[T]], T],
) -> T:
    """A condition in a store's own language.

    Args:
        wanted_condition: the condition.
        has_any: says ``HasAny`` of its items and whether it is negated.
        all_of: joins what was said by AND.
        any_of: joins what was said by OR.
    """
    match wanted_condition:
        case HasAny(items, negated):
            return has_any(items, negated)
        case AllOf(parts) | AnyOf(parts):
            said = [translate(part, has_any, all_of, any_of) for part in parts]
            return all_of(said) if isinstance(wanted_condition, AllOf) else any_of(said)


def _of_comparison(
    comparison: Comparison, values: Mapping[str, Sequence[str]], is_negated: bool
) -> Condition:
    key, operator, value = comparison.key, comparison.operator, comparison.value
    if operator in ("$ne", "$nin"):
        is_negated = not is_negated
    if operator == "$exists":
        return HasAny((metadata_item(key),), is_negated == bool(value))
    if operator in ("$in", "$nin"):
        return _is_one_of(key, value, is_negated)  # type: ignore[arg-type]
    if operator in ("$eq", "$ne"):
        return _is_one_of(key, (value,), is_negated)  # type: ignore[arg-type]
    held = values.get(key, ())
    return HasAny(tuple(i for i in held if matches(comparison, {key: json.loads(i)[1]})), is_negated)


def _is_one_of(key: str, values: Sequence[Scalar], is_negated: bool) -> Condition:
    found = HasAny(tuple(sorted({metadata_item(key, value) for value in values})), is_negated)
    if None not in values:
        return found
    parts = (found, HasAny((metadata_item(key),), not is_negated))
    return AllOf(parts) if is_negated else AnyOf(parts)


def _canonical(value: Any) -> Any:
    """One spelling per number: 2023.0 is 2023. (ASCII JSON keeps NUL and quotes out of any language.)"""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _is_scalar(value: Any) -> bool:
    if isinstance(value, float):
        return value == value and value not in (float("inf"), float("-inf"))
    return value is None or isinstance(value, str | int | bool)
