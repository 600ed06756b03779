"""Resumes a run from a checkpoint, which stores long lists in short: their texts are read again from the stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import isawaitable
from typing import Any, cast

from agentic_rag.channels import in_full
from agentic_rag.fusion.strategy_selector import SOURCES
from agentic_rag.nodes.fuse_results import RESULT_KEYS, further_names, fuse_results
from agentic_rag.nodes.request import Request
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.retrieval.schemas import chunk_metadata
from agentic_rag.state import CanvasRAGState


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
            {**values, **{key: in_full(values[key]) for key in (*_hit_keys(state), *RESULT_KEYS)}},
            *inputs,
            **keywords,
        )
        return await written if isawaitable(written) else written

    return run


async def read_again(state: CanvasRAGState, engine: VectorSearch) -> CanvasRAGState:
    """The state with its hits and results whole, without those whose chunk is gone since; see ``state.ShortenedList``."""
    hit_keys = _hit_keys(state)
    held: dict[str, list[dict[str, Any]]] = {
        key: in_full(cast(Any, state)[key]) for key in (*hit_keys, *RESULT_KEYS)
    }
    if all("content" in entry for entries in held.values() for entry in entries):
        return state
    lacking = {hit["id"] for key in hit_keys for hit in held[key] if "content" not in hit}
    chunks = await engine.chunks(Request.of(state).dataset, sorted(lacking))
    read = {name: {"content": one.text, "metadata": chunk_metadata(one)} for name, one in chunks.items()}
    hits = {key: _join_entries(held[key], read) for key in hit_keys}
    fused = in_full(fuse_results(cast(CanvasRAGState, {**state, **hits}))["fused_results"])
    by_id = {result["id"]: result for result in fused}
    results = {key: _join_entries(held[key], by_id) for key in RESULT_KEYS}
    return cast(CanvasRAGState, {**state, **hits, **results})


def _hit_keys(state: CanvasRAGState) -> list[str]:
    return [f"{name}_results" for name in (*SOURCES, *further_names(state))]


def _join_entries(
    entries: list[dict[str, Any]], known_results: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    joined = [{**known_results.get(entry["id"], {}), **entry} for entry in entries]
    return [entry for entry in joined if "content" in entry]
