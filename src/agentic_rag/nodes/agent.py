"""Agentic mode: a chat model looks for the passages itself with tools, within a budget, and answers from them.

The fixed flow has run before: its passages are the first that the model sees, and its answer stands where the model
fails, takes no tools, or writes nothing that the passages support.
"""

from __future__ import annotations

import asyncio
import json
import logging
import operator
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from agentic_rag.answering.passages import passage_text
from agentic_rag.channels import in_full
from agentic_rag.domain.ports import MessageChat
from agentic_rag.domain.results import Passage
from agentic_rag.domain.usage import Usage, counting
from agentic_rag.errors import AgenticRagError, ModelError
from agentic_rag.nodes.agent_tools import PASSAGES, AgentTools, Finding, schemas
from agentic_rag.nodes.request import Request
from agentic_rag.state import AgentOutcome, CanvasRAGState, ToolCall
from agentic_rag.text.prompts import AGENT_LAST, AGENT_SYSTEM, fence_passages

logger = logging.getLogger(__name__)
CALLS = 6
"""Most calls of the model for a question, the last one without tools."""
TOOLS = 12
"""Most calls of tools for a question; a model may ask for many at once."""
TOKENS = 30_000
"""After which no further tool is called."""
REFUSAL = "the budget of tools is spent; answer from what you have"
"""What the model is told then."""
SECONDS = 60.0
"""After which the fixed flow answers."""
STEPS = 25
"""LangGraph's default limit, which the searches of the agent inherit."""
Write = Callable[[Request, AIMessage, list[Passage]], Awaitable[CanvasRAGState]]
"""Makes the keys of the answer from the model's last message and the passages that its marks count."""


class AgentState(TypedDict, total=False):
    """What the agent has done so far."""

    messages: Annotated[list[AnyMessage], add_messages]
    passages: Annotated[list[Passage], operator.add]
    """In the order of their numbers, from 1."""
    trace: Annotated[list[ToolCall], operator.add]
    """Each call of a tool."""
    calls: Annotated[int, operator.add]
    """Of the model."""


async def agent(
    state: CanvasRAGState, *, chat: MessageChat | None, tools: AgentTools, write: Write
) -> CanvasRAGState:
    """Writes ``agent_outcome``, and the answer's keys where the agent came to one.

    The outcome has ``status``, ``reason``, ``method``, ``calls`` (of the model), ``tools`` (the trace) and ``ms``.
    """
    request, started = Request.of(state), time.perf_counter()
    first = in_full(state["reranked_results"])[:PASSAGES]
    opening = f"{fence_passages(list(map(passage_text, first)))}\n\nQuestion: {request.question}"
    reached: AgentState = {
        "messages": [SystemMessage(AGENT_SYSTEM), HumanMessage(opening)],
        "passages": [*first],
        "trace": [],
        "calls": 0,
    }
    answered: CanvasRAGState = {}
    reason: str | None = None
    attempts: list[int] = []
    try:
        if chat is None:
            raise ModelError("no chat model is configured; set chat.base_url")
        with counting() as used:
            graph = _graph(chat, tools.of(request), used, attempts)
            async with asyncio.timeout(SECONDS):
                async for part in graph.astream(reached, stream_mode="values"):
                    reached = part
                last = cast(AIMessage, reached["messages"][-1])  # the loop ends with the model
                answered = await write(request, last, reached["passages"])
    except TimeoutError:
        reason = f"no answer within {SECONDS:g} s"
    except ModelError as error:
        reason = str(error)
    if reason is not None:
        logger.warning("the agent is degraded, the fixed flow answers: %s", reason)
    outcome: AgentOutcome = {
        "status": "ok" if reason is None else "degraded",
        "reason": reason,
        "method": "agent" if reason is None else "flow",
        "calls": len(attempts),
        "tools": reached["trace"],
        "ms": round((time.perf_counter() - started) * 1000, 3),
    }
    return {**answered, "agent_outcome": outcome}


