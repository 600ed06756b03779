"""``ask`` and ``search``, between parsing arguments and printing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from agentic_rag.answer import Answer
from agentic_rag.domain.filters import as_dict, parse_terms
from agentic_rag.errors import InputError
from agentic_rag.fusion.strategy_selector import SOURCES, SourceHits
from agentic_rag.nodes.fuse_results import results_of, specificity_of
from agentic_rag.nodes.request import Request
from agentic_rag.rag import Rag
from agentic_rag.rerank.offline import SearchedQuestion
from agentic_rag.retrieval.config import Strategy
from agentic_rag.state import AskOptions, CanvasRAGState


def _require_words(question: str, command: str) -> None:
    if not question.strip():
        raise InputError(f'the question is empty; write it in quotes: agentic-rag {command} "…"')


async def answer_json(
    rag: Rag,
    question: str,
    options: AskOptions,
    *,
    terms: Sequence[str] = (),
    explain: bool = False,
    board: str | None = None,
    base: str | None = None,
) -> dict[str, Any]:
    """The answer as JSON values.

    Args:
        terms: filters, each as ``year>=2023``.
        explain: adds ``fusion.moved`` (see ``SearchedQuestion.count_moved``).
        board: path of the file to write the answer to as a board; adds the report on it.
        base: path of the file to write the selection to as an Obsidian Base; adds the report on it.

    Raises:
        InputError: the question is empty, an argument is invalid, or ``base`` is given and nothing is selected.
        UnknownDataset: nothing was ingested under the name.
    """
    _require_words(question, "ask")
    expression = parse_terms(terms)
    asked: AskOptions = {**options, "filters": None if expression is None else as_dict(expression)}
    answer = await rag.ask(question, **asked)
    report = None
    if board is not None and not answer.abstained:
        report = await asyncio.to_thread(rag.write_board, answer, Path(board))
    written = None if base is None else asdict(await rag.write_base(answer, Path(base)))
    result = answer.to_dict()
    if explain:
        result["fusion"] = {**answer.fusion, **_moved_results(answer)}
    if board is not None:
        result["board"] = None if report is None else asdict(report)
    return result if written is None else {**result, "base": written}


def _moved_results(answer: Answer) -> dict[str, Any]:
    """``fusion.moved``; empty if a model reranked, or a source was not searched."""
    state = cast(CanvasRAGState, answer.state)
    request = Request.of(state)
    offline = request.parameters.rerank.method == "offline"
    by_graph, by_vectors = (results_of(state, name) for name in SOURCES)
    if not offline or by_graph is None or by_vectors is None:
        return {}
    searched = SearchedQuestion(
        request.question,
        SourceHits(by_graph, by_vectors),
        request.operation,
        request.parameters,
        specificity_of(state),
    )
    final = [result["id"] for result in answer.results]
    return {"moved": searched.count_moved(final, answer.fusion["strategy"])}


async def search_json(
    rag: Rag,
    query: str,
    dataset: str,
    strategy: str,
    top_k: int,
    threshold: float,
    filters: Sequence[str],
) -> dict[str, Any]:
    """The retrieval engine's results as JSON values.

    Raises:
        InputError: the query is empty.
        UnknownDataset: nothing was ever ingested under the name.
    """
    _require_words(query, "search")
    expression = parse_terms(filters)
    await rag.require_dataset(dataset)
    results = await rag.search(
        query,
        dataset=dataset,
        top_k=top_k,
        threshold=threshold,
        filters=expression,
        strategy=cast("Strategy", strategy),
    )
    reason = None if results else await rag.retrieval.why_nothing_passes(dataset, expression)
    return {
        "query": query,
        "strategy": strategy,
        "reason": reason,
        "results": [result.to_dict() for result in results],
    }
