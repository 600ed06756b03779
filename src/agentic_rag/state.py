"""The state of the graph: plain serialisable values, one writer per key (``messages`` and ``usage`` are accumulated).

``CallerKeys`` is the graph's input and ``CanvasRAGState`` its output; their descriptions are what LangGraph
Studio shows beside its form (see docs/state.md for every key).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NotRequired, cast, get_type_hints

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict  # before Python 3.12 pydantic makes no schema of typing's own

from agentic_rag.channels import CompressedValue, ReadOnce
from agentic_rag.domain import Hit
from agentic_rag.domain.results import AnswerLine, Citation, FusionReport, Result
from agentic_rag.domain.selection import SelectionValues
from agentic_rag.domain.usage import sum_usage

AUTO: Literal["auto"] = "auto"
"""The operation is chosen by the words of the question."""
OperationName = Literal[
    "auto", "verification_canvas", "weak_point_clustering", "concept_relation", "document_retrieval"
]


class Outcome(TypedDict):
    """The result of asking one source."""

    status: str
    """``ok``, ``empty`` or ``degraded``."""
    reason: str | None
    count: int
    ms: float
    question: dict[str, Any]
    """The source's findings about the question (see ``domain.Findings``)."""


class StepOutcome(TypedDict):
    """How a step went that a model may do."""

    status: str
    """``ok``, ``degraded`` or ``partial``."""
    reason: str | None
    method: str
    left_out: NotRequired[Mapping[str, int]]
    """Of an answer that is ``partial``: sentences that were left out, by reason."""


class IngestOutcome(TypedDict):
    """That documents of the dataset are not ingested yet."""

    status: Literal["partial"]
    reason: str
    pending: int
    """How many."""
    documents: int
    """Of the dataset."""


class ToolCall(TypedDict):
    """One call of a tool by the agent."""

    tool: str
    argument: str
    passages: int
    """New ones."""
    ms: float
    error: str | None


class AgentOutcome(TypedDict):
    """How the agent's run went."""

    status: str
    reason: str | None
    method: str
    calls: int
    """Of the model."""
    tools: list[ToolCall]
    ms: float


class Quality(TypedDict, total=False):
    """The judgement of a pass."""

    grade: str
    """``none``, ``weak`` or ``strong``."""
    score: float
    """Best relevance in [0, 1]."""
    reasons: list[str]
    decision: str
    """``answer``, ``rewrite`` or ``abstain``."""


def step_outcome(method: str, reason: str | None = None) -> StepOutcome:
    """The outcome of a step that a model may do: ``degraded`` with the reason if it failed; ``method`` did the
    step."""
    return {"status": "ok" if reason is None else "degraded", "reason": reason, "method": method}


class QuestionOptions(TypedDict, total=False):
    """What a question may come with, for the graph as for ``Rag.ask``."""

    messages: Annotated[
        list[AnyMessage],
        Field(description="The conversation so far; a question that points back is completed from it."),
        add_messages,
    ]
    dataset: Annotated[str, Field(description="Name that the notes were ingested under. Unset: default.")]
    filters: Annotated[
        Mapping[str, object] | None, Field(description='On properties of notes: {"year": {"$gte": 2023}}.')
    ]
    as_of: Annotated[
        str | None,
        Field(description="ISO 8601: what was known then. A date alone means its end, in UTC."),
    ]
    top_k: Annotated[int | None, Field(description="Results to show, 1 to 1000. Unset: 10.", ge=1, le=1000)]
    user_id: Annotated[
        str | None, Field(description="Whose memories are asked besides the notes. Unset: nobody's.")
    ]


class AskOptions(QuestionOptions, total=False):
    """What ``Rag.ask`` takes besides."""

    operation: Annotated[OperationName | None, Field(description="None: auto, chosen by the words.")]
    parameters: Annotated[
        Mapping[str, object] | None, Field(description='Of this call alone: {"fusion": {"k": 20}}.')
    ]
    thread_id: Annotated[
        str | None, Field(description="Conversation to go on with; a checkpointer keeps it.")
    ]
    config: Annotated[
        RunnableConfig | None,
        Field(description="Of the graph's run, as LangGraph takes it: callbacks, tags, metadata, run_name."),
    ]


