"""The service inside LangGraph's server: the file that ``agentic-rag init`` gives a folder."""

from agentic_rag.cli.starter.graphs.service import app

__all__ = ["app"]
