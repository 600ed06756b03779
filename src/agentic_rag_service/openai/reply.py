"""The reply to a question of either API: the answer's text, cut as the request wants, with links at its citations."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict
from urllib.parse import urlencode

from langchain_core.messages import AnyMessage

from agentic_rag.answer import Answer
from agentic_rag.opening import token_counter
from agentic_rag_service.access import Caller
from agentic_rag_service.asking import Ask, answer_to
from agentic_rag_service.notes import note_path
from agentic_rag_service.openai.background import background_answer
from agentic_rag_service.openai.conversation import Turn, ask_of
from agentic_rag_service.service import Service

_MARK = re.compile(r"\[(\d+(?:, \d+)*)\]")
_OPEN_MARK = re.compile(r"\[[\d, ]*\Z")


@dataclass(frozen=True, slots=True)
class Question:
    """The question to a model."""

    ask: Ask
    earlier: list[AnyMessage]
    """The conversation before it."""
    background: str | None
    """The reply to a front end's own prompt, which is not answered from the notes; None: a user's question."""


def question_of(model: str, turns: Sequence[Turn]) -> Question:
    """The question that a conversation ends with.

    Args:
        model: id of a model.
        turns: the conversation, which ends with the user's.

    Raises:
        InputError: the question has a wrong form.
        UnsupportedParameter: a front end's own prompt that notes cannot answer.
    """
    ask, earlier = ask_of(model, turns)
    return Question(ask, earlier, background_answer(turns))


class LinkCitation(TypedDict):
    """A link in the text, in code points."""

    start_index: int
    end_index: int
    url: str
    title: str | None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as clients read it."""

    text: str
    citations: tuple[LinkCitation, ...] = ()
    """In order."""
    is_cut: bool = False
    """Whether the limit on tokens cut the text."""
    prompt_tokens: int = 0
    """Tokens sent to the chat model; 0 without one."""
    completion_tokens: int = 0
    """Tokens that the chat model wrote; 0 without one."""

    @property
    def lines(self) -> list[str]:
        """The text in the parts of a stream."""
        return self.text.splitlines(keepends=True)


async def reply_to(
    service: Service,
    caller: Caller,
    question: Question,
    *,
    base: str,
    stop: Sequence[str] = (),
    limit: int | None = None,
) -> Reply:
    """Answer a question.

    Args:
        service: with open stores.
        caller: may use the dataset.
        question: of the caller.
        base: address of the service, for links.
        stop: the text ends before the first of these.
        limit: most tokens of the text; None: no limit.

    Raises:
        RunError: no answer could be made, or not in time.
    """
    if question.background is not None:
        return Reply(question.background)
    answer = await answer_to(service, caller, question.ask, question.earlier)
    text, is_cut = await asyncio.to_thread(shorten, answer.text, stop, limit)
    linked_text, citations = link_citations(text, answer, base)
    usage = answer.usage
    sent, written = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    return Reply(linked_text, tuple(citations), is_cut, sent, written)


def shorten(text: str, stop: Sequence[str], limit: int | None) -> tuple[str, bool]:
    """The text up to the first stop text and the limit on tokens, and whether the limit cut it.

    A citation mark is kept whole or left out.
    """
    end = min((text.index(one) for one in stop if one and one in text), default=len(text))
    short, is_cut = text[:end], False
    if limit is not None:
        count = token_counter()
        size_limit = bisect_right(range(len(short) + 1), limit, key=lambda size: count([short[:size]])[0]) - 1
        is_cut = size_limit < len(short)
        short = short[:size_limit]
    return (_OPEN_MARK.sub("", short).rstrip() if len(short) < len(text) else short), is_cut


def link_citations(text: str, answer: Answer, base: str) -> tuple[str, list[LinkCitation]]:
    """The text with a link after each citation mark, and the position of each link.

    Args:
        text: the answer's text, or its beginning.
        answer: has the citations.
        base: address of the service.
    """
    by_number = {str(one["n"]): one for one in answer.citations}
    linked_text, end = "", 0
    citations: list[LinkCitation] = []
    for mark in _MARK.finditer(text):
        linked_text += text[end : mark.start()]
        end = mark.end()
        for number in mark[1].split(", "):
            citation = by_number.get(number)
            if citation is None:
                continue
            url = note_url(base, answer.dataset, citation)
            start = len(linked_text)
            linked_text += f"[[{number}]]({url})" if url else f"[{number}]"
            if url:
                citations.append(
                    {
                        "start_index": start,
                        "end_index": len(linked_text),
                        "url": url,
                        "title": citation["title"] or citation["path"],
                    }
                )
    return linked_text + text[end:], citations


def note_url(base: str, dataset: str, citation: Mapping[str, Any]) -> str | None:
    """Address of a citation's passage on the page; None if its document is no note."""
    if not citation.get("document_id"):
        return None
    place = {
        key: value
        for key, value in {"start": citation.get("start"), "end": citation.get("end")}.items()
        if value is not None
    }
    return f"{base}read/{note_path(dataset, str(citation['document_id']))}" + (
        f"?{urlencode(place)}" if place else ""
    )
