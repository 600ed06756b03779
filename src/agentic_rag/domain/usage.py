"""What the endpoints of models used: counted where they are called, told where a run ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields
from typing import cast

from typing_extensions import TypedDict


class UsageValues(TypedDict, total=False):
    """A ``Usage`` as JSON values; empty without a call."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    embedded_tokens: int
    cost: float
    estimated: bool


@dataclass(slots=True)
class Usage:
    """Calls, tokens and their price. Mutable: calls add to it."""

    calls: int = 0
    """Requests that were answered, or that may have been charged although no answer came in time."""
    prompt_tokens: int = 0
    """Sent to a chat model."""
    completion_tokens: int = 0
    """Written by a chat model."""
    embedded_tokens: int = 0
    """Sent to an embedding model."""
    cost: float = 0.0
    """By the prices in the settings, in their currency; 0 where none are set."""
    estimated: bool = False
    """Whether some of it is an upper bound, because an endpoint did not say what it used."""

    @property
    def tokens(self) -> int:
        """Number of all tokens: of prompts, completions and embeddings."""
        return self.prompt_tokens + self.completion_tokens + self.embedded_tokens

    def add(self, other: Usage) -> None:
        """Count another's as well."""
        for one in fields(other):
            mine, its = getattr(self, one.name), getattr(other, one.name)
            setattr(self, one.name, (mine or its) if one.name == "estimated" else mine + its)

    def to_dict(self) -> UsageValues:
        """Plain JSON values; the cost to a millionth."""
        return cast(UsageValues, {**asdict(self), "cost": round(self.cost, 6)})


_counting: ContextVar[tuple[Usage, ...]] = ContextVar("counting", default=())


@contextmanager
def counting() -> Iterator[Usage]:
    """What is used from here to the end of the block, in the tasks that it begins too."""
    usage = Usage()
    token = _counting.set((*_counting.get(), usage))
    try:
        yield usage
    finally:
        _counting.reset(token)


def count(call_usage: Usage) -> None:
    """Add to whatever is being counted around here."""
    for usage in _counting.get():
        usage.add(call_usage)


def sum_usage(total_usage: UsageValues | None, new: UsageValues | None) -> UsageValues:
    """Two usages as plain values, added; ``new`` of None begins anew."""
    if new is None:
        return {}
    total = Usage(**(total_usage or {}))
    total.add(Usage(**new))
    return total.to_dict()


def usage_text(usage: UsageValues) -> str:
    """The usage in words: ``3 calls, 1,204 tokens, cost 0.0021``."""
    used = Usage(**usage)
    told = [f"{used.calls:,} call{'s' * (used.calls != 1)}", f"{used.tokens:,} tokens"]
    told += [f"cost {used.cost:.4f}"] if used.cost else []
    return ", ".join(told) + (" (in part an upper bound)" if used.estimated else "")
