"""Beside the retrievers: read the question as a query to what people wrote as properties, tags, tasks and dates.

A question about many notes is answered from all of them and not from the nearest few.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from agentic_rag.domain.filters import keys_of, matches
from agentic_rag.domain.notes import Note
from agentic_rag.domain.ports import Chat, Embedding
from agentic_rag.domain.selection import SelectionValues
from agentic_rag.errors import ModelError, StoreError
from agentic_rag.nodes.request import Request
from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.note_queries.bases import shown_by_base
from agentic_rag.questions.note_queries.choosing import choose
from agentic_rag.questions.note_queries.model_reading import is_worth_asking, read_by_model
from agentic_rag.questions.note_queries.name_lists import asks_for_names, name_list, value_list
from agentic_rag.questions.note_queries.overview import asks_for_everything, overview, state_of
from agentic_rag.questions.note_queries.query import Query, Selection, is_span
from agentic_rag.questions.note_queries.reading import read_query
from agentic_rag.questions.note_queries.vocabulary import Vocabulary, prepared_vocabulary
from agentic_rag.questions.times import named_time
from agentic_rag.retrieval.ports import NoteCatalogue
from agentic_rag.state import CanvasRAGState, IngestOutcome

logger = logging.getLogger(__name__)
CHAT_SECONDS = 10.0
"""Time limit for the chat model's reading; later that of the rules holds."""
MAX_READ = 500
"""Maximum characters of a question that is read as a query to the notes: reading takes time by its numbers and names."""


async def select_notes(
    state: CanvasRAGState,
    *,
    catalogue: NoteCatalogue | None,
    embedding: Embedding,
    chat: Chat | None = None,
) -> CanvasRAGState:
    """Writes ``selection``: the reading, the notes that fit, and ``status``; and ``ingest_outcome``.

    A question about everything gets an overview; one that names a base the notes of its view.
    ``ok``: a question about many notes that some fit; ``none``: one that none fits; ``empty``: not such a question;
    ``degraded``: the catalogue or the model failed, with the reason. ``days`` is the span of days that the question
    names: first day, day after the last (None: open), and its place in the question; None without one. ``read_by`` says
    whether the rules or the chat model read the query; ``reason`` also why a reading of the model was not used.
    """
    started = time.perf_counter()
    request = Request.of(state)
    if catalogue is None:
        return {"selection": _outcome("empty", started), "ingest_outcome": None}
    try:
        snapshot = await catalogue.snapshot(request.dataset)
        selection = await _select(state, request, snapshot, embedding, chat, started)
    except (StoreError, ModelError) as error:
        logger.warning("the question cannot be read as a query to the notes: %s", error)
        return {"selection": _outcome("degraded", started, reason=str(error)), "ingest_outcome": None}
    return {"selection": selection, "ingest_outcome": _ingest_outcome(snapshot)}


def _ingest_outcome(snapshot: Snapshot) -> IngestOutcome | None:
    """``partial`` while documents of the dataset are not written: counts and lists are of the others."""
    if not snapshot.pending:
        return None
    reason = (
        f"{snapshot.pending:,} of {snapshot.documents:,} documents are not ingested yet; "
        "if no ingest is running, run it again"
    )
    return {
        "status": "partial",
        "reason": reason,
        "pending": snapshot.pending,
        "documents": snapshot.documents,
    }


