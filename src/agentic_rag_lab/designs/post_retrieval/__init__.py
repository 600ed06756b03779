"""After retrieval: memories are reranked, filtered, merged, augmented, compressed, and formatted as
``history_text``."""

from agentic_rag_lab.designs.post_retrieval.config import Step, parse_steps
from agentic_rag_lab.designs.post_retrieval.items import MemoryItem
from agentic_rag_lab.designs.post_retrieval.operator import PostRetrieval
from agentic_rag_lab.designs.post_retrieval.tools import PostRetrievalTools

__all__ = ["MemoryItem", "PostRetrieval", "PostRetrievalTools", "Step", "parse_steps"]
