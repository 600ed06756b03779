"""All memories of all users: remember, search, list, forget, export, import. The class of ``Rag.memory``."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from agentic_rag.domain import Findings, Hit, new_hit
from agentic_rag.domain.identity import memory_dataset
from agentic_rag.errors import InputError, StoreError
from agentic_rag.memory.agents import all_agents
from agentic_rag.memory.agents.base import AgentParts, StoredAgent, moment_given
from agentic_rag.memory.exchange import read_export, written_export
from agentic_rag.memory.named_slots import is_of_asker, names_slot, names_value
from agentic_rag.memory.orchestrator import MemoryOrchestrator, Routes
from agentic_rag.memory.past import PastTime, asked_past
from agentic_rag.memory.records import MemoryRecord
from agentic_rag.memory.schemas import (
    DEFAULT_MAX_RESULTS,
    MAX_RESULTS,
    ForgetReport,
    MemoryType,
    RememberReport,
    RetrievalRequest,
    RetrievalResponse,
    RetrievalStrategy,
    RetrievedMemory,
    TaskRequest,
    parse_name,
)
from agentic_rag.memory.searching import SearchParts
from agentic_rag.memory.writing import MemoryWriter, StatementReader

PROBES = 25
"""Maximum number of forgotten memories that are searched for; whether they are stored is checked for all."""
CALIBRATED_STRATEGIES = frozenset(RetrievalStrategy) - {
    RetrievalStrategy.STRING_MATCH,
    RetrievalStrategy.FUZZY,
}
"""Strategies whose scores are relevance on the main graph's scale."""


MIN_RELEVANCE = 0.5
"""Relevance from which a memory is a hit of the main graph, so that others displace no passages of notes."""


