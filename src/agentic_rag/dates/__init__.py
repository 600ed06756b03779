"""Instants, months, and dates stated in text."""
