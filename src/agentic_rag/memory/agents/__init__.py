"""The five agents: core, episodic, semantic, procedural, working; each keeps one kind of memory of every user."""

from __future__ import annotations

from agentic_rag.memory.agents.base import AgentParts, StoredAgent
from agentic_rag.memory.agents.core import CoreAgent
from agentic_rag.memory.agents.episodic import EpisodicAgent
from agentic_rag.memory.agents.procedural import ProceduralAgent
from agentic_rag.memory.agents.semantic import SemanticAgent
from agentic_rag.memory.agents.working import WorkingAgent

__all__ = [
    "AGENTS",
    "AgentParts",
    "CoreAgent",
    "EpisodicAgent",
    "ProceduralAgent",
    "SemanticAgent",
    "StoredAgent",
    "WorkingAgent",
    "all_agents",
]

AGENTS: tuple[type[StoredAgent], ...] = (
    CoreAgent,
    EpisodicAgent,
    SemanticAgent,
    ProceduralAgent,
    WorkingAgent,
)


def all_agents(parts: AgentParts) -> tuple[StoredAgent, ...]:
    """One agent of each memory type."""
    return tuple(kind(parts) for kind in AGENTS)
