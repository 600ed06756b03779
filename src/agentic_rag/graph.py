"""The wiring of the main graph; reads aloud as the flow in the README."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from agentic_rag.fusion.cascade_retrieval import decide_tier
from agentic_rag.fusion.strategy_selector import resolve_parameters
from agentic_rag.nodes.answer import answer
from agentic_rag.nodes.check_quality import check_quality
from agentic_rag.nodes.fuse_results import current_results, fuse_results
from agentic_rag.nodes.prepare_query import DEFAULT_OPERATION, prepare_query
from agentic_rag.nodes.requirements import check_requirements
from agentic_rag.nodes.rerank import rerank
from agentic_rag.nodes.rerank_tools import RerankTools
from agentic_rag.nodes.retrieve_graphiti import retrieve_graphiti
from agentic_rag.nodes.retrieve_lancedb import retrieve_lancedb
from agentic_rag.nodes.rewrite_query import rewrite_query
from agentic_rag.parameters import FusionParameters, FusionStrategy, Overrides, Parameters
from agentic_rag.ports import Chat, Embedding, TokenCounter
from agentic_rag.rerank.model import Rerankers
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.state import CanvasRAGState

RagStateGraph = StateGraph[CanvasRAGState, Any, CanvasRAGState, CanvasRAGState]


@dataclass(frozen=True, slots=True)
class GraphParts:
    """What the graph is made of; stores and models stand behind the two engines."""

    graphiti: GraphEngine
    lancedb: RetrievalEngine
    embedding: Embedding
    chat: Chat | None = None
    rerankers: Rerankers | None = None
    count_tokens: TokenCounter | None = None
    """For post-retrieval steps that keep to a budget."""


def build_rag_graph(parts: GraphParts, defaults: Parameters | None = None) -> RagStateGraph:
    """The uncompiled graph. Compile it with any checkpointer: the state is plain values.

    Args:
        parts: engines and models.
        defaults: parameters a call's ``context`` overrides.

    Raises:
        ConfigError: the parameters ask for a model that is not among the parts, or a post-retrieval step is wrong.
    """
    defaults = defaults or Parameters()
    check_requirements(defaults, rerank_tools(parts))
    graph: RagStateGraph = StateGraph(CanvasRAGState, context_schema=Overrides)
    for name, node in rag_nodes(parts, defaults).items():
        graph.add_node(name, node)
    graph.add_edge(START, "prepare_query")
    graph.add_conditional_edges("prepare_query", partial(to_sources, defaults=defaults), list(SOURCES))
    graph.add_conditional_edges(
        "retrieve_graphiti", partial(to_second_tier, defaults=defaults), ["retrieve_lancedb", "fuse_results"]
    )
    graph.add_edge("retrieve_lancedb", "fuse_results")
    graph.add_edge("fuse_results", "rerank")
    graph.add_edge("rerank", "check_quality")
    graph.add_conditional_edges("check_quality", to_answer_or_again, ["rewrite_query", "answer"])
    graph.add_edge("rewrite_query", "prepare_query")
    graph.add_edge("answer", END)
    return graph


def rag_nodes(parts: GraphParts, defaults: Parameters) -> dict[str, Any]:
    """The nodes by name, in the order of the flow; each takes the state and LangGraph's ``runtime``."""

    tools = rerank_tools(parts)

    def check(context: Any) -> None:
        check_requirements(defaults.overridden(context), tools)

    return {
        "prepare_query": partial(prepare_query, check=check),
        "retrieve_graphiti": retrieve_graphiti(parts.graphiti, defaults),
        "retrieve_lancedb": retrieve_lancedb(parts.lancedb, defaults),
        "fuse_results": partial(fuse_results, defaults=defaults),
        "rerank": rerank(defaults, tools),
        "check_quality": partial(check_quality, defaults=defaults),
        "rewrite_query": rewrite_query(defaults, parts.chat),
        "answer": answer(defaults, parts.chat),
    }


def rerank_tools(parts: GraphParts) -> RerankTools:
    """What the rerank and the steps after it may ask."""
    return RerankTools(parts.rerankers, parts.chat, parts.lancedb, parts.graphiti, parts.count_tokens)


SOURCES: tuple[Literal["retrieve_graphiti"], Literal["retrieve_lancedb"]] = (
    "retrieve_graphiti",
    "retrieve_lancedb",
)


def to_sources(
    state: CanvasRAGState, runtime: Runtime[Any], *, defaults: Parameters
) -> Sequence[Literal["retrieve_graphiti", "retrieve_lancedb"]]:
    """Both sources at once; under the cascade the graph alone."""
    cascade = _in_effect(state, runtime, defaults).strategy is FusionStrategy.CASCADE
    return SOURCES[:1] if cascade else SOURCES


def to_second_tier(
    state: CanvasRAGState, runtime: Runtime[Any], *, defaults: Parameters
) -> Literal["retrieve_lancedb", "fuse_results"]:
    """Under the cascade, on to the vector store where the graph's result is not enough; else to fusion.

    Where both sources ran at once, both arrive at fusion in one superstep, so it runs once.
    """
    parameters = _in_effect(state, runtime, defaults)
    if parameters.strategy is not FusionStrategy.CASCADE:
        return "fuse_results"
    enough = decide_tier(current_results(state, "graphiti") or [], *parameters.enough())
    if enough["tier"] == 2 and parameters.use_lancedb_fallback:
        return "retrieve_lancedb"
    return "fuse_results"


def to_answer_or_again(state: CanvasRAGState) -> Literal["rewrite_query", "answer"]:
    """Once more in other words, or answer (which abstains where the decision says so)."""
    return "rewrite_query" if state["quality"]["decision"] == "rewrite" else "answer"


def _in_effect(state: CanvasRAGState, runtime: Runtime[Any], defaults: Parameters) -> FusionParameters:
    given = defaults.overridden(runtime.context).fusion
    return resolve_parameters(state.get("operation") or DEFAULT_OPERATION, given)
