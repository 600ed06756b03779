"""An undated text has no "yesterday": of the dates a model gives its facts, only stated ones are kept; pure.

Graphiti resolves every relative date against the episode's date, and an episode must have one. What an
undated chunk's episode has instead is a placeholder, and dates made from it would look like knowledge.
"""

from __future__ import annotations

from typing import Any

_DATES = ("valid_at", "invalid_at")


def stated_dates(answer: dict[str, Any], text: str) -> dict[str, Any]:
    """The model's answer with every date whose year the text does not write set to None."""
    return {name: _kept(name, value, text) for name, value in answer.items()}


def _kept(name: str, value: Any, text: str) -> Any:
    if name in _DATES and isinstance(value, str):
        return value if value[:4].isdigit() and value[:4] in text else None
    if isinstance(value, dict):
        return stated_dates(value, text)
    if isinstance(value, list):
        return [stated_dates(item, text) if isinstance(item, dict) else item for item in value]
    return value
