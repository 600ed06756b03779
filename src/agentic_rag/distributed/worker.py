"""What a Ray worker does: documents parsed; and chunked, their facts derived, their texts embedded, their rows written."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agentic_rag.domain.ports import (
    ChunkStore,
    Embedding,
    FloatArray,
    GraphStore,
    Piece,
    PieceStore,
    TokenCounter,
)
from agentic_rag.domain.progress import Meter
from agentic_rag.errors import AgenticRagError
from agentic_rag.ingest.names import TitleIndex
from agentic_rag.ingest.planning import Action, parsed, unpacked
from agentic_rag.ingest.preparing import Prepared, PreparedDocument, Preparer, Stored, embedded
from agentic_rag.ingest.sources import SourceItem
from agentic_rag.text.cache import TextCache

TEXTS = 50_000
"""Names and sentences whose vectors a worker remembers (80 MB): a name comes again and again."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What a worker reads and embeds by."""

    chunks: ChunkStore
    graph: GraphStore
    embedding: Embedding
    count_tokens: TokenCounter


Open = Callable[[], AbstractAsyncContextManager[Opened]]
"""Opens a worker's own stores and model; can be pickled."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a worker is given at a time: documents as ``Work`` packs them."""

    documents: tuple[tuple[bytes, Stored, str | None], ...]


@dataclass(frozen=True, slots=True)
class Made:
    """What a worker made of a share, in order."""

    documents: tuple[PreparedDocument, ...]
    texts: tuple[str, ...]
    vectors: FloatArray
    """Of the texts: names and sentences of the graphs."""
    piece: Piece | None
    """Rows of the chunks, where the store takes pieces; else they are in the documents."""
    seconds: dict[str, float]
    """By stage, in this worker."""


class PreparingWorker:
    """A Ray actor: opens stores and model for its first share, then prepares one after the other.

    What fails as it may, in opening or in preparing, is given back: of an error that it raises, Ray keeps the text.
    """

    def __init__(self, open_parts: Open, dataset: str, titles: Sequence[Any], threads: int) -> None:
        """``titles``: in a list, the reference to the index of titles, or to None: a worker that is started anew reads
        it again."""
        import ray

        from agentic_rag.models import bundled

        bundled.use_threads(threads)
        self._open_parts = open_parts
        self._dataset = dataset
        self._titles: TitleIndex | None = ray.get(titles[0])
        self._runner = asyncio.Runner()
        self._held = AsyncExitStack()
        self._parts: Opened | None = None
        self._known = TextCache[FloatArray](TEXTS)

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """``Share`` to ``Made``, or to an error, all pickled."""
        made: Made | AgenticRagError
        try:
            made = self._runner.run(self._made(pickle.loads(row["share"])))
        except AgenticRagError as error:
            made = error
        return {"made": pickle.dumps(made, pickle.HIGHEST_PROTOCOL)}

    async def _opened(self) -> Opened:
        if self._parts is None:
            self._parts = await self._held.enter_async_context(self._open_parts())
        return self._parts

    async def _made(self, share: Share) -> Made:
        laps = _Laps()
        parts = await self._opened()
        preparer = Preparer(parts.chunks, parts.embedding, parts.count_tokens)
        laps("open")
        documents = [
            preparer.chunked(unpacked(packed), stored, moved) for packed, stored, moved in share.documents
        ]
        laps("chunk")
        meter = Meter(None, "store", units=0, work=0.0)
        prepared = await preparer.prepare(self._dataset, documents, self._titles, meter, laps)
        is_new = all(one.stored == "none" and one.moved_from is None for one in documents)
        texts = await self._texts(parts, prepared, is_new=is_new)
        laps("look up")
        vectors = await self._known.of(texts, lambda new: _embedded(parts, new))
        laps("embed")
        piece = await self._piece(parts, prepared)
        laps("write")
        found = prepared.documents
        if piece is not None:
            found = tuple(replace(one, embedded=None) for one in found)
        matrix = np.array(vectors, np.float32).reshape(len(texts), parts.embedding.dimension)
        return Made(found, tuple(texts), matrix, piece, dict(laps.seconds))

    async def _texts(self, parts: Opened, prepared: Prepared, *, is_new: bool) -> list[str]:
        """Names and sentences to embed; what may be stored is looked for only where some of it may be."""
        if self._titles is None:
            return []
        if not is_new:
            return await parts.graph.new_texts(self._dataset, prepared.graphs)
        names = {entity.name for graph in prepared.graphs for entity in graph.entities}
        return sorted(names | {fact.text for graph in prepared.graphs for fact in graph.facts})

    async def _piece(self, parts: Opened, prepared: Prepared) -> Piece | None:
        documents = [one.embedded for one in prepared.documents if one.embedded is not None]
        if not documents or not isinstance(parts.chunks, PieceStore):
            return None
        return await parts.chunks.write_piece(self._dataset, documents)


async def _embedded(parts: Opened, texts: list[str]) -> FloatArray:
    meter = Meter(None, "store", units=0, work=0.0)
    return (await embedded(parts.embedding, texts, [0.0] * len(texts), meter)).vectors


class _Laps:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._last = time.perf_counter()

    def __call__(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] += now - self._last
        self._last = now


def parse_share(row: dict[str, Any]) -> dict[str, Any]:
    """A Ray task: sources to ``Work`` or a report, in order."""
    found: list[tuple[SourceItem, Action]] = pickle.loads(row["sources"])
    return {"parsed": packed([parsed(item, action) for item, action in found])}


def packed(values: Any) -> bytes:
    """For ``pickle.loads``; functions too, which pickle itself cannot name."""
    from ray import cloudpickle

    made: bytes = cloudpickle.dumps(values)
    return made
