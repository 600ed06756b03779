"""Answers as boards of an Obsidian vault (JSON Canvas 1.0): drawn, written, kept up to date, filled in and checked."""
