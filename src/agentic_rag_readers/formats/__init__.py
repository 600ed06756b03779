"""Formats of documents, pictures and texts: entries of ``agentic_rag.formats``."""
