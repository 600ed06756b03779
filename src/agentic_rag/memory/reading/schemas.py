"""What the readers of a message give: a statement that is worth remembering."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agentic_rag.memory.schemas import MemoryType

Block = Literal["persona", "human", "preferences"]


@dataclass(frozen=True, slots=True)
class MemoryStatement:
    """``text[start:end]`` of the message is ``text``."""

    memory_type: MemoryType
    text: str
    start: int
    end: int
    subject: str
    """Whom it is about: the speaker, a person it names, or "<speaker>'s sister"."""
    slot: str | None
    value: str | None
    """Both None, or both given; ``value`` is "" only where it ``ends`` whatever held."""
    ends: bool
    block: Block | None
    """Of core statements."""
    trigger: str | None
    """Of procedural statements: when, as written; "" is always."""
    steps: tuple[str, ...]
    valid_at: datetime | None
    """Since when it holds (of one that ends: until when) where the statement says so; UTC."""
    reason: str
    """A sentence that names the rule."""
