"""The rows or list items whose value is within a limit of the question: "which guests have more than 4 GB of RAM?"."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from agentic_rag.answering.amounts import amounts
from agentic_rag.answering.evidence import Candidate
from agentic_rag.answering.forms.entry_values import (
    EntryValue,
    column_values,
    numbers_in_one_unit,
    read_values,
)
from agentic_rag.answering.forms.lines import ComposedAnswer, entry_text, line_of
from agentic_rag.answering.forms.totals import opening
from agentic_rag.notes.units import LIST_KINDS, Unit
from agentic_rag.questions.comparisons import Comparison
from agentic_rag.questions.computations import is_total_entry
from agentic_rag.questions.note_queries.values import is_number
from agentic_rag.questions.question import Question
from agentic_rag.text import starts_cjk, tokens
from agentic_rag.text.measures import unit_at

_HOLDS: Mapping[str, Callable[[float, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
BESIDE = 12
"""Code points behind an amount in which stands what it measures: 8GB RAM."""


@dataclass(frozen=True, slots=True)
class _Limit:
    """The limit of a question as a value with its unit."""

    holds: Callable[[float, float], bool]
    value: EntryValue

    @classmethod
    def of(cls, comparison: Comparison) -> _Limit:
        value = EntryValue(float(comparison.value), unit_at(comparison.unit, 0)[0])
        return cls(_HOLDS[comparison.operator], value)

    def measures(self, value: EntryValue) -> bool:
        """Whether a value is measured as the limit is."""
        return value.unit == self.value.unit or value.dimension == self.value.dimension

    def allows(self, value: EntryValue) -> bool:
        return self.holds(*numbers_in_one_unit([value, self.value]))


def within_limit(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The entries of the best unit's table or list whose value is within the limit; None where the question states none, it
    limits no value of most of them, or none is within."""
    if question.limit is None:
        return None
    best = max(candidates, key=operator.attrgetter("total"))
    if best.unit.kind not in ("row", *LIST_KINDS):
        return None
    limit = _Limit.of(question.limit)
    entries = [unit for unit in best.note.reading.beside(best.unit) if not is_total_entry(opening(unit))]
    words = set(question.specific_tokens)
    general = {term.token for term in question.terms if term.is_generic and not term.token[0].isdigit()}
    values = _column(entries, limit, words, general) or [
        _value_in(unit.own(), limit, words) for unit in entries
    ]
    if len(entries) < 2 or 2 * sum(value is not None for value in values) < len(entries):
        return None
    within = [
        unit for unit, value in zip(entries, values, strict=True) if value is not None and limit.allows(value)
    ]
    places = {id(unit) for unit in within}
    basis = tuple(one for one in candidates if id(one.unit) in places)
    if not basis:
        return None
    lines = tuple(
        line_of(unit, best.note, None if unit.kind == "row" else entry_text(unit)) for unit in within
    )
    return ComposedAnswer(lines, basis)


def has_value_within(comparison: Comparison, unit: Unit) -> bool:
    """Whether a unit states any value that is within a limit."""
    limit = _Limit.of(comparison)
    values = [value for name, _ in unit.columns for value in column_values([unit], name)]
    values += read_values(unit.own())
    return any(value is not None and limit.measures(value) and limit.allows(value) for value in values)


def _column(
    entries: Sequence[Unit], limit: _Limit, words: Set[str], general: Set[str]
) -> Sequence[EntryValue | None] | None:
    """The values of the column that the limit is of: the one of such values that is named, if only by a word that says
    little, "in total"; else the only one that does not number the rows."""
    columns: dict[str, list[EntryValue | None]] = {}
    for name, _ in entries[0].columns:
        cells = [next((cell for other, cell in unit.columns if other == name), "") for unit in entries]
        values = [
            value if value is not None and limit.measures(value) and (value.unit or is_number(cell)) else None
            for value, cell in zip(column_values(entries, name), cells, strict=True)
        ]
        if 2 * sum(value is not None for value in values) >= len(entries):
            columns[name] = values
    choices = (
        [values for name, values in columns.items() if _names(name, words)],
        [values for name, values in columns.items() if _names(name, general)],
        [values for values in columns.values() if not _numbers_rows(values)],
    )
    of_limit = next(filter(None, choices), [])
    return of_limit[0] if len(of_limit) == 1 else None


def _numbers_rows(values: Sequence[EntryValue | None]) -> bool:
    """Whether the values of a column count its rows: 1, 2, 3, ..."""
    return all(value is not None and value.number == n for n, value in enumerate(values, 1))


def _value_in(text: str, limit: _Limit, words: Set[str]) -> EntryValue | None:
    """The one value of a text that the limit may be of: with what it measures beside it, else the only one."""
    values = [
        (value, _names(text[one.end : one.end + BESIDE], words))
        for one in amounts(text)
        for value in read_values(text[one.start : one.end])
        if limit.measures(value)
    ]
    of_limit = [value for value, is_named in values if is_named] or [value for value, _ in values]
    return of_limit[0] if len(of_limit) == 1 else None


def _names(text: str, words: Set[str]) -> bool:
    return not words.isdisjoint(tokens(text)) or any(word in text for word in words if starts_cjk(word))
