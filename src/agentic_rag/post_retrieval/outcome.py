"""What every step takes besides the memories, and what it gives."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag.post_retrieval.items import Items, vector


@dataclass(frozen=True, slots=True)
class StepRequest:
    """What was asked, as the operators before have it."""

    question: str
    query_embedding: tuple[float, ...] | None = None
    """Made by PreRetrieval; this operator makes none."""
    reference_time: str | None = None
    """The question's now, ISO 8601."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> StepRequest:
        """The request in an operator's data; ``InputError`` where a value is of the wrong kind."""
        question, now = data.get("question", ""), data.get("reference_time")
        if not isinstance(question, str):
            raise InputError(f"question is a string, not {type(question).__name__}")
        if not isinstance(now, str | None):
            raise InputError(f"reference_time is an ISO 8601 string, not {type(now).__name__}")
        given = data.get("query_embedding")
        return cls(question, None if given is None else vector(given, "the data have a query_embedding"), now)


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What a step made of the memories."""

    items: Items
    reason: str | None = None
    """What is worth knowing; always there where ``degraded``."""
    degraded: bool = False
    """Less was done than the step is for."""
    preface: str = ""
    """Stands above all memories in history_text."""
    body: str | None = None
    """All memories, written; None: each memory's text on its own line."""


async def settled(result: StepOutcome | Awaitable[StepOutcome]) -> StepOutcome:
    """The outcome of a plain function, or of one that asked something."""
    return result if isinstance(result, StepOutcome) else await result


def joined_reasons(*reasons: str | None) -> str | None:
    """Reasons on one line; None where there is none."""
    return "; ".join(reason for reason in reasons if reason) or None
