"""``ask`` and ``search``, between parsing arguments and printing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Required, TypedDict, cast

from agentic_rag.answer import Answer, AnswerValues
from agentic_rag.domain.results import FusionReport
from agentic_rag.errors import InputError
from agentic_rag.fusion.strategy_selector import SOURCES, SourceHits
from agentic_rag.nodes.fuse_results import results_of, specificity_of
from agentic_rag.nodes.request import Request
from agentic_rag.rag import Rag
from agentic_rag.rerank.offline import SearchedQuestion
from agentic_rag.retrieval.config import Strategy
from agentic_rag.retrieval.schemas import ResultValues
from agentic_rag.state import AskOptions, CanvasRAGState


def _require_words(question: str, command: str) -> None:
    if not question.strip():
        raise InputError(f'the question is empty; write it in quotes: agentic-rag {command} "…"')


class BoardValues(TypedDict):
    """A ``boards.files.BoardReport``."""

    path: str
    added: int
    removed: int
    kept: int


class BaseValues(TypedDict):
    """A ``boards.selection_base.BaseReport``."""

    path: str
    columns: list[str]
    notes: int
    missing: list[str]
    extra: list[str]


class AskedValues(AnswerValues, total=False):
    """What ``ask --json`` prints."""

    board: BoardValues | None
    """The report on the board, if one was asked for; None: the answer cites no note."""
    base: BaseValues
    seconds: float


class FoundValues(TypedDict, total=False):
    """What ``search --json`` prints."""

    query: Required[str]
    strategy: Required[str]
    reason: Required[str | None]
    """Why there are no results, where a filter left none."""
    results: Required[list[ResultValues]]
    seconds: float


async def answer_json(
    rag: Rag,
    question: str,
    options: AskOptions,
    *,
    explain: bool = False,
    board: str | None = None,
    base: str | None = None,
) -> AskedValues:
    """The answer as JSON values.

    Args:
        explain: adds ``fusion.moved`` (see ``SearchedQuestion.count_moved``).
        board: path of the file to write the answer to as a board; adds the report on it.
        base: path of the file to write the selection to as an Obsidian Base; adds the report on it.

    Raises:
        InputError: the question is empty, an argument is invalid, or ``base`` is given and nothing is selected.
        UnknownDataset: nothing was ingested under the name.
    """
    _require_words(question, "ask")
    answer = await rag.ask(question, **options)
    report = None
    if board is not None and not answer.abstained:
        report = await asyncio.to_thread(rag.write_board, answer, Path(board))
    result = cast(AskedValues, answer.to_dict())
    if base is not None:
        result["base"] = cast(BaseValues, asdict(await rag.write_base(answer, Path(base))))
    if explain:
        result["fusion"] = _fusion_explanation(answer)
    if board is not None:
        result["board"] = None if report is None else cast(BoardValues, asdict(report))
    return result


def _fusion_explanation(answer: Answer) -> FusionReport:
    state = cast(CanvasRAGState, answer.state)
    request = Request.of(state)
    offline = request.parameters.rerank.method == "offline"
    by_graph, by_vectors = (results_of(state, name) for name in SOURCES)
    if not offline or by_graph is None or by_vectors is None:
        return answer.fusion
    searched = SearchedQuestion(
        request.question,
        SourceHits(by_graph, by_vectors),
        request.operation,
        request.parameters,
        specificity_of(state),
    )
    final = [result["id"] for result in answer.results]
    return {**answer.fusion, "moved": searched.count_moved(final, answer.fusion["strategy"])}


async def search_json(
    rag: Rag,
    query: str,
    dataset: str,
    strategy: str,
    top_k: int,
    threshold: float,
    filters: Mapping[str, Any] | None,
) -> FoundValues:
    """The retrieval engine's results as JSON values.

    Raises:
        InputError: the query is empty.
        UnknownDataset: nothing was ever ingested under the name.
    """
    _require_words(query, "search")
    await rag.require_dataset(dataset)
    results = await rag.search(
        query,
        dataset=dataset,
        top_k=top_k,
        threshold=threshold,
        filters=filters,
        strategy=cast("Strategy", strategy),
    )
    reason = None if results else await rag.retrieval.why_nothing_passes(dataset, filters)
    return {
        "query": query,
        "strategy": strategy,
        "reason": reason,
        "results": [result.to_dict() for result in results],
    }
