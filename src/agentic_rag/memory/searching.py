"""The search strategies of the agents, for one kind of a user's memories: one function per strategy, all of one
signature.

Scores are in [0, 1], higher is better: calibrated relevance from the engines of the main graph, the share of the
query's words, or similarity of spelling. Results are by score descending, then id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from rapidfuzz import fuzz, utils

from agentic_rag.dates.instants import as_utc
from agentic_rag.dates.stated import asked_interval
from agentic_rag.domain import written_date
from agentic_rag.domain.filters import And, Comparison, Expression
from agentic_rag.domain.identity import memory_dataset
from agentic_rag.domain.odds import log_odds, probability
from agentic_rag.domain.results import Result
from agentic_rag.errors import UnknownDataset
from agentic_rag.memory.past import PastTime, by_time
from agentic_rag.memory.records import CURRENT, RECORD, MemoryRecord, of_chunk
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy
from agentic_rag.memory.store import MemoryStore
from agentic_rag.rerank.features import UNKNOWN_RELEVANCE
from agentic_rag.rerank.offline import rerank_offline
from agentic_rag.retrieval.config import Strategy
from agentic_rag.retrieval.ports import GraphSearch, SourceQuery, VectorSearch
from agentic_rag.retrieval.schemas import RetrievalResult
from agentic_rag.text import content_tokens, coverage

MORE = 3
"""Factor on the passages that are searched, because one memory may have several."""
CANDIDATES = 60
"""Minimum number of passages that are searched."""
TURNS = 200
"""Number of passages that are searched if neighbouring turns count, because these turns must be among them."""
ASSISTANT = 0.5
"""Weight of an assistant's messages; those of the person weigh 1. Chosen on three BEAM conversations; the floors
are measured on others (``evaluation/bench_beam.py``)."""


@dataclass(frozen=True, slots=True)
class Search:
    """A search for memories."""

    user_id: str
    memory_type: MemoryType
    query: str
    limit: int
    now: datetime
    as_of: datetime | None = None
    """Search the memories that held and were known then; None: those that hold now."""
    include_ended: bool = False
    """Include facts that have ended."""
    after: datetime | None = None
    before: datetime | None = None
    """Only memories said, or valid, in this half-open interval."""
    only: Mapping[str, Any] | None = None
    """Only memories whose details have these values."""
    past: PastTime | None = None
    """Search the facts of slots that held in this time; None: as ``as_of`` and ``include_ended`` say."""

    def passes(self, record: MemoryRecord) -> bool:
        """Whether the memory matches the restrictions."""
        if any(record.details.get(key) != value for key, value in (self.only or {}).items()):
            return False
        if self.past is not None and record.slot is not None:
            return self.past.covers(record)
        if not self.include_ended and not record.holds(self.as_of, self.now):
            return False
        begins, ends = record.valid_at or record.at, record.invalid_at or record.at
        if self.after is not None and (ends is None or as_utc(ends) < as_utc(self.after)):
            return False
        return self.before is None or (begins is not None and as_utc(begins) < as_utc(self.before))

    def filters(self) -> Expression:
        """The restrictions as a filter that the stores apply before ranking."""
        parts: list[Expression] = [Comparison("memory_type", "$eq", self.memory_type.value)]
        if self.memory_type is MemoryType.EPISODIC:
            parts += [Comparison("date", "$gte", written_date(as_utc(self.after)))] if self.after else []
            parts += [Comparison("date", "$lt", written_date(as_utc(self.before)))] if self.before else []
        elif not self.include_ended and self.as_of is None and self.past is None:
            parts.append(Comparison("status", "$eq", CURRENT))
        return And(tuple(parts))


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory that was found, with its best passage as its content."""

    record: MemoryRecord
    score: float


@dataclass(frozen=True, slots=True)
class SearchParts:
    """The stores and engines of the main graph, for the strategies."""

    store: MemoryStore
    vectors: VectorSearch
    graph: GraphSearch


Strategies = Mapping[RetrievalStrategy, Callable[[SearchParts, Search], Awaitable[list[FoundMemory]]]]


async def _by_engine(
    parts: SearchParts, search: Search, strategy: Strategy, least: int = CANDIDATES
) -> list[tuple[MemoryRecord, RetrievalResult]]:
    """Matching passages, each with its record."""
    try:
        query = SourceQuery(
            memory_dataset(search.user_id),
            search.query,
            filters=search.filters(),
            as_of=search.as_of,
            strategy=strategy,
        )
        found = await parts.vectors.find(query, max(MORE * search.limit, least))
    except UnknownDataset:
        return []
    # A long message has thousands of statements.
    records = await asyncio.to_thread(lambda: [of_chunk(result.chunk) for result in found.results])
    passages = zip(records, found.results, strict=True)
    return [passage for passage in passages if search.passes(passage[0])]


def _best(scored_records: Sequence[tuple[MemoryRecord, float]], search: Search) -> list[FoundMemory]:
    """Each memory with its best passage, best first."""
    best: dict[str, FoundMemory] = {}
    for record, score in sorted(scored_records, key=lambda one: (-one[1], one[0].id)):
        best.setdefault(record.id, FoundMemory(record, score))
    if search.past is not None:
        scored = by_time([(one.record, one.score) for one in best.values()], search.past)
        ordered = sorted(scored, key=lambda one: (-one[1], one[0].id))
        return [FoundMemory(record, score) for record, score in ordered[: search.limit]]
    return list(best.values())[: search.limit]


