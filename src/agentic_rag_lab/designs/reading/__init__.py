"""Readers: they answer a question from the history retrieved from a memory."""

from agentic_rag_lab.designs.reading.extractive import ExtractiveReader
from agentic_rag_lab.designs.reading.reader import NOT_MENTIONED, PROMPT_TEMPLATE, ChatReader, Reader

__all__ = ["NOT_MENTIONED", "PROMPT_TEMPLATE", "ChatReader", "ExtractiveReader", "Reader"]
