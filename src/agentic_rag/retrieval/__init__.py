"""Retrieval: dense, sparse and hybrid search over chunks, with typed filters and one relevance score."""

from agentic_rag.retrieval.config import DEFAULT_SCORE_THRESHOLD, DEFAULT_TOP_K, RETRIEVAL_STRATEGY
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.retrieval.schemas import Leg, RetrievalResult

__all__ = [
    "DEFAULT_SCORE_THRESHOLD",
    "DEFAULT_TOP_K",
    "RETRIEVAL_STRATEGY",
    "Leg",
    "RetrievalEngine",
    "RetrievalResult",
]
