"""The main graph and the memories' for LangGraph Studio and ``langgraph dev``: opened once per process.

Configuration comes from the environment (AGENTIC_RAG_…), ``.env`` and the data folder's settings file.
"""

from __future__ import annotations

from langgraph.graph.state import CompiledStateGraph

from agentic_rag.settings.environment import load_config
from agentic_rag.shared import shared_rag

_rag = shared_rag(load_config())


async def graph() -> CompiledStateGraph:  # type: ignore[type-arg]
    """The compiled graph; the server asks for it at every run and gets the same one."""
    return (await _rag.get()).graph


async def memory_retrieval() -> CompiledStateGraph:  # type: ignore[type-arg]
    """Asks all memories of a user together."""
    return (await _rag.get()).memory.orchestrator.graph