def _graph(
    chat: MessageChat,
    tools: Mapping[str, Callable[[str], Awaitable[Finding]]],
    usage: Usage,
    attempts: list[int],
) -> Any:
    """The loop as a subgraph: the model, then the tools that it calls, until it calls none.

    ``attempts`` gets the number of each call of the model, also of one that fails.
    """
    told = schemas(tools)

    def is_spent(tool_calls: int) -> bool:
        return tool_calls >= TOOLS or usage.tokens >= TOKENS

    async def think(state: AgentState) -> AgentState:
        is_last = state["calls"] + 1 >= CALLS or is_spent(len(state["trace"]))
        messages = [*state["messages"], HumanMessage(AGENT_LAST)] if is_last else state["messages"]
        attempts.append(state["calls"] + 1)
        message = await chat.respond(messages, () if is_last else told)
        return {"messages": [message], "calls": 1}

    async def use_tools(state: AgentState) -> AgentState:
        last = cast(AIMessage, state["messages"][-1])  # see ``to_tools``
        messages: list[AnyMessage] = []
        passages = list(state["passages"])
        trace: list[ToolCall] = []
        for place, call in enumerate(last.tool_calls, start=len(state["trace"])):
            started = time.perf_counter()
            finding, error = (
                (Finding(()), REFUSAL)
                if is_spent(place)
                else await _call_tool(tools, call["name"], call["args"])
            )
            text, new = _number_passages(finding, passages)
            passages += new
            messages.append(ToolMessage(error or text, tool_call_id=call["id"] or ""))
            trace.append(
                {
                    "tool": call["name"],
                    "argument": json.dumps(call["args"], ensure_ascii=False),
                    "passages": len(new),
                    "ms": round((time.perf_counter() - started) * 1000, 3),
                    "error": error,
                }
            )
        return {"messages": messages, "passages": passages[len(state["passages"]) :], "trace": trace}

    def to_tools(state: AgentState) -> Literal["use_tools", "__end__"]:
        """The tools that the model calls; the end where it calls none, or may not."""
        last = state["messages"][-1]
        calls = isinstance(last, AIMessage) and bool(last.tool_calls)
        return "use_tools" if calls and state["calls"] < CALLS else "__end__"

    graph: StateGraph[AgentState, Any, AgentState, AgentState] = StateGraph(AgentState)
    graph.add_node("think", think)
    graph.add_node("use_tools", use_tools)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", to_tools, ["use_tools", END])
    graph.add_edge("use_tools", "think")
    return graph.compile(name="agent_loop", checkpointer=False).with_config(recursion_limit=STEPS + 2 * CALLS)


async def _call_tool(
    tools: Mapping[str, Callable[[str], Awaitable[Finding]]], name: str, arguments: Mapping[str, Any]
) -> tuple[Finding, str | None]:
    """What a tool found; or nothing, and the error as the model is told it."""
    argument = next(iter(arguments.values()), None)
    if name not in tools:
        return Finding(()), f"there is no tool {name!r}; use one of: {', '.join(tools)}"
    if not isinstance(argument, str) or not argument.strip():
        return Finding(()), f"{name} takes one text that is not empty, not {argument!r}"
    try:
        return await tools[name](argument), None
    except AgenticRagError as error:
        return Finding(()), f"{name} failed: {error}"


def _number_passages(finding: Finding, known_results: Sequence[Passage]) -> tuple[str, list[Passage]]:
    """The finding as text, its passages under their numbers, and those of them that are new."""
    numbers = {one["id"]: number for number, one in enumerate(known_results, start=1)}
    new = [one for one in finding.passages if one["id"] not in numbers]
    numbers |= {one["id"]: number for number, one in enumerate(new, start=len(known_results) + 1)}
    shown = fence_passages(
        [passage_text(one) for one in finding.passages], [numbers[one["id"]] for one in finding.passages]
    )
    return "\n".join(filter(None, [finding.note, shown])) or "nothing was found", new
