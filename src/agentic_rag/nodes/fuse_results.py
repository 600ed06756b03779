"""Fuse what this pass's sources found, by the operation at hand; fail where no source could answer.

Also reads texts again that a run resumed from a checkpoint lacks, for this node and those after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import isawaitable
from typing import Any, cast

from agentic_rag.domain import Hit
from agentic_rag.errors import AllSourcesFailed
from agentic_rag.fusion.hits import read_hits
from agentic_rag.fusion.strategy_selector import MEMORY, SOURCES, SourceHits, fuse_adapted
from agentic_rag.nodes.request import Request
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.retrieval.schemas import chunk_metadata
from agentic_rag.state import CanvasRAGState, ShortenedList, in_full, shortened_results

SKIPPED_STATUS = "skipped"


def fuse_results(state: CanvasRAGState) -> CanvasRAGState:
    """Writes ``fused_results`` (see ``domain.results.Result``), ``fusion`` (the report) and ``outcomes``.

    Where a user's memories hold the very fact that is asked of the user, the notes' hits are left out.

    Raises:
        AllSourcesFailed: every source that was asked is degraded.
    """
    request = Request.of(state)
    names = (*SOURCES, *further_names(state), *([MEMORY] if request.asks_memory else []))
    found = {name: outcome_of(state, name) for name in names}
    asked = {name: outcome for name, outcome in found.items() if outcome is not None}
    if asked and all(outcome["status"] == "degraded" for outcome in asked.values()):
        raise AllSourcesFailed({name: str(outcome["reason"]) for name, outcome in asked.items()})
    settles = (found.get(MEMORY) or {}).get("question", {}).get("settles", False)
    graph, vector = ([] if settles else results_of(state, name) for name in SOURCES)
    fused = fuse_adapted(
        SourceHits(
            graph or [],
            vector,
            results_of(state, MEMORY) if found.get(MEMORY) is not None else None,
            {name: results_of(state, name) or [] for name in further_names(state) if found[name]},
        ),
        request.fusion,
        None if request.parameters.fusion.sets_weights else specificity_of(state),
    )
    return {
        "fused_results": shortened_results(fused.results, request.top_k),
        "fusion": {
            "operation": request.operation.value,
            "operation_reason": request.operation_reason,
            **fused.report,
        },
        "outcomes": {name: outcome or SKIPPED_STATUS for name, outcome in found.items()},
    }


def specificity_of(state: CanvasRAGState) -> float | None:
    """How much the graph knows of the question, in [0, 1]; None where it made no walk."""
    known = (outcome_of(state, "graphiti") or {}).get("question", {}).get("specificity")
    return None if known is None else float(known)


def further_names(state: CanvasRAGState) -> list[str]:
    """Names of the sources beside the graph, the vector store and the memories; see ``GraphParts.sources``."""
    own = {*SOURCES, MEMORY, *(key.removesuffix("_results") for key in _RESULTS)}
    return [name for key in state if (name := key.removesuffix("_results")) != key and name not in own]


def outcome_of(state: CanvasRAGState, source: str) -> Any:
    """A source's outcome; None where it was not asked."""
    values: Mapping[str, Any] = state
    return values.get(f"{source}_outcome")


def results_of(state: CanvasRAGState, source: str) -> list[Hit] | None:
    """A source's hits; None where it was not asked. A state made by hand needs no outcome beside them."""
    values: Mapping[str, Any] = state
    unasked = outcome_of(state, source) is None and "request" in state
    hits = None if unasked else values.get(f"{source}_results")
    if isinstance(hits, ShortenedList):  # made by ``retrieve`` in this process
        return hits.whole
    return None if hits is None else read_hits(hits, source)


async def resumable(
    state: CanvasRAGState, *, node: Callable[[CanvasRAGState], Any], engine: VectorSearch
) -> dict[str, Any]:
    """The keys that a node writes; in a run resumed from a checkpoint, missing texts are read again first.

    Raises:
        StoreError: it cannot be read.
    """
    written = node(await read_again(state, engine))
    return cast(dict[str, Any], await written if isawaitable(written) else written)


def with_whole_lists(node: Callable[..., Any], *, engine: VectorSearch) -> Callable[..., Any]:
    """A user's node, given a state whose hits and results all have their texts, as plain lists.

    Args:
        node: takes the state, and whatever else LangGraph gives to a node by name (``config``, ``runtime``, …).
        engine: has the texts that a run resumed from a checkpoint lacks.
    """

    @wraps(node)
    async def run(state: CanvasRAGState, *inputs: Any, **keywords: Any) -> Any:
        values: dict[str, Any] = {**await read_again(state, engine)}
        written = node(
            {**values, **{key: in_full(values[key]) for key in (*_hit_keys(state), *_RESULTS)}},
            *inputs,
            **keywords,
        )
        return await written if isawaitable(written) else written

    return run


async def read_again(state: CanvasRAGState, engine: VectorSearch) -> CanvasRAGState:
    """The state with its hits and results whole, without those whose chunk is gone since; see ``state.ShortenedList``."""
    hit_keys = _hit_keys(state)
    held: dict[str, list[dict[str, Any]]] = {
        key: in_full(cast(Any, state)[key]) for key in (*hit_keys, *_RESULTS)
    }
    if all("content" in entry for entries in held.values() for entry in entries):
        return state
    lacking = {hit["id"] for key in hit_keys for hit in held[key] if "content" not in hit}
    chunks = await engine.chunks(Request.of(state).dataset, sorted(lacking))
    read = {name: {"content": one.text, "metadata": chunk_metadata(one)} for name, one in chunks.items()}
    hits = {key: _join_entries(held[key], read) for key in hit_keys}
    fused = in_full(fuse_results(cast(CanvasRAGState, {**state, **hits}))["fused_results"])
    by_id = {result["id"]: result for result in fused}
    results = {key: _join_entries(held[key], by_id) for key in _RESULTS}
    return cast(CanvasRAGState, {**state, **hits, **results})


_RESULTS = ("fused_results", "reranked_results")


def _hit_keys(state: CanvasRAGState) -> list[str]:
    return [f"{name}_results" for name in (*SOURCES, *further_names(state))]


def _join_entries(
    entries: list[dict[str, Any]], known_results: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    joined = [{**known_results.get(entry["id"], {}), **entry} for entry in entries]
    return [entry for entry in joined if "content" in entry]
