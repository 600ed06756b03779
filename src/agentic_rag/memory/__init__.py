"""What is remembered of each person: five agents, the orchestrator that asks them together, and the writing."""
