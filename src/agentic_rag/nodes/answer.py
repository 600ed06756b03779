"""Last node: answer from the passages with citations, or say that the notes do not have it."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from agentic_rag.answering.citations import CitationList, citation, cited_numbers, only_known, whole
from agentic_rag.answering.passages import told
from agentic_rag.answering.quotes import best_quotes
from agentic_rag.answering.shapes import SHAPES, not_found
from agentic_rag.errors import ModelError
from agentic_rag.fusion.strategy_selector import parse_operation
from agentic_rag.nodes.node import Node
from agentic_rag.nodes.prepare_query import DEFAULT_OPERATION, DEFAULT_TOP_K, whole_question
from agentic_rag.parameters import Parameters
from agentic_rag.ports import Chat
from agentic_rag.prompts import ANSWER_SYSTEM, fenced
from agentic_rag.rerank.relevance import judged
from agentic_rag.state import CanvasRAGState

logger = logging.getLogger(__name__)
FIRST = 10
"""Results that are quoted from once the best is relevant enough, as many as one is shown: of the next ones the order
says more than the level."""
_SAYS_NOT_FOUND = re.compile(r"\W*NOT FOUND\b", re.IGNORECASE)
"""What the prompt asks for, with the marks and explanations that models put around it."""


def answer(defaults: Parameters, chat: Chat | None = None) -> Node:
    """The node; writes ``answer``, ``abstained``, ``citations`` and ``answer_outcome``.

    Where the best result is relevant enough, the first ``FIRST`` are quoted, and those after them at or above
    ``answer.abstain_below``; a note's properties with the best of its text. Where none of them says anything by itself (a
    heading), what stands beside it in the same note. A chat model that fails is replaced by quotes, and
    ``answer_outcome`` says so.
    """

    async def node(state: CanvasRAGState, *, runtime: Runtime[Any]) -> dict[str, Any]:
        parameters = defaults.overridden(runtime.context).answer
        shape = SHAPES[parse_operation(state.get("operation") or DEFAULT_OPERATION)]
        floor = parameters.abstain_below * shape.choice.reach
        results = state["reranked_results"]
        usable = _with_texts(
            [
                result
                for rank, (result, known) in enumerate(zip(results, judged(results), strict=True))
                if known >= floor or rank < FIRST
            ],
            results,
        )
        # What a rewrite added is from the passages themselves, and would choose them again.
        question, asked = state["run"]["query"], whole_question(state)
        if state["quality"]["decision"] == "abstain" or not usable:
            return _abstained(question)
        degraded = None
        if parameters.method == "chat" and chat is not None:
            try:
                shown = usable[: state.get("top_k") or DEFAULT_TOP_K]
                return await _from_chat(chat, f"{ANSWER_SYSTEM}\n{shape.asks}", asked, shown)
            except ModelError as error:
                degraded = str(error)
                logger.warning("the chat model failed, quoting instead: %s", degraded)
        limit = parameters.sentences * shape.times
        quotes = best_quotes(asked, usable, limit=limit, choice=shape.choice)
        if not quotes:  # a heading: what it says stands beside it
            notes = _of_the_same_notes(usable, results)
            quotes = best_quotes(asked, notes, limit=limit, choice=shape.choice)
        if not quotes:  # no prose anywhere: what a property says is better than all of them in a lump
            quotes = best_quotes(asked, usable, limit=limit, choice=replace(shape.choice, prose=False))
        if not quotes:
            quotes = [whole(result, order) for order, result in enumerate(usable[:1])]
        cited = CitationList()
        text = shape.render(question, shape.brings(question, quotes)[:limit], cited)
        return {
            "answer": text,
            "abstained": False,
            "citations": cited.all(),
            "answer_outcome": _outcome("extractive", degraded),
        }

    return node


def _with_texts(usable: list[dict[str, Any]], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results, a note's properties followed by the best other passage of it: they say which note, it says what."""
    best: dict[Any, dict[str, Any]] = {}
    for result in results:
        if result["metadata"].get("kind") != "properties":
            best.setdefault(result["metadata"].get("document_id"), result)
    found: dict[str, dict[str, Any]] = {}
    for result in usable:
        found[result["id"]] = result
        if result["metadata"].get("kind") == "properties":
            text = best.get(result["metadata"].get("document_id"))
            if text is not None:
                found.setdefault(text["id"], text)
    return list(found.values())


def _of_the_same_notes(usable: list[dict[str, Any]], results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    documents = {result["metadata"].get("document_id") for result in usable} - {None}
    return [result for result in results if result["metadata"].get("document_id") in documents]


def _abstained(question: str, method: str = "extractive") -> dict[str, Any]:
    return {
        "answer": not_found(question),
        "abstained": True,
        "citations": [],
        "answer_outcome": _outcome(method, None),
    }


def _outcome(method: str, reason: str | None) -> dict[str, Any]:
    return {"status": "ok" if reason is None else "degraded", "reason": reason, "method": method}


async def _from_chat(chat: Chat, system: str, question: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    passages = fenced([told(result) for result in results])
    text = (await chat.complete(system, f"{passages}\n\nQuestion: {question}")).strip()
    if not text or _SAYS_NOT_FOUND.match(text):
        return _abstained(question, "chat")
    numbers = cited_numbers(text, range(1, len(results) + 1))
    if not numbers:
        raise ModelError("the chat model's answer cites no passage, so none of it can be checked")
    citations = [citation(number, whole(results[number - 1], number - 1)) for number in numbers]
    return {
        "answer": only_known(text, numbers),
        "abstained": False,
        "citations": citations,
        "answer_outcome": _outcome("chat", None),
    }
