"""First node of every pass: sets the request of a new run or the rewritten query, and clears earlier results."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, cast
from uuid import uuid4

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from agentic_rag.nodes.request import human_texts, normalised
from agentic_rag.settings.parameters import Parameters
from agentic_rag.state import CanvasRAGState, Retry

_PASS: dict[str, Any] = {
    "graphiti_results": [],
    "graphiti_outcome": None,
    "lancedb_results": [],
    "lancedb_outcome": None,
    "memory_results": [],
    "memory_outcome": None,
    "fused_results": [],
    "fusion": {},
    "outcomes": {},
    "reranked_results": [],
    "rerank_outcome": None,
    "post_retrieval": [],
    "quality": {},
    "units": [],
    "selection": {},
}
_RUN: dict[str, Any] = {
    "rewrites": [],
    "rewrite_outcome": None,
    "answer": "",
    "abstained": False,
    "citations": [],
    "answer_outcome": None,
    "usage": None,
}
"""Initial values of the keys that a run writes, so that a kept thread has no stale results. Each run gets copies,
because its caller may change them."""


def prepare_query(
    state: CanvasRAGState | Retry,
    runtime: Runtime[Any] | None = None,
    *,
    defaults: Parameters | None = None,
    check: Callable[[Parameters], None] = lambda parameters: None,
) -> dict[str, Any]:
    """Start a run with its ``request``, or a further pass of it with ``search_query`` in other words.

    A question that is no message yet becomes one, so that the next turn of a kept thread can point back to it.

    Args:
        state: the caller's keys, see ``CanvasRAGState``; or the rewritten question.
        runtime: LangGraph's; its ``context`` overrides parameters.
        defaults: parameters where the call overrides nothing.
        check: called with the parameters in effect; raises if they need something that is missing.

    Raises:
        ConfigError: a parameter is wrong; or see ``requirements.check_requirements``.
        InputError: see ``request.normalised``.
    """
    retry = cast(Retry, state).get("retry")
    if retry is not None:
        return {"search_query": retry, **deepcopy(_PASS)}
    given = cast(CanvasRAGState, state)
    parameters = (defaults or Parameters()).overridden(runtime.context if runtime is not None else None)
    check(parameters)
    request = normalised(given, parameters)
    said = human_texts((given.get("messages") or [])[-1:])
    new = [] if request.query in (*said, "") else [HumanMessage(request.query, id=str(uuid4()))]
    if new:
        request = replace(request, heard=new[0].id)
    written = {"request": request.plain(), "query": request.query, "search_query": request.question}
    return {**written, **deepcopy(_PASS), **deepcopy(_RUN), "messages": new}
