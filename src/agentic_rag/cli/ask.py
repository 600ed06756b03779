"""``ask`` and ``search``, between parsing arguments and printing."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from agentic_rag.answer import Answer
from agentic_rag.boards.files import require_board_name
from agentic_rag.boards.selection_base import require_base_name
from agentic_rag.cli.options import require_folder
from agentic_rag.domain.filters import as_dict, parse_terms
from agentic_rag.errors import InputError
from agentic_rag.fusion.strategy_selector import SOURCES
from agentic_rag.nodes.fuse_results import results_of, specificity_of
from agentic_rag.nodes.request import Request
from agentic_rag.rag import open_rag
from agentic_rag.rerank.offline import count_moved
from agentic_rag.retrieval.config import Strategy
from agentic_rag.settings.config import RagConfig
from agentic_rag.state import AskOptions, CanvasRAGState


def _require_words(question: str, command: str) -> None:
    if not question.strip():
        raise InputError(f'the question is empty; write it in quotes: agentic-rag {command} "…"')


async def answer_json(
    config: RagConfig,
    question: str,
    options: AskOptions,
    *,
    terms: Sequence[str] = (),
    explain: bool = False,
    board: Path | None = None,
    base: Path | None = None,
) -> dict[str, Any]:
    """The answer as JSON values.

    Args:
        terms: filters, each as ``year>=2023``.
        explain: adds ``fusion.moved`` (see ``rerank.offline.count_moved``).
        board: file to write the answer to as a board; adds the report on it.
        base: file to write the selection to as an Obsidian Base; adds the report on it.

    Raises:
        InputError: the question is empty, an argument is invalid, or ``base`` is given and nothing is selected.
        UnknownDataset: nothing was ingested under the name.
    """
    _require_words(question, "ask")
    expression = parse_terms(terms)
    if board is not None:
        require_board_name(board)
        require_folder(board)
    if base is not None:
        require_base_name(base)
        require_folder(base)
    # A failed source is reported below the answer, or in the error.
    logging.getLogger("agentic_rag.nodes.retrieve").setLevel(logging.ERROR)
    async with open_rag(config) as rag:
        filters = None if expression is None else as_dict(expression)
        asked: AskOptions = {**options, "filters": filters}
        answer = await rag.ask(question, **asked)
        report = None if board is None or answer.abstained else rag.write_board(answer, board)
        written = None if base is None else asdict(await rag.write_base(answer, base))
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
    parameters = request.parameters
    offline = parameters.rerank.method == "offline"
    by_graph, by_vectors = (results_of(state, name) for name in SOURCES)
    if not offline or by_graph is None or by_vectors is None:
        return {}
    return {
        "moved": count_moved(
            request.question,
            (by_graph, by_vectors),
            [result["id"] for result in answer.results],
            used_strategy=answer.fusion["strategy"],
            operation=request.operation,
            parameters=parameters,
            specificity=specificity_of(state),
        )
    }


async def search_json(
    config: RagConfig,
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
    async with open_rag(config) as rag:
        await rag.require_dataset(dataset)
        results = await rag.search(
            query,
            dataset=dataset,
            top_k=top_k,
            threshold=threshold,
            filters=parse_terms(filters),
            strategy=cast("Strategy", strategy),
        )
        reason = None if results else await rag.retrieval.why_nothing_passes(dataset, parse_terms(filters))
    return {
        "query": query,
        "strategy": strategy,
        "reason": reason,
        "results": [result.to_dict() for result in results],
    }
