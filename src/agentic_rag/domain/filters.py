"""Filter expressions on chunk metadata: a typed tree, two spellings, and what it means in Python.

The dict spelling is the one people know from document stores::

    {"year": 2023}                              equality
    {"year": {"$gte": 2020, "$lt": 2024}}       comparison; several on one key are joined by and
    {"tag": {"$in": ["tea", "茶"]}}             membership, ``$nin`` its negation
    {"title": {"$contains": "pasta"}}           part of the text, in any case
    {"$or": [{"lang": "zh"}, {"$not": {"draft": True}}]}

The command line takes ``year>=2023``, ``lang=zh``, ``tag!=draft``, ``title~pasta``; several are joined by and.
``filter_terms`` writes an expression so. Stores translate the tree; ``matches`` here is what every translation is tested
against.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any, Literal

from agentic_rag.domain.json_values import Json
from agentic_rag.errors import FilterError

Scalar = str | int | float | bool | None
Operator = Literal["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$contains"]

_ORDER_OPERATORS = ("$gt", "$gte", "$lt", "$lte")
MAX_NESTING = 64
"""Levels of mappings and lists; SQL parsers, recursive as they are, take no more."""
_OPERATORS = ("$eq", "$ne", *_ORDER_OPERATORS, "$in", "$nin", "$exists", "$contains")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metadata key against a value; a list in the metadata matches if one of its members does."""

    key: str
    operator: Operator
    value: Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class And:
    """All of the parts hold."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of the parts holds."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Expression


Expression = Comparison | And | Or | Not


def parse_filters(filters: Mapping[str, Any] | Expression | None) -> Expression | None:
    """Read the dict spelling; an ``Expression`` passes through, None and {} mean no filter.

    Raises:
        FilterError: an unknown operator, or a value an operator cannot take.
    """
    if _is_deeper(filters, MAX_NESTING):
        raise FilterError(f"filters are nested more than {MAX_NESTING} levels deep; nest them less")
    if filters is None or isinstance(filters, Comparison | And | Or | Not):
        return filters
    if not isinstance(filters, Mapping):
        raise FilterError(f"filters must be a mapping such as {{'year': 2023}}, not {filters!r}")
    if not filters:
        return None
    return _join([_parse_item(key, value) for key, value in filters.items()])


def _is_deeper(filters: Any, levels: int) -> bool:
    """Whether mappings, lists and expressions stand more than ``levels`` deep in each other."""
    match filters:
        case Mapping():
            members: Sequence[Any] = list(filters.values())
        case list() | tuple():
            members = filters
        case And(parts) | Or(parts):
            members = [parts]
        case Not(part):
            members = [part]
        case _:
            return False
    return levels == 0 or any(_is_deeper(member, levels - 1) for member in members)


def _join(parts: list[Expression]) -> Expression:
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _parse_item(key: Any, value: Any) -> Expression:
    if not isinstance(key, str) or not key:
        raise FilterError(f"a filter key must be a non-empty string, not {key!r}")
    if key in ("$and", "$or"):
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            raise FilterError(f"{key} takes a non-empty list of filters, not {value!r}")
        parts = tuple(_require(part) for part in value)
        return And(parts) if key == "$and" else Or(parts)
    if key == "$not":
        return Not(_require(value))
    if key.startswith("$"):
        raise FilterError(
            f"unknown filter operator {key!r}; on top: $and, $or, $not; on a key: {', '.join(_OPERATORS)}"
        )
    if isinstance(value, Mapping):
        if not value:
            raise FilterError(
                f"the filter on {key!r} is empty; give a value or one of {', '.join(_OPERATORS)}"
            )
        return _join([_comparison(key, operator, operand) for operator, operand in value.items()])
    return _comparison(key, "$eq", value)


def _require(value: Any) -> Expression:
    parsed = parse_filters(value)
    if parsed is None:
        raise FilterError("a filter inside $and, $or or $not is empty; fill it, or leave it out")
    return parsed


def _comparison(key: str, operator: Any, value: Any) -> Expression:
    if operator == "$not":
        return Not(_require({key: value}))
    if operator not in _OPERATORS:
        raise FilterError(
            f"unknown filter operator {operator!r} on {key!r}; use one of {', '.join(_OPERATORS)}, $not"
        )
    if operator in ("$in", "$nin"):
        if isinstance(value, str) or not isinstance(value, Sequence | set | frozenset):
            raise FilterError(f"{operator} on {key!r} takes a list, not {value!r}")
        return Comparison(key, operator, tuple(_scalar(key, member) for member in value))
    if operator == "$exists" and not isinstance(value, bool):
        raise FilterError(f"$exists on {key!r} takes true or false, not {value!r}")
    if operator == "$contains" and not isinstance(value, str):
        raise FilterError(f"$contains on {key!r} takes a text, not {value!r}")
    value = _scalar(key, value)
    if operator in _ORDER_OPERATORS and (value is None or isinstance(value, bool)):
        raise FilterError(f"{operator} on {key!r} takes a number, a date or a text, not {value!r}")
    return Comparison(key, operator, value)


def _scalar(key: str, value: Any) -> Scalar:
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise FilterError(f"the filter on {key!r} compares with {value!r}, which is not a finite number")
        return value
    raise FilterError(f"the filter on {key!r} takes a text, number, boolean, date or null, not {value!r}")


_TERM = re.compile(
    r"^\s*([^\s<>=!~]+(?:\s+[^\s<>=!~]+)*)\s*(>=|<=|!=|==|=|>|<|~)\s*((?![\s<>=]).*?)\s*$", re.DOTALL
)
_OPERATOR_SPELLINGS: dict[str, Operator] = {
    "=": "$eq", "==": "$eq", "!=": "$ne", ">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte", "~": "$contains",
}  # fmt: skip


def parse_terms(terms: Sequence[str]) -> Expression | None:
    """Read the command line's spelling, joined by and: ``["year>=2023", "lang=zh"]``.

    A value is read as JSON where it is JSON (``2023``, ``true``, ``"2023"``), else as the text it is. After ``~`` it is
    a text: ``year~202`` is in 2023.
    """
    return _join([_parse_term(term) for term in terms]) if terms else None


def term_values(terms: Sequence[str]) -> Json | None:
    """The command line's spelling as a dict; None for no terms; see ``parse_terms``."""
    expression = parse_terms(terms)
    return None if expression is None else as_dict(expression)