class CallerKeys(QuestionOptions, total=False):
    """The keys that the caller gives the graph."""

    query: Annotated[str, Field(description="The question. Without it the last human message is asked.")]
    operation: Annotated[
        OperationName,
        Field(
            description="What the answer is for: a board of questions, what one gets wrong, how concepts hang "
            "together, or the passage. auto: chosen by the words. Unset: verification_canvas; auto where only "
            "messages are given."
        ),
    ]


class Retry(TypedDict, total=False):
    """Input of ``prepare_query`` for a further pass."""

    retry: str
    """The reworded question."""


class CanvasRAGState(CallerKeys, total=False):
    """The caller's keys, and the keys that each node adds."""

    request: Annotated[
        dict[str, Any], Field(description="The question as every node reads it, normalised."), ReadOnce
    ]
    search_query: Annotated[str, Field(description="What is searched for in this pass.")]
    graphiti_results: Annotated[
        list[Hit], Field(description="Hits of the graph, best first."), CompressedValue
    ]
    graphiti_outcome: Annotated[Outcome | None, Field(description="How asking the graph went.")]
    lancedb_results: Annotated[
        list[Hit], Field(description="Hits of the vector store, best first."), CompressedValue
    ]
    lancedb_outcome: Annotated[Outcome | None, Field(description="How asking the vector store went.")]
    memory_results: Annotated[
        list[Hit],
        Field(description="Memories of the user, best first; empty without a user."),
        CompressedValue,
    ]
    memory_outcome: Annotated[Outcome | None, Field(description="How asking the memories went.")]
    selection: Annotated[
        SelectionValues,
        Field(
            description="The question read as a query to the notes, and what it selects; see its ``status``."
        ),
        CompressedValue,
    ]
    ingest_outcome: Annotated[
        IngestOutcome | None,
        Field(description="How many documents of the dataset are not ingested yet; null where all are."),
    ]
    fused_results: Annotated[list[Result], Field(description="Results of all, fused."), CompressedValue]
    fusion: Annotated[FusionReport, Field(description="Operation, strategy, parameters, tier, and why.")]
    outcomes: Annotated[dict[str, Outcome | str], Field(description='By source its outcome, or "skipped".')]
    reranked_results: Annotated[
        list[Result], Field(description="Results in their final order."), CompressedValue
    ]
    rerank_outcome: Annotated[
        StepOutcome | None, Field(description="Method, whether it failed, and what was left out.")
    ]
    quality: Annotated[Quality, Field(description="Grade, best relevance, reasons, decision.")]
    units: Annotated[
        list[AnswerLine],
        Field(description="The lines that answer, each with its place."),
        CompressedValue,
    ]
    rewrites: Annotated[list[str], Field(description="The other words that were tried in this run.")]
    rewrite_outcome: Annotated[
        StepOutcome | None, Field(description="Method, whether it failed, and what was left out.")
    ]
    answer: Annotated[str, Field(description="Text with [n] marks.")]
    abstained: Annotated[
        bool, Field(description="True where nothing was relevant enough, or no line says what is asked.")
    ]
    citations: Annotated[list[Citation], Field(description="What the marks stand for, verbatim.")]
    answer_outcome: Annotated[
        StepOutcome | None, Field(description="Method, whether it failed, and what was left out.")
    ]
    agent_outcome: Annotated[
        AgentOutcome | None,
        Field(description="What the agent did, and whether it failed; null without one."),
    ]
    usage: Annotated[
        dict[str, Any],
        Field(description="Calls, tokens and cost of the models behind endpoints, in this run."),
        sum_usage,
    ]


def state_with(sources: Iterable[str]) -> type[CanvasRAGState]:
    """The state of a graph with further sources: ``NAME_results`` and ``NAME_outcome`` for each."""
    hits = Annotated[list[Hit], Field(description="Hits of a further source, best first."), CompressedValue]
    outcome = Annotated[Outcome | None, Field(description="How asking that source went.")]
    keys = {
        key: kind
        for name in sources
        for key, kind in ((f"{name}_results", hits), (f"{name}_outcome", outcome))
    }
    if not keys:
        return CanvasRAGState
    known = get_type_hints(CanvasRAGState, include_extras=True)
    return cast(type[CanvasRAGState], TypedDict("CanvasRAGState", {**known, **keys}, total=False))  # type: ignore[operator]
