"""Channels of the graph's state: lists that a checkpoint stores in short, values that it compresses or reads once."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar, cast

from langgraph.channels import LastValue

from agentic_rag.domain import Hit
from agentic_rag.domain.results import Result

Entry = TypeVar("Entry", bound=Mapping[str, Any])


class ShortenedList(list[Entry]):
    """Hits or results as the state holds them: the first ``top_k`` in full, the others shortened.

    Checkpoints, streams and servers contain only this list. ``whole``, which the nodes read, exists only in the
    process that found the entries; ``nodes.resuming.read_again`` restores it in a resumed run.
    """

    __slots__ = ("whole",)

    def __init__(self, short: Sequence[Entry], whole: list[Entry]) -> None:
        super().__init__(short)
        self.whole = whole


def in_full(entries: list[Entry]) -> list[Entry]:
    """The full hits or results if this process found them; else the entries in the state."""
    return entries.whole if isinstance(entries, ShortenedList) else entries


def shortened_hits(hits: list[Hit], top_k: int) -> ShortenedList[Hit]:
    """Hits beyond ``top_k`` without the content and metadata that the chunk store has; hits without a chunk stay
    whole."""
    return ShortenedList([*hits[:top_k], *map(_short_hit, hits[top_k:])], hits)


def _short_hit(hit: Hit) -> Hit:
    if hit["metadata"].get("document_id") is None:
        return hit
    return cast(Hit, {key: value for key, value in hit.items() if key not in ("content", "metadata")})


def shortened_results(
    results: list[Result], top_k: int, fused_ids: Collection[str] | None = None
) -> ShortenedList[Result]:
    """Results beyond ``top_k`` as id and scores: the rest follows from the hits. A result not among ``fused_ids``
    stays whole."""
    rest = (
        cast(Result, {key: result[key] for key in ("id", "fused_score", "rerank_score")})
        if fused_ids is None or result["id"] in fused_ids
        else result
        for result in results[top_k:]
    )
    return ShortenedList([*results[:top_k], *rest], results)


class CompressedValue(LastValue[Any]):
    """The last value written, compressed in checkpoints, because savers store every value again after every node."""

    __slots__ = ("_packed_value",)

    def __init__(self, typ: Any, key: str = "") -> None:
        super().__init__(typ, key)
        self._packed_value: tuple[Any, bytes] | None = None
        """The last compressed value, and its compressed form."""

    def checkpoint(self) -> Any:
        """The value as compressed JSON."""
        held = super().checkpoint()
        if not self.is_available():
            return held
        if self._packed_value is None or self._packed_value[0] is not held:
            self._packed_value = held, zlib.compress(json.dumps(held).encode())
        return self._packed_value[1]

    def from_checkpoint(self, checkpoint: Any) -> CompressedValue:
        """The channel with the value of a checkpoint."""
        held = json.loads(zlib.decompress(checkpoint)) if isinstance(checkpoint, bytes) else checkpoint
        return super().from_checkpoint(held)


class ParsedMapping(dict[str, Any]):
    """A plain mapping with the object that it was read into, which exists in this process alone."""

    __slots__ = ("value",)

    def __init__(self, plain: Mapping[str, Any], value: Any = None) -> None:
        super().__init__(plain)
        self.value = value


class ReadOnce(LastValue[Any]):
    """The last mapping written, as one ``ParsedMapping`` for all nodes of a run; checkpoints and streams hold the mapping."""

    __slots__ = ()

    def update(self, values: Sequence[Any]) -> bool:
        """Take what the one writer of the step wrote."""
        return super().update(
            [one if isinstance(one, ParsedMapping) else ParsedMapping(one) for one in values]
        )

    def from_checkpoint(self, checkpoint: Any) -> ReadOnce:
        """The channel with the mapping of a checkpoint, not read yet."""
        return super().from_checkpoint(
            ParsedMapping(checkpoint) if isinstance(checkpoint, dict) else checkpoint
        )
