"""What is wrong with a step's settings, in words that name the key and what can stand there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError


def problems(error: ValidationError, kind: type[BaseModel], where: str) -> str:
    """All that is wrong, on one line.

    Args:
        error: of validating ``kind``.
        where: what the path of every key begins with.
    """
    return "; ".join(_problem(kind, item, where) for item in error.errors())


def shown(value: object) -> str:
    """A value as given, cut where it is long."""
    return f"{value!r:.80}"


def _problem(kind: type[BaseModel], item: Any, where: str) -> str:
    loc = item["loc"]
    key = where + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    owner = _section_at(kind, loc[:-1])
    if item["type"] == "extra_forbidden":
        return f"{key}: no such key here; use one of: {', '.join(owner.model_fields)}"
    choices = (
        get_args(owner.model_fields[loc[-1]].annotation) if loc and loc[-1] in owner.model_fields else ()
    )
    listed = (
        f"; use one of: {', '.join(choices)}" if choices and all(isinstance(c, str) for c in choices) else ""
    )
    if item["type"] == "missing":
        return f"{key}: missing{listed}"
    if item["type"] == "literal_error":
        return f"{key}: unknown {shown(item['input'])}{listed}"
    told = item["msg"].removeprefix("Value error, ")
    given = "" if item["type"] == "value_error" else f" (given: {shown(item['input'])})"
    return f"{key}: {told[0].lower()}{told[1:]}{given}"


def _section_at(kind: type[BaseModel], path: Sequence[int | str]) -> type[BaseModel]:
    """The section that holds the key at the path's end; list places are passed over."""
    for part in path:
        if isinstance(part, str):
            annotation: Any = kind.model_fields[part].annotation
            inner = [one for one in (annotation, *get_args(annotation)) if _is_section(one)]
            kind = inner[0]
    return kind


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
