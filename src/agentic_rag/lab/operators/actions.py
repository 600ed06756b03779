"""Settings of an operator with actions: the YAML's mapping becomes the section of the action it names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from agentic_rag.errors import ConfigError
from agentic_rag.settings.parameters import Section, validated

S = TypeVar("S", bound=Section)


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
