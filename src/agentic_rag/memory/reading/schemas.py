"""The result of reading a message: a statement to remember."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from agentic_rag.memory.schemas import MemoryType

Block = Literal["persona", "human", "preferences"]
LIVES_IN, EMPLOYER, JOB, NAME, AGE = "lives in", "employer", "job", "name", "age"
LIKING = "liking of"
"""Of what a person likes each thing is a slot, ``liking of sushi``."""
CHINESE_NAMES = {LIVES_IN: "住在", EMPLOYER: "工作单位", JOB: "职业", NAME: "名字", AGE: "年龄"}
"""What slots with an English name are called above a Chinese sentence."""


@dataclass(frozen=True, slots=True)
class MemoryStatement:
    """A statement; ``text`` is the message's own from ``start`` on."""

    memory_type: MemoryType
    text: str
    start: int
    subject: str
    """The person it is about: the speaker, a person it names, or "<speaker>'s sister"."""
    reason: str
    """A sentence that names the rule."""
    slot: str | None = None
    value: str | None = None
    """``slot`` and ``value`` are both None or both given; ``value`` is "" only if the statement ends any earlier
    value."""
    ends: bool = False
    block: Block | None = None
    """The block of a core statement."""
    trigger: str | None = None
    """The trigger of a procedural statement, as written; "" is always."""
    steps: tuple[str, ...] = ()
    valid_at: datetime | None = None
    """Stated start of its validity (end, for a statement that ends a value); UTC."""

    @property
    def end(self) -> int:
        """Where ``text`` ends in the message."""
        return self.start + len(self.text)
