"""The graph source: a walk over the graph starts at the entities that a question names; the visited chunks are
the hits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import numpy as np

from agentic_rag.domain import Chunk, FactHit, Findings, Hit, is_own_note
from agentic_rag.domain.filters import Expression
from agentic_rag.domain.ports import (
    ChunkSearch,
    Embedding,
    FloatArray,
    GraphLinks,
    GraphQuery,
    GraphStore,
    Restriction,
    ScoredChunk,
)
from agentic_rag.errors import ManifestMismatch, StoreError
from agentic_rag.retrieval.calibration import Judge
from agentic_rag.retrieval.config import MIN_CANDIDATES
from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration, fitted_calibration
from agentic_rag.retrieval.floor import Nats, doubt
from agentic_rag.retrieval.graph_hits import alone, hits_of, rank_hits
from agentic_rag.retrieval.passage_graph import START_PASSAGES, PassageGraph
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.retrieval.restrictions import passes
from agentic_rag.text import script

WITHIN_LIMIT = 2000
"""Most chunks for which the graph gets a metadata filter as a list of ids. A filter that passes more chunks is
applied to the results instead: enough of them remain."""
WIDENING = 4
"""Factor on the number of visited chunks that are read if a filter is applied to them afterwards."""
MIN_FACTS = 25
"""Minimum number of facts, and of chunks by words, that are looked at; otherwise half of ``limit``."""
SPECIFIC_CHUNKS = 49
"""Most chunks that a fact may stand in if these are to be starts of the walk: what more repeat is no sign of any."""
NEAREST = 4
"""Factor on the number of passages that are read, because filters remove some and relevance reorders them."""

NEAR_FACT = 0.9
"""Minimum relevance of the nearest fact for a walk that starts at facts."""
START_FACTS = 20
"""Most facts that a walk starts at, the nearest first."""
SPECIFICITY_OF_FACTS = 0.4
"""``specificity`` of a start at facts. Chosen together with NEAR_FACT on the two choosing vaults and the first
halves."""

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Scope:
    """What one search may return."""

    dataset: str
    limit: int
    filters: Expression | None
    as_of: datetime | None
    within: list[str] | None
    """Chunk ids that the filters pass, if they are at most WITHIN_LIMIT; else None."""
    own_notes: bool = False
    """Include notes that the program wrote, see ``domain.is_own_note``."""

    @property
    def visit_limit(self) -> int:
        """Number of the most visited chunks to read."""
        return self.limit * (WIDENING if self.filters is not None and self.within is None else 1)

    def passes(self, chunk: Chunk) -> bool:
        is_shown = self.own_notes or not is_own_note(chunk.metadata)
        return is_shown and passes(chunk, Restriction(self.filters, self.as_of))


@dataclass(frozen=True, slots=True)
class _Start:
    """Where the walk for a question starts."""

    entities: Mapping[int, float]
    """Weight of each start by the entity's place in ``GraphLinks.names``."""
    specificity: float
    """In (0, 1]; see ``GraphRelevance``."""
    names: list[str]
    """Names of the entities in the question; empty for a start at facts."""


