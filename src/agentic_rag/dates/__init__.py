"""Instants, times that a text states, and how well dates fit them."""
