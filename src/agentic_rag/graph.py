"""The wiring of the main graph, in the order of the flow in the README."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, update_wrapper
from typing import Any, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime
from langgraph.types import Send
from typing_extensions import get_protocol_members  # typing has it from Python 3.13 on

from agentic_rag import tracing
from agentic_rag.compiled import Node, RagGraph, RagStateGraph
from agentic_rag.domain.ports import Chat, Embedding, FloatArray, MessageChat
from agentic_rag.domain.usage import counting
from agentic_rag.errors import ConfigError
from agentic_rag.fusion.cascade_retrieval import decide_tier
from agentic_rag.fusion.strategy_selector import MEMORY, CanvasOperation
from agentic_rag.nodes.agent import agent
from agentic_rag.nodes.agent_tools import AgentTools
from agentic_rag.nodes.answer import answer, answer_by_agent
from agentic_rag.nodes.check_quality import check_quality
from agentic_rag.nodes.fuse_results import fuse_results, results_of
from agentic_rag.nodes.mistakes import ListMistakes, mistake_quotes
from agentic_rag.nodes.prepare_query import prepare_query
from agentic_rag.nodes.request import Request
from agentic_rag.nodes.requirements import check_requirements
from agentic_rag.nodes.rerank import rerank
from agentic_rag.nodes.resuming import resumable, with_whole_lists
from agentic_rag.nodes.retrieve import retrieve
from agentic_rag.nodes.rewrite_query import rewrite_query
from agentic_rag.nodes.select_notes import select_notes
from agentic_rag.rerank import Rerankers
from agentic_rag.retrieval.ports import GraphSearch, MemorySearch, NoteCatalogue, VectorSearch
from agentic_rag.retrieval.sources import CANDIDATES, GraphSource, MemorySource, Source, VectorSource
from agentic_rag.settings.parameters import FusionStrategy, Parameters
from agentic_rag.state import CanvasRAGState, state_with
from agentic_rag.text.cache import TextCache

UNIT_VECTORS = 2_048
"""Lines whose vectors are kept for later questions, 1.5 kB each."""


@dataclass(frozen=True, slots=True)
class GraphParts:
    """The parts of the graph: ports, each with a fake in ``testing``."""

    graphiti: GraphSearch
    lancedb: VectorSearch
    embedding: Embedding
    chat: Chat | None = None
    rerankers: Rerankers | None = None
    memory: MemorySearch | None = None
    """Searched if a user is given."""
    catalogue: NoteCatalogue | None = None
    """Asked by questions about many notes; None: they are answered from passages."""
    loop: AbstractEventLoop | None = None
    """The event loop on which stores and models work, see ``RagGraph``; None: any."""
    sources: Mapping[str, Source] = field(default_factory=dict)
    """Further sources by name, asked beside the graph and the vector store, under the cascade in its second tier."""
    unit_vectors: TextCache[FloatArray] = field(
        default_factory=lambda: TextCache(UNIT_VECTORS), init=False, compare=False, repr=False
    )
    """By ``embedding``, of lines that were compared with questions: a follow-up question is about the same notes."""

    def __post_init__(self) -> None:
        for name, port in _PORTS.items():
            check_port(name, getattr(self, name), port)
        if not isinstance(self.sources, Mapping):
            raise ConfigError(
                f"GraphParts.sources is a {type(self.sources).__name__}; give each source a name: {{'phone_book': source}}"
            )
        for name, source in self.sources.items():
            check_source(name, source)


_PORTS: Mapping[str, type[Any]] = {
    "graphiti": GraphSearch,
    "lancedb": VectorSearch,
    "embedding": Embedding,
    "chat": Chat,
    "memory": MemorySearch,
    "catalogue": NoteCatalogue,
}
_OPTIONAL = ("chat", "memory", "catalogue")
_MADE_BY = {
    "chat": "agentic_rag.models.chats.as_chat makes one of a langchain-core chat model",
    "embedding": "agentic_rag.models.embeddings.as_embedding makes one of a langchain-core embedding model",
    "lancedb": "agentic_rag.retrieval.langchain_source.RetrieverSource makes one of a langchain-core retriever",
}
"""By part, how it is made of langchain-core's."""


def check_port(name: str, part: object, port: type[Any]) -> None:
    """Check that a part has all that its protocol asks for; None passes where it may be left out.

    Raises:
        ConfigError: it lacks something, which the message names.
    """
    if isinstance(part, type):
        raise ConfigError(f"GraphParts.{name} is the class {part.__name__}; give an object of it")
    if isinstance(part, port) or (part is None and name in _OPTIONAL):
        return
    missing = [one for one in sorted(get_protocol_members(port)) if not hasattr(part, one)]
    remedy = _MADE_BY.get(name)
    raise ConfigError(
        f"GraphParts.{name} is a {type(part).__name__}, which has no {', no '.join(missing)}; it must have all that "
        f"{port.__module__}.{port.__name__} asks for ({', '.join(sorted(get_protocol_members(port)))})"
        + (f"; {remedy}" if remedy else "")
    )


