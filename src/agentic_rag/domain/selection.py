"""A question read as a query to the notes, and what it selects, as the graph's state has it: plain JSON values."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from agentic_rag.domain.json_values import Json

Ask = Literal["list", "count", "extreme", "average", "sum", "base", "overview", "names"]
"""``average``, ``sum``: of the property that orders; ``base``: the notes of a base that is named; ``overview``: what all notes are about;
``names``: the tags, folders, properties or values that the notes use."""
Target = Literal["notes", "entries", "tasks"]


class QueryValues(TypedDict):
    """``questions.query.Query`` as plain values."""

    target: Target
    ask: Ask
    filters: Json | None
    entry_filters: list[Json]
    state: str | None
    shown: list[str]
    order: list[Any] | None
    """Property, and whether the largest comes first."""
    limit: int | None
    residual: list[list[int]]


class EntryValues(TypedDict):
    """``questions.query.Entry`` as plain values."""

    document_id: str
    path: str
    title: str
    url: str | None
    text: str
    start: int | None
    end: int | None
    headings: list[str]
    value: Any
    named: bool


class OverviewValues(TypedDict):
    """``questions.overview.Overview`` as plain values."""

    notes: int
    folder_count: int
    folders: list[list[Any]]
    """Name and number of notes, as ``tags``."""
    tags: list[list[Any]]
    dates: list[str] | None
    """First and last month."""


class SelectionValues(TypedDict, total=False):
    """What ``select_notes`` writes; ``status`` and ``reason`` always, the query only where there is one."""

    status: str
    """``ok``, ``none`` (nothing fits), ``empty`` (no such question) or ``degraded``."""
    reason: str | None
    ms: float
    reading: str
    """The query in words."""
    read_by: str
    """``rules`` or ``model``."""
    query: QueryValues
    count: int
    entries: list[EntryValues]
    nearest: str | None
    overview: OverviewValues
    days: list[Any] | None
    """First day, day after the last, and the span of the question that names them."""


class ShownSelection(TypedDict):
    """A selection for people and tools: without its entries, with its filters as ``--filter`` terms."""

    reading: str
    status: str
    target: Target
    ask: Ask
    count: int
    filters: Json | None
    terms: list[str] | None
    """Of ``--filter``; None where these cannot express the filters."""
    nearest: str | None
