"""PostRetrieval: from retrieved memories to ``history_text``, by the configured steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentic_rag.errors import ConfigError, InputError
from agentic_rag.extensions import load
from agentic_rag_lab.designs.post_retrieval.augment import AUGMENTS
from agentic_rag_lab.designs.post_retrieval.compress import COMPRESSIONS
from agentic_rag_lab.designs.post_retrieval.config import (
    CONVERSATION_FORMAT_PROMPT,
    WHERE,
    NoneStep,
    Step,
    check_order,
)
from agentic_rag_lab.designs.post_retrieval.filters import FILTERS
from agentic_rag_lab.designs.post_retrieval.formats import FORMATS
from agentic_rag_lab.designs.post_retrieval.items import (
    Action,
    Handler,
    Handlers,
    Items,
    StepOutcome,
    StepRequest,
    as_memories,
    read_memories,
)
from agentic_rag_lab.designs.post_retrieval.merge import MERGES
from agentic_rag_lab.designs.post_retrieval.rerank import RERANKS, rerank
from agentic_rag_lab.designs.post_retrieval.tools import PostRetrievalTools, check_tools

Data = Mapping[str, Any]


async def no_change(step: NoneStep, items: Items, request: StepRequest) -> StepOutcome:
    """The memories as they are, for the action none."""
    return StepOutcome(items)


ACTIONS: Mapping[str, Handlers] = {
    "none": {None: no_change},
    "rerank": dict.fromkeys(RERANKS, rerank),
    "filter": FILTERS,
    "merge": MERGES,
    "augment": AUGMENTS,
    "compress": COMPRESSIONS,
    "format": FORMATS,
}
"""The function of a step, by action and type."""


class PostRetrieval:
    """The operator between MemoryRetrieval and MemoryTest. Some steps query the service again; none embeds text.

    Args:
        steps: run in order, at least one; see ``parse_steps``.
        tools: services and models of the steps.

    Raises:
        ConfigError: no step, a step after format, or a step without a tool that it needs.
    """

    def __init__(self, steps: Sequence[Step], tools: PostRetrievalTools) -> None:
        if not steps:
            raise ConfigError(f"{WHERE}: no step; use parse_steps(None) for the step that does nothing")
        check_order(steps)
        check_tools(steps, tools)
        self._steps = tuple(steps)
        self._tools = tools

    async def execute(self, data: Data) -> dict[str, Any]:
        """``memory_data`` and ``history_text`` after all steps, and ``post_retrieval``, a record of each step.

        A record has action, type, before and after (number of memories), status (ok or degraded) and reason.

        Args:
            data: ``question``, ``memory_data``; optionally ``query_embedding`` (floats) and
                ``reference_time`` (ISO 8601).

        Raises:
            InputError: invalid data.
            ModelError, StoreError: a step's model or service failed.
        """
        if "memory_data" not in data:
            raise InputError("the data have no memory_data; PostRetrieval stands behind MemoryRetrieval")
        request, items = StepRequest.of(data, self._tools), read_memories(data["memory_data"])
        records: list[dict[str, Any]] = []
        prefaces: list[str] = []
        body: str | None = None
        for step in self._steps:
            outcome = await _handler(step)(step, items, request)
            records.append(_record(step, len(items), outcome))
            items = outcome.items
            prefaces.append(outcome.preface)
            body = outcome.body
        return {
            "memory_data": as_memories(items),
            "history_text": self._history([self._prompt(), *prefaces], items, body),
            "post_retrieval": records,
        }

    def _prompt(self) -> str:
        for step in reversed(self._steps):
            if "conversation_format_prompt" in step.model_fields_set:
                return step.conversation_format_prompt.rstrip("\n")  # YAML's block style ends with one
        return CONVERSATION_FORMAT_PROMPT

    @staticmethod
    def _history(above: Sequence[str], items: Items, body: str | None) -> str:
        parts = [part for part in above if part]
        if items or body:
            parts += [item.text for item in items] if body is None else [body]
        return "".join(f"{part}\n" for part in parts)


def _handler(step: Step) -> Handler:
    if step.action in ACTIONS:
        return ACTIONS[step.action][step.kind]
    action: Action = load("actions", step.action, "action", tuple(ACTIONS))
    return action.run


def _record(step: Step, before: int, outcome: StepOutcome) -> dict[str, Any]:
    return {
        "action": step.action,
        "type": step.kind,
        "before": before,
        "after": len(outcome.items),
        "status": "degraded" if outcome.is_degraded else "ok",
        "reason": outcome.reason,
    }
