"""``ports.GraphStore`` in memory: the reference every other graph store is compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

import numpy as np

from agentic_rag.dates.instants import as_utc
from agentic_rag.domain import (
    Chunk,
    DocumentGraph,
    Entity,
    Fact,
    FactHit,
)
from agentic_rag.domain.identity import aliases, fact_uuid, group_id, mention_uuid
from agentic_rag.domain.ports import (
    Embedding,
    FloatArray,
    GraphCounts,
    GraphLinks,
    GraphQuery,
    StoreStats,
    TableStats,
)
from agentic_rag.errors import InputError, ManifestMismatch
from agentic_rag.stores.in_memory import bm25
from agentic_rag.text import tokens


@dataclass
class _Dataset:
    """One dataset's documents; everything else is derived when it is asked for."""

    documents: dict[str, DocumentGraph] = field(default_factory=dict)
    vectors: dict[str, FloatArray] = field(default_factory=dict)
    links: GraphLinks | None = None
    """Of the documents as they are; None after a change."""


@dataclass(frozen=True)
class _Candidate:
    """A fact that a query can find: its text for BM25, its vector, and its hit, not yet ranked."""

    words: str
    vector: FloatArray
    hit: FactHit


class InMemoryGraphStore:
    """Exact and simple; nothing is kept after the process ends."""

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding
        self._datasets: dict[str, _Dataset] = {}

    async def replace_documents(
        self,
        dataset: str,
        graphs: Sequence[DocumentGraph],
        *,
        vectors: Mapping[str, FloatArray] | None = None,
    ) -> None:
        if len({graph.document_id for graph in graphs}) != len(graphs):
            raise InputError("the same document id is given twice in one call")
        for graph in graphs:
            _check(graph)
        if not graphs:
            return
        data = self._datasets.setdefault(group_id(dataset), _Dataset())
        data.vectors.update(vectors or {})
        missing = await self.new_texts(dataset, graphs)
        data.vectors.update(zip(missing, await self._embedding.embed_passages(missing), strict=True))
        data.documents.update({graph.document_id: graph for graph in graphs})
        data.links = None

    async def new_texts(self, dataset: str, graphs: Sequence[DocumentGraph]) -> list[str]:
        sentences = {fact.text for graph in graphs for fact in graph.facts}
        stored = self._datasets.get(group_id(dataset), _Dataset()).vectors
        return sorted(sentences - set(stored))

    async def remove_documents(self, dataset: str, document_ids: Sequence[str]) -> None:
        data = self._datasets.get(group_id(dataset), _Dataset())
        for document_id in document_ids:
            data.documents.pop(document_id, None)
        data.links = None

    async def search(
        self,
        dataset: str,
        query: GraphQuery,
        *,
        limit: int,
    ) -> list[FactHit]:
        vector, as_of = query.vector, query.as_of
        if vector.shape != (self._embedding.dimension,):
            raise ManifestMismatch(
                f"the query vector has shape {vector.shape}, not {(self._embedding.dimension,)}"
            )
        data = self._datasets.get(group_id(dataset))
        if data is None or limit < 1 or not query.text.strip():
            return []
        usable = vector if np.isfinite(vector).all() and vector.any() else None
        allowed = set(query.within) if query.within is not None else None
        chunks = {
            chunk.id: chunk
            for chunk in _chunks(data.documents.values())
            if (allowed is None or chunk.id in allowed) and not _later(chunk.date, as_of)
        }
        return _fuse_legs(_candidates(dataset, data, chunks, as_of), tokens(query.text), usable, limit)

    async def links(self, dataset: str) -> GraphLinks | None:
        data = self._datasets.get(group_id(dataset))
        if data is None:
            return None
        if data.links is None:
            data.links = _links(data)
        return data.links

    async def get_chunks(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        data = self._datasets.get(group_id(dataset), _Dataset())
        wanted = set(chunk_ids)
        return {c.id: c for c in _chunks(data.documents.values()) if c.id in wanted}

    async def counts(self, dataset: str) -> GraphCounts:
        graphs = list(self._datasets.get(group_id(dataset), _Dataset()).documents.values())
        return GraphCounts(
            entities=len(_mentions_by_entity(graphs)),
            facts=len({_fact_id(dataset, fact) for graph in graphs for fact in graph.facts}),
            episodes=sum(len(graph.chunks) for graph in graphs),
            mentions=len(
                {
                    mention_uuid(dataset, m.chunk_id, m.entity)
                    for graph in graphs
                    for m in graph.all_mentions()
                }
            ),
        )

    async def optimize(self, dataset: str, *, purge: bool = False) -> None:
        """Nothing to do."""

    async def stats(self, dataset: str) -> StoreStats:
        if group_id(dataset) not in self._datasets:
            return StoreStats(None, None, None)
        tables = tuple(TableStats(name, rows) for name, rows in asdict(await self.counts(dataset)).items())
        return StoreStats(self._embedding.name, self._embedding.dimension, "cosine", tables)


def _check(graph: DocumentGraph) -> None:
    own = {chunk.id for chunk in graph.chunks if chunk.document_id == graph.document_id}
    named = {fact.chunk_id for fact in graph.facts} | {mention.chunk_id for mention in graph.mentions}
    if len(own) != len(graph.chunks) or not named <= own:
        raise InputError(f"document {graph.document_id!r} names chunks that are not its own")


def _chunks(graphs: Iterable[DocumentGraph]) -> Iterable[Chunk]:
    return (chunk for graph in graphs for chunk in graph.chunks)


def _mentions_by_entity(graphs: Iterable[DocumentGraph]) -> dict[str, set[str]]:
    """Entity key → chunks with facts or mentions of it."""
    found: dict[str, set[str]] = defaultdict(set)
    for graph in graphs:
        for mention in graph.all_mentions():
            found[mention.entity].add(mention.chunk_id)
    return found


def _entities(graphs: Iterable[DocumentGraph]) -> dict[str, Entity]:
    """One entity a key, with all its labels; the spelling with the most labels wins, the first among equals."""
    graphs = list(graphs)
    found: dict[str, Entity] = {}
    labels: dict[str, set[str]] = defaultdict(set)
    for entity in (entity for graph in graphs for entity in graph.entities):
        labels[entity.key].update(entity.labels)
        if entity.key not in found or len(set(entity.labels)) > len(set(found[entity.key].labels)):
            found[entity.key] = entity
    for key in _mentions_by_entity(graphs):
        found.setdefault(key, Entity(key, key))
    return {key: replace(entity, labels=tuple(sorted(labels[key]))) for key, entity in found.items()}


def _links(data: _Dataset) -> GraphLinks:
    chunks = sorted(_chunks(data.documents.values()), key=lambda chunk: chunk.id)
    entities = _entities(data.documents.values())
    named = _mentions_by_entity(data.documents.values())
    place = {chunk.id: number for number, chunk in enumerate(chunks)}
    pairs = [
        (place[chunk_id], number)
        for number, key in enumerate(sorted(entities))
        for chunk_id in named.get(key, ())
    ]
    mentioning, mentioned = np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2).T
    dates = [None if c.date is None else as_utc(c.date).replace(tzinfo=None) for c in chunks]
    documents = {chunk.document_id: chunk for chunk in reversed(chunks)}  # its first one tells
    number_of = {document: number for number, document in enumerate(documents)}
    return GraphLinks(
        chunk_ids=[chunk.id for chunk in chunks],
        documents=np.array([number_of[chunk.document_id] for chunk in chunks], dtype=np.int32),
        titles=[chunk.title for chunk in documents.values()],
        aliases=[aliases(chunk.metadata) for chunk in documents.values()],
        dates=np.array(dates, dtype="datetime64[us]"),
        names=[entities[key].name for key in sorted(entities)],
        labels=[entities[key].labels for key in sorted(entities)],
        mentioning=mentioning,
        mentioned_entities=mentioned,
    )


