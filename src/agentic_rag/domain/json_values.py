"""The type of a JSON object whose keys nobody here knows."""

from __future__ import annotations

Json = dict[str, object]
"""Values are JSON values; who reads one narrows it first."""
