"""Instants, and the times that a text states."""