def _parse_term(term: str) -> Expression:
    found = _TERM.match(term)
    if not found:
        raise FilterError(
            f"cannot read the filter {term!r}; write KEY=VALUE, with one of = != > >= < <= ~, and a value that "
            "begins with one of these in double quotes"
        )
    key, operator, text = found.groups()
    if not text.strip() and operator in (">", ">=", "<", "<="):
        raise FilterError(
            f"the filter {term!r} has no value; write what {key} is compared with after {operator}"
        )
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if operator == "~" and not isinstance(value, str):
        value = text
    return _parse_item(key, {_OPERATOR_SPELLINGS[operator]: value})


_SIGNS: dict[Operator, str] = {
    "$eq": "=", "$ne": "!=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<=", "$contains": "~",
}  # fmt: skip
_NEGATIONS: dict[Operator, Operator] = {"$eq": "$ne", "$ne": "$eq", "$in": "$nin", "$nin": "$in"}


def filter_terms(expression: Expression | None) -> list[str] | None:
    """The command line's spelling, which ``parse_terms`` reads; None where terms joined by and cannot express it.

    They express no alternatives, and of negations only those of equality.

    Example:
        >>> filter_terms(parse_filters({"folder": "games", "price": {"$gt": 20}}))
        ['folder=games', 'price>20']
    """
    match expression:
        case None:
            return []
        case And(parts):
            terms = [filter_terms(part) for part in parts]
            return None if None in terms else [term for some in terms for term in some or ()]
        case Or((part,)):
            return filter_terms(part)
        case Not(part):
            return _spelled_negation(part)
        case Comparison(key, "$in", tuple((value,))):
            return _spelled_term(key, "$eq", value)
        case Comparison(key, "$nin", tuple(values)) if values:
            return filter_terms(And(tuple(Comparison(key, "$ne", value) for value in values)))
        case Comparison(key, operator, value) if operator in _SIGNS and not isinstance(value, tuple):
            return _spelled_term(key, operator, value)
    return None


def _spelled_negation(part: Expression) -> list[str] | None:
    match part:
        case Or(parts):
            return filter_terms(And(tuple(map(Not, parts))))
        case Not(inner):
            return filter_terms(inner)
        case Comparison(key, operator, value) if operator in _NEGATIONS:
            return filter_terms(Comparison(key, _NEGATIONS[operator], value))
    return None


