"""What a data folder holds, by name, and the command that mends it."""

from __future__ import annotations

VECTORS = "vectors"
"""Subfolder with LanceDB's tables."""
COPIES = "copies"
"""Subfolder with copies of the tables of an object store."""
REPAIRING = "repairing"
"""Subfolder during a repair."""
SET_ASIDE = "damaged-*"
"""Subfolders with what repairs have replaced."""
COPYING = "copying"
"""Name of the lock: shared by all writers of the data folder, exclusive during a backup."""
REPAIR = "agentic-rag repair"
"""The command that mends damaged files."""
