"""The question of a run, completed from the conversation that it is part of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage

from agentic_rag.errors import InputError
from agentic_rag.state import CanvasRAGState
from agentic_rag.text import STOPWORDS, content_tokens, points_back

MAX_CHARACTERS = 2_000
"""Of a longer question, which is pasted text, the beginning and the end are searched for: embedding and
comparing all of it would take longer than a source may."""
FOLLOW_UP_TERMS = 2
"""A question with fewer words of its own than this is read together with the one before it."""
MOST_EARLIER = 3
"""Questions that one is read with."""

_DEFINES = re.compile(
    r"\s*(?:(?:what|who) (?:is|are|was|were)|define|explain|tell me about) (?!the\b|this\b|that\b)\w"
    r"|\s*(?:什么是|谁是|介绍一下)\w",
    re.IGNORECASE,
)
"""Asks what something is, by its name."""


def question_of(state: CanvasRAGState) -> tuple[str, bool]:
    """The caller's question, and whether it is a message of the conversation rather than ``query``.

    It is ``query``, or the last human message. In a thread that is kept, the ``query`` of the turn before is still
    there: a human message that came since is the question then.

    Raises:
        InputError: there is neither.
    """
    query, messages = state.get("query"), state.get("messages") or []
    earlier = state.get("request") or {}
    newer = last_heard(messages) not in (None, earlier.get("heard"))
    as_message = query is None or (newer and query == earlier.get("query"))
    if as_message:
        query = next(reversed(human_texts(messages)), None)
    if not isinstance(query, str):
        raise InputError("a question is needed: pass query='…', or a human message in messages")
    return query, as_message


def completed(query: str, messages: Sequence[AnyMessage]) -> str:
    """The question itself, or where it leans on the question before it, with that one before it; bounded.

    And with what that one points back to in turn, up to MOST_EARLIER.
    """
    query = bounded(query)
    if not leans_on_context(query):
        return query
    read = [query]
    earlier = [text for text in human_texts(messages) if bounded(text).strip() != query.strip()]
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


def last_heard(messages: Sequence[AnyMessage]) -> str | None:
    """The id of the last human message."""
    human = [message for message in messages if isinstance(message, HumanMessage)]
    return human[-1].id if human else None


def human_texts(messages: Sequence[AnyMessage]) -> list[str]:
    """What the person said, in order."""
    return [str(message.text) for message in messages if isinstance(message, HumanMessage)]
