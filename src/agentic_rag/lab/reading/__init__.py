"""Readers: they answer a question from the history that a memory gave."""

from agentic_rag.lab.reading.chat import PROMPT_TEMPLATE, ChatReader
from agentic_rag.lab.reading.extractive import ExtractiveReader
from agentic_rag.lab.reading.reader import NOT_MENTIONED, Reader

__all__ = ["NOT_MENTIONED", "PROMPT_TEMPLATE", "ChatReader", "ExtractiveReader", "Reader"]