def _engine(strategy: Strategy) -> Callable[[SearchParts, Search], Awaitable[list[FoundMemory]]]:
    async def run(parts: SearchParts, search: Search) -> list[FoundMemory]:
        found = await _by_engine(parts, search, strategy)
        return _best([(record, result.score) for record, result in found], search)

    return run


_hybrid = _engine("hybrid")


async def _temporal(parts: SearchParts, search: Search) -> list[FoundMemory]:
    """Only memories of the time that the query states; all if it states none."""
    after, before = asked_interval(search.query) or (None, None)
    narrowed = replace(search, after=after or search.after, before=before or search.before)
    by = _context_aware if search.memory_type is MemoryType.EPISODIC else _hybrid
    return await by(parts, narrowed)


async def _context_aware(parts: SearchParts, search: Search) -> list[FoundMemory]:
    """Hybrid, then the main graph's offline rerank (neighbouring turns, speaker, the time that the query states);
    an assistant's words are weighed by ASSISTANT."""
    found = await _by_engine(parts, search, "hybrid", TURNS)
    turns = [_as_turn(result, rank) for rank, (_, result) in enumerate(found, start=1)]
    by_id = {result.id: record for record, result in found}
    scored = []
    for turn in await asyncio.to_thread(rerank_offline, search.query, turns):
        record = by_id[turn["id"]]
        scored.append((record, (turn["rerank_score"] or 0.0) * (1.0 if record.is_of_person else ASSISTANT)))
    return _best(scored, search)


def _as_turn(result: RetrievalResult, rank: int) -> Result:
    """A passage as input of the rerank; turns between people are numbered in the order in which they were said.

    Turns between a person and an assistant are not: one asks, the other answers at length.
    """
    record = result.chunk.metadata[RECORD]
    details, given = record["details"], record["metadata"]
    metadata = {
        "kind": "turn",
        "speaker": None if "role" in given else details.get("speaker"),
        "document_id": str(given.get("session", "")),
        "ordinal": details.get("order"),
        "date": None if result.chunk.date is None else result.chunk.date.isoformat(),
        "title": None,
    }
    return {
        "id": result.id,
        "content": result.content,
        "source": "lancedb",
        "type": "document",
        "original_score": result.score,
        "rrf_score": 0.0,
        "metadata": metadata,
        "fused_score": result.score,
        "rerank_score": None,
        "tier": None,
        "sources": {
            "lancedb": {"rank": rank, "raw": result.score, "normalised": result.score, "weight": 1.0}
        },
        "facts": [],
        "evidence": {},
    }


async def _semantic_graph(parts: SearchParts, search: Search) -> list[FoundMemory]:
    """Hybrid, and the walk over the graph from the query's names; their log-odds add up, as in the rerank."""
    dataset = memory_dataset(search.user_id)
    limit = max(MORE * search.limit, CANDIDATES)
    near, walked = await asyncio.gather(
        _by_engine(parts, search, "hybrid"),
        parts.graph.find(
            SourceQuery(dataset, search.query, filters=search.filters(), as_of=search.as_of), limit
        ),
    )
    odds = {result.id: log_odds(result.score) for _, result in near}
    known = {result.id: record for record, result in near}
    lowest = min(odds.values(), default=log_odds(UNKNOWN_RELEVANCE))
    # The graph may lag behind: the chunk store decides what exists and how long it is valid.
    more = [hit["id"] for hit in walked.hits if hit["id"] not in known]
    for name, chunk in (await parts.vectors.chunks(dataset, more)).items():
        if search.passes(record := of_chunk(chunk)):
            known[name] = record
    for hit in walked.hits:
        if hit["id"] in known:
            by_walk = max(0.0, log_odds(hit["score"] or UNKNOWN_RELEVANCE))
            odds[hit["id"]] = odds.get(hit["id"], lowest) + by_walk
    return _best([(known[name], probability(value)) for name, value in odds.items()], search)


async def _string_match(parts: SearchParts, search: Search) -> list[FoundMemory]:
    asked = frozenset(content_tokens(search.query))
    return await _by_text(parts, search, lambda text: coverage(asked, text))


async def _fuzzy(parts: SearchParts, search: Search) -> list[FoundMemory]:
    query = utils.default_process(search.query)
    return await _by_text(
        parts, search, lambda text: fuzz.WRatio(query, utils.default_process(text)) / 100 if query else 0.0
    )


async def _by_text(parts: SearchParts, search: Search, score: Callable[[str], float]) -> list[FoundMemory]:
    records = await parts.store.of_types(search.user_id, {search.memory_type})
    scored = [(record, score(record.content)) for record in records if search.passes(record)]
    return _best([one for one in scored if one[1] > 0], search)


STRATEGIES: Strategies = {
    RetrievalStrategy.EMBEDDING: _engine("dense"),
    RetrievalStrategy.BM25: _engine("sparse"),
    RetrievalStrategy.HYBRID: _hybrid,
    RetrievalStrategy.STRING_MATCH: _string_match,
    RetrievalStrategy.FUZZY: _fuzzy,
    RetrievalStrategy.SEMANTIC_GRAPH: _semantic_graph,
    RetrievalStrategy.TEMPORAL: _temporal,
    RetrievalStrategy.CONTEXT_AWARE: _context_aware,
}
"""Each returns up to ``limit`` memories of one kind; none for an unknown user.

They raise ``StoreError`` and ``ModelError`` if a store or model fails.
"""
