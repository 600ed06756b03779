"""Evaluation, the corrections: an overlay file that puts known wrong keys of LoCoMo right.

{"conv-26/q3": {"evidence": ["D1:3"], "answer": "2022", "category": "temporal"},
 "conv-30/q7": {"drop": "the dialogue says two different things"}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag.evaluation.reading import read_json

FIELDS = ("answer", "evidence", "category", "drop")


@dataclass(frozen=True, slots=True)
class Correction:
    """What is to be put in place of what a question says; None leaves it as it is."""

    answer: str | None = None
    evidence: tuple[str, ...] | None = None
    """Turns (``D1:3``) of the question's conversation."""
    category: int | None = None
    drop: str | None = None
    """Why the question is left out altogether."""


def read_corrections(path: Path, categories: Mapping[int, str]) -> dict[str, Correction]:
    """Corrections by question id.

    Args:
        path: the overlay file.
        categories: number to name; a correction may give either.

    Raises:
        InputError: the file cannot be read, or an entry is not one of the kinds above; it is named.
    """
    data = read_json(path)
    if not isinstance(data, Mapping):
        raise InputError(f"{path}: expected an object of question id to correction")
    return {
        identity: _correction(entry, f"{path}: {identity}", categories) for identity, entry in data.items()
    }


def _correction(entry: Any, where: str, categories: Mapping[int, str]) -> Correction:
    if not isinstance(entry, Mapping) or not entry or not entry.keys() <= set(FIELDS):
        raise InputError(f"{where}: give some of {', '.join(FIELDS)}, not {entry!r:.120}")
    answer, evidence, drop = entry.get("answer"), entry.get("evidence"), entry.get("drop")
    if "answer" in entry and (isinstance(answer, bool) or not isinstance(answer, str | int | float)):
        raise InputError(f"{where}: answer is {answer!r:.80}; give a text or a number")
    if "evidence" in entry and not _is_names(evidence):
        raise InputError(f"{where}: evidence is {evidence!r:.80}; give a list of turns such as D1:3")
    if "drop" in entry and (not isinstance(drop, str) or not drop.strip()):
        raise InputError(f"{where}: drop is {drop!r:.80}; give the reason")
    return Correction(
        answer=None if answer is None else str(answer),
        evidence=None if evidence is None else tuple(evidence),
        category=_category(entry["category"], where, categories) if "category" in entry else None,
        drop=drop,
    )


def _is_names(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(map(_is_name, value))
        and bool(value)
    )


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _category(given: Any, where: str, categories: Mapping[int, str]) -> int:
    for number, name in categories.items():
        if given == name or (type(given) is int and given == number):
            return number
    known = ", ".join(f"{name} ({number})" for number, name in categories.items())
    raise InputError(f"{where}: category is {given!r:.80}; use one of: {known}")
