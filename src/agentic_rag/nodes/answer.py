"""Last node: answer from the passages with citations, or say that the notes do not have it."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from agentic_rag.answering.citations import CitationList, citation, whole
from agentic_rag.answering.grounding.cited_answers import CitedAnswer, cited_answer
from agentic_rag.answering.operations.selection import has_statement
from agentic_rag.answering.operations.shapes import SHAPES, nearest_lead, not_found, nothing_to_ask
from agentic_rag.answering.passages import passage_text
from agentic_rag.answering.quotes import Quote
from agentic_rag.channels import in_full
from agentic_rag.domain.ports import Chat, Embedding, MessageChat, TokenEmbedding
from agentic_rag.domain.results import AnswerLine, Citation, Result
from agentic_rag.errors import ModelError, StoreError
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.nodes.mistakes import ListMistakes, asks_for_all, no_mistakes
from agentic_rag.nodes.request import Request
from agentic_rag.rerank.features import judge
from agentic_rag.state import CanvasRAGState, StepOutcome, step_outcome
from agentic_rag.text.prompts import ANSWER_SYSTEM, fence_passages

logger = logging.getLogger(__name__)
FIRST = 10
"""Results that may be quoted at any relevance, once the best one is relevant enough: as many as one is shown.
Among them the order tells more than the level."""
_SAYS_NOT_FOUND = re.compile(r"\W*NOT FOUND\b", re.IGNORECASE)
"""The reply that the prompt asks for, with marks and explanations that models add."""


async def answer(
    state: CanvasRAGState,
    *,
    chat: Chat | None = None,
    mistakes: ListMistakes | None = None,
    embedding: Embedding | None = None,
) -> CanvasRAGState:
    """Writes ``answer``, ``abstained``, ``citations``, ``answer_outcome``, and the answer as the last of ``messages``.

    Where the best result is relevant enough, the first ``FIRST`` are quoted, and those after them at or above
    ``answer.abstain_below``. Properties, and what says nothing by itself (a heading), are followed by the best text of
    the same note. A chat model that fails, or of whose answer the passages support nothing, is replaced by quotes, and
    ``answer_outcome`` says so; it is ``partial`` where some of it is left out.

    A question about all mistakes is answered by every note that records one, as ``mistakes`` lists them.
    """
    request = Request.of(state)
    if mistakes is not None and asks_for_all(request):
        try:
            return _with_message(request, _of_mistakes(request, await mistakes(request)))
        except StoreError as error:
            logger.warning("mistakes are looked for in the results alone: %s", error)
    shape = SHAPES[request.operation]
    floor = request.parameters.answer.abstain_below * shape.choice.reach
    results = in_full(state["reranked_results"])
    usable = [
        result
        for rank, (result, known) in enumerate(zip(results, judge(results), strict=True))
        if known >= floor or rank < FIRST
    ][: max(shape.choice.results, request.top_k)]  # the most that is quoted from or given to a model
    selection = state.get("selection") or {}
    if state["quality"]["decision"] == "abstain":
        return _with_message(request, _not_found(request.query, nearest=state.get("units") or ()))
    if state.get("units") and selection.get("status") == "ok":
        return _with_message(request, _from_units(state["units"]))
    if not usable:
        return _with_message(request, _not_found(request.query))
    if state.get("units") and request.parameters.answer.method != "chat":
        return _with_message(request, _from_units(state["units"]))
    texts = await asyncio.to_thread(_with_texts, usable, results)
    return _with_message(request, await _from_results(request, texts, chat, embedding))


async def answer_by_agent(
    request: Request,
    message: AIMessage,
    results: list[Result],
    *,
    embedding: Embedding | None = None,
) -> CanvasRAGState:
    """The keys of ``answer`` from the agent's last message and the passages that its marks count.

    Raises:
        ModelError: nothing of it is cited.
    """
    return _with_message(request, await _from_message(request.question, message, results, "agent", embedding))


def _of_mistakes(request: Request, quotes: Sequence[Quote]) -> CanvasRAGState:
    cited = CitationList()
    text = SHAPES[request.operation].render(request.query, quotes, cited) or no_mistakes(request.query)
    return _answer_keys(text, cited.all(), step_outcome("extractive"), is_abstention=not quotes)


async def _from_results(
    request: Request, usable: list[Result], chat: Chat | None, embedding: Embedding | None
) -> CanvasRAGState:
    """The answer by the chat model; quotes if there is none or it fails."""
    parameters, shape, failure = request.parameters.answer, SHAPES[request.operation], None
    if parameters.method == "chat" and chat is not None:
        try:
            system = f"{ANSWER_SYSTEM}\n{shape.asks}"
            return await _from_chat(chat, system, request.question, usable[: request.top_k], embedding)
        except ModelError as error:
            failure = str(error)
            logger.warning("the chat model failed, quoting instead: %s", failure)
    return await asyncio.to_thread(_from_quotes, request, usable, failure)


def _from_quotes(request: Request, usable: list[Result], failure: str | None) -> CanvasRAGState:
    """The answer in quotes; ``failure``: why it is not the chat model's."""
    shape = SHAPES[request.operation]
    limit = request.parameters.answer.sentences * shape.times
    # Not the rewritten query: its added words come from passages and would select those again.
    quotes = shape.quotes(request.question, usable, limit=limit)
    if not quotes and request.operation is CanvasOperation.VERIFICATION_CANVAS:
        return _answer_keys(
            nothing_to_ask(request.query), [], step_outcome("extractive", failure), is_abstention=True
        )
    quotes = quotes or [whole(result, order) for order, result in enumerate(usable[:1])]
    cited = CitationList()
    text = shape.render(request.query, quotes, cited)
    return _answer_keys(text, cited.all(), step_outcome("extractive", failure))


