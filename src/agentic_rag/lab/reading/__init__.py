"""Readers: they answer a question from the history retrieved from a memory."""

from agentic_rag.lab.reading.extractive import ExtractiveReader
from agentic_rag.lab.reading.reader import NOT_MENTIONED, PROMPT_TEMPLATE, ChatReader, Reader

__all__ = ["NOT_MENTIONED", "PROMPT_TEMPLATE", "ChatReader", "ExtractiveReader", "Reader"]
