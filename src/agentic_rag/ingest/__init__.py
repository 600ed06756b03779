"""Ingest: sources become documents, documents become chunks and facts, and both stores receive them."""