def check_source(name: str, source: object) -> None:
    """Check a further source and its name.

    Raises:
        ConfigError: it lacks something of ``Source``, or its name is none, or taken.
    """
    if not name.isidentifier() or f"{name}_results" in CanvasRAGState.__annotations__:
        raise ConfigError(f"{name!r} cannot name a further source; use an identifier that is not taken")
    check_port(f"sources[{name!r}]", source, Source)


SOURCE_NODES = ("retrieve_graphiti", "retrieve_lancedb")
"""The nodes that every question but a cascade's starts with."""


def build_rag_graph(parts: GraphParts, defaults: Parameters | None = None) -> RagStateGraph:
    """The uncompiled graph. Compile it with any checkpointer: the state is plain values.

    Args:
        parts: engines and models.
        defaults: parameters a call's ``context`` overrides.

    Raises:
        ConfigError: the parameters need a model that is not among the parts.
    """
    defaults = defaults or Parameters()
    check_requirements(defaults, parts.chat, parts.rerankers)
    graph = RagStateGraph(
        parts.loop, partial(with_whole_lists, engine=parts.lancedb), state_with(parts.sources)
    )
    further = [f"retrieve_{name}" for name in parts.sources]
    for name, node in rag_nodes(parts, defaults).items():
        graph.add_node(name, node)
    graph.add_edge(START, "prepare_query")
    # The selection ends in the superstep of the first sources, so that whatever follows them finds it.
    graph.add_conditional_edges(
        "prepare_query",
        _also(to_sources, further),
        [*SOURCE_NODES, "retrieve_memory", *further, "select_notes"],
    )
    graph.add_conditional_edges(
        "retrieve_graphiti",
        _also(to_second_tier, further),
        ["retrieve_lancedb", "retrieve_memory", *further, "fuse_results"],
    )
    for name in further:
        graph.add_edge(name, "fuse_results")
    graph.add_edge("retrieve_lancedb", "fuse_results")
    graph.add_edge("retrieve_memory", "fuse_results")
    graph.add_edge("fuse_results", "rerank")
    graph.add_edge("rerank", "check_quality")
    graph.add_conditional_edges("check_quality", to_answer_or_again, ["rewrite_query", "agent", "answer"])
    graph.add_conditional_edges("rewrite_query", to_next_pass, ["prepare_query"])
    graph.add_conditional_edges("agent", to_end_or_answer, [END, "answer"])
    graph.add_edge("answer", END)
    return graph


def rag_nodes(parts: GraphParts, defaults: Parameters) -> Mapping[str, Node]:
    """The nodes by name, in the order of the flow: functions of the state with their dependencies bound."""
    check = partial(check_requirements, chat=parts.chat, rerankers=parts.rerankers)
    later: dict[str, Node] = {
        "fuse_results": fuse_results,
        "rerank": partial(rerank, rerankers=parts.rerankers),
        "check_quality": partial(
            check_quality,
            engine=parts.lancedb,
            embedding=parts.embedding,
            unit_vectors=parts.unit_vectors,
        ),
        "rewrite_query": partial(rewrite_query, chat=parts.chat),
        "agent": partial(
            agent,
            chat=parts.chat if isinstance(parts.chat, MessageChat) else None,
            tools=AgentTools(_Flow(parts, defaults), parts.graphiti, parts.lancedb, parts.catalogue),
            write=partial(answer_by_agent, embedding=parts.embedding),
        ),
        "answer": partial(answer, chat=parts.chat, mistakes=_mistakes(parts), embedding=parts.embedding),
    }
    asking: dict[str, Node] = {
        **{
            f"retrieve_{name}": partial(retrieve, name=name, source=source)
            for name, source in sources_of(parts).items()
        },
        "select_notes": partial(
            select_notes, catalogue=parts.catalogue, embedding=parts.embedding, chat=parts.chat
        ),
        **{name: partial(resumable, node=node, engine=parts.lancedb) for name, node in later.items()},
    }
    return {
        "prepare_query": partial(
            run_first_node,
            node=partial(
                prepare_query,
                defaults=defaults,
                check=check,
                catalogue=parts.catalogue,
                further=tuple(parts.sources),
            ),
        ),
        **{name: partial(run_node, name=name, node=node) for name, node in asking.items()},
    }


def sources_of(parts: GraphParts) -> Mapping[str, Source | None]:
    """The sources by name; None: there is none to ask."""
    return {
        "graphiti": GraphSource(parts.graphiti),
        "lancedb": VectorSource(parts.lancedb),
        "memory": None if parts.memory is None else MemorySource(parts.memory),
        **parts.sources,
    }


class _Flow:
    """The main graph for the searches of the agent; compiled when one is made."""

    def __init__(self, parts: GraphParts, defaults: Parameters) -> None:
        self._parts, self._defaults = parts, defaults

    @cached_property
    def _graph(self) -> RagGraph:
        return build_rag_graph(self._parts, self._defaults).compile(checkpointer=False, name="flow")

    async def ainvoke(self, state: Any, *, context: Any) -> Any:
        return await self._graph.ainvoke(state, context=context)


