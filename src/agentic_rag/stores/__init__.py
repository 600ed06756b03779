"""Stores behind the ports: in-memory references, LanceDB, Graphiti."""