def _spelled_term(key: str, operator: Operator, value: Scalar) -> list[str] | None:
    """The value as the text it is, or as JSON where that would be read as something else."""
    written = json.dumps(value, ensure_ascii=False)
    plain = [value] if isinstance(value, str) and value.isprintable() else []
    for text in (*plain, written):
        term = f"{key}{_SIGNS[operator]}{text}"
        try:
            if _parse_term(term) == Comparison(key, operator, value) and term.isprintable():
                return [term]
        except FilterError:
            continue
    return None


def matches(expression: Expression, metadata: Mapping[str, Any]) -> bool:
    """Whether metadata passes. A missing key equals null, and passes only ``$eq`` null, ``$ne``, ``$nin``, ``$exists`` false."""
    match expression:
        case And(parts):
            return all(matches(part, metadata) for part in parts)
        case Or(parts):
            return any(matches(part, metadata) for part in parts)
        case Not(part):
            return not matches(part, metadata)
        case Comparison(key, operator, value):
            return _compare(metadata.get(key), operator, value)


def _compare(stored_value: Any, operator: Operator, value: Any) -> bool:
    members = list(stored_value) if isinstance(stored_value, list | tuple) else [stored_value]
    if operator == "$exists":
        return (stored_value is not None) is bool(value)
    if operator == "$eq":
        return any(same(member, value) for member in members)
    if operator == "$ne":
        return not any(same(member, value) for member in members)
    if operator in ("$in", "$nin"):
        # Whether one is equal at all, as 1 and True are, a tuple tells ten times sooner than ``same`` of each.
        found = any(member in value and any(same(member, wanted) for wanted in value) for member in members)
        return found == (operator == "$in")
    if operator == "$contains":
        part = _fold(str(value))
        return any(part in _fold(written) for member in members for written in _searched_texts(member))
    return any(_compare_ordered(member, value, _ORDER[operator]) for member in members)


def same(stored_value: Any, value: Scalar) -> bool:
    """Equality as filters mean it: 1 == 1.0, but True is not 1 and "1" is not 1."""
    if isinstance(stored_value, bool) or isinstance(value, bool):
        return stored_value is value
    if isinstance(stored_value, int | float) and isinstance(value, int | float):
        return stored_value == value
    return type(stored_value) is type(value) and bool(stored_value == value)


def _searched_texts(stored_value: Any) -> list[str]:
    """What ``$contains`` searches, in a list of one: a text, a number or boolean as JSON writes it; else nothing.

    2023.0 is written 2023: equal numbers contain the same.
    """
    if isinstance(stored_value, str):
        return [stored_value]
    if isinstance(stored_value, float) and stored_value.is_integer():
        stored_value = int(stored_value)
    return [json.dumps(stored_value)] if isinstance(stored_value, bool | int | float) else []


def _fold(text: str) -> str:
    """Without case, and full-width letters and ligatures as plain ones; accents stay."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


_ORDER: dict[str, Callable[[Any, Any], bool]] = dict(zip(_ORDER_OPERATORS, (gt, ge, lt, le), strict=True))


def _compare_ordered(stored_value: Any, value: Any, holds: Callable[[Any, Any], bool]) -> bool:
    """Numbers compare with numbers, texts (and ISO dates) with texts; anything else does not hold."""
    if isinstance(stored_value, bool):
        return False
    numbers = isinstance(stored_value, int | float) and isinstance(value, int | float)
    texts = isinstance(stored_value, str) and isinstance(value, str)
    return (numbers or texts) and holds(stored_value, value)


def keys_of(expression: Expression) -> set[str]:
    """The metadata keys that an expression names."""
    match expression:
        case And(parts) | Or(parts):
            return set().union(*(keys_of(part) for part in parts))
        case Not(part):
            return keys_of(part)
        case Comparison(key):
            return {key}


def values_of(expression: Expression) -> list[Scalar]:
    """The values that an expression compares with."""
    match expression:
        case And(parts) | Or(parts):
            return [value for part in parts for value in values_of(part)]
        case Not(part):
            return values_of(part)
        case Comparison(_, _, value):
            return list(value) if isinstance(value, tuple) else [value]


def as_dict(expression: Expression) -> Json:
    """The dict spelling of an expression: plain values, for the graph's state."""
    match expression:
        case And(parts):
            return {"$and": [as_dict(part) for part in parts]}
        case Or(parts):
            return {"$or": [as_dict(part) for part in parts]}
        case Not(part):
            return {"$not": as_dict(part)}
        case Comparison(key, operator, value):
            return {key: {operator: list(value) if isinstance(value, tuple) else value}}