def _mistakes(parts: GraphParts) -> ListMistakes | None:
    if parts.catalogue is None:
        return None
    return partial(mistake_quotes, catalogue=parts.catalogue, engine=parts.lancedb)


async def run_first_node(state: CanvasRAGState, runtime: Runtime[Any], *, node: Node) -> dict[str, object]:
    """Run the first node in a span, with the call's context."""
    with tracing.node("prepare_query"):
        written: dict[str, object] = await node(state, runtime)
        return written


async def run_node(state: CanvasRAGState, *, name: str, node: Node) -> dict[str, object]:
    """Run a node in a span of its name; its writes, with the usage of the model endpoints."""
    attributes = _attributes(name, state)
    with counting() as used, tracing.node(name, attributes) as span:
        written: dict[str, object] = await node(state)
        if attributes is not None:
            _set_outcome(span, name, state, written)
    return {**written, "usage": used.to_dict()} if used.calls else written


def _attributes(name: str, state: CanvasRAGState) -> dict[str, object] | None:
    """Attributes of the span of a source or the rerank; None: another node, whose span has none."""
    if name == "rerank":
        method = Request.of(state).parameters.rerank.method
        return {"gen_ai.operation.name": "rerank", "agentic_rag.method": method}
    source = name.removeprefix("retrieve_")
    if source == name:
        return None
    return {
        "gen_ai.operation.name": "search_memory" if source == MEMORY else "retrieval",
        "gen_ai.data_source.id": Request.of(state).dataset,
        "gen_ai.retrieval.top_k": CANDIDATES,
        "agentic_rag.source": source,
    }


def _set_outcome(span: tracing.Span, name: str, state: CanvasRAGState, writes: Mapping[str, Any]) -> None:
    """Record the outcome of a source or the rerank; query and documents only if content capture is on."""
    source = name.removeprefix("retrieve_")
    outcome = writes[f"{source}_outcome"] or {"status": "skipped"}
    span.set_attribute("agentic_rag.status", outcome["status"])
    if name == "rerank":
        span.set_attribute("agentic_rag.count", len(writes["reranked_results"]))
        return
    hits = writes[f"{source}_results"]
    span.set_attribute("agentic_rag.count", len(hits))
    tracing.content(
        span,
        gen_ai__retrieval__query__text=state["search_query"],
        gen_ai__retrieval__documents=tracing.scored_documents(hits, "score"),
    )


def _also(route: Callable[..., Sequence[str]], further: Sequence[str]) -> Callable[..., Sequence[str]]:
    """A route that knows the nodes of the further sources; named as it is, for traces and drawings."""
    return update_wrapper(partial(route, further=further), route)


def to_sources(state: CanvasRAGState, *, further: Sequence[str] = ()) -> Sequence[str]:
    """All sources in parallel, the user's memories if a user is given; under the cascade the graph alone."""
    request = Request.of(state)
    selecting = ("select_notes",) if request.operation is CanvasOperation.DOCUMENT_RETRIEVAL else ()
    if request.fusion.strategy is FusionStrategy.CASCADE:
        return ("retrieve_graphiti", *selecting)
    return (*SOURCE_NODES, *(("retrieve_memory",) if request.asks_memory else ()), *further, *selecting)


def to_second_tier(state: CanvasRAGState, *, further: Sequence[str] = ()) -> Sequence[str]:
    """Under the cascade the user's memories, with the other sources if the graph's hits are not enough; else fusion.

    Parallel sources end in one superstep, so fusion runs once.
    """
    request = Request.of(state)
    parameters = request.fusion
    if parameters.strategy is not FusionStrategy.CASCADE:
        return ["fuse_results"]
    enough = decide_tier(results_of(state, "graphiti") or [], *parameters.enough())
    if enough["tier"] == 2 and parameters.lancedb_weight != 0:
        return ["retrieve_lancedb", *(["retrieve_memory"] if request.asks_memory else []), *further]
    return ["retrieve_memory"] if request.asks_memory else ["fuse_results"]


def to_answer_or_again(state: CanvasRAGState) -> Literal["rewrite_query", "agent", "answer"]:
    """Another pass with a reworded question, or the answer, which abstains if the decision says so.

    In agentic mode the agent, which words its searches itself.
    """
    request = Request.of(state)
    if (
        request.parameters.answer.method == "agent"
        and request.operation is CanvasOperation.DOCUMENT_RETRIEVAL
    ):
        return "agent"
    return "rewrite_query" if state["quality"]["decision"] == "rewrite" else "answer"


def to_end_or_answer(state: CanvasRAGState) -> Literal["answer", "__end__"]:
    """The end, or the fixed flow's answer where the agent came to none."""
    return (
        "__end__"
        if (outcome := state["agent_outcome"]) is not None and outcome["status"] == "ok"
        else "answer"
    )


def to_next_pass(state: CanvasRAGState) -> Send:
    """Sends only the rewritten question, so that no pass starts with results of an earlier one."""
    return Send("prepare_query", {"retry": state["rewrites"][-1]})