class GraphEngine:
    """Searches datasets of a graph store.

    Args:
        graph: the knowledge graph.
        chunks: resolves metadata filters to chunk ids, and has the passages' vectors.
        embedding: the model the graph's facts and names were embedded with.
        calibration: reads cosines; None: the embedding's own.
        nats: tells language from gibberish; see ``floor``.
    """

    def __init__(
        self,
        graph: GraphStore,
        chunks: ChunkSearch,
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

    async def find(self, query: SourceQuery, limit: int) -> Findings:
        """Up to ``limit`` hits on chunks, relevance in [0, 1] descending, then id.

        A walk over the graph starts at the entities that the question names (or, if it names none, at the ends of
        the facts nearest to it) and at the best passages of the store's own search. The relevance of a chunk
        comes from its number of visits (see ``GraphRelevance``), not from its words or its vector. The result is
        empty, with the reason, if the question names no entity that leads on to another document and no fact is near:
        then only nearness to the question is left, which the vector store knows better.

        Filters and ``as_of`` hold for the chunks; ``as_of`` for the facts too. Nothing is found in an unknown
        dataset. ``Findings.question`` has ``names`` and, where a walk was made, ``specificity``.

        Raises:
            StoreError, ModelError: something behind the engine failed.
        """
        if not any(map(str.isalnum, query.text)):
            return _nothing("the question has no word")
        dataset, question = query.dataset, query.question
        within = await self._within(dataset, query.filters)
        graph = await self._passage_graph(dataset)
        if graph is None:
            return _nothing("the graph has nothing of this dataset")
        if within == []:
            return _nothing("no passage passes the filters")
        scope = _Scope(dataset, limit, query.filters, query.as_of, within, query.own_notes)
        vector = (await self._embedding.embed_queries([question]))[0]
        found, by_words = await asyncio.gather(
            self._facts(scope, query.text, vector, max(MIN_FACTS, limit // 2)),
            self._by_words(scope, query.text),
        )
        judge = await self._judge(question)
        passages = await self._passages(scope, found, by_words, vector, START_PASSAGES)
        named = await asyncio.to_thread(graph.named_in, question)
        start = _start_at_names(graph, named)
        if start is None and await self._means_something(dataset, question, vector, passages):
            start = _at_facts(graph, found, judge)
        if start is None:
            return _nothing(_why_no_start(graph.names(named)))
        hits = await self._walk_hits(scope, graph, start, passages, found, judge)
        told: dict[str, Any] = {"names": start.names, "specificity": round(start.specificity, 6)}
        return Findings(hits, told)

    async def nearest(
        self, dataset: str, query: str, *, limit: int, filters: Expression | None = None
    ) -> list[tuple[Chunk, float]]:
        """Up to ``limit`` passages that the graph store's own search finds, each with relevance in [0, 1], best first.

        The relevance comes from the passage's own cosine, without a walk: a memory of the lab needs passages for
        questions that name nothing.

        Raises:
            StoreError, ModelError: something behind the engine failed.
        """
        within = await self._within(dataset, filters)
        if within == [] or not any(map(str.isalnum, query)):
            return []
        vector = (await self._embedding.embed_queries([query]))[0]
        scope = _Scope(dataset, limit, filters, None, within)
        found, by_words = await asyncio.gather(
            self._facts(scope, query, vector, max(MIN_FACTS, limit)),
            self._by_words(scope, query),
        )
        passages = await self._passages(scope, found, by_words, vector, limit)
        judge = await self._judge(query)
        judged = [(p.chunk, judge(p.score, p.chunk.text)) for p in passages[:limit]]
        return sorted(judged, key=lambda pair: (-pair[1], pair[0].id))

    async def _walk_hits(
        self,
        scope: _Scope,
        graph: PassageGraph,
        start: _Start,
        passages: Sequence[ScoredChunk],
        facts: Sequence[FactHit],
        judge: Judge,
    ) -> list[Hit]:
        """The chunks that a walk visits and the facts without a chunk, as hits, up to the scope's limit."""
        near = {p.chunk.id: judge(p.score, p.chunk.text) for p in passages}
        visits = await asyncio.to_thread(
            graph.visits,
            start.entities,
            near,
            limit=scope.visit_limit,
            within=scope.within,
            as_of=scope.as_of,
        )
        chunks = {p.chunk.id: p.chunk for p in passages if p.chunk.id in visits}
        more = await self._stored_chunks(scope.dataset, sorted(visits.keys() - chunks.keys()))
        chunks |= {chunk_id: chunk for chunk_id, chunk in more.items() if scope.passes(chunk)}
        relevance = fitted_calibration().graph
        hits = hits_of(
            chunks,
            {chunk_id: relevance.relevance(visits[chunk_id], start.specificity) for chunk_id in chunks},
            visits,
            graph.mentioned_in(chunks, start.entities),
            facts,
        )
        if scope.filters is None:
            hits = rank_hits([*hits, *(alone(hit, judge) for hit in facts if not hit.chunk_ids)])
        return hits[: scope.limit]

    async def _judge(self, question: str) -> Judge:
        return (await self._calibration.of_cosines()).judge(script(question))

    async def _passage_graph(self, dataset: str) -> PassageGraph | None:
        """The graph of the dataset, built anew when its links changed; None if it has none."""
        links = await self._graph.links(dataset)
        if links is None or not len(links.chunk_ids):
            return None
        kept = self._graphs.get(dataset)
        if kept is None or kept[0] is not links:
            kept = self._graphs[dataset] = links, await asyncio.to_thread(PassageGraph, links)
        return kept[1]

    async def _within(self, dataset: str, filters: Expression | None) -> list[str] | None:
        if filters is None:
            return None
        allowed = await self._chunks.matching_chunk_ids(dataset, Restriction(filters), limit=WITHIN_LIMIT + 1)
        return allowed if len(allowed) <= WITHIN_LIMIT else None

    async def _means_something(
        self,
        dataset: str,
        question: str,
        vector: FloatArray,
        passages: Sequence[ScoredChunk],
    ) -> bool:
        """Whether the question passes the floor without doubt: gibberish has near facts too."""
        profile = await self._read(self._chunks.profile(dataset), None)
        calibration = await self._calibration.of_cosines()
        doubted = doubt(calibration, question, {"dense": passages}, vector, profile, self._nats)
        return doubted is not None and doubted <= 0

    async def _facts(self, scope: _Scope, query: str, vector: FloatArray, limit: int) -> list[FactHit]:
        asked = GraphQuery(query, vector, scope.as_of, scope.within)
        return await self._graph.search(scope.dataset, asked, limit=limit)

    async def _by_words(self, scope: _Scope, query: str) -> list[ScoredChunk]:
        """The best chunks by full text, as the vector store's own search looks for them at the same time."""
        restriction = Restriction(scope.filters, scope.as_of)
        limit = max(scope.limit, MIN_CANDIDATES)
        search = self._chunks.search_sparse(scope.dataset, query, limit=limit, restriction=restriction)
        found = await self._read(search, [])
        return found[: max(MIN_FACTS, scope.limit // 2)]

    async def _passages(
        self,
        scope: _Scope,
        facts: Sequence[FactHit],
        by_words: Sequence[ScoredChunk],
        vector: FloatArray,
        passage_count: int,
    ) -> list[ScoredChunk]:
        """The nearest chunks of the facts and of the search for words that the scope passes, by cosine; up to NEAREST
        times ``passage_count``."""
        known = {found.chunk.id: found.chunk for found in by_words}
        vectors = {found.chunk.id: found.vector for found in by_words if found.vector is not None}
        specific = [hit for hit in facts if len(hit.chunk_ids) <= SPECIFIC_CHUNKS]
        ids = {chunk_id for hit in specific for chunk_id in hit.chunk_ids} | known.keys()
        unread_ids = sorted(ids - vectors.keys())
        vectors |= await self._read(self._chunks.get_vectors(scope.dataset, unread_ids), {})
        cosines = {i: float(np.dot(own, vector)) for i, own in vectors.items()}
        nearest = sorted(cosines, key=lambda i: (-cosines[i], i))[: NEAREST * passage_count]
        unread = [chunk_id for chunk_id in nearest if chunk_id not in known]
        chunks = known | await self._stored_chunks(scope.dataset, unread)
        return [
            ScoredChunk(chunks[i], cosines[i]) for i in nearest if i in chunks and scope.passes(chunks[i])
        ]

    async def _stored_chunks(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        """Chunks of the vector store, which reads them quickest; of the graph those that it does not have."""
        chunks = await self._read(self._chunks.get_chunks(dataset, chunk_ids), {})
        if missing := [chunk_id for chunk_id in chunk_ids if chunk_id not in chunks]:
            chunks |= await self._graph.get_chunks(dataset, missing)
        return chunks

    async def _read(self, reading: Awaitable[T], without: T) -> T:
        """The value read from the vector store; ``without`` if the store fails, so that the graph answers
        alone."""
        try:
            return await reading
        except ManifestMismatch:  # the dataset was just switched to another model: nothing here is comparable
            raise
        except StoreError as error:
            logger.warning("the vector store failed, so the graph is searched without it: %s", error)
            return without


def _nothing(reason: str) -> Findings:
    return Findings([], {"names": []}, reason)


def _why_no_start(names: Sequence[str]) -> str:
    if not names:
        return "the question names no note, heading, tag or person of the documents, and no fact is near it"
    return f"nothing in the documents is linked with {', '.join(names)}, and no fact is near the question"


def _start_at_names(graph: PassageGraph, named_entities: Sequence[int]) -> _Start | None:
    """A start at the entities that the question names, weighted by rarity; None if they lead to no other document."""
    if not graph.leads_on(named_entities):
        return None
    return _Start(
        graph.rarity(named_entities), graph.specificity(named_entities), graph.names(named_entities)
    )


def _at_facts(graph: PassageGraph, found_facts: Sequence[FactHit], judge: Judge) -> _Start | None:
    """A start at the ends of the best START_FACTS facts; None if no fact has the relevance NEAR_FACT."""
    facts = [(judge(hit.cosine, hit.text), hit) for hit in found_facts if hit.cosine is not None]
    facts.sort(key=lambda pair: (-pair[0], pair[1].id))
    if not facts or facts[0][0] < NEAR_FACT:
        return None
    ends: dict[int, float] = {}
    for relevance, fact in facts[:START_FACTS]:
        for place in graph.places((fact.source_name, fact.target_name)):
            ends[place] = ends.get(place, 0.0) + relevance**2
    rarity = graph.rarity(ends)
    return (
        _Start({place: ends[place] * rarity[place] for place in ends}, SPECIFICITY_OF_FACTS, [])
        if ends
        else None
    )
