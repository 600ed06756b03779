"""After retrieval: memories are reranked, filtered, merged, augmented, compressed, and formatted as
``history_text``."""

from agentic_rag_lab.designs.post_retrieval.config import ActionStep, Step, parse_steps
from agentic_rag_lab.designs.post_retrieval.items import Action, Items, MemoryItem, StepOutcome, StepRequest
from agentic_rag_lab.designs.post_retrieval.operator import PostRetrieval
from agentic_rag_lab.designs.post_retrieval.tools import PostRetrievalTools

__all__ = [
    "Action",
    "ActionStep",
    "Items",
    "MemoryItem",
    "PostRetrieval",
    "PostRetrievalTools",
    "Step",
    "StepOutcome",
    "StepRequest",
    "parse_steps",
]
