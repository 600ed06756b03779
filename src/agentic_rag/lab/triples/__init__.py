"""Statements as triples, between a packet and the memory: by a chat model's reply, or sentence by sentence without one."""

from agentic_rag.lab.triples.dialogs import dialog_statements
from agentic_rag.lab.triples.reply import TRIPLE_EXTRACTION_PROMPT, Reply, read_reply
from agentic_rag.lab.triples.triple import Triple, TripleStatement, distinct, refactored

__all__ = [
    "TRIPLE_EXTRACTION_PROMPT",
    "Reply",
    "Triple",
    "TripleStatement",
    "dialog_statements",
    "distinct",
    "read_reply",
    "refactored",
]
