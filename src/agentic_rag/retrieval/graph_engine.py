"""The graph half of retrieval: search a graph store under the same restrictions, give hits on chunks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from agentic_rag.domain import Chunk, GraphHit, Hit, filterable
from agentic_rag.errors import ManifestMismatch, StoreError
from agentic_rag.filters import Expression, matches
from agentic_rag.instants import as_utc
from agentic_rag.ports import (
    ChunkStore,
    DatasetProfile,
    Embedding,
    FloatArray,
    GraphLinks,
    GraphStore,
    Restriction,
    ScoredChunk,
)
from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration
from agentic_rag.retrieval.evidence import Legs
from agentic_rag.retrieval.floor import Nats, doubt
from agentic_rag.retrieval.passage_graph import PassageGraph
from agentic_rag.retrieval.projection import Passages, Projection

WITHIN_LIMIT = 2000
"""Chunks up to which a metadata filter is handed to the graph as a list; above that it is selective
too little to starve the search, and what it found is filtered instead."""
WIDENING = 4
"""How much more is asked for where a filter left too little of what was found."""

MIN_PER_KIND = 25
"""Facts, entities and episodes asked for at the least. Half of the wanted chunks a kind is the rule: a
chunk is mostly found by more than one kind, and each kind's tail is the weakest evidence there is."""

NONSENSE = 4.0
"""Log-odds taken from all that the graph found where the floor says that the question means nothing. It is not
dropped: a rare word ("pu-erh") may only look like gibberish, and its nearest notes are worth naming."""

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Scope:
    """What one search may return."""

    dataset: str
    limit: int
    filters: Expression | None
    as_of: datetime | None
    within: list[str] | None
    """Chunk ids, where the filters are that selective."""

    def passes(self, chunk: Chunk) -> bool:
        dated_later = (
            self.as_of is not None and chunk.date is not None and as_utc(chunk.date) > as_utc(self.as_of)
        )
        return not dated_later and (self.filters is None or matches(self.filters, filterable(chunk)))


