"""Filter expressions on ``Note.facts`` as filters of Obsidian's Bases: what ``base_filters`` reads, written."""

from __future__ import annotations

import json
from typing import Any

from agentic_rag.domain.filters import And, Comparison, Expression, Not, Or, Scalar
from agentic_rag.errors import FilterError
from agentic_rag.notes.base_dates import is_date
from agentic_rag.notes.base_expressions import Call, parse_expression, written_text
from agentic_rag.notes.base_filters import LinkTarget, is_empty, links_to
from agentic_rag.notes.base_keys import LISTS, PLACES, written_key

_SIGNS = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_TEXTS = frozenset({"path", "document_id", "title", "file.name", "file.folder", "file.ext"})
"""Keys of one text, which is no date to Obsidian even if it looks like one."""
_NEVER = "false"
_ALWAYS = "true"

Filter = str | dict[str, list[Any]]
"""A statement, or an object with ``and``, ``or`` or ``not``."""


def written_filter(expression: Expression) -> Filter:
    """The expression as a filter of a base.

    Raises:
        FilterError: it orders folders, tags or links, which a base cannot.
    """
    match expression:
        case And(parts):
            return _group("and", [written_filter(part) for part in parts]) if parts else _ALWAYS
        case Or((Not(Comparison(key)), _)) if expression == is_empty(key):
            return f"{written_key(key)}.isEmpty()"
        case Or((Comparison(key, "$contains", str(link)), *_)) if expression == links_to(
            key, LinkTarget(link)
        ):
            return f"list({written_key(key)}).contains(link({written_text(LinkTarget(link))}))"
        case Or(parts):
            return _group("or", [written_filter(part) for part in parts]) if parts else _NEVER
        case Not(part):
            return _negate(written_filter(part))
        case Comparison():
            return _comparison(expression)


def _group(kind: str, parts: list[Filter]) -> Filter:
    """The parts joined; groups of the same kind become one, because a base must not nest deep."""
    members: list[Any] = []
    for part in parts:
        members += part[kind] if isinstance(part, dict) and kind in part else [part]
    return {kind: members}


def _negate(part: Filter) -> Filter:
    match part:
        case str():
            return f"!{part}" if isinstance(parse_expression(part), Call) else f"!({part})"
        case {"not": [inner]}:
            found: Filter = inner
            return found
        case {"or": members}:
            return {"not": members}
        case _:
            return {"not": [part]}


def _comparison(comparison: Comparison) -> Filter:
    key, operator, value = comparison.key, comparison.operator, comparison.value
    if isinstance(value, tuple):
        return _one_of(key, value, is_negated=operator == "$nin")
    if operator in ("$eq", "$ne"):
        found = _equals(key, value)
        return found if operator == "$eq" else _negate(found)
    if operator == "$exists":
        return _exists(key) if value else _negate(_exists(key))
    if operator == "$contains":
        return _contains(key, str(value))
    if key in LISTS:
        raise FilterError(
            f"a base cannot compare {key!r} with {operator}; leave it out, or use $eq, $in or $contains"
        )
    literal = written_text(value) if key in _TEXTS and isinstance(value, str) else _literal(value)
    return f"{written_key(key)} {_SIGNS[operator]} {literal}"


def _one_of(key: str, values: tuple[Scalar, ...], *, is_negated: bool) -> Filter:
    if not values:
        return _ALWAYS if is_negated else _NEVER
    found: list[Filter] = [_equals(key, value) for value in values]
    return {"not": found} if is_negated else found[0] if len(found) == 1 else {"or": found}


def _equals(key: str, value: Scalar) -> str:
    """That a value, or a member of a list, is the given one."""
    if key == "folder" and value is None:  # that of the vault itself has a name
        return f'{written_key(key)} == "/"'
    if value is None or not isinstance(value, str):
        return f"{written_key(key)} == {_literal(value)}"
    if key in LISTS:
        return _is_in(key, value)
    if key in _TEXTS:
        return f"{written_key(key)} == {written_text(value)}"
    if value.startswith("[[") and value.endswith("]]") and LinkTarget(value):
        # To Obsidian such a property is a link and not the text.
        return f"list({written_key(key)}).contains(link({written_text(LinkTarget(value))}))"
    if is_date(value):
        return f"{written_key(key)} == {_literal(value)}"
    return f"list({written_key(key)}).contains({written_text(value)})"


def _is_in(key: str, name: str) -> str:
    if not name or name != name.strip("/") or name.startswith("#"):
        return _NEVER  # no folder, tag or note is called so
    function = {"folder": "inFolder", "tags": "hasTag", "links": "hasLink"}[key]
    return f"file.{function}({written_text(name)})"


def _exists(key: str) -> str:
    if key == "folder":  # that of the vault itself has a name too
        return f'{written_key(key)} != "/"'
    if key in PLACES or "." in key:
        return f"{written_key(key)} != null"
    return f"file.hasProperty({written_text(key)})"


def _contains(key: str, part: str) -> Filter:
    owner = written_key(key)
    if key == "folder" and not part:
        return _exists(key)
    if not part:
        return {"or": [f"!{owner}.isEmpty()", _equals(key, "")]}
    text = owner if owner.startswith("file.") and key not in ("tags", "links") else f"{owner}.toString()"
    return f"{text}.lower().contains({written_text(part.lower())})"


def _literal(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    return f"date({written_text(value.replace('T', ' '))})" if is_date(value) else written_text(value)
