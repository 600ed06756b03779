"""Instants, months, and the times that a text states."""