class Memories:
    """The five agents, the orchestrator over them, and the writing.

    Args:
        parts: the stores and engines for searches.
        reader: finds the statements of a text.
        router: decides which agents are asked.
    """

    def __init__(self, parts: SearchParts, reader: StatementReader, router: Routes) -> None:
        self._store = parts.store
        self._writer = MemoryWriter(parts.store, reader)
        self.agents: Mapping[MemoryType, StoredAgent] = {
            agent.memory_type: agent for agent in all_agents(AgentParts(parts, self._writer))
        }
        self.orchestrator = MemoryOrchestrator(self.agents, router)

    async def remember(
        self,
        text: str,
        user_id: str,
        *,
        at: datetime | str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> RememberReport:
        """Store a message and the memories derived from it; see ``MemoryWriter.remember``."""
        return await self._writer.remember(
            text, user_id, at=moment_given({"at": at}, "at"), metadata=metadata
        )

    async def count(self, user_id: str) -> int:
        """Number of a user's stored passages; 0 for an unknown user."""
        return await self._store.count(user_id)

    async def search(
        self,
        query: str,
        user_id: str,
        *,
        max_results: int = DEFAULT_MAX_RESULTS,
        context: Mapping[str, Any] | None = None,
        memory_types: Sequence[MemoryType | str] | None = None,
        strategy: RetrievalStrategy | str | None = None,
    ) -> RetrievalResponse:
        """Ask all agents together; see ``RetrievalRequest`` and ``MemoryOrchestrator``.

        Raises:
            InputError: a blank question, a bad user id, an unknown name.
        """
        return await self.orchestrator.execute_retrieval(
            RetrievalRequest(
                query,
                user_id,
                max_results,
                context or {},
                None if memory_types is None else tuple(memory_types),  # type: ignore[arg-type]
                strategy,  # type: ignore[arg-type]
            )
        )

    async def list(
        self, user_id: str, memory_type: MemoryType | str | None = None, *, include_ended: bool = False
    ) -> list[MemoryRecord]:
        """The memories of a user, of one kind or all, in the order of their messages.

        Raises:
            InputError: a bad user id or an unknown kind.
            StoreError: the store failed.
        """
        types = set(MemoryType) if memory_type is None else {parse_name(MemoryType, memory_type)}
        records = await self._store.of_types(user_id, types)
        now = self._writer.now()
        return [record for record in records if include_ended or record.holds(None, now)]

    async def forget(self, user_id: str, ids: Collection[str] | None = None) -> ForgetReport:
        """Delete memories, with their messages and all memories that depend on these alone; None: all of the user.

        Then check that they are neither stored nor found by a search.

        Raises:
            InputError: a bad user id, or none of the ids is a memory of this user.
            StoreError: the store failed, or something was still found; repeat the call to finish.
        """
        deleted = await self._writer.forget(user_id, ids)
        if ids is not None and not deleted:
            raise InputError(
                f"this user has no memory {', '.join(map(repr, sorted(ids)))}; list shows the ids"
            )
        searched, found = await self._probe(user_id, deleted)
        if found:
            raise StoreError(
                f"{found} of {len(deleted)} forgotten memories are still found; forget them again"
            )
        return ForgetReport(len(deleted), searched, found)

    async def _probe(self, user_id: str, deleted_records: Sequence[MemoryRecord]) -> tuple[int, int]:
        """Number of searches for deleted memories, and of deleted memories still stored or found."""
        gone = {record.id for record in deleted_records}
        found = len(await self._store.stored_ids(user_id, gone))
        probes = list(deleted_records)[:PROBES]
        for record in probes:
            for agent in self.agents.values():
                asked = {"user_id": user_id, "query": record.content[:1000], "include_ended": True}
                response = await agent.execute_task(TaskRequest("search", asked, timeout_ms=None))
                if not response.success:
                    raise StoreError(
                        f"the search for forgotten memories failed: {response.error}; forget them again"
                    )
                found += sum(one["id"] in gone for one in response.result["results"])
        return len(probes) * len(self.agents), found

    async def export(self, user_id: str, path: Path | str) -> int:
        """Write all of a user's memories to a file of JSON lines; returns their number.

        Raises:
            InputError: a bad user id, or the file cannot be written.
        """
        records = await self._store.of_types(user_id, set(MemoryType))
        await asyncio.to_thread(written_export, Path(path), user_id, records)
        return len(records)

    async def import_(self, user_id: str, path: Path | str) -> int:
        """Add the memories of an exported file to a user's; returns their number. Repeating it changes nothing.

        Raises:
            InputError: the file cannot be read; nothing was imported. The message names the line.
        """
        memory_dataset(user_id)
        records = await asyncio.to_thread(read_export, Path(path))
        await self._writer.restore(user_id, records)
        return len(records)

    async def find(
        self,
        user_id: str,
        query: str,
        *,
        limit: int,
        as_of: datetime | None = None,
        judged_as: str | None = None,
    ) -> Findings:
        """The main graph's third source; see ``retrieval.ports.MemorySearch``."""
        context = {} if as_of is None else {"as_of": as_of.isoformat()}
        question = judged_as or query
        # A request may ask the notes for more passages than there is use for memories.
        max_hits = min(limit, MAX_RESULTS)
        response = await self.search(question, user_id, max_results=max_hits, context=context)
        if len(response.degraded_agents) == len(response.outcomes):
            reasons = {outcome.reason for outcome in response.outcomes.values()}
            raise StoreError(f"no memory agent answered: {'; '.join(sorted(map(str, reasons)))}")
        # A message that states an ended fact is left out: its facts and other sentences are memories of their own.
        quotable = [
            one for one in response.memories if one.metadata.get("slot") or not one.metadata.get("ended")
        ]
        past = asked_past(question, as_of or self._writer.now())
        settling = _settling(question, quotable, past)
        if settling is not None:
            quotable.insert(0, quotable.pop(settling))
        # Its sentence need not have the question's words: "I moved to Bergen" says where somebody lives.
        headings = [] if settling is None else [question]
        hits = [
            _hit(memory, rank, heading, is_dated=past is not None)
            for rank, (memory, heading) in enumerate(zip_longest(quotable, headings), start=1)
        ]
        if settling is not None:
            others = (hit["score"] or 0.0 for hit in hits)
            hits[0]["score"] = min(1.0, math.nextafter(max(MIN_RELEVANCE, *others), math.inf))
        near = [hit for hit in hits if hit["score"] is None or hit["score"] >= MIN_RELEVANCE]
        report = {
            "degraded": list(response.degraded_agents),
            **({} if settling is None else {"settles": True}),
        }
        return Findings(near, report)


def _settling(question: str, memories: Sequence[RetrievedMemory], past: PastTime | None) -> int | None:
    """The place of the fact about the asker that the question asks for, so that no note need be read; None where there is
    none.

    Of what holds now the first memory alone can be it, and has to be relevant. Of the past the facts of the slot that the
    question names were searched, and the first of them is it: the value that it names as well is often another one.
    """
    if not is_of_asker(question):
        return None
    for place, memory in enumerate(memories[:1] if past is None else memories):
        slot, value = str(memory.metadata.get("slot") or ""), str(memory.metadata.get("value") or "")
        relevance = _relevance(memory)
        kinds = {source["memory_type"] for source in memory.sources}
        if not slot or relevance is None or MemoryType.CORE not in kinds:
            continue
        is_ended = past is not None and past.over and names_value(question, slot, value)
        if (names_slot(question, slot) or is_ended) and (past is not None or relevance >= MIN_RELEVANCE):
            return place
    return None


def _relevance(memory: RetrievedMemory) -> float | None:
    """The best score of a calibrated strategy."""
    judged = [one["base_score"] for one in memory.sources if one["strategy"] in CALIBRATED_STRATEGIES]
    return max(judged, default=None)


def _hit(memory: RetrievedMemory, rank: int, heading: str | None, *, is_dated: bool) -> Hit:
    """A memory as a source's hit, under the heading or its slot; a fact that has ended is followed by its time, and one that
    still holds too if ``is_dated``."""
    given = memory.metadata
    begins, ends = (str(given.get(name) or "")[:10] for name in ("valid_at", "invalid_at"))
    content = memory.content
    if begins and (ends or (is_dated and given.get("slot"))):
        content += f" ({begins} to {ends})" if ends else f" (since {begins})"
    metadata = {
        **given,
        "document_id": memory.id,
        "path": f"memory/{memory.memory_type.value}",
        "title": "",
        "heading_path": [one for one in (heading or given.get("slot"),) if one],
        "start": 0,
        "end": len(content),
        "kind": "memory",
        "memory_type": memory.memory_type.value,
        "date": given.get("valid_at") or given.get("at"),
        "url": None,
    }
    evidence = {"agents": [dict(one) for one in memory.sources]}
    return new_hit(
        memory.id,
        content,
        "document",
        rank=rank,
        score=_relevance(memory),
        metadata=metadata,
        evidence=evidence,
    )