class GraphEngine:
    """Searches datasets of a graph store.

    Args:
        graph: the knowledge graph.
        chunks: resolves metadata filters to chunk ids, and has the passages' vectors.
        embedding: the model the graph's facts and names were embedded with.
        calibration: turns cosine and BM25 into relevance in [0, 1]; None: the embedding's own.
        nats: tells language from gibberish; see ``floor``.
    """

    def __init__(
        self,
        graph: GraphStore,
        chunks: ChunkStore,
        embedding: Embedding,
        calibration: EmbeddingCalibration | None = None,
        nats: Nats | None = None,
    ) -> None:
        self._graph = graph
        self._chunks = chunks
        self._embedding = embedding
        self._calibration = calibration or EmbeddingCalibration(embedding)
        self._nats = nats
        self._graphs: dict[str, tuple[GraphLinks, PassageGraph]] = {}

    async def ready(self) -> None:
        """See ``RetrievalEngine.ready``."""
        await self._calibration.of_cosines()

    async def search(
        self,
        dataset: str,
        query: str,
        *,
        limit: int,
        filters: Expression | None = None,
        as_of: datetime | None = None,
        judged_as: str | None = None,
    ) -> list[Hit]:
        """Up to ``limit`` hits on chunks, relevance in [0, 1] descending, then id.

        First the graph store's own search; then, where the question names something the graph knows, a
        walk over the graph from there (see ``passage_graph``), which brings passages of a second hop and
        holds back what lies far from what was named.

        Filters and ``as_of`` hold for the chunks; ``as_of`` for the facts too. [] for an unknown
        dataset or a question without a letter or digit. What a question finds that means nothing to the
        dataset (see ``floor``) has hardly any relevance. ``judged_as``: see ``RetrievalEngine.search``.

        Raises:
            StoreError, ModelError: something behind the engine failed.
        """
        if not any(map(str.isalnum, query)):
            return []
        within = await self._within(dataset, filters)
        if within == []:
            return []
        question = query if judged_as is None else judged_as
        vector = (await self._embedding.embed_queries([question]))[0]
        scope = _Scope(dataset, limit, filters, as_of, within)
        found, passages = await self._found(scope, question, vector, judged_by=vector)
        profile = await self._profile(dataset)
        calibration = await self._calibration.of_cosines()
        legs = _as_legs(found, passages)
        doubted = doubt(calibration, question, legs, vector, profile, self._nats)
        projection = Projection(
            question,
            found,
            calibration,
            passages.cosines,
            doubt=NONSENSE if doubted is None else doubted,
            chunks=profile.chunks if profile else None,
        )
        hits = projection.hits(passages.chunks)
        if question != query:
            reworded = (await self._embedding.embed_queries([query]))[0]
            _, more = await self._found(scope, query, reworded, judged_by=vector)
            hits = projection.joined(hits, more)
        visits = await self._visits(scope, question, hits)
        only_reached = visits.keys() - {hit["id"] for hit in hits}
        reached = await self._passages_of(scope, only_reached, vector)
        return projection.walked(hits, reached, visits)[:limit]

    async def _found(
        self, scope: _Scope, query: str, vector: FloatArray, *, judged_by: FloatArray
    ) -> tuple[list[GraphHit], Passages]:
        """The graph store's hits, and the passages they come from that pass, with their cosines to the question."""
        asked_for = max(MIN_PER_KIND, scope.limit // 2)
        while True:
            found = await self._graph.search(
                scope.dataset, query, vector, limit=asked_for, as_of=scope.as_of, within=scope.within
            )
            passing = [hit for hit in found if scope.filters is None or hit.chunk_ids]
            ids = {chunk_id for hit in passing for chunk_id in hit.chunk_ids}
            passages = await self._passages_of(scope, ids, judged_by)
            exhausted = max((hit.rank for hit in found), default=0) < asked_for
            starved = scope.within is None and scope.filters is not None
            if not starved or len(passages.chunks) >= scope.limit or exhausted:
                return passing, passages
            asked_for *= WIDENING

    async def _profile(self, dataset: str) -> DatasetProfile | None:
        """Of the dataset; None where the vector store fails."""
        try:
            return await self._chunks.profile(dataset)
        except ManifestMismatch:
            raise
        except StoreError as error:
            _LOGGER.warning("whether the question means anything to %r is not known: %s", dataset, error)
            return None

    async def _visits(self, scope: _Scope, question: str, hits: list[Hit]) -> dict[str, float]:
        """How often a walk from what the question names visits each chunk; {} where it names nothing."""
        links = await self._graph.links(scope.dataset)
        if links is None:
            return {}
        kept = self._graphs.get(scope.dataset)
        if kept is None or kept[0] is not links:
            kept = self._graphs[scope.dataset] = links, await asyncio.to_thread(PassageGraph, links)
        graph = kept[1]
        named = graph.named_in(question)
        if not named:
            return {}
        relevance = {hit["id"]: hit["score"] or 0.0 for hit in hits}
        return await asyncio.to_thread(
            graph.visits, named, relevance, limit=scope.limit, within=scope.within, as_of=scope.as_of
        )

    async def _within(self, dataset: str, filters: Expression | None) -> list[str] | None:
        if filters is None:
            return None
        allowed = await self._chunks.matching_chunk_ids(dataset, Restriction(filters), limit=WITHIN_LIMIT + 1)
        return allowed if len(allowed) <= WITHIN_LIMIT else None

    async def _passages_of(self, scope: _Scope, ids: Collection[str], vector: FloatArray) -> Passages:
        """Those of the chunks that exist and pass, and a query's cosine with each of them.

        No cosines where the vector store fails: the graph then answers by what it knows itself.
        """
        if not ids:
            return Passages({}, {})
        asked = sorted(ids)
        chunks, vectors = await asyncio.gather(
            self._graph.get_chunks(scope.dataset, asked), self._vectors(scope.dataset, asked)
        )
        passing = {chunk_id: chunk for chunk_id, chunk in chunks.items() if scope.passes(chunk)}
        return Passages(passing, {i: float(np.dot(vectors[i], vector)) for i in passing if i in vectors})

    async def _vectors(self, dataset: str, ids: Sequence[str]) -> dict[str, FloatArray]:
        try:
            return await self._chunks.get_vectors(dataset, ids)
        except ManifestMismatch:  # the dataset was just switched to another model: nothing here is comparable
            raise
        except StoreError as error:
            _LOGGER.warning("the graph's passages are judged without their vectors: %s", error)
            return {}


def _as_legs(found: Sequence[GraphHit], passages: Passages) -> Legs:
    """The passages as a search for vectors and one for words would have found them."""
    words = {
        chunk_id: hit.bm25
        for hit in found
        if hit.kind == "episode" and hit.bm25 is not None
        for chunk_id in hit.chunk_ids
    }
    scores = {"dense": passages.cosines, "sparse": words}
    return {
        name: [
            ScoredChunk(passages.chunks[chunk_id], score)
            for chunk_id, score in sorted(of_chunks.items(), key=lambda entry: (-entry[1], entry[0]))
            if chunk_id in passages.chunks
        ]
        for name, of_chunks in scores.items()
    }
