"""Chooses the strategy of each target, among those that its agent implements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agentic_rag.dates.stated import asked_interval
from agentic_rag.ingest.facts.named_things import named_things
from agentic_rag.memory.routing.rules import MAX_CHARACTERS
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy

_EXACT = re.compile(
    r"\"[^\"\n]{2,80}\"|“[^“”\n]{2,80}”|「[^「」\n]{2,80}」|『[^『』\n]{2,80}』"
    r"|(?<![\w-])(?:[A-Za-z]+[-_]?\d{2,}[\w-]*|\d{2,}[-_]?[A-Z]+\d[\w-]*|[a-z]+(?:_[a-z\d]+)+)(?!\w)"
    r"|(?<!\w)#\d+|[\w.+-]+@[\w-]+\.[\w.]+|https?://\S+|(?<!\d)\d{5,}(?!\d)"
)
"""Quoted text, or a token that is an identifier: ``INV-2041``, ``retry_count``, ``#28``, an address, a long number."""
_Sign = Callable[[str, MemoryType], str | None]


def choose_strategy(
    query: str, memory_type: MemoryType, has: Sequence[RetrievalStrategy]
) -> tuple[RetrievalStrategy, str | None]:
    """The strategy for one target, and the part of the query that decided; None for the agent's default.

    Args:
        query: not empty.
        has: strategies that the agent implements, the default first; at least one.

    >>> choose_strategy("What became of INV-2041?", MemoryType.SEMANTIC, tuple(RetrievalStrategy))[0].value
    'context_aware'
    """
    text = query[:MAX_CHARACTERS].strip()
    for strategies, sign in _SIGNS:
        chosen = next((strategy for strategy in strategies if strategy in has), None)
        if chosen is not None and (why := sign(text, memory_type)):
            return chosen, f"the query {why}"
    return has[0], None


def _states_a_time(text: str, memory_type: MemoryType) -> str | None:
    dated = memory_type is MemoryType.EPISODIC and asked_interval(text) is not None
    return "states a time" if dated else None


def _is_exact(text: str, _: MemoryType) -> str | None:
    found = _EXACT.search(text)
    return f"holds exact text ({found[0]})" if found else None


def _names_several(text: str, memory_type: MemoryType) -> str | None:
    if memory_type is not MemoryType.SEMANTIC:
        return None
    names = list(dict.fromkeys(thing.name for thing in named_things(text)))
    return f"names {' and '.join(names[:2])}, which facts may join" if len(names) > 1 else None


def _is_a_name(text: str, _: MemoryType) -> str | None:
    things = named_things(text)
    whole = len(things) == 1 and (things[0].start, things[0].end) == (0, len(text))
    return "is a name alone, which may be spelled otherwise" if whole else None


_BY_WORDS_TOO = (RetrievalStrategy.CONTEXT_AWARE, RetrievalStrategy.HYBRID, RetrievalStrategy.STRING_MATCH)
"""Lexical search alone finds less than lexical and dense search together, even for quoted text (LoCoMo's conv-26)."""
_SIGNS: tuple[tuple[tuple[RetrievalStrategy, ...], _Sign], ...] = (
    ((RetrievalStrategy.TEMPORAL,), _states_a_time),
    (_BY_WORDS_TOO, _is_exact),
    ((RetrievalStrategy.SEMANTIC_GRAPH,), _names_several),
    ((RetrievalStrategy.FUZZY,), _is_a_name),
)
"""The first matching sign decides, by the first of its strategies that the agent has."""
