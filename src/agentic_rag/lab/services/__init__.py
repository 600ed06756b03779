"""Memories by name, one module a service; ``build_service`` makes them of the parts that are handed in.

``short_term_memory``, ``full_context`` and ``no_memory`` keep texts; ``vector_hash_memory`` keeps signatures of
their vectors; ``vector_memory`` keeps vectors in the chunk store; ``graph_memory`` and ``agentic_memory`` keep
sessions in both stores (``session_memory``) and differ in what searches them.
"""

from agentic_rag.lab.services.factory import (
    Build,
    build_service,
    check_settings,
    known_services,
    register_service,
    unregister_service,
)
from agentic_rag.lab.services.parts import AskGraph, ServiceParts

__all__ = [
    "AskGraph",
    "Build",
    "ServiceParts",
    "build_service",
    "check_settings",
    "known_services",
    "register_service",
    "unregister_service",
]
