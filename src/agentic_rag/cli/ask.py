"""What ``ask`` and ``search`` do between the arguments and the printing."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, cast

from agentic_rag.composition import open_rag
from agentic_rag.config import RagConfig
from agentic_rag.errors import InputError
from agentic_rag.filters import as_dict, parse_terms
from agentic_rag.fusion.strategy_selector import SOURCES, parse_operation
from agentic_rag.nodes.fuse_results import current_results, telling_of
from agentic_rag.nodes.prepare_query import whole_question
from agentic_rag.parameters import Parameters
from agentic_rag.rerank.moved import moved
from agentic_rag.state import CanvasRAGState

ASK_KEYS = (
    "query", "operation", "dataset", "answer", "abstained", "citations", "results", "outcomes", "fusion",
    "quality", "rewrites",
)  # fmt: skip


def request(
    question: str, dataset: str, operation: str, top_k: int, filters: Sequence[str], as_of: str | None
) -> dict[str, Any]:
    """The graph's input.

    Raises:
        InputError: the question is empty, or a filter cannot be read.
    """
    _require_words(question, "ask")
    expression = parse_terms(filters)
    return {
        "query": question,
        "dataset": dataset,
        "operation": operation,
        "top_k": top_k,
        "filters": None if expression is None else as_dict(expression),
        "as_of": as_of,
    }


def _require_words(question: str, command: str) -> None:
    if not question.strip():
        raise InputError(f'the question is empty; write it in quotes: agentic-rag {command} "…"')


async def asked(
    config: RagConfig, state: dict[str, Any], context: dict[str, Any], *, explain: bool = False
) -> dict[str, Any]:
    """The graph's answer as the contract's JSON; ``explain`` adds ``fusion.moved`` (see ``rerank.moved``).

    Raises:
        UnknownDataset: nothing was ingested under the name.
    """
    # What a source failed at is told below the answer, or in the error.
    logging.getLogger("agentic_rag.nodes.outcome").setLevel(logging.ERROR)
    async with open_rag(config) as rag:
        await rag.require_dataset(state["dataset"])
        done = await rag.graph.ainvoke(state, context=context)
    done["operation"] = done["fusion"]["operation"]  # by its name, whatever it was asked by
    done["results"] = done["reranked_results"][: state["top_k"]]
    if explain:
        done["fusion"] = {**done["fusion"], **_moved(config.overridden(context), done)}
    done["outcomes"] = {**done["outcomes"], **_degraded_steps(done)}
    return {key: done[key] for key in ASK_KEYS}


def _moved(parameters: Parameters, done: dict[str, Any]) -> dict[str, Any]:
    """Nothing where a model reranked, steps chose among the results, or the vector store was not asked."""
    offline = parameters.rerank.method == "offline" and not parameters.post_retrieval.steps
    state = cast(CanvasRAGState, done)
    by_graph, by_vectors = (current_results(state, name) for name in SOURCES)
    if not offline or by_graph is None or by_vectors is None:
        return {}
    return {
        "moved": moved(
            whole_question(state),
            (by_graph, by_vectors),
            [result["id"] for result in done["results"]],
            used=done["fusion"]["strategy"],
            operation=parse_operation(done["operation"]),
            parameters=parameters,
            telling=telling_of(state),
        )
    }


def _degraded_steps(done: dict[str, Any]) -> dict[str, Any]:
    """Steps whose model failed and was replaced, beside the sources."""
    names = ("rerank", "rewrite", "answer")
    outcomes = {name: done[f"{name}_outcome"] for name in names if f"{name}_outcome" in done}
    return {name: outcome for name, outcome in outcomes.items() if outcome["status"] == "degraded"}


async def searched(
    config: RagConfig,
    query: str,
    dataset: str,
    strategy: str,
    top_k: int,
    threshold: float,
    filters: Sequence[str],
) -> dict[str, Any]:
    """The retrieval engine's results as the contract's JSON.

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
            strategy=strategy,
        )
        reason = None if results else await rag.retrieval.why_nothing_passes(dataset, parse_terms(filters))
    return {
        "query": query,
        "strategy": strategy,
        "reason": reason,
        "results": [
            {
                "id": result.id,
                "content": result.content,
                "score": result.score,
                "metadata": result.metadata,
                "legs": {name: {"rank": leg.rank, "score": leg.score} for name, leg in result.legs.items()},
            }
            for result in results
        ],
    }
