"""The type of a node that was given what it needs."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

from langgraph.runtime import Runtime

from agentic_rag.state import CanvasRAGState


class Node(Protocol):
    """Takes the state and the run's context; gives the keys it writes."""

    def __call__(self, state: CanvasRAGState, *, runtime: Runtime[Any]) -> Awaitable[dict[str, Any]]: ...
