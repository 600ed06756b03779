"""Beside the retrievers: read the question as a query to what people wrote as properties, tags, tasks and dates.

A question about many notes is answered from all of them and not from the nearest few.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from agentic_rag.domain.filters import keys_of, matches
from agentic_rag.domain.ports import Embedding
from agentic_rag.errors import ModelError, StoreError
from agentic_rag.nodes.request import Request
from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.bases import shown_by_base
from agentic_rag.questions.choosing import choose
from agentic_rag.questions.overview import asks_for_everything, overview, state_of
from agentic_rag.questions.query import Query, Selection, is_span
from agentic_rag.questions.reading import read_query
from agentic_rag.questions.times import named_time
from agentic_rag.questions.vocabulary import Vocabulary
from agentic_rag.retrieval.ports import NoteCatalogue
from agentic_rag.state import CanvasRAGState

logger = logging.getLogger(__name__)


async def select_notes(
    state: CanvasRAGState, *, catalogue: NoteCatalogue | None, embedding: Embedding
) -> dict[str, Any]:
    """Writes ``selection``: the reading, the notes that fit, and ``status``.

    A question about everything gets an overview; one that names a base the notes of its view.
    ``ok``: a question about many notes that some fit; ``none``: one that none fits; ``empty``: not such a question;
    ``degraded``: the catalogue or the model failed, with the reason. ``days`` is the span of days that the question
    names: first day, day after the last (None: open), and its place in the question; None without one.
    """
    started = time.perf_counter()
    request = Request.of(state)
    if catalogue is None:
        return {"selection": _outcome("empty", started)}

    async def nearest(text: str, names: Sequence[str]) -> Mapping[str, float]:
        unique = list(dict.fromkeys(names))
        vectors = await embedding.embed_queries([text, *unique])
        return dict(zip(unique, map(float, vectors[1:] @ vectors[0]), strict=True))

    try:
        snapshot = await catalogue.snapshot(request.dataset)
        if not snapshot.notes:
            return {"selection": _outcome("empty", started)}
        now = request.as_of or datetime.now(UTC)
        if asks_for_everything(request.asked):
            return {"selection": _of_everything(snapshot, request, started)}

        vocabulary = Vocabulary.of(snapshot)

        async def read_rest(question: str) -> Query | None:
            times = named_time(question, now.date(), snapshot.days)
            return await read_query(question, vocabulary, nearest, times)

        local = now.astimezone().replace(tzinfo=None)
        shown = await shown_by_base(request.asked, snapshot, request.filters, local, read_rest)
        if shown is not None:
            return {"selection": _chosen(shown.selection, started) | {"reading": shown.reading}}
        named = named_time(request.asked, now.date(), snapshot.days)
        query = await read_query(request.asked, vocabulary, nearest, named)
    except (StoreError, ModelError) as error:
        logger.warning("the question cannot be read as a query to the notes: %s", error)
        return {"selection": _outcome("degraded", started, reason=str(error))}
    days = None if named is None else [named.start, named.end, named.span.start, named.span.end]
    if query is None:
        return {"selection": {**_outcome("empty", started), "days": days}}
    if request.filters is not None:
        query = query.without(keys_of(request.filters))
    selection = choose(query, snapshot.notes, snapshot.facts, request.filters)
    if not selection.entries and is_span(query.to_dict()):
        # No note is of that time; a heading or a line of one may be.
        return {"selection": {**_outcome("empty", started), "days": days}}
    return {"selection": {**_chosen(selection, started), "days": days}}


def _of_everything(snapshot: Snapshot, request: Request, started: float) -> dict[str, Any]:
    """The overview of all notes that the caller's filter passes."""
    passing = snapshot.notes
    if request.filters is not None:
        passing = tuple(
            note for note in passing if matches(request.filters, snapshot.facts[note.document_id])
        )
        snapshot = Snapshot.of(passing)
    return {**_outcome("ok" if passing else "none", started), **state_of(overview(snapshot))}


def _chosen(selection: Selection, started: float) -> dict[str, Any]:
    return {**_outcome("ok" if selection.entries else "none", started), **_plain(selection)}


def _outcome(status: str, started: float, reason: str | None = None) -> dict[str, Any]:
    return {"status": status, "reason": reason, "ms": round((time.perf_counter() - started) * 1000, 3)}


def _plain(selection: Selection) -> dict[str, Any]:
    return {
        "reading": selection.query.text(),
        "query": selection.query.to_dict(),
        "count": selection.count,
        "entries": [{**asdict(entry), "headings": list(entry.headings)} for entry in selection.entries],
        "nearest": selection.nearest,
    }
