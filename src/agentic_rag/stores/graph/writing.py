"""Replacing and removing whole documents: embed first, then one transaction."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agentic_rag.domain import DocumentGraph, Entity
from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.stores.batch import batches
from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.chunks import READ_BY
from agentic_rag.stores.graph.contribution import (
    Contribution,
    Contributions,
    built,
    is_settled,
    planned,
    settled,
    texts,
)
from agentic_rag.stores.graph.repair import named
from agentic_rag.stores.graph.schemas import Row
from agentic_rag.stores.graph.server_graph import NoGraph
from agentic_rag.stores.graph.shared_entities import (
    labels_given,
    relabelled,
    touched_by_reading,
    without_facts,
)
from agentic_rag.stores.graph.tables import GraphTables

EMBED_BATCH = 2_048
"""Texts a call to the embedding; bounds the memory of one call."""

REMOVED_TOGETHER = 1_000
"""Documents a transaction: what one changes is kept in memory."""


@dataclass(frozen=True, slots=True)
class Before:
    """The documents' stored rows before the change."""

    episodes: Mapping[str, Row]
    going: frozenset[str]
    """Episodes that no longer support facts, unless the new contribution says so."""
    read: frozenset[str]
    """Episodes that a chat model has read."""
    facts: Mapping[str, Row]
    mentions: Mapping[str, Row]
    kept_mentions: Mapping[str, Row]


class _EntitiesChanged(Exception):
    """An entity that the documents name was made, deleted, renamed or labelled meanwhile."""


