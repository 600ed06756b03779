"""First node of every pass: what is searched for now, and the pass number that keeps stale results out."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.runtime import Runtime

from agentic_rag.errors import InputError
from agentic_rag.filters import parse_filters
from agentic_rag.fusion.strategy_selector import parse_operation
from agentic_rag.identity import dataset_name
from agentic_rag.instants import parse_as_of
from agentic_rag.state import CanvasRAGState
from agentic_rag.text import STOPWORDS, content_tokens, points_back

DEFAULT_OPERATION = "verification_canvas"
DEFAULT_DATASET = "default"
DEFAULT_TOP_K = 10
MAX_CHARACTERS = 2_000
"""Of a longer question, which is pasted text, the beginning and the end are searched for: embedding and
comparing all of it would take longer than a source may."""
FOLLOW_UP_TERMS = 3
"""A question with fewer words of its own than this is read together with the one before it."""
MOST_EARLIER = 3
"""Questions that one is read with."""

_DEFINES = re.compile(
    r"\s*(?:(?:what|who) (?:is|are|was|were)|define|explain|tell me about) (?!the\b|this\b|that\b)\w"
    r"|\s*(?:什么是|谁是|介绍一下)\w",
    re.IGNORECASE,
)
"""Asks what something is, by its name."""


def prepare_query(
    state: CanvasRAGState,
    runtime: Runtime[Any] | None = None,
    *,
    check: Callable[[Any], None] = lambda context: None,
) -> dict[str, Any]:
    """Start a pass: check the caller's keys, complete a follow-up question, count the pass.

    Args:
        state: see ``CanvasRAGState``.
        runtime: LangGraph's.
        check: of the call's ``context``; raises what is wrong with it.

    Raises:
        ConfigError: see ``requirements.check_requirements``.
        InputError: no question, an unknown operation, a date or filter that cannot be read, a dataset without a name.
    """
    check(runtime.context if runtime is not None else None)
    query = question(state)
    parse_operation(state.get("operation") or DEFAULT_OPERATION)
    parse_as_of(state.get("as_of"))
    parse_filters(state.get("filters"))
    dataset = state.get("dataset")
    if dataset not in (None, ""):
        dataset_name(dataset)
    top_k = state.get("top_k")
    if top_k is not None and (type(top_k) is not int or not 1 <= top_k <= 1000):
        raise InputError(f"top_k must be a whole number from 1 to 1000, not {top_k!r}")
    number = state.get("pass", 0) + 1
    if is_rewrite(state):
        return {"search_query": state["rewrites"][-1], "pass": number}
    return {
        "query": query,
        "search_query": completed(query, state.get("messages") or []),
        "pass": number,
        "run": {"first_pass": number, "started": time.time(), "query": query, "heard": _last_heard(state)},
        "rewrites": [],
    }


def question(state: CanvasRAGState) -> str:
    """The caller's question: ``query``, or the last human message.

    In a thread that is kept, the question of the turn before is still there as ``query``: a human message that
    came since is the question then.

    Raises:
        InputError: there is neither.
    """
    query, run = state.get("query"), state.get("run") or {}
    heard = _last_heard(state)
    if query is None or (query == run.get("query") and heard not in (None, run.get("heard"))):
        asked = _human_texts(state.get("messages") or [])
        query = asked[-1] if asked else None
    if not isinstance(query, str):
        raise InputError("a question is needed: pass query='…', or a human message in messages")
    return query


def is_rewrite(state: CanvasRAGState) -> bool:
    """Whether this pass was asked for by ``check_quality`` for the same question in the same run."""
    quality, run = state.get("quality") or {}, state.get("run") or {}
    return (
        quality.get("decision") == "rewrite"
        and quality.get("pass") == state.get("pass")
        and run.get("query") == question(state)
        and len(state.get("rewrites", [])) == state.get("pass", 0) - run["first_pass"] + 1
    )


def whole_question(state: CanvasRAGState) -> str:
    """The run's question, completed: what results are judged by and quoted for, without a rewrite's words."""
    return completed(state["run"]["query"], state.get("messages") or [])


def completed(query: str, messages: list[AnyMessage]) -> str:
    """The question itself, or where it leans on the question before it, with that one before it; bounded.

    And with what that one points back to in turn, up to MOST_EARLIER.
    """
    query = bounded(query)
    if not leans_on_context(query):
        return query
    read = [query]
    earlier = [text for text in _human_texts(messages) if bounded(text).strip() != query.strip()]
    for text in reversed(earlier[-MOST_EARLIER:]):
        read.insert(0, text)
        if not points_back(text):
            break
    return bounded(" ".join(read))


def bounded(text: str) -> str:
    """Beginning and end of a text of more than MAX_CHARACTERS."""
    half = MAX_CHARACTERS // 2
    return text if len(text) <= MAX_CHARACTERS else f"{text[:half]} {text[-half:]}"


def leans_on_context(query: str) -> bool:
    """Whether a question points back or says too little alone; "what is withering" does neither."""
    if points_back(query):
        return True
    own = [token for token in content_tokens(query) if token not in STOPWORDS]
    return len(own) < FOLLOW_UP_TERMS and not (own and _DEFINES.match(query))


def _last_heard(state: CanvasRAGState) -> str | None:
    """The id of the last human message."""
    human = [message for message in state.get("messages") or [] if isinstance(message, HumanMessage)]
    return human[-1].id if human else None


def _human_texts(messages: list[AnyMessage]) -> list[str]:
    return [str(message.text) for message in messages if isinstance(message, HumanMessage)]