def _from_units(lines: Sequence[AnswerLine]) -> CanvasRAGState:
    """The lines, each with the number of its citation; lines of one block share it."""
    numbers: dict[tuple[Any, ...], int] = {}
    citations: list[Citation] = []
    texts = []
    for line in lines:
        if line["document_id"] is None and line.get("chunk_id") is None:
            texts.append(line["text"])
            continue
        place = line["document_id"], line["chunk_id"], line["start"], line["end"]
        if place not in numbers:
            numbers[place] = len(numbers) + 1
            span = {key: value for key, value in line.items() if key != "text"}
            citations.append(cast(Citation, {"n": numbers[place], **span}))
        texts.append(f"{line['text']} [{numbers[place]}]")
    return _answer_keys("\n".join(texts), citations, step_outcome("extractive"))


def _answer_keys(
    text: str, citations: list[Citation], outcome: StepOutcome, *, is_abstention: bool = False
) -> CanvasRAGState:
    return {"answer": text, "abstained": is_abstention, "citations": citations, "answer_outcome": outcome}


def _with_message(request: Request, keys: CanvasRAGState) -> CanvasRAGState:
    """The keys, and the message that says the same, in place of the model's where one wrote it."""
    details = {
        "citations": keys["citations"],
        "abstained": keys["abstained"],
        "operation": request.operation.value,
        "dataset": request.dataset,
    }
    identity = next((message.id for message in keys.get("messages", ())), None)
    return {**keys, "messages": [AIMessage(keys["answer"], additional_kwargs=details, id=identity)]}


def _with_texts(usable: list[Result], results: list[Result]) -> list[Result]:
    """The results, with a note's best text passage after its properties or heading."""
    found: dict[str, Result] = {}
    for result in usable:
        found[result["id"]] = result
        note = result["metadata"].get("document_id")
        if note is not None and not _is_text(result):
            beside = (other for other in results if other["metadata"].get("document_id") == note)
            text = next(filter(_is_text, beside), None)
            if text is not None:
                found.setdefault(text["id"], text)
    return list(found.values())


def _is_text(result: Result) -> bool:
    """Whether the result is no properties and has a sentence that can answer."""
    return result["metadata"].get("kind") != "properties" and has_statement(result)


def _not_found(
    question: str, method: str = "extractive", *, nearest: Sequence[AnswerLine] = ()
) -> CanvasRAGState:
    """Says so, with the lines that come nearest, if any."""
    text, shown = not_found(question), _from_units(nearest)
    if nearest:
        text = f"{text} {nearest_lead(question)}\n{shown['answer']}"
    return _answer_keys(text, shown["citations"], step_outcome(method), is_abstention=True)


async def _from_chat(
    chat: Chat, system: str, question: str, results: list[Result], embedding: Embedding | None
) -> CanvasRAGState:
    user = f"{fence_passages([passage_text(result) for result in results])}\n\nQuestion: {question}"
    if isinstance(chat, MessageChat):
        message = await chat.respond([SystemMessage(system), HumanMessage(user)])
        return await _from_message(question, message, results, "chat", embedding)
    text = await chat.complete(system, user)
    return await _from_text(question, text.strip(), results, "chat", embedding)


async def _from_message(
    question: str,
    message: AIMessage,
    results: list[Result],
    method: str,
    embedding: Embedding | None,
) -> CanvasRAGState:
    """What a model wrote, under the id of its message."""
    if not (text := str(message.text).strip()):
        raise ModelError("the chat model gave an empty answer; try again, or set another chat.model")
    keys = await _from_text(question, text, results, method, embedding)
    return {**keys, "messages": [message]}


async def _from_text(
    question: str, text: str, results: list[Result], method: str, embedding: Embedding | None
) -> CanvasRAGState:
    """What a model wrote, held to its passages.

    Raises:
        ModelError: they support nothing of it.
    """
    if not text or _SAYS_NOT_FOUND.match(text):
        return _not_found(question, method)
    part = await _cite_passages(text, question, [passage_text(result) for result in results], embedding)
    if not part.text:
        raise ModelError(f"the chat model's answer has nothing that a passage supports: {part.reason}")
    citations = [citation(number, whole(results[number - 1], number - 1)) for number in part.numbers]
    return _answer_keys(part.text, citations, _chat_outcome(part, method))


async def _cite_passages(
    text: str, question: str, passages: list[str], embedding: Embedding | None
) -> CitedAnswer:
    """The answer held to its passages; by their letters where the embedding model tells no tokens, or fails."""
    if isinstance(embedding, TokenEmbedding):
        try:
            return await cited_answer(text, question, passages, embedding)
        except ModelError as error:
            logger.warning("the answer is held to its passages by their letters alone: %s", error)
    return await cited_answer(text, question, passages, None)


def _chat_outcome(part: CitedAnswer, method: str) -> StepOutcome:
    outcome = step_outcome(method)
    if part.reason is None:
        return outcome
    return {
        **outcome,
        "status": "partial",
        "reason": part.reason,
        "left_out": {str(reason): count for reason, count in part.left_out.items()},
    }
