"""What every operator is: a named step that reads the data of its graph and gives what it adds to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from agentic_rag.post_retrieval.operator import Data

StepCallback = Callable[[str, Data, Data], None]
"""Called with an operator's name, its input and its output, where a run is verbose."""


class Operator(Protocol):
    """A step of the insert or the test graph."""

    async def execute(self, data: Data) -> dict[str, Any]:
        """The keys it adds or replaces; the given data stay as they are.

        Raises:
            ConfigError: it lacks something its action needs; the message says what.
            ModelError, StoreError: what it asked failed.
        """
        ...
