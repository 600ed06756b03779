"""The memory graphs for LangGraph Studio and ``langgraph dev``: the file that ``agentic-rag init`` gives a folder."""

from agentic_rag.cli.starter.graphs.memory import insert, main, test

__all__ = ["insert", "main", "test"]
