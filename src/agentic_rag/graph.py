"""The wiring of the main graph, in the order of the flow in the README."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import iscoroutinefunction
from typing import Any, Literal

from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Send

from agentic_rag import tracing
from agentic_rag.domain.ports import Chat, Embedding, TokenCounter
from agentic_rag.domain.usage import counted
from agentic_rag.errors import InputError
from agentic_rag.fusion.cascade_retrieval import decide_tier
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.nodes.answer import answer
from agentic_rag.nodes.check_quality import check_quality
from agentic_rag.nodes.fuse_results import fuse_results, results_of, resumable
from agentic_rag.nodes.mistakes import ListMistakes, mistake_quotes
from agentic_rag.nodes.prepare_query import prepare_query
from agentic_rag.nodes.request import Request
from agentic_rag.nodes.requirements import RerankTools, check_requirements
from agentic_rag.nodes.rerank import rerank
from agentic_rag.nodes.retrieve import retrieve_graphiti, retrieve_lancedb, retrieve_memory
from agentic_rag.nodes.rewrite_query import rewrite_query
from agentic_rag.nodes.select_notes import select_notes
from agentic_rag.rerank import Rerankers
from agentic_rag.retrieval.ports import GraphSearch, MemorySearch, NoteCatalogue, VectorSearch
from agentic_rag.settings.parameters import FusionStrategy, Overrides, Parameters
from agentic_rag.state import CallerKeys, CanvasRAGState

RagStateGraph = StateGraph[CanvasRAGState, Any, CallerKeys, CanvasRAGState]
Node = Callable[..., Any]
"""Takes the state, and its dependencies by keyword; returns the keys it writes."""


@dataclass(frozen=True, slots=True)
class GraphParts:
    """The parts of the graph: ports, each with a fake in ``testing``."""

    graphiti: GraphSearch
    lancedb: VectorSearch
    embedding: Embedding
    chat: Chat | None = None
    rerankers: Rerankers | None = None
    count_tokens: TokenCounter | None = None
    """For post-retrieval steps with a token budget."""
    memory: MemorySearch | None = None
    """Searched if a user is given."""
    catalogue: NoteCatalogue | None = None
    """Asked by questions about many notes; None: they are answered from passages."""


def build_rag_graph(parts: GraphParts, defaults: Parameters | None = None) -> RagStateGraph:
    """The uncompiled graph. Compile it with any checkpointer: the state is plain values.

    Args:
        parts: engines and models.
        defaults: parameters a call's ``context`` overrides.

    Raises:
        ConfigError: the parameters need a model that is not among the parts, or a post-retrieval step is wrong.
    """
    defaults = defaults or Parameters()
    check_requirements(defaults, rerank_tools(parts))
    graph: RagStateGraph = StateGraph(CanvasRAGState, context_schema=Overrides, input_schema=CallerKeys)
    nodes = rag_nodes(parts, defaults)
    nodes = {**nodes, "prepare_query": partial(_with_context, node=nodes["prepare_query"])}
    for name, node in nodes.items():
        graph.add_node(name, RunnableLambda(_refuse, node) if is_async(node) else node)
    graph.add_edge(START, "prepare_query")
    # The selection ends in the superstep of the first sources, so that whatever follows them finds it.
    graph.add_conditional_edges("prepare_query", to_sources, [*SOURCES, "retrieve_memory", "select_notes"])
    graph.add_conditional_edges(
        "retrieve_graphiti", to_second_tier, ["retrieve_lancedb", "retrieve_memory", "fuse_results"]
    )
    graph.add_edge("retrieve_lancedb", "fuse_results")
    graph.add_edge("retrieve_memory", "fuse_results")
    graph.add_edge("fuse_results", "rerank")
    graph.add_edge("rerank", "check_quality")
    graph.add_conditional_edges("check_quality", to_answer_or_again, ["rewrite_query", "answer"])
    graph.add_conditional_edges("rewrite_query", to_next_pass, ["prepare_query"])
    graph.add_edge("answer", END)
    return graph


def rag_nodes(parts: GraphParts, defaults: Parameters) -> Mapping[str, Node]:
    """The nodes by name, in the order of the flow: functions of the state with their dependencies bound."""
    tools = rerank_tools(parts)
    check = partial(check_requirements, tools=tools)
    later: dict[str, Node] = {
        "fuse_results": fuse_results,
        "rerank": partial(rerank, tools=tools),
        "check_quality": partial(check_quality, engine=parts.lancedb, embedding=parts.embedding),
        "rewrite_query": partial(rewrite_query, chat=parts.chat),
        "answer": partial(answer, chat=parts.chat, mistakes=_mistakes(parts), embedding=parts.embedding),
    }
    asking: dict[str, Node] = {
        "retrieve_graphiti": partial(retrieve_graphiti, engine=parts.graphiti),
        "retrieve_lancedb": partial(retrieve_lancedb, engine=parts.lancedb),
        "retrieve_memory": partial(retrieve_memory, memory=parts.memory),
        "select_notes": partial(
            select_notes, catalogue=parts.catalogue, embedding=parts.embedding, chat=parts.chat
        ),
        **{name: partial(resumable, node=node, engine=parts.lancedb) for name, node in later.items()},
    }
    return {
        "prepare_query": partial(prepare_query, defaults=defaults, check=check, catalogue=parts.catalogue),
        **{name: partial(metered, name=name, node=node) for name, node in asking.items()},
    }


def _mistakes(parts: GraphParts) -> ListMistakes | None:
    if parts.catalogue is None:
        return None
    return partial(mistake_quotes, catalogue=parts.catalogue, engine=parts.lancedb)


async def _with_context(state: CanvasRAGState, *, node: Node) -> dict[str, Any]:
    """Run a node with the call's context, which LangGraph gives to bare functions alone and not to a ``Runnable``."""
    written: dict[str, Any] = await node(state, get_runtime())
    return written


