"""What a question about many notes is read as: a query that can be shown, corrected, kept and carried out."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

from agentic_rag.domain.filters import And, Comparison, Expression, Not, Or, as_dict, keys_of, parse_filters
from agentic_rag.domain.selection import Ask, EntryValues, QueryValues, SelectionValues, Target


@dataclass(frozen=True, slots=True)
class Query:
    """Which notes, or which of their entries, and what is said of them."""

    target: Target = "notes"
    ask: Ask = "list"
    classes: tuple[str, ...] = ()
    """Names of the kinds of notes, for people."""
    conditions: tuple[Expression, ...] = ()
    """On notes; all hold."""
    entry_conditions: tuple[Expression, ...] = ()
    """On tasks, list items and rows; all hold."""
    state: str | None = None
    """Of tasks: open, done, doing, cancelled."""
    shown_keys: tuple[str, ...] = ()
    """Properties that are shown with each note."""
    order: tuple[str, bool] | None = None
    """Property to order by, and whether descending."""
    limit: int | None = None
    """Most notes, of those that are first in the order."""
    residual: tuple[tuple[int, int], ...] = ()
    """Places of the words of the question that the query does not express: units of the selected notes are searched for
    them."""

    @property
    def filters(self) -> Expression | None:
        """The conditions on notes as one filter."""
        if not self.conditions:
            return None
        return self.conditions[0] if len(self.conditions) == 1 else And(self.conditions)

    def text(self) -> str:
        """The query in words: ``notes in games with price > 20``."""
        if self.ask == "names":
            return f"all {self.classes[0]}"
        subject = {"notes": "notes", "tasks": f"{self.state or 'all'} tasks", "entries": "entries"}[
            self.target
        ]
        places = _join_conditions(self.conditions)
        phrases = [subject]
        if self.target != "notes":
            phrases += [_join_conditions(self.entry_conditions)] if self.entry_conditions else []
            phrases += [f"of notes {places}"] if places else []
        elif places:
            phrases.append(places)
        if self.order is not None:
            first = "largest" if self.order[1] else "smallest"
            several = f"the {self.limit} {first}" if self.limit is not None else f"{first} first"
            phrases.append(f"by {self.order[0]}, {several}")
        if self.ask in ("average", "sum") and self.order is not None:
            return f"{self.ask} of {self.order[0]} of {' '.join(phrases[:-1])}"
        return " ".join(phrases)

    def to_dict(self) -> QueryValues:
        """Plain values, for the state."""
        return {
            "target": self.target,
            "ask": self.ask,
            "filters": None if self.filters is None else as_dict(self.filters),
            "entry_filters": [as_dict(one) for one in self.entry_conditions],
            "state": self.state,
            "shown": list(self.shown_keys),
            "order": None if self.order is None else list(self.order),
            "limit": self.limit,
            "residual": [list(place) for place in self.residual],
        }

    def without(self, keys: Set[str]) -> Query:
        """The query without the conditions on these properties: the caller's own filter corrects them."""
        kept = tuple(one for one in self.conditions if not keys_of(one) & keys)
        return replace(self, conditions=kept)

    def narrow(self, *conditions: Expression) -> Query:
        """The query with further conditions on notes."""
        return replace(self, conditions=(*self.conditions, *conditions))


_SIGNS = {"$eq": "=", "$ne": "≠", "$gt": ">", "$gte": "≥", "$lt": "<", "$lte": "≤", "$contains": "~"}


def _join_conditions(conditions: Sequence[Expression]) -> str:
    """Conditions in words, places first: ``in games/ with price > 20 and rating = 5``."""
    flat = [part for one in conditions for part in (one.parts if isinstance(one, And) else (one,))]
    places = [phrase for one in flat if (phrase := _place(one)) is not None]
    others = [_phrase(one) for one in flat if _place(one) is None]
    return " ".join([*places, *([f"with {' and '.join(others)}"] if others else [])])


def _place(condition: Expression) -> str | None:
    match condition:
        case Comparison("folder", "$eq", value):
            return f"in {value}/"
        case Comparison("folder", "$in", tuple() as values):
            return f"in {' or '.join(f'{value}/' for value in values)}"
        case Comparison("path", "$eq", value):
            return f"in {value}"
        case Comparison("tags", "$eq", value):
            return f"tagged #{value}"
        case Comparison("title", "$in", tuple() as values):
            first, last = str(min(values, key=str)), str(max(values, key=str))
            same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
            return f"titled {first[:same]}…"
    return None


def _phrase(condition: Expression) -> str:
    """A condition in words: ``price > 20``."""
    match condition:
        case And(parts):
            return " and ".join(map(_phrase, parts))
        case Or(parts):
            return f"({' or '.join(map(_phrase, parts))})"
        case Not(part):
            return f"not {_phrase(part)}"
        case Comparison(key, "$in", tuple() as values):
            shown = ", ".join(map(_value, values[:3])) + (" …" if len(values) > 3 else "")
            return f"{key} = {shown}"
        case Comparison(key, "$exists", value):
            return f"{key}" if value else f"no {key}"
        case Comparison(key, operator, value):
            return f"{key} {_SIGNS.get(operator, operator)} {_value(value)}"


def _value(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value).strip("[]")
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


MAX_SHOWN = 60
"""Code points of a value in the words of a query."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One selected note or entry, with the span that is quoted for it."""

    document_id: str
    path: str
    title: str
    url: str | None
    text: str
    """As it is shown, without the citation: ``Dota 2 — price: 0``."""
    start: int | None
    """Of the statement that selects it; None where only its place or name does."""
    end: int | None
    headings: tuple[str, ...] = ()
    value: Any = None
    """Of the property that orders the entries."""
    named: bool = False
    """Whether the note is called by its day, or states it as its own: a journal, a meeting, a trip."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The result of a query: what it selects, and its reading."""

    query: Query
    entries: Sequence[Entry] = field(default_factory=tuple)
    nearest: str | None = None
    """Where nothing fits: the query without its last condition, and how many notes fit that."""

    @property
    def count(self) -> int:
        """Number of notes or entries that fit."""
        return len(self.entries)

    def to_dict(self) -> SelectionValues:
        """Plain values, for the state."""
        return {
            "reading": self.query.text(),
            "read_by": "rules",
            "query": self.query.to_dict(),
            "count": self.count,
            "entries": [
                cast(EntryValues, {**asdict(entry), "headings": list(entry.headings)})
                for entry in self.entries
            ],
            "nearest": self.nearest,
        }


def is_span(query: QueryValues) -> bool:
    """Whether a query, as the state holds it, selects by the note's date alone: its notes are then read for the rest of
    the question."""
    filters = parse_filters(query["filters"])
    return (
        query["target"] == "notes"
        and query["ask"] not in ("base", "overview")
        and query["order"] is None
        and filters is not None
        and keys_of(filters) == {"date"}
    )
