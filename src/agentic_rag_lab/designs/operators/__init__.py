"""The operators before and after a memory: one module per operator, with its actions.

This module has their common parts: the port, the available models, and the parsing of an action's settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from agentic_rag.domain.ports import Chat, Embedding, TokenCounter
from agentic_rag.errors import ConfigError, InputError
from agentic_rag.settings.parameters import Section, validate
from agentic_rag_lab.designs.post_retrieval.operator import Data

S = TypeVar("S", bound=Section)

StepCallback = Callable[[str, Data, Data], None]
"""Called with an operator's name, input and output in a verbose run."""


class Operator(Protocol):
    """A step of the insert or the test graph."""

    async def execute(self, data: Data) -> dict[str, Any]:
        """The keys that the operator adds or replaces; ``data`` is not changed.

        Raises:
            InputError: ``data`` lacks a key that an earlier operator or the caller must give.
            ModelError, StoreError: the memory or a model failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class OperatorTools:
    """Models for the operators around a memory."""

    embedding: Embedding
    chat: Chat | None
    count_tokens: TokenCounter


class NoAction(Section):
    """The action none: the data stay unchanged."""

    action: Literal["none"] = "none"


def parse_action(operator: str, kinds: Mapping[str, type[S]], values: Any) -> S:
    """The settings of the configured action; ``none`` without a configuration.

    Args:
        operator: the operator's name in the YAML, for messages: ``pre_insert``.
        kinds: the settings class of each action.
        values: the mapping under ``operators.<operator>``, or None.

    Raises:
        ConfigError: no mapping, an unknown action, a key that is not of the action, a value out of range.
    """
    given = {} if values is None else values
    if not isinstance(given, Mapping):
        raise ConfigError(
            f"operators.{operator} must be a mapping such as {{action: none}}, not {values!r:.80}"
        )
    action = given.get("action", "none")
    if not isinstance(action, str) or action not in kinds:
        raise ConfigError(
            f"operators.{operator}.action: unknown action {action!r}; use one of: {', '.join(kinds)}"
        )
    try:
        return validate(kinds[action], {**given, "action": action})
    except ConfigError as error:
        raise ConfigError(f"operators.{operator} (action {action}): {error}") from error


def text_of(data: Data, key: str) -> str:
    """A required text of the data.

    Raises:
        InputError: it is missing.
    """
    value = data.get(key)
    if not isinstance(value, str):
        raise InputError(f"a memory is asked with {key!r}, a text, not {value!r:.80}")
    return value
