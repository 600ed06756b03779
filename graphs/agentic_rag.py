"""The main graph and the memories' for LangGraph Studio and ``langgraph dev``: the file that ``agentic-rag init`` gives a folder."""

from agentic_rag.cli.starter.graphs.agentic_rag import graph, memory_retrieval

__all__ = ["graph", "memory_retrieval"]
