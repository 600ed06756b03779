"""Ask a weak question again in other words: the words of the first pass's best results, or a chat model's."""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Sequence

from agentic_rag.answering.passages import passage_text
from agentic_rag.channels import in_full
from agentic_rag.domain.ports import Chat
from agentic_rag.domain.results import Result
from agentic_rag.errors import ModelError
from agentic_rag.nodes.request import Request
from agentic_rag.state import CanvasRAGState, step_outcome
from agentic_rag.text import STOPWORDS, script, tokens
from agentic_rag.text.prompts import REWRITE_SYSTEM, fence_passages

logger = logging.getLogger(__name__)
FEEDBACK_RESULTS, TERMS = 5, 6
_WORD = re.compile(r"[^\W\d_]{2,}")


async def rewrite_query(state: CanvasRAGState, *, chat: Chat | None = None) -> CanvasRAGState:
    """Appends to ``rewrites`` and writes ``rewrite_outcome``.

    A chat model that fails is replaced by expansion, and ``rewrite_outcome`` says so.
    """
    request = Request.of(state)
    parameters, results = request.parameters.rewrite, in_full(state["reranked_results"])
    outcome, rewritten = step_outcome(parameters.method), None
    if parameters.method == "chat" and chat is not None:
        try:
            rewritten = await _ask_for_rewrite(chat, request.question, results)
        except ModelError as error:
            logger.warning("the chat model failed, expanding the question instead: %s", error)
            outcome = step_outcome("expansion", str(error))
    if rewritten is None:
        rewritten = expand_query(request.question, results)
    return {"rewrites": [*state.get("rewrites", []), rewritten], "rewrite_outcome": outcome}


def expand_query(question: str, results: Sequence[Result]) -> str:
    """The question followed by the words that set its best results apart (pseudo-relevance feedback).

    A word counts by how many of the best results have it times log(1 + N / df) over all results, and
    only if the question lacks it. Without such words the question comes back as it was.
    """
    asked = set(tokens(question))
    best, everything = results[:FEEDBACK_RESULTS], [set(_words(result)) for result in results]
    frequency = Counter(word for words in everything for word in words)
    weight: Counter[str] = Counter()
    for result in best:
        for word in set(_words(result)):
            if word.casefold() not in STOPWORDS and not asked & set(tokens(word)):
                weight[word] += math.log(1 + len(results) / frequency[word])  # type: ignore[assignment]
    chosen = sorted(weight, key=lambda word: (-weight[word], word))[:TERMS]
    return " ".join([question, *chosen])


def _words(result: Result) -> list[str]:
    title = str(result["metadata"].get("title") or "")
    found: list[str] = []
    for word in _WORD.findall(f"{title} {result['content']}"):
        # A run of Han or kana is a clause, not a word: its bigrams stand for its words.
        found.extend(tokens(word) if script(word) == "cjk" else [word.casefold()])
    return found


async def _ask_for_rewrite(chat: Chat, question: str, results: Sequence[Result]) -> str | None:
    passages = [passage_text(result) for result in results[:FEEDBACK_RESULTS]]
    text = await chat.complete(REWRITE_SYSTEM, f"{fence_passages(passages)}\n\nQuestion: {question}")
    line = text.strip().splitlines()[0].strip() if text.strip() else ""
    return line[:1000] or None
