"""What a Ray worker does: documents parsed; and chunked, their facts derived, their texts embedded, their rows written."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections import Counter
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
    seconds: Counter[str]
    """By stage, in this worker."""


class PreparingWorker:
    """A Ray actor: opens stores and model once, then prepares one share after the other."""

    def __init__(self, open_parts: Open, dataset: str, titles: Sequence[Any], threads: int) -> None:
        """``titles``: in a list, the reference to the index of titles, or to None: a worker that is started anew reads
        it again."""
        import ray

        from agentic_rag.models import bundled

        bundled.use_threads(threads)
        self._dataset = dataset
        self._titles: TitleIndex | None = ray.get(titles[0])
        self._runner = asyncio.Runner()
        self._open = AsyncExitStack()
        self._opened: Opened = self._runner.run(self._entered(open_parts))
        opened = self._opened
        self._preparer = Preparer(opened.chunks, opened.embedding, opened.count_tokens)
        self._known = TextCache[FloatArray](TEXTS)

    async def _entered(self, open_parts: Open) -> Opened:
        return await self._open.enter_async_context(open_parts())

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """``Share`` to ``Made``, both pickled."""
        made = self._runner.run(self._made(pickle.loads(row["share"])))
        return {"made": pickle.dumps(made, pickle.HIGHEST_PROTOCOL)}

    async def _made(self, share: Share) -> Made:
        laps = _Laps()
        documents = [
            self._preparer.chunked(unpacked(packed), stored, moved)
            for packed, stored, moved in share.documents
        ]
        laps("chunk")
        meter = Meter(None, "store", units=0, work=0.0)
        prepared = await self._preparer.prepare(self._dataset, documents, self._titles, meter, laps)
        is_new = all(one.stored == "none" and one.moved_from is None for one in documents)
        texts = await self._texts(prepared, is_new=is_new)
        laps("look up")
        vectors = await self._known.of(texts, self._embedded)
        laps("embed")
        piece = await self._piece(prepared)
        laps("write")
        found = prepared.documents
        if piece is not None:
            found = tuple(replace(one, embedded=None) for one in found)
        matrix = np.array(vectors, np.float32).reshape(len(texts), self._opened.embedding.dimension)
        return Made(found, tuple(texts), matrix, piece, laps.seconds)

    async def _texts(self, prepared: Prepared, *, is_new: bool) -> list[str]:
        """Names and sentences to embed; what may be stored is looked for only where some of it may be."""
        if self._titles is None:
            return []
        if not is_new:
            return await self._opened.graph.new_texts(self._dataset, prepared.graphs)
        names = {entity.name for graph in prepared.graphs for entity in graph.entities}
        return sorted(names | {fact.text for graph in prepared.graphs for fact in graph.facts})

    async def _embedded(self, texts: list[str]) -> FloatArray:
        meter = Meter(None, "store", units=0, work=0.0)
        return (await embedded(self._opened.embedding, texts, [0.0] * len(texts), meter)).vectors

    async def _piece(self, prepared: Prepared) -> Piece | None:
        chunks = self._opened.chunks
        documents = [one.embedded for one in prepared.documents if one.embedded is not None]
        if not documents or not isinstance(chunks, PieceStore):
            return None
        return await chunks.write_piece(self._dataset, documents)


class _Laps:
    """Seconds by stage."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._last = time.perf_counter()

    def __call__(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] += now - self._last  # type: ignore[assignment]
        self._last = now


def parse_share(row: dict[str, Any]) -> dict[str, Any]:
    """A Ray task: sources to ``Work`` or a report, in order."""
    found: list[tuple[SourceItem, Action]] = pickle.loads(row["sources"])
    return {"parsed": packed([parsed(item, action) for item, action in found])}


def packed(values: Any) -> bytes:
    """For ``pickle.loads``; functions too, which pickle itself cannot name."""
    from ray import cloudpickle

    made: bytes = cloudpickle.dumps(values)  # type: ignore[no-untyped-call]
    return made