async def metered(state: CanvasRAGState, *, name: str, node: Node) -> dict[str, Any]:
    """Run a node in a span; its writes, with the usage of the model endpoints."""
    traced = _TRACED.get(name)
    with counted() as used:
        if traced is None:
            written: dict[str, Any] = await node(state)
        else:
            request = Request.of(state)
            with traced(request) as span:
                written = await node(state)
                _tell(span, name, state, written)
    return {**written, "usage": used.to_dict()} if used.calls else written


def _retrieval(source: str, operation: str = "retrieval") -> Callable[[Request], Any]:
    def begun(request: Request) -> Any:
        attributes = {
            "gen_ai.data_source.id": request.dataset,
            "gen_ai.retrieval.top_k": request.parameters.retrieval.candidates,
            "agentic_rag.source": source,
        }
        return tracing.span(operation, source, attributes)

    return begun


_TRACED: Mapping[str, Callable[[Request], Any]] = {
    "retrieve_graphiti": _retrieval("graphiti"),
    "retrieve_lancedb": _retrieval("lancedb"),
    "retrieve_memory": _retrieval("memory", "search_memory"),
    "rerank": lambda request: tracing.span("rerank", request.parameters.rerank.method),
}
"""The attributes of a node's span, by node."""


def _tell(span: tracing.Span, name: str, state: CanvasRAGState, written: Mapping[str, Any]) -> None:
    """Record the outcome of a source or the rerank; query and documents only if content capture is on."""
    source = name.removeprefix("retrieve_")
    outcome = written[f"{source}_outcome"] or {"status": "skipped"}
    span.set_attribute("agentic_rag.status", outcome["status"])
    if name == "rerank":
        span.set_attribute("agentic_rag.count", len(written["reranked_results"]))
        return
    hits = written[f"{source}_results"]
    span.set_attribute("agentic_rag.count", len(hits))
    tracing.content(
        span,
        gen_ai__retrieval__query__text=state["search_query"],
        gen_ai__retrieval__documents=tracing.scored(hits, "score"),
    )


def is_async(node: Node) -> bool:
    """Whether the node is a coroutine function."""
    return iscoroutinefunction(node.func if isinstance(node, partial) else node)


def _refuse(state: CanvasRAGState) -> dict[str, Any]:
    """Raises ``InputError`` for ``graph.invoke``: stores and models work only on the event loop that opened them."""
    raise InputError(
        "this graph is asynchronous; use: await graph.ainvoke(…), or without an event loop: "
        "with open_rag_blocking(…) as rag: rag.ask(…)"
    )


def rerank_tools(parts: GraphParts) -> RerankTools:
    """The models and stores for the rerank and the steps after it."""
    return RerankTools(parts.rerankers, parts.chat, parts.lancedb, parts.graphiti, parts.count_tokens)


SOURCES: tuple[Literal["retrieve_graphiti"], Literal["retrieve_lancedb"]] = (
    "retrieve_graphiti",
    "retrieve_lancedb",
)


Source = Literal["retrieve_graphiti", "retrieve_lancedb", "retrieve_memory", "select_notes"]


def to_sources(state: CanvasRAGState) -> Sequence[Source]:
    """Both sources in parallel, and the user's memories if a user is given; under the cascade the graph alone."""
    request = Request.of(state)
    selecting: Sequence[Source] = (
        ("select_notes",) if request.operation is CanvasOperation.DOCUMENT_RETRIEVAL else ()
    )
    if request.fusion.strategy is FusionStrategy.CASCADE:
        return (*SOURCES[:1], *selecting)
    return (*SOURCES, *(("retrieve_memory",) if request.asks_memory else ()), *selecting)


def to_second_tier(state: CanvasRAGState) -> Sequence[Source | Literal["fuse_results"]]:
    """Under the cascade the user's memories, with the vector store if the graph's hits are not enough; else fusion.

    Parallel sources end in one superstep, so fusion runs once.
    """
    request = Request.of(state)
    parameters = request.fusion
    if parameters.strategy is not FusionStrategy.CASCADE:
        return ["fuse_results"]
    enough = decide_tier(results_of(state, "graphiti") or [], *parameters.enough())
    if enough["tier"] == 2 and parameters.use_lancedb_fallback:
        return ["retrieve_lancedb", "retrieve_memory"] if request.asks_memory else ["retrieve_lancedb"]
    return ["retrieve_memory"] if request.asks_memory else ["fuse_results"]


def to_answer_or_again(state: CanvasRAGState) -> Literal["rewrite_query", "answer"]:
    """Another pass with a reworded question, or the answer, which abstains if the decision says so."""
    return "rewrite_query" if state["quality"]["decision"] == "rewrite" else "answer"


def to_next_pass(state: CanvasRAGState) -> Send:
    """Sends only the rewritten question, so that no pass starts with results of an earlier one."""
    return Send("prepare_query", {"retry": state["rewrites"][-1]})
