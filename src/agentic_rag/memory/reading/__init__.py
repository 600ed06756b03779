"""Extracts statements from messages: facts of slots, preferences, instructions, and single sentences."""
