"""Replacing and removing whole documents: embed first, then one transaction."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from agentic_rag.domain import DocumentGraph, Entity
from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.stores.batch import batches
from agentic_rag.stores.graph.contribution import (
    Contribution,
    Contributions,
    build_contribution,
    is_settled,
    plan_contributions,
    settle_entity,
)
from agentic_rag.stores.graph.mirror import Mirror
from agentic_rag.stores.graph.schemas import Row
from agentic_rag.stores.graph.shared_entities import (
    labels_given,
    named_entities,
    relabel,
    touched_by_reading,
    without_facts,
)
from agentic_rag.stores.graph.stored import (
    Before,
    before_change,
    outside,
    shared_facts,
    stored_entities,
    stored_vectors,
)
from agentic_rag.stores.graph.tables import GraphTables

EMBED_BATCH = 2_048
"""Texts a call to the embedding; bounds the memory of one call."""

REMOVED_TOGETHER = 1_000
"""Documents a transaction: what one changes is kept in memory."""


ExecuteWrite = Callable[[Callable[[Any], Awaitable[None]]], Awaitable[None]]


class _EntitiesChanged(Exception):
    """An entity that the documents name was made, deleted, renamed or labelled meanwhile."""


class GraphWriter:
    """Makes documents' episodes, facts and mentions exactly the given ones.

    Args:
        tables: LanceDB, read here and written by the transaction's commit.
        execute_write: awaits work with a transaction that has a ``change``, and commits it.
        mirror: how a server is written.
        embedding: for sentences that have no stored vector yet.
    """

    def __init__(
        self, tables: GraphTables, execute_write: ExecuteWrite, mirror: Mirror, embedding: Embedding
    ) -> None:
        self._tables = tables
        self._execute_write = execute_write
        self._mirror = mirror
        self._embedding = embedding

    async def replace(
        self,
        dataset: str,
        group: str,
        graphs: Sequence[DocumentGraph],
        keep: Collection[str],
        vectors: Mapping[str, FloatArray],
    ) -> None:
        """Embed what is new, without any lock; then change all the documents together.

        ``keep``: episodes whose stored facts and mentions stay beside the given ones. ``vectors``: by text.
        """
        plan = await asyncio.to_thread(plan_contributions, dataset, group, graphs)
        while not await self._try_replace(plan, frozenset(keep) & set(plan.chunks), vectors):
            pass  # another write changed an entity that this one counted on

    async def new_texts(self, dataset: str, group: str, graphs: Sequence[DocumentGraph]) -> list[str]:
        """What ``replace`` would embed now, each text once."""
        plan = await asyncio.to_thread(plan_contributions, dataset, group, graphs)
        _, wanted, known = await stored_vectors(self._tables, plan)
        return sorted(set(wanted.values()) - known.keys())

    async def _try_replace(
        self, plan: Contributions, keep: frozenset[str], given_vectors: Mapping[str, FloatArray]
    ) -> bool:
        version = await self._tables.version(plan.group, "entities")
        stored = await stored_entities(self._tables, plan)
        changed = _changed_entities(plan, stored)
        vectors = await self._vectors(plan, given_vectors)
        now = datetime.now(UTC)
        contribution = await asyncio.to_thread(build_contribution, plan, changed, stored, vectors, now)
        await self._carry_over(plan.group, contribution, keep)
        try:
            await self._transact(plan, contribution, stored, version, keep)
        except _EntitiesChanged:
            return False
        return True

    async def remove(self, group: str, documents: Collection[str]) -> None:
        """Remove documents, REMOVED_TOGETHER in one transaction; a repeated call continues an interrupted one."""
        known = sorted({document for document in documents if "\0" not in document})
        if not known or not await self._tables.exists(group):
            return
        for part in batches(known, REMOVED_TOGETHER):
            await self._transact(Contributions(group, frozenset(part)), Contribution())

    async def _carry_over(self, group: str, new: Contribution, keep: Collection[str]) -> None:
        """Give kept episodes what extraction noted on them."""
        columns = ["uuid", "entity_edges", "metadata"]
        stored = {
            row["uuid"]: row for row in await self._tables.select_in(group, "episodes", "uuid", keep, columns)
        }
        for episode in new.episodes:
            row = stored.get(episode["uuid"])
            if row is None:
                continue
            noted = {**json.loads(row["metadata"] or "{}"), **json.loads(episode["metadata"])}
            episode["entity_edges"] = sorted({*episode["entity_edges"], *row["entity_edges"]})
            episode["metadata"] = json.dumps(noted, ensure_ascii=True)

    async def _transact(
        self,
        plan: Contributions,
        new: Contribution,
        stored_rows: Mapping[str, Row] | None = None,
        version: tuple[str, int] | None = None,
        keep: frozenset[str] = frozenset(),
    ) -> None:
        """``stored_rows``: the entity rows at the table's ``version`` that the contribution was built from."""

        async def work(transaction: Any) -> None:
            await transaction.begin()
            # ``begin`` refreshed the table, so an equal version means equal rows.
            if version is None or version != await self._tables.version(plan.group, "entities"):
                await self._check_entities(plan, stored_rows or {})
            before = await before_change(self._tables, plan.group, plan.documents, keep)
            _keep_moments(before, new)
            await self._clear(transaction, plan, before, new)
            await self._mirror.put(transaction, "episodes", new.episodes)
            await self._mirror.put(transaction, "entities", new.entities)
            await self._mirror.put(transaction, "mentions", new.mentions)
            await self._mirror.put(transaction, "facts", new.facts)

        await self._execute_write(work)

    async def _check_entities(self, plan: Contributions, stored_rows: Mapping[str, Row]) -> None:
        columns = ["uuid", "name", "labels"]
        rows = await self._tables.select_in(plan.group, "entities", "uuid", plan.entities, columns)
        if {row["uuid"]: row for row in rows} != {
            uuid: {column: row[column] for column in columns} for uuid, row in stored_rows.items()
        }:
            raise _EntitiesChanged

    async def _clear(self, transaction: Any, plan: Contributions, before: Before, new: Contribution) -> None:
        """Delete the documents' obsolete rows from the graph, and note the deletions for LanceDB."""
        group, documents, named_now = plan.group, plan.documents, set(plan.entities)
        shared = shared_facts(before)
        keep = {row["uuid"] for row in new.episodes}
        facts = {row["uuid"] for row in new.facts} | set(shared)
        gone_facts = set(before.facts) - facts
        gone_mentions = (
            before.mentions.keys() - {row["uuid"] for row in new.mentions} - set(before.kept_mentions)
        )
        candidates = _entities_of(before.facts, before.mentions)
        kept = _entities_of(shared, before.kept_mentions)
        orphans = await self._orphans(group, documents, candidates - named_now - kept)

        run = transaction.run
        await self._mirror.delete_edges(run, gone_facts, "facts")
        gone_nodes = (before.episodes.keys() - keep) | orphans
        if gone_nodes:
            await self._mirror.delete_nodes(run, gone_nodes)
            transaction.change.delete_nodes(gone_nodes, group)
        # Deleting a node deletes its mentions; deleting a mention alone scans all mentions of the graph.
        alone = {uuid for uuid in gone_mentions if gone_nodes.isdisjoint(_ends(before.mentions[uuid]))}
        await self._mirror.delete_edges(run, alone, "mentions")
        if shared:
            await self._mirror.put(transaction, "facts", list(shared.values()))
        transaction.change.put("mentions", before.kept_mentions.values())
        await self._summarise(transaction, group, before, gone_facts | gone_mentions, candidates - orphans)
        await self._take_labels_back(transaction, plan, before, new, orphans)
        transaction.change.documents.setdefault(group, set()).update(documents)
        transaction.change.candidates.setdefault(group, set()).update(candidates | named_now)

    async def _summarise(
        self,
        transaction: Any,
        group: str,
        before: Before,
        removals: Collection[str],
        entities: Collection[str],
    ) -> None:
        """Remake the summaries that extraction wrote from facts and mentions that are now gone."""
        touched = touched_by_reading(before.facts, before.mentions, before.episode_ids, removals) & set(
            entities
        )
        changed = await without_facts(self._tables, group, touched, removals)
        if changed:
            await self._mirror.put(transaction, "entities", changed)

    async def _take_labels_back(
        self,
        transaction: Any,
        plan: Contributions,
        before: Before,
        new: Contribution,
        orphans: Collection[str],
    ) -> None:
        """Remove from the remaining entities the labels that only these documents gave and no longer give."""
        lost: dict[str, set[str]] = {}
        for uuid, row in before.mentions.items():
            entity = row["target_uuid"]
            if uuid not in before.kept_mentions and entity not in orphans:
                now = plan.entities[entity].labels if entity in plan.entities else ()
                lost.setdefault(entity, set()).update(set(row["entity_labels"] or ()) - set(now))
        lost = {entity: labels for entity, labels in lost.items() if labels}
        given = await labels_given(self._tables, plan.group, lost, outside(plan.documents))
        for entity, labels in given.items():
            labels.update(plan.entities[entity].labels if entity in plan.entities else ())
        for row in new.entities:
            if row["uuid"] in given:
                row["labels"] = sorted(given[row["uuid"]])
        rows = await relabel(self._tables, plan.group, given)
        summarised = transaction.change.rows.get((plan.group, "entities"), {})
        rows = [{**row, **summarised.get(row["uuid"], {}), "labels": row["labels"]} for row in rows]
        for label in sorted(set().union(*lost.values())):
            gone = [row["uuid"] for row in rows if label in lost[row["uuid"]] and label not in row["labels"]]
            await self._mirror.remove_label(transaction.run, label, gone)
        await self._mirror.put(transaction, "entities", rows)

    async def _orphans(self, group: str, documents: Collection[str], candidates: set[str]) -> set[str]:
        """Candidates that nothing outside the documents names."""
        return candidates - await named_entities(self._tables, group, candidates, outside(documents))

    async def _vectors(
        self, plan: Contributions, given_vectors: Mapping[str, FloatArray]
    ) -> dict[str, FloatArray]:
        """Stored vectors where the text is the same, then the given ones; the others embedded, each text once."""
        vectors, wanted, moved = await stored_vectors(self._tables, plan)
        known = {**given_vectors, **moved}
        for batch in batches(sorted(set(wanted.values()) - known.keys()), EMBED_BATCH):
            known |= dict(zip(batch, await self._embedding.embed_passages(batch), strict=True))
        return vectors | {uuid: known[text] for uuid, text in wanted.items()}


def _changed_entities(plan: Contributions, stored_rows: Mapping[str, Row]) -> dict[str, Entity]:
    """The plan's resolved entities that have to be written."""
    entities = {uuid: settle_entity(entity, stored_rows.get(uuid)) for uuid, entity in plan.entities.items()}
    return {
        uuid: entity
        for uuid, entity in entities.items()
        if uuid not in stored_rows or not is_settled(entity, stored_rows[uuid])
    }


def _ends(row: Row) -> tuple[str, str]:
    return row["source_uuid"], row["target_uuid"]


def _entities_of(facts: Mapping[str, Row], mentions: Mapping[str, Row]) -> set[str]:
    """Uuids of the entities that the rows name."""
    ends = {end for row in facts.values() for end in _ends(row)}
    return ends | {row["target_uuid"] for row in mentions.values()}


def _keep_moments(before: Before, new: Contribution) -> None:
    """Rows that were stored before keep their ``created_at``."""
    for made, stored in (
        (new.episodes, before.episodes),
        (new.facts, before.facts),
        (new.mentions, before.mentions),
    ):
        for row in made:
            if row["uuid"] in stored:
                row["created_at"] = stored[row["uuid"]]["created_at"]
