"""The state that flows through the graph: plain serialisable values, one writer a key.

``CallerKeys`` is the graph's input and ``CanvasRAGState`` its output; their descriptions are what LangGraph
Studio shows beside its form (see docs/state.md for every key).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict  # before Python 3.12 pydantic makes no schema of typing's own

from agentic_rag.domain import Hit

AUTO: Literal["auto"] = "auto"
"""The operation that the words of the question choose."""


class Outcome(TypedDict):
    """How asking one source went."""

    status: str
    """``ok``, ``empty`` or ``degraded``."""
    reason: str | None
    count: int
    ms: float
    question: dict[str, Any]
    """What the source knows of the question (see ``domain.Findings``)."""


class CallerKeys(TypedDict, total=False):
    """What the caller gives."""

    query: Annotated[str, Field(description="The question. Without it the last human message is asked.")]
    messages: Annotated[
        list[AnyMessage],
        Field(description="The conversation so far; a question that points back is completed from it."),
        add_messages,
    ]
    operation: Annotated[
        Literal[
            "auto", "verification_canvas", "weak_point_clustering", "concept_relation", "document_retrieval"
        ],
        Field(
            description="What the answer is for: a board of questions, what one gets wrong, how concepts hang "
            "together, or the passage. auto: chosen by the words. Unset: verification_canvas; auto where only "
            "messages are given."
        ),
    ]
    dataset: Annotated[str, Field(description="Name that the notes were ingested under. Unset: default.")]
    filters: Annotated[
        dict[str, Any] | None, Field(description='On properties of notes: {"year": {"$gte": 2023}}.')
    ]
    as_of: Annotated[
        str | None,
        Field(description="ISO 8601: what was known then. A date alone means its end, in UTC."),
    ]
    top_k: Annotated[int | None, Field(description="Results to show, 1 to 1000. Unset: 10.", ge=1, le=1000)]
    user_id: Annotated[str | None, Field(description="Kept in the state; nothing reads it yet.")]


class Retry(TypedDict, total=False):
    """What ``prepare_query`` is sent for a further pass."""

    retry: str
    """The question in other words."""


class CanvasRAGState(CallerKeys, total=False):
    """What the caller gives, and what each node adds."""

    request: Annotated[dict[str, Any], Field(description="The question as every node reads it, normalised.")]
    search_query: Annotated[str, Field(description="What is searched for in this pass.")]
    graphiti_results: Annotated[list[Hit], Field(description="Hits of the graph, best first.")]
    graphiti_outcome: Annotated[Outcome | None, Field(description="How asking the graph went.")]
    lancedb_results: Annotated[list[Hit], Field(description="Hits of the vector store, best first.")]
    lancedb_outcome: Annotated[Outcome | None, Field(description="How asking the vector store went.")]
    fused_results: Annotated[list[dict[str, Any]], Field(description="Results of both, fused.")]
    fusion: Annotated[dict[str, Any], Field(description="Operation, strategy, parameters, tier, and why.")]
    outcomes: Annotated[dict[str, Any], Field(description='By source its outcome, or "skipped".')]
    reranked_results: Annotated[list[dict[str, Any]], Field(description="Results in their final order.")]
    rerank_outcome: Annotated[dict[str, Any] | None, Field(description="Method, and whether it failed.")]
    post_retrieval: Annotated[list[dict[str, Any]], Field(description="What each post-retrieval step did.")]
    quality: Annotated[dict[str, Any], Field(description="Grade, best relevance, reasons, decision.")]
    rewrites: Annotated[list[str], Field(description="The other words that were tried in this run.")]
    rewrite_outcome: Annotated[dict[str, Any] | None, Field(description="Method, and whether it failed.")]
    answer: Annotated[str, Field(description="Text with [n] marks.")]
    abstained: Annotated[bool, Field(description="True where nothing was relevant enough.")]
    citations: Annotated[list[dict[str, Any]], Field(description="What the marks stand for, verbatim.")]
    answer_outcome: Annotated[dict[str, Any] | None, Field(description="Method, and whether it failed.")]
