"""Memories of each user: five agents, the orchestrator that asks them together, and the writer."""