def _later(date: datetime | None, as_of: datetime | None) -> bool:
    return date is not None and as_of is not None and as_utc(date) > as_utc(as_of)


def _holds(fact: Fact, as_of: datetime | None) -> bool:
    if as_of is None:
        return True
    begun = fact.valid_at is None or as_utc(fact.valid_at) <= as_utc(as_of)
    return begun and (fact.invalid_at is None or as_utc(fact.invalid_at) > as_utc(as_of))


def _fact_id(dataset: str, fact: Fact) -> str:
    return fact_uuid(dataset, fact.chunk_id, fact.source, fact.name, fact.target, fact.text)


def _candidates(
    dataset: str, data: _Dataset, chunks: Mapping[str, Chunk], as_of: datetime | None
) -> list[_Candidate]:
    names = {key: entity.name for key, entity in _entities(data.documents.values()).items()}
    found: dict[str, _Candidate] = {}
    for fact in (fact for graph in data.documents.values() for fact in graph.facts):
        if fact.chunk_id not in chunks or not _holds(fact, as_of):
            continue
        uuid = _fact_id(dataset, fact)
        hit = FactHit(
            uuid, fact.name, fact.text, 0, None, None, (fact.chunk_id,),
            names[fact.source], names[fact.target], fact.valid_at, fact.invalid_at,
        )  # fmt: skip
        words = f"{fact.name.replace('_', ' ')} {fact.text}"
        found[uuid] = _Candidate(words, data.vectors[fact.text], hit)
    return list(found.values())


def _fuse_legs(
    candidates: Sequence[_Candidate], query: Sequence[str], vector: FloatArray | None, limit: int
) -> list[FactHit]:
    """Both legs' best, fused by Graphiti's sum of 1 / rank; ties by id."""
    by_id = {candidate.hit.id: candidate for candidate in candidates}
    words = _best(bm25({key: tokens(one.words) for key, one in by_id.items()}, query), 2 * limit)
    cosine: dict[str, float] = {}
    if vector is not None:
        cosine = {key: float(vector @ one.vector) for key, one in by_id.items()}
    near = _best({key: score for key, score in cosine.items() if score > 0}, 2 * limit)
    scores: dict[str, float] = defaultdict(float)
    for leg in (words, near):
        for rank, key in enumerate(leg, start=1):
            scores[key] += 1 / rank
    order = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
    return [
        replace(by_id[key].hit, rank=rank, cosine=cosine.get(key), bm25=words.get(key))
        for rank, key in enumerate(order, start=1)
    ]


def _best(scores: Mapping[str, float], limit: int) -> dict[str, float]:
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit])
