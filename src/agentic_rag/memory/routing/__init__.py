"""Routing: the agents for a question, with their strategies and weights."""
