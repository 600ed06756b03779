"""The wiring of the three memory graphs: insert, test, and the main one that calls both, packet by packet."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal

from langgraph.graph import END, START, StateGraph

from agentic_rag_lab.designs.conversation import Packet, is_last
from agentic_rag_lab.designs.operators import Operator, StepCallback
from agentic_rag_lab.designs.runs import CompiledGraph, MemorySink, MemorySource, PipelineCaller, Runs
from agentic_rag_lab.designs.state import Design, InsertState, MainKeys, MainState, TestKeys, TestState

STEPS = 1_000_000
"""Recursion limit: a conversation takes three steps per packet, more than LangGraph's default limit."""


def build_insert_graph(
    pre_insert: Operator, memory_insert: Operator, post_insert: Operator, on_step: StepCallback | None = None
) -> CompiledGraph:
    """PreInsert → MemoryInsert → PostInsert, built for one memory; takes a packet (see ``conversation.Packet``).

    ``on_step`` is called with each operator's input and output.
    """
    steps = {"PreInsert": pre_insert, "MemoryInsert": memory_insert, "PostInsert": post_insert}
    return _in_a_row("memory_insert", InsertState, Packet, steps, on_step)


def build_test_graph(
    pre_retrieval: Operator,
    memory_retrieval: Operator,
    post_retrieval: Operator,
    memory_test: Operator,
    on_step: StepCallback | None = None,
) -> CompiledGraph:
    """PreRetrieval → MemoryRetrieval → PostRetrieval → MemoryTest, built for one memory; takes a question.

    ``on_step`` is called with each operator's input and output.
    """
    steps = {
        "PreRetrieval": pre_retrieval,
        "MemoryRetrieval": memory_retrieval,
        "PostRetrieval": post_retrieval,
        "MemoryTest": memory_test,
    }
    return _in_a_row("memory_test", TestState, TestKeys, steps, on_step)


def build_main_graph(runs: Runs, checkpointer: Any = None) -> CompiledGraph:
    """MemorySource → PipelineCaller → MemorySink, once per packet; takes ``task_id`` (and ``data``).

    Args:
        runs: the open resources of the runs; the state contains everything that a run needs to resume.
        checkpointer: any LangGraph checkpointer; with one, an interrupted run resumes where it was
            (``ainvoke(None, …)``), also in a new process.
    """
    graph: StateGraph[MainState, Design, MainKeys, MainState] = StateGraph(
        MainState, context_schema=Design, input_schema=MainKeys
    )
    graph.add_node("MemorySource", MemorySource(runs).execute)
    graph.add_node("PipelineCaller", PipelineCaller(runs).execute)
    graph.add_node("MemorySink", MemorySink(runs).execute)
    graph.add_edge(START, "MemorySource")
    graph.add_edge("MemorySource", "PipelineCaller")
    graph.add_edge("PipelineCaller", "MemorySink")
    graph.add_conditional_edges("MemorySink", to_next_packet, ["MemorySource", END])
    return graph.compile(checkpointer=checkpointer, name="memory_main").with_config(recursion_limit=STEPS)


def to_next_packet(state: MainState) -> Literal["MemorySource", "__end__"]:
    """The next packet, or the end after the last one."""
    return "__end__" if is_last(state["packet"]) else "MemorySource"


def _in_a_row(
    name: str, state: Any, input_keys: Any, steps: Mapping[str, Operator], on_step: StepCallback | None
) -> CompiledGraph:
    """A linear graph of the steps, whose caller gives the keys of ``input_keys``."""
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(state, context_schema=Design, input_schema=input_keys)
    for step, operator in steps.items():
        graph.add_node(step, _step(step, operator, on_step))
    for before, after in pairwise([START, *steps, END]):
        graph.add_edge(before, after)
    return graph.compile(name=name)


def _step(name: str, operator: Operator, on_step: StepCallback | None) -> Any:
    """The operator as a node. LangGraph's node type cannot express state types that are known only at run time."""

    async def step(state: dict[str, Any]) -> dict[str, Any]:
        written = await operator.execute(state)
        if on_step is not None:
            on_step(name, state, written)
        return written

    return step
