"""Stores behind the ports: LanceDB, Graphiti, other vector stores, kept conversations, and in-memory references."""
