"""Graphiti's prompts, with texts escaped so that they cannot close Graphiti's tags."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agentic_rag.stores.graphiti.library import (
    PROMPT_GROUPS,
    create_prompt_library,
    default_chat_prompt_library,
)
from agentic_rag.text.prompts import neutralise_tags, tag_pattern

_TAG = re.compile(r"<([A-Z][A-Z_ ]*)>")


def fenced_prompts() -> Any:
    """Graphiti's own prompt library, with its texts made safe.

    That is done here, not where texts are stored: names, facts and summaries that a model wrote come back in later
    prompts, too.
    """
    return create_prompt_library(
        {
            group: {
                name: _fence_prompt(getattr(getattr(default_chat_prompt_library, group), name))
                for name in names
            }
            for group, names in PROMPT_GROUPS.items()
        }
    )


def _fence_prompt(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def fenced_prompt(context: Any) -> Any:
        blank = build(_each_text(context, lambda _: " "))
        tags = tag_pattern(*sorted(set(_TAG.findall(blank.user.content))))
        return build(_each_text(context, lambda text: neutralise_tags(text, tags)))

    return fenced_prompt


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    """The same dicts and lists with every text changed; keys stay."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _each_text(inner, change) for key, inner in value.items()}
    return [_each_text(inner, change) for inner in value] if isinstance(value, list | tuple) else value
