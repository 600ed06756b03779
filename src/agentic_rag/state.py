"""The state that flows through the graph: plain serialisable values, one writer a key."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict  # before Python 3.12 pydantic makes no schema of typing's own

from agentic_rag.domain import Hit

Outcome = TypedDict(
    "Outcome",
    {
        "status": str,
        "reason": str | None,
        "count": int,
        "ms": float,
        "pass": int,
        "question": dict[str, Any],
    },
)
"""How asking one source went: status ``ok``, ``empty`` or ``degraded``; milliseconds; the pass it belongs to; and what
the source knows of the question (see ``domain.Findings``)."""


class CallerKeys(TypedDict, total=False):
    query: str
    operation: str
    dataset: str
    filters: dict[str, Any] | None
    as_of: str | None
    top_k: int | None
    user_id: str | None
    messages: Annotated[list[AnyMessage], add_messages]


WorkKeys = TypedDict(
    "WorkKeys",
    {
        "search_query": str,
        "pass": int,
        "run": dict[str, Any],
        "graphiti_results": list[Hit],
        "graphiti_outcome": Outcome,
        "lancedb_results": list[Hit],
        "lancedb_outcome": Outcome,
        "fused_results": list[dict[str, Any]],
        "fusion": dict[str, Any],
        "outcomes": dict[str, Any],
        "reranked_results": list[dict[str, Any]],
        "rerank_outcome": dict[str, Any],
        "post_retrieval": list[dict[str, Any]],
        "quality": dict[str, Any],
        "rewrites": list[str],
        "rewrite_outcome": dict[str, Any],
        "answer": str,
        "abstained": bool,
        "citations": list[dict[str, Any]],
        "answer_outcome": dict[str, Any],
    },
    total=False,
)


class CanvasRAGState(CallerKeys, WorkKeys, total=False):
    """What the caller gives, and what each node adds (see docs/state.md for the writer of each key)."""
