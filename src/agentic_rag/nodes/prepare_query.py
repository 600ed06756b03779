"""First node of every pass: sets the request of a new run or the rewritten query, and clears earlier results."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, cast
from uuid import uuid4

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from agentic_rag.dates.instants import parse_as_of
from agentic_rag.domain.identity import notes_dataset
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import StoreError
from agentic_rag.fusion.strategy_selector import MEMORY, SOURCES
from agentic_rag.nodes.request import DEFAULT_DATASET, human_texts, normalise
from agentic_rag.nodes.retrieve import not_asked
from agentic_rag.questions.followups import CompletedQuestion, Turn, complete_question
from agentic_rag.questions.note_queries.vocabulary import Vocabulary
from agentic_rag.questions.words import Place
from agentic_rag.retrieval.ports import NoteCatalogue
from agentic_rag.settings.parameters import Parameters
from agentic_rag.state import CanvasRAGState, Retry

logger = logging.getLogger(__name__)


def _not_asked(names: Iterable[str]) -> Json:
    return {key: value for name in names for key, value in not_asked(name).items()}


_PASS: Json = {
    **_not_asked((*SOURCES, MEMORY)),
    "fused_results": [],
    "fusion": {},
    "outcomes": {},
    "reranked_results": [],
    "rerank_outcome": None,
    "quality": {},
    "units": [],
    "selection": {},
}
_RUN: Json = {
    "rewrites": [],
    "rewrite_outcome": None,
    "answer": "",
    "abstained": False,
    "citations": [],
    "answer_outcome": None,
    "agent_outcome": None,
    "ingest_outcome": None,
    "usage": None,
}
"""Initial values of the keys that a run writes, so that a kept thread has no stale results. Each run gets copies,
because its caller may change them."""


async def prepare_query(
    state: CanvasRAGState | Retry,
    runtime: Runtime[Any] | None = None,
    *,
    defaults: Parameters | None = None,
    check: Callable[[Parameters], None] = lambda parameters: None,
    catalogue: NoteCatalogue | None = None,
    further: Sequence[str] = (),
) -> Json:
    """Start a run with its ``request``, or a further pass of it with ``search_query`` in other words.

    A question that leans on the conversation is completed from it; ``request.carried`` says by what. A question that is
    no message yet becomes one, so that the next turn of a kept thread can point back to it.

    Args:
        state: the caller's keys, see ``CanvasRAGState``; or the rewritten question.
        runtime: LangGraph's; its ``context`` overrides parameters.
        defaults: parameters where the call overrides nothing.
        check: called with the parameters in effect; raises if they need something that is missing.
        further: names of further sources, whose keys a pass starts without.
        catalogue: names the notes that a conversation may be about; None: their names are not known.

    Raises:
        ConfigError: a parameter is wrong; or see ``requirements.check_requirements``.
        InputError: see ``request.normalise``.
    """
    unasked = _not_asked(further)
    retry = cast(Retry, state).get("retry")
    if retry is not None:
        return {"search_query": retry, **deepcopy(_PASS), **unasked}
    given = cast(CanvasRAGState, state)
    parameters = (defaults or Parameters()).override(runtime.context if runtime is not None else None)
    check(parameters)
    return {**unasked, **initial_keys(given, parameters, await _vocabulary(given, catalogue))}


def initial_keys(
    state: CanvasRAGState, parameters: Parameters, vocabulary: Vocabulary | None = None
) -> CanvasRAGState:
    """What ``prepare_query`` writes of a new run.

    Args:
        state: the caller's keys.
        parameters: in effect for this call.
        vocabulary: of the dataset's notes, for a question that leans on the conversation.

    Raises:
        InputError: see ``request.normalise``.
    """
    complete = partial(_complete_query, vocabulary=vocabulary, as_of=state.get("as_of"))
    request = normalise(state, parameters, complete)
    last = human_texts((state.get("messages") or [])[-1:])
    new = [] if request.query in (*last, "") else [HumanMessage(request.query, id=str(uuid4()))]
    if new:
        request = replace(request, message_id=new[0].id)
    written = {"request": request.plain(), "query": request.query, "search_query": request.question}
    return cast(CanvasRAGState, {**written, **deepcopy(_PASS), **deepcopy(_RUN), "messages": new})


async def _vocabulary(state: CanvasRAGState, catalogue: NoteCatalogue | None) -> Vocabulary | None:
    """The names of the dataset's notes, where there is a conversation that may be about one."""
    if catalogue is None or len(state.get("messages") or []) < 2:
        return None
    try:
        snapshot = await catalogue.snapshot(notes_dataset(state.get("dataset") or DEFAULT_DATASET))
    except StoreError as error:
        logger.warning("the notes' names cannot be read, so the conversation is read without them: %s", error)
        return None
    return await asyncio.to_thread(Vocabulary.of, snapshot)


def _complete_query(
    query: str, turns: Sequence[Turn], *, vocabulary: Vocabulary | None, as_of: str | None
) -> CompletedQuestion:
    today = (parse_as_of(as_of) or datetime.now(UTC)).date()

    def names(text: str) -> list[tuple[str, Place]]:
        if vocabulary is None:
            return []
        whole = vocabulary.titles_written_in(text) or vocabulary.titles_with(text)
        return whole or vocabulary.titles_in_part(text)

    def is_kind(title: str, word: str) -> bool:
        return vocabulary is not None and vocabulary.is_kind(title, word)

    return complete_question(query, turns, names, is_kind, today)
