"""The sources that the main graph asks, behind one port: the knowledge graph, the vector store, a user's memories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, runtime_checkable

from agentic_rag.domain import Findings, Hit, new_hit
from agentic_rag.retrieval.config import RETRIEVAL_STRATEGY, Strategy
from agentic_rag.retrieval.ports import GraphSearch, MemorySearch, SourceQuery, VectorSearch
from agentic_rag.retrieval.schemas import RetrievalResult

CANDIDATES = 100
"""Hits asked of each source. Of 120 judged questions on 100,000 chunks, 70 find .010 less recall@10 (−.025 to +.004) for
.90 of the processor time, 30 find .013 less for .82."""


@runtime_checkable
class Source(Protocol):
    """One source of hits. ``StoreError`` and ``ModelError`` make it degraded, and the others answer without it."""

    is_chunk_store: ClassVar[bool]
    """Its hits are chunks of the dataset, which can be read again by their ids."""

    async def ready(self, query: SourceQuery) -> None:
        """What takes long once, before the first search."""

    async def find(self, query: SourceQuery) -> Findings:
        """Hits with relevance in [0, 1], best first."""
        ...

    async def why_empty(self, query: SourceQuery) -> str | None:
        """Why nothing was found, for a person; None: nothing was relevant."""


@dataclass(frozen=True, slots=True)
class GraphSource:
    """The knowledge graph."""

    engine: GraphSearch
    is_chunk_store: ClassVar[bool] = True

    async def ready(self, query: SourceQuery) -> None:
        """See ``Source.ready``."""
        await self.engine.ready()

    async def find(self, query: SourceQuery) -> Findings:
        """See ``Source.find``."""
        return await self.engine.find(query, CANDIDATES)

    async def why_empty(self, query: SourceQuery) -> str | None:
        """None: the graph's own findings say it."""
        return None


@dataclass(frozen=True, slots=True)
class VectorSource:
    """The vector store."""

    engine: VectorSearch
    strategy: Strategy = RETRIEVAL_STRATEGY
    is_chunk_store: ClassVar[bool] = True

    async def ready(self, query: SourceQuery) -> None:
        """See ``Source.ready``."""
        await self.engine.ready(self.strategy)

    async def find(self, query: SourceQuery) -> Findings:
        """See ``Source.find``."""
        judged = await self.engine.find(replace(query, strategy=self.strategy), CANDIDATES)
        hits = [as_hit(result, rank) for rank, result in enumerate(judged.results, start=1)]
        familiarity = judged.familiarity
        return Findings(hits, {} if familiarity is None else {"familiarity": round(familiarity, 6)})

    async def why_empty(self, query: SourceQuery) -> str | None:
        """The filter or date that leaves nothing."""
        return await self.engine.why_nothing_passes(query.dataset, query.filters, query.as_of)


@dataclass(frozen=True, slots=True)
class MemorySource:
    """The memories of the question's user. Agents that fail while others answer are named in the reason."""

    memories: MemorySearch
    is_chunk_store: ClassVar[bool] = False

    async def ready(self, query: SourceQuery) -> None:
        """Nothing: the memories have no model of their own."""

    async def find(self, query: SourceQuery) -> Findings:
        """See ``Source.find``; no hits without a user."""
        if query.user_id is None:
            return Findings([], {})
        findings = await self.memories.find(
            query.user_id,
            query.text,
            limit=CANDIDATES,
            as_of=query.as_of,
            judged_as=query.judged_as,
        )
        if failed := findings.question.get("degraded"):
            return Findings(findings.hits, findings.question, f"without {', '.join(failed)}, which failed")
        return findings

    async def why_empty(self, query: SourceQuery) -> str | None:
        """None: nothing that is remembered is relevant."""
        return None


def as_hit(result: RetrievalResult, rank: int) -> Hit:
    """A result of the vector store as the main graph's state has it."""
    tokens = {} if result.tokens is None else {"tokens": round(result.tokens, 6)}
    return new_hit(
        result.id,
        result.content,
        "document",
        rank=rank,
        score=result.score,
        metadata=result.metadata,
        evidence={"legs": result.leg_values(), **tokens},
    )
