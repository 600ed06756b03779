"""Boards of an Obsidian vault (JSON Canvas 1.0): draw an answer, write and update its file, check a person's
answers."""
