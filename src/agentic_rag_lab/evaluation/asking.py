"""Evaluation, asking: runs a system on a query and records its answer, locally or in a worker of a Ray cluster."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from agentic_rag.domain.identity import chunk_id
from agentic_rag.domain.ports import Embedding
from agentic_rag.rag import open_rag
from agentic_rag.settings.config import RagConfig
from agentic_rag_lab.evaluation.metrics import document_ranking
from agentic_rag_lab.evaluation.records import DEPTH, Record
from agentic_rag_lab.evaluation.systems import Systems, Task

Results = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question for a system."""

    system: str
    task: Task
    unit: str
    """Unit of the ranking: ``document`` or ``chunk``."""


@dataclass(frozen=True, slots=True)
class OpenSystems:
    """The open systems, and the names of those already warmed up."""

    systems: Systems
    warm: set[str] = field(default_factory=set)

    async def record(self, question: Question) -> Record:
        """Run the system; it embeds the question itself, as for a reader."""
        name, task = question.system, question.task
        if name not in self.warm:  # the first question would include opening tables and loading models
            self.warm.add(name)
            await self.systems.run(name, task)
        self.systems.clear_cache()
        scored = await self.systems.run(name, task)
        return Record(
            system=name,
            query=task.query.id,
            ranking=tuple(ranking_of(scored.results, question.unit)[:DEPTH]),
            milliseconds=round(scored.milliseconds, 3),
            model_calls=scored.model_calls,
            confidence=scored.confidence,
            abstained=scored.is_abstention,
            degraded=scored.degraded_sources,
        )


@asynccontextmanager
async def open_systems(config: RagConfig, embedding: Embedding | None) -> AsyncIterator[OpenSystems]:
    """The systems of a worker, on its own stores and models."""
    async with open_rag(config, embedding=embedding) as rag:
        yield OpenSystems(Systems(rag))


async def records(systems: OpenSystems, questions: Sequence[Question]) -> list[Record]:
    """The records of a worker's share."""
    return [await systems.record(question) for question in questions]


def ranking_of(results: Results, unit: str) -> list[str]:
    """Ids of documents or chunks, each at its best rank; all parts of a long turn count as that turn."""
    if unit == "document":
        return document_ranking(results)
    ranking: dict[str, None] = {}
    for result in results:
        metadata = result.get("metadata") or {}
        document, turn = metadata.get("document_id"), metadata.get("dia_id")
        known = document is not None and turn is not None
        ranking.setdefault(chunk_id(str(document), str(turn)) if known else str(result["id"]))
    return list(ranking)
