"""What the rerank node may ask besides arithmetic."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.domain.ports import Chat, TokenCounter
from agentic_rag.rerank import Rerankers
from agentic_rag.retrieval.ports import GraphSearch, VectorSearch


@dataclass(frozen=True, slots=True)
class RerankTools:
    """Models and the vector store, for what needs them; None where there is none."""

    rerankers: Rerankers | None = None
    """What ``rerank.method`` ``cross_encoder`` and ``chat`` use."""
    chat: Chat | None = None
    engine: VectorSearch | None = None
    graph: GraphSearch | None = None
    count_tokens: TokenCounter | None = None
    """The four above serve ``post_retrieval.steps``."""
