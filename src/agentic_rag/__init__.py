"""Ask your notes: a LangGraph state machine over a temporal knowledge graph and a vector store.

Importing this package opens nothing and imports no third-party library; names load when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentic_rag.answer import Answer
    from agentic_rag.blocking import BlockingRag, open_rag_blocking
    from agentic_rag.errors import AgenticRagError
    from agentic_rag.graph import GraphParts, build_rag_graph
    from agentic_rag.rag import Rag, open_rag
    from agentic_rag.settings.config import RagConfig
    from agentic_rag.settings.parameters import Parameters
    from agentic_rag.state import CanvasRAGState

__all__ = [
    "AgenticRagError",
    "Answer",
    "BlockingRag",
    "CanvasRAGState",
    "GraphParts",
    "Parameters",
    "Rag",
    "RagConfig",
    "build_rag_graph",
    "open_rag",
    "open_rag_blocking",
]

_HOMES = {
    "AgenticRagError": "errors",
    "Answer": "answer",
    "BlockingRag": "blocking",
    "CanvasRAGState": "state",
    "GraphParts": "graph",
    "Parameters": "settings.parameters",
    "Rag": "rag",
    "RagConfig": "settings.config",
    "build_rag_graph": "graph",
    "open_rag": "rag",
    "open_rag_blocking": "blocking",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