class GraphWriter:
    """Makes documents' episodes, facts and mentions exactly the given ones.

    Args:
        tables: LanceDB, read here and written by the transaction's commit.
        driver: its sessions give transactions with a ``change``.
        graph: how a server is written.
        embedding: for names and sentences that have no stored vector yet.
    """

    def __init__(self, tables: GraphTables, driver: Any, graph: NoGraph, embedding: Embedding) -> None:
        self._tables = tables
        self._driver = driver
        self._graph = graph
        self._embedding = embedding

    async def replace(
        self,
        dataset: str,
        group: str,
        graphs: Sequence[DocumentGraph],
        keep: Collection[str],
        known: Mapping[str, FloatArray],
    ) -> None:
        """Embed what is new, without any lock; then change all the documents together.

        ``keep``: episodes whose stored facts and mentions stay beside the given ones. ``known``: vectors by text.
        """
        plan = await asyncio.to_thread(planned, dataset, group, graphs)
        while not await self._replaced(plan, frozenset(keep) & set(plan.chunks), known):
            pass  # another write changed an entity that this one counted on

    async def new_texts(self, dataset: str, group: str, graphs: Sequence[DocumentGraph]) -> list[str]:
        """What ``replace`` would embed now, each text once."""
        plan = await asyncio.to_thread(planned, dataset, group, graphs)
        stored = await self._stored_entities(plan)
        _, wanted, known = await self._stored_vectors(plan, _changed(plan, stored), stored)
        return sorted(set(wanted.values()) - known.keys())

    async def _replaced(
        self, plan: Contributions, keep: frozenset[str], known: Mapping[str, FloatArray]
    ) -> bool:
        version = await self._tables.version(plan.group, "entities")
        stored = await self._stored_entities(plan)
        changed = _changed(plan, stored)
        vectors = await self._vectors(plan, changed, stored, known)
        now = datetime.now(UTC)
        contribution = await asyncio.to_thread(built, plan, changed, stored, vectors, now)
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
        stored: Mapping[str, Row] | None = None,
        version: tuple[str, int] | None = None,
        keep: frozenset[str] = frozenset(),
    ) -> None:
        """``stored``: the entity rows at the table's ``version`` that the contribution was built from."""

        async def work(transaction: Any) -> None:
            await transaction.begin()
            # ``begin`` refreshed the table, so an equal version means equal rows.
            if version is None or version != await self._tables.version(plan.group, "entities"):
                await self._check_entities(plan, stored or {})
            before = await self._before(plan.group, plan.documents, keep)
            _keep_moments(before, new)
            await self._clear(transaction, plan, before, new)
            await self._graph.put(transaction, "episodes", new.episodes)
            await self._graph.put(transaction, "entities", new.entities)
            await self._graph.put(transaction, "mentions", new.mentions)
            await self._graph.put(transaction, "facts", new.facts)

        session = self._driver.session()
        try:
            await session.execute_write(work)
        finally:
            await session.close()

    async def _check_entities(self, plan: Contributions, stored: Mapping[str, Row]) -> None:
        columns = ["uuid", "name", "labels"]
        rows = await self._tables.select_in(plan.group, "entities", "uuid", plan.entities, columns)
        if {row["uuid"]: row for row in rows} != {
            uuid: {column: row[column] for column in columns} for uuid, row in stored.items()
        }:
            raise _EntitiesChanged

    async def _clear(
        self,
        transaction: Any,
        plan: Contributions,
        before: Before,
        new: Contribution,
    ) -> None:
        """Delete the documents' obsolete rows from the graph, and note the deletions for LanceDB."""
        group, documents, named_now = plan.group, plan.documents, set(plan.entities)
        shared = _shared(before)
        keep = {row["uuid"] for row in new.episodes}
        facts = {row["uuid"] for row in new.facts} | set(shared)
        gone_facts = set(before.facts) - facts
        gone_mentions = (
            before.mentions.keys() - {row["uuid"] for row in new.mentions} - set(before.kept_mentions)
        )
        candidates = {end for row in before.facts.values() for end in _ends(row)}
        candidates |= {row["target_uuid"] for row in before.mentions.values()}
        kept = {end for row in shared.values() for end in _ends(row)}
        kept |= {row["target_uuid"] for row in before.kept_mentions.values()}
        orphans = await self._orphans(group, documents, candidates - named_now - kept)

        run = transaction.run
        await self._graph.delete_edges(run, gone_facts, "facts")
        gone_nodes = (before.episodes.keys() - keep) | orphans
        if gone_nodes:
            await self._graph.delete_nodes(run, gone_nodes)
            transaction.change.delete_nodes(gone_nodes, group)
        # Deleting a node deletes its mentions; deleting a mention alone scans all mentions of the graph.
        alone = {uuid for uuid in gone_mentions if gone_nodes.isdisjoint(_ends(before.mentions[uuid]))}
        await self._graph.delete_edges(run, alone, "mentions")
        if shared:
            await self._graph.put(transaction, "facts", list(shared.values()))
        transaction.change.put("mentions", before.kept_mentions.values())
        await self._summarise(transaction, group, before, gone_facts | gone_mentions, candidates - orphans)
        await self._take_labels_back(transaction, plan, before, new, orphans)
        transaction.change.documents.setdefault(group, set()).update(documents)
        touched = candidates | named_now
        transaction.change.candidates.setdefault(group, set()).update(touched)

    async def _summarise(
        self, transaction: Any, group: str, before: Before, gone: Collection[str], entities: Collection[str]
    ) -> None:
        """Remake the summaries that extraction wrote from facts and mentions that are now gone."""
        touched = touched_by_reading(before.facts, before.mentions, before.read, gone) & set(entities)
        changed = await without_facts(self._tables, group, touched, gone)
        if changed:
            await self._graph.put(transaction, "entities", changed)

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
        given = await labels_given(self._tables, plan.group, lost, _outside(plan.documents))
        for entity, labels in given.items():
            labels.update(plan.entities[entity].labels if entity in plan.entities else ())
        for row in new.entities:
            if row["uuid"] in given:
                row["labels"] = sorted(given[row["uuid"]])
        rows = await relabelled(self._tables, plan.group, given)
        summarised = transaction.change.rows.get((plan.group, "entities"), {})
        rows = [{**row, **summarised.get(row["uuid"], {}), "labels": row["labels"]} for row in rows]
        for label in sorted(set().union(*lost.values())):
            gone = [row["uuid"] for row in rows if label in lost[row["uuid"]] and label not in row["labels"]]
            await self._graph.remove_label(transaction.run, label, gone)
        await self._graph.put(transaction, "entities", rows)

    async def _before(self, group: str, documents: Collection[str], keep: frozenset[str]) -> Before:
        """Rows of the documents, and facts of others that also rest on their episodes."""
        of = sql.is_in("document_id", documents)
        columns = ["uuid", "created_at", "metadata"]
        episodes = {row["uuid"]: row for row in await self._tables.select(group, "episodes", of, columns)}
        uuids = set(episodes)
        facts = await self._tables.select(group, "facts", of)
        others = sql.every([sql.has_any("episodes", uuids), _outside(documents)])
        facts += await self._tables.select(group, "facts", others) if uuids else []
        elsewhere = {episode for row in facts for episode in row["episodes"]} - uuids
        there = await self._tables.select_in(group, "episodes", "uuid", elsewhere, ["uuid"])
        # An interrupted write may have replaced the episodes of a document, and its facts not yet.
        going = (uuids | elsewhere) - {row["uuid"] for row in there} - keep
        staying = [row for row in facts if not going.issuperset(row["episodes"])]
        rows = await self._with_vectors(group, staying)
        mentions = await self._tables.select(group, "mentions", of)
        return Before(
            episodes=episodes,
            going=frozenset(going),
            read=frozenset(
                uuid for uuid, row in episodes.items() if READ_BY in json.loads(row["metadata"] or "{}")
            ),
            facts={row["uuid"]: rows.get(row["uuid"], row) for row in facts},
            mentions={row["uuid"]: row for row in mentions},
            kept_mentions={row["uuid"]: row for row in mentions if row["source_uuid"] in keep},
        )

    async def _with_vectors(self, group: str, rows: Sequence[Row]) -> dict[str, Row]:
        vectors = await self._tables.vectors(group, "facts", [row["uuid"] for row in rows])
        return {row["uuid"]: {**row, "vector": vectors[row["uuid"]]} for row in rows}

    async def _orphans(self, group: str, documents: Collection[str], candidates: set[str]) -> set[str]:
        """Candidates that nothing outside the documents names."""
        return candidates - await named(self._tables, group, candidates, _outside(documents))

    async def _stored_entities(self, plan: Contributions) -> dict[str, Row]:
        rows = await self._tables.select_in(plan.group, "entities", "uuid", plan.entities)
        return {row["uuid"]: row for row in rows}

    async def _vectors(
        self,
        plan: Contributions,
        entities: Mapping[str, Entity],
        stored: Mapping[str, Row],
        given: Mapping[str, FloatArray],
    ) -> dict[str, FloatArray]:
        """Stored vectors where the text is the same, then the given ones; the others embedded, each text once."""
        vectors, wanted, moved = await self._stored_vectors(plan, entities, stored)
        known = {**given, **moved}
        for batch in batches(sorted(set(wanted.values()) - known.keys()), EMBED_BATCH):
            known |= dict(zip(batch, await self._embedding.embed_passages(batch), strict=True))
        return vectors | {uuid: known[text] for uuid, text in wanted.items()}

    async def _stored_vectors(
        self, plan: Contributions, entities: Mapping[str, Entity], stored: Mapping[str, Row]
    ) -> tuple[dict[str, FloatArray], dict[str, str], dict[str, FloatArray]]:
        """Stored vectors by uuid; texts by uuid without a vector; vectors of moved documents' texts, by text."""
        same = [uuid for uuid, entity in entities.items() if stored.get(uuid, {}).get("name") == entity.name]
        vectors = await self._tables.vectors(plan.group, "entities", same)
        vectors |= await self._tables.vectors(plan.group, "facts", plan.facts)
        wanted = {uuid: text for uuid, text in texts(plan, entities).items() if uuid not in vectors}
        return vectors, wanted, await self._by_text(plan.group, plan.moved_from)

    async def _by_text(self, group: str, documents: Collection[str]) -> dict[str, FloatArray]:
        """Vectors of the documents' facts, by fact sentence."""
        if not documents:
            return {}
        rows = await self._tables.select(
            group, "facts", sql.is_in("document_id", documents), ["uuid", "fact"]
        )
        vectors = await self._tables.vectors(group, "facts", [row["uuid"] for row in rows])
        return {row["fact"]: vectors[row["uuid"]] for row in rows if row["uuid"] in vectors}


def _changed(plan: Contributions, stored: Mapping[str, Row]) -> dict[str, Entity]:
    """The plan's resolved entities that have to be written."""
    entities = {uuid: settled(entity, stored.get(uuid)) for uuid, entity in plan.entities.items()}
    return {
        uuid: entity
        for uuid, entity in entities.items()
        if uuid not in stored or not is_settled(entity, stored[uuid])
    }


def _outside(documents: Collection[str]) -> str:
    """What is not of the documents."""
    return f"(document_id IS NULL OR NOT {sql.is_in('document_id', documents)})"


def _ends(row: Row) -> tuple[str, str]:
    return row["source_uuid"], row["target_uuid"]


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


def _shared(before: Before) -> dict[str, Row]:
    """Facts that a remaining episode supports too, with the remaining episodes only."""
    kept: dict[str, Row] = {}
    for uuid, row in before.facts.items():
        remaining = [episode for episode in row["episodes"] if episode not in before.going]
        if remaining and "vector" in row:
            kept[uuid] = {**row, "episodes": remaining}
    return kept
