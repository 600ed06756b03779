"""Replacing and removing whole documents: embed first, then one transaction through Graphiti's bulk writer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agentic_rag.domain import DocumentGraph, Entity
from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.stores.graphiti import sql
from agentic_rag.stores.graphiti.chunks import READ_BY
from agentic_rag.stores.graphiti.contribution import (
    Contribution,
    Plan,
    built,
    is_settled,
    planned,
    settled,
    texts,
)
from agentic_rag.stores.graphiti.cypher import Dialect
from agentic_rag.stores.graphiti.library import EmbedderClient, add_nodes_and_edges_bulk_tx
from agentic_rag.stores.graphiti.reconcile import named
from agentic_rag.stores.graphiti.schemas import Row
from agentic_rag.stores.graphiti.summaries import touched_by_reading, without_facts
from agentic_rag.stores.graphiti.tables import GraphTables

EMBED_BATCH = 2_048
"""Texts a call to the embedding; bounds the memory of one call."""

REMOVED_TOGETHER = 1_000
"""Documents a transaction: LadybugDB keeps what one changes in memory, all of a large dataset does not fit in there."""


@dataclass(frozen=True, slots=True)
class Before:
    """What the documents have stored so far."""

    episodes: frozenset[str]
    going: frozenset[str]
    """Episodes whose facts and mentions do not stay by themselves."""
    read: frozenset[str]
    """Episodes that a chat model has read."""
    facts: Mapping[str, Row]
    mentions: Mapping[str, Row]
    kept_mentions: Mapping[str, Row]


class _EntityGone(Exception):
    """An entity that was to be left as it is has been deleted meanwhile."""


class DocumentWriter:
    """Makes documents' episodes, facts and mentions exactly the given ones.

    Args:
        tables: LanceDB, read here and written by the transaction's commit.
        driver: whose sessions give transactions with a ``change``.
        dialect: how the graph is written.
        embedding: for names and sentences that have no stored vector yet.
        embedder: the same as Graphiti wants it.
    """

    def __init__(
        self,
        tables: GraphTables,
        driver: Any,
        dialect: Dialect,
        embedding: Embedding,
        embedder: EmbedderClient,
    ) -> None:
        self._tables = tables
        self._driver = driver
        self._dialect = dialect
        self._embedding = embedding
        self._embedder = embedder

    async def replace(
        self, dataset: str, group: str, graphs: Sequence[DocumentGraph], keep: Collection[str] = ()
    ) -> None:
        """Embed what is new, without any lock; then change all the documents together.

        ``keep``: episodes whose stored facts and mentions stay beside the given ones.
        """
        plan = await asyncio.to_thread(planned, dataset, group, graphs)
        while not await self._replaced(plan, frozenset(keep) & set(plan.chunks)):
            pass  # another write removed an entity that this one counted on

    async def _replaced(self, plan: Plan, keep: frozenset[str]) -> bool:
        stored = await self._stored_entities(plan)
        entities = {uuid: settled(entity, stored.get(uuid)) for uuid, entity in plan.entities.items()}
        changed = {
            uuid: entity
            for uuid, entity in entities.items()
            if uuid not in stored or not is_settled(entity, stored[uuid])
        }
        vectors = await self._vectors(plan, changed, stored)
        now = datetime.now(UTC)
        contribution = await asyncio.to_thread(built, plan, changed, stored, vectors, now)
        await self._carry_over(plan.group, contribution, keep)
        try:
            await self._transact(plan.group, plan.documents, contribution, plan.entities, keep)
        except _EntityGone:
            return False
        return True

    async def remove(self, group: str, documents: Collection[str]) -> None:
        """A part of them after the other; called again, it goes on where it ended."""
        known = sorted({document for document in documents if "\0" not in document})
        if not known or not await self._tables.exists(group):
            return
        for start in range(0, len(known), REMOVED_TOGETHER):
            part = frozenset(known[start : start + REMOVED_TOGETHER])
            await self._transact(group, part, Contribution([], [], [], []), ())

    async def _carry_over(self, group: str, new: Contribution, keep: Collection[str]) -> None:
        """Give kept episodes what extraction noted on them."""
        columns = ["uuid", "created_at", "entity_edges", "metadata"]
        stored = {
            row["uuid"]: row for row in await self._tables.select_in(group, "episodes", "uuid", keep, columns)
        }
        for episode in new.episodes:
            row = stored.get(episode.uuid)
            if row is None:
                continue
            noted = json.loads(row["metadata"] or "{}")
            episode.created_at = row["created_at"]
            episode.entity_edges = sorted({*episode.entity_edges, *row["entity_edges"]})
            episode.episode_metadata = {**noted, **episode.episode_metadata}

    async def _transact(
        self,
        group: str,
        documents: frozenset[str],
        new: Contribution,
        named_now: Collection[str],
        keep: frozenset[str] = frozenset(),
    ) -> None:
        """``named_now``: entities the documents name, written or not."""

        async def work(transaction: Any) -> None:
            await transaction.begin()
            await self._check_entities(group, set(named_now) - {node.uuid for node in new.entities})
            before = await self._before(group, documents, keep)
            await self._clear(transaction, group, documents, before, new, set(named_now))
            await add_nodes_and_edges_bulk_tx(
                transaction,
                list(new.episodes),
                list(new.mentions),
                list(new.entities),
                list(new.facts),
                self._embedder,
                driver=self._driver,
            )

        session = self._driver.session()
        try:
            await session.execute_write(work)
        finally:
            await session.close()

    async def _check_entities(self, group: str, counted_on: Collection[str]) -> None:
        rows = await self._tables.select_in(group, "entities", "uuid", counted_on, ["uuid"])
        if len(rows) < len(counted_on):
            raise _EntityGone

    async def _clear(
        self,
        transaction: Any,
        group: str,
        documents: frozenset[str],
        before: Before,
        new: Contribution,
        named_now: set[str],
    ) -> None:
        """Delete from the graph what the documents no longer hold, and say what LanceDB must forget."""
        shared = _shared(before)
        keep = {node.uuid for node in new.episodes}
        facts = {fact.uuid for fact in new.facts} | set(shared)
        gone_facts = set(before.facts) - facts
        gone_mentions = (
            set(before.mentions) - {edge.uuid for edge in new.mentions} - set(before.kept_mentions)
        )
        candidates = {end for row in before.facts.values() for end in _ends(row)}
        candidates |= {row["target_uuid"] for row in before.mentions.values()}
        kept = {end for row in shared.values() for end in _ends(row)}
        kept |= {row["target_uuid"] for row in before.kept_mentions.values()}
        orphans = await self._orphans(group, documents, candidates - named_now - kept)

        run = transaction.run
        await self._dialect.delete_edges(run, gone_facts, "facts")
        gone_nodes = (before.episodes - keep) | orphans
        if gone_nodes:
            # What is an orphan was named by facts of these documents alone, and those are gone.
            await self._dialect.delete_nodes(run, gone_nodes, without_facts=True)
            transaction.change.delete_nodes(gone_nodes, group)
        # A mention goes with either of its ends; to delete one by itself, all of the graph are looked through.
        alone = {uuid for uuid in gone_mentions if gone_nodes.isdisjoint(_ends(before.mentions[uuid]))}
        await self._dialect.delete_edges(run, alone, "mentions")
        if shared:
            await self._dialect.upsert(run, "facts", list(shared.values()))
            transaction.change.put("facts", shared.values())
        transaction.change.put("mentions", before.kept_mentions.values())
        await self._summarise(transaction, group, before, gone_facts | gone_mentions, candidates - orphans)
        transaction.change.documents.setdefault(group, set()).update(documents)
        touched = candidates | named_now
        transaction.change.candidates.setdefault(group, set()).update(touched)

    async def _summarise(
        self, transaction: Any, group: str, before: Before, gone: Collection[str], entities: Collection[str]
    ) -> None:
        """Take what the documents no longer say out of the summaries that extraction made of it."""
        touched = touched_by_reading(before.facts, before.mentions, before.read, gone) & set(entities)
        changed = await without_facts(self._tables, group, touched, gone)
        if changed:
            await self._dialect.upsert(transaction.run, "entities", changed)
            transaction.change.put("entities", changed)

    async def _before(self, group: str, documents: Collection[str], keep: frozenset[str]) -> Before:
        """Rows of the documents, and facts of others that also rest on their episodes."""
        of = sql.is_in("document_id", documents)
        episodes = await self._tables.select(group, "episodes", of, ["uuid", "metadata"])
        uuids = frozenset(row["uuid"] for row in episodes)
        facts = await self._tables.select(group, "facts", of)
        others = sql.every([sql.has_any("episodes", uuids), f"(document_id IS NULL OR NOT {of})"])
        facts += await self._tables.select(group, "facts", others) if uuids else []
        going = uuids - keep
        staying = [row for row in facts if not going.issuperset(row["episodes"])]
        rows = await self._with_vectors(group, staying)
        mentions = await self._tables.select(group, "mentions", of)
        return Before(
            episodes=uuids,
            going=going,
            read=frozenset(row["uuid"] for row in episodes if READ_BY in json.loads(row["metadata"] or "{}")),
            facts={row["uuid"]: rows.get(row["uuid"], row) for row in facts},
            mentions={row["uuid"]: row for row in mentions},
            kept_mentions={row["uuid"]: row for row in mentions if row["source_uuid"] in keep},
        )

    async def _with_vectors(self, group: str, rows: Sequence[Row]) -> dict[str, Row]:
        vectors = await self._tables.vectors(group, "facts", [row["uuid"] for row in rows])
        return {row["uuid"]: {**row, "vector": vectors[row["uuid"]]} for row in rows}

    async def _orphans(self, group: str, documents: Collection[str], candidates: set[str]) -> set[str]:
        """Candidates that nothing outside the documents names."""
        outside = f"(document_id IS NULL OR NOT {sql.is_in('document_id', documents)})"
        return candidates - await named(self._tables, group, candidates, outside)

    async def _stored_entities(self, plan: Plan) -> dict[str, Row]:
        rows = await self._tables.select_in(plan.group, "entities", "uuid", plan.entities)
        return {row["uuid"]: row for row in rows}

    async def _vectors(
        self, plan: Plan, entities: Mapping[str, Entity], stored: Mapping[str, Row]
    ) -> dict[str, FloatArray]:
        """Stored vectors where the text is the same, the others embedded, each distinct text once."""
        same = [uuid for uuid, entity in entities.items() if stored.get(uuid, {}).get("name") == entity.name]
        vectors = await self._tables.vectors(plan.group, "entities", same)
        vectors |= await self._tables.vectors(plan.group, "facts", plan.facts)
        wanted = {uuid: text for uuid, text in texts(plan, entities).items() if uuid not in vectors}
        distinct = sorted(set(wanted.values()))
        fresh: dict[str, FloatArray] = {}
        for start in range(0, len(distinct), EMBED_BATCH):
            batch = distinct[start : start + EMBED_BATCH]
            fresh |= dict(zip(batch, await self._embedding.embed_passages(batch), strict=True))
        return vectors | {uuid: fresh[text] for uuid, text in wanted.items()}


def _ends(row: Row) -> tuple[str, str]:
    return row["source_uuid"], row["target_uuid"]


def _shared(before: Before) -> dict[str, Row]:
    """Facts that episodes which stay support too, without the episodes that go."""
    kept: dict[str, Row] = {}
    for uuid, row in before.facts.items():
        remaining = [episode for episode in row["episodes"] if episode not in before.going]
        if remaining and "vector" in row:
            kept[uuid] = {**row, "episodes": remaining}
    return kept
