"""What stands before and behind a memory: one module an operator, each with the actions its page names.

Here is what they share: the port, the models they may use, and how an action's settings are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from agentic_rag.domain.ports import Chat, Embedding, TokenCounter
from agentic_rag.errors import ConfigError, InputError
from agentic_rag.post_retrieval.operator import Data
from agentic_rag.settings.parameters import Section, validated

S = TypeVar("S", bound=Section)

StepCallback = Callable[[str, Data, Data], None]
"""Called with an operator's name, its input and its output, where a run is verbose."""


class Operator(Protocol):
    """A step of the insert or the test graph."""

    async def execute(self, data: Data) -> dict[str, Any]:
        """The keys it adds or replaces; the given data stay as they are.

        Raises:
            InputError: the data lack what an operator before it, or the caller, gives.
            ModelError, StoreError: the memory or a model failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class OperatorTools:
    """Models that the operators around a memory may use."""

    embedding: Embedding
    chat: Chat | None
    count_tokens: TokenCounter


class NoAction(Section):
    """What comes goes on as it is."""

    action: Literal["none"] = "none"


def parse_action(operator: str, kinds: Mapping[str, type[S]], values: Any) -> S:
    """The settings of the named action; ``none`` where nothing is configured.

    Args:
        operator: as the YAML calls it, for messages: ``pre_insert``.
        kinds: the section of each action.
        values: the mapping under ``operators.<operator>``, or None.

    Raises:
        ConfigError: no mapping, an unknown action, a key that the action does not have, a value out of range.
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
        return validated(kinds[action], {**given, "action": action})
    except ConfigError as error:
        raise ConfigError(f"operators.{operator} (action {action}): {error}") from error


def text_of(data: Data, key: str) -> str:
    """A text that an operator needs.

    Raises:
        InputError: there is none.
    """
    value = data.get(key)
    if not isinstance(value, str):
        raise InputError(f"a memory is asked with {key!r}, a text, not {value!r:.80}")
    return value