async def _select(
    state: CanvasRAGState,
    request: Request,
    snapshot: Snapshot,
    embedding: Embedding,
    chat: Chat | None,
    start_time: float,
) -> SelectionValues:
    """``selection``; raises ``StoreError`` and ``ModelError``."""
    if not snapshot.notes or len(request.asked) > MAX_READ:
        return _outcome("empty", start_time)

    async def nearest(text: str, names: Sequence[str]) -> Mapping[str, float]:
        unique = list(dict.fromkeys(names))
        vectors = await embedding.embed_queries([text, *unique])
        return dict(zip(unique, map(float, vectors[1:] @ vectors[0]), strict=True))

    now = request.as_of or datetime.now(UTC)
    if asks_for_everything(request.asked):
        return await asyncio.to_thread(_of_everything, snapshot, request, start_time)

    naming = None
    if asks_for_names(request.asked):
        naming = await asyncio.to_thread(_passing, snapshot, request)
        names = await asyncio.to_thread(name_list, request.asked, naming)
        if names is not None:
            return _selection_keys(names, start_time)
    vocabulary = await asyncio.to_thread(prepared_vocabulary, snapshot)

    async def read_rest(question: str) -> Query | None:
        times = named_time(question, now.date(), snapshot.days, snapshot.stated_days)
        return await read_query(question, vocabulary, nearest, times)

    local = now.astimezone().replace(tzinfo=None)
    within = await asyncio.to_thread(_within, snapshot, request)
    shown = await shown_by_base(request.asked, replace(snapshot, notes=within), local, read_rest)
    if shown is not None:
        return {**_selection_keys(shown.selection, start_time), "reading": shown.reading}
    named = named_time(request.asked, now.date(), snapshot.days, snapshot.stated_days)
    by_rules = await read_query(request.asked, vocabulary, nearest, named)
    values = None if naming is None else await asyncio.to_thread(value_list, request.asked, naming)
    if values is not None:
        of_kind = await _carried_out(by_rules, snapshot, request)
        if of_kind is None or of_kind.count < values.count:  # a kind of notes may have the property's name
            return _selection_keys(values, start_time)
    is_first_pass = not state.get("rewrites")
    reading = await _best_reading(request, vocabulary, by_rules, chat if is_first_pass else None)
    days = None if named is None else [named.start, named.end, named.span.start, named.span.end]
    selection = await _carried_out(reading.query, snapshot, request)
    if reading.read_by == "model" and (selection is None or not selection.entries):
        reading = QueryReading(by_rules, "rules", "the chat model's query selects no note")
        selection = await _carried_out(by_rules, snapshot, request)
    if selection is None or (not selection.entries and is_span(selection.query.to_dict())):
        # Of a span: no note is of that time; a heading or a line of one may be.
        return {**_outcome("empty", start_time, reading.reason), "days": days}
    keys = _selection_keys(selection, start_time)
    details: SelectionValues = {"reason": reading.reason, "read_by": reading.read_by, "days": days}
    return {**keys, **details}


class QueryReading(NamedTuple):
    """A query, who read it, and why it was not the chat model where that was asked."""

    query: Query | None
    read_by: Literal["rules", "model"] = "rules"
    reason: str | None = None


async def _best_reading(
    request: Request, vocabulary: Vocabulary, by_rules: Query | None, chat: Chat | None
) -> QueryReading:
    """What the rules read; the chat model's query where it may know better and has one."""
    if (
        chat is None
        or request.parameters.selection.method != "chat"
        or not is_worth_asking(request.asked, vocabulary, by_rules)
    ):
        return QueryReading(by_rules)
    try:
        async with asyncio.timeout(CHAT_SECONDS):
            query = await read_by_model(request.asked, vocabulary, chat)
    except TimeoutError:
        return QueryReading(by_rules, reason=f"the chat model took more than {CHAT_SECONDS:g} s")
    except ModelError as error:
        logger.warning("the chat model's reading is not used: %s", error)
        return QueryReading(by_rules, reason=str(error))
    return QueryReading(by_rules) if query is None else QueryReading(query, "model")


async def _carried_out(query: Query | None, snapshot: Snapshot, request: Request) -> Selection | None:
    """What the query selects, with the caller's filter in place of its conditions on the same properties."""
    if query is None:
        return None
    if request.filters is not None:
        query = query.without(keys_of(request.filters))
    return await asyncio.to_thread(_choice, query, snapshot, request)


def _choice(query: Query, snapshot: Snapshot, request: Request) -> Selection:
    return choose(query, _within(snapshot, request), snapshot.facts)


def _within(snapshot: Snapshot, request: Request) -> tuple[Note, ...]:
    """The notes that the caller's filter passes, and that are not of a later day than ``as_of``."""
    if request.as_of is None and request.filters is None:
        return snapshot.notes
    latest = None if request.as_of is None else request.as_of.date().isoformat()
    return tuple(
        note
        for note in snapshot.notes
        if (latest is None or note.date is None or note.date[:10] <= latest)
        and (request.filters is None or matches(request.filters, snapshot.facts[note.document_id]))
    )


def _of_everything(snapshot: Snapshot, request: Request, start_time: float) -> SelectionValues:
    """The overview of all notes that the caller's restrictions pass."""
    passing = _passing(snapshot, request)
    return {**_outcome("ok" if passing.notes else "none", start_time), **state_of(overview(passing))}


def _passing(snapshot: Snapshot, request: Request) -> Snapshot:
    """The snapshot of the notes that the caller's restrictions pass."""
    passing = _within(snapshot, request)
    return snapshot if len(passing) == len(snapshot.notes) else Snapshot.of(passing)


def _selection_keys(selection: Selection, start_time: float) -> SelectionValues:
    return {**_outcome("ok" if selection.entries else "none", start_time), **selection.to_dict()}


def _outcome(status: str, start_time: float, reason: str | None = None) -> SelectionValues:
    return {"status": status, "reason": reason, "ms": round((time.perf_counter() - start_time) * 1000, 3)}
