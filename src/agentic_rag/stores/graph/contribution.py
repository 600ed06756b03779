"""What documents add to a graph, as rows of its tables; pure.

``plan_contributions`` assigns identities, ``build_contribution`` makes the rows once every fact has its vector.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agentic_rag.domain import Chunk, DocumentGraph, Entity, Fact, Mention
from agentic_rag.domain.identity import entity_uuid, episode_uuid, fact_uuid, mention_uuid
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import InputError
from agentic_rag.stores.graph.chunks import episode_metadata
from agentic_rag.stores.graph.rows import entity_row, episode_row, fact_row, utc
from agentic_rag.stores.graph.schemas import Row

UNDATED_INSTANT = datetime(1970, 1, 1, tzinfo=UTC)
"""``valid_at`` of an episode whose chunk has no date: Graphiti's episodes must have one."""


@dataclass(frozen=True, slots=True)
class Contributions:
    """Everything the documents contribute, by uuid, before any text is embedded."""

    group: str
    documents: frozenset[str]
    moved_from: frozenset[str] = frozenset()
    """Earlier ids of moved documents, whose stored facts have reusable vectors: see
    ``DocumentGraph.moved_from``."""
    chunks: Mapping[str, Chunk] = field(default_factory=dict)
    entities: Mapping[str, Entity] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    mentions: Mapping[str, Mention] = field(default_factory=dict)
    """Of an entity in a chunk, a fact's ends included."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Mention uuid → labels that the mention's document gives the entity."""
    episode_of: Mapping[str, str] = field(default_factory=dict)
    """Chunk id → episode uuid."""
    entity_of: Mapping[str, str] = field(default_factory=dict)
    """Entity key → uuid."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """The rows of ``Contributions``, with vectors."""

    episodes: Sequence[Row] = ()
    entities: Sequence[Row] = ()
    facts: Sequence[Row] = ()
    mentions: Sequence[Row] = ()


def plan_contributions(dataset: str, group: str, graphs: Sequence[DocumentGraph]) -> Contributions:
    """Identities of everything given.

    Raises ``InputError`` for a document given twice, an id with a NUL, or a fact or mention of a chunk
    that is not its document's.
    """
    documents = [graph.document_id for graph in graphs]
    if len(set(documents)) != len(documents):
        raise InputError("the same document id is given twice in one call")
    if any("\0" in document for document in documents):
        raise InputError("a document id must not contain a NUL character")
    for graph in graphs:
        _check_chunks(graph)
    episode_of = {chunk.id: episode_uuid(dataset, chunk.id) for graph in graphs for chunk in graph.chunks}
    facts = [fact for graph in graphs for fact in graph.facts]
    mentions = [mention for graph in graphs for mention in graph.all_mentions()]
    entities = _merge_entities(graphs, mentions)
    entity_of = {key: entity_uuid(dataset, key) for key in entities}
    given: dict[tuple[str, str], tuple[str, ...]] = {}
    for graph in graphs:
        for entity in graph.entities:
            place = (graph.document_id, entity.key)
            given[place] = (*given.get(place, ()), *entity.labels)
    document_of = {chunk.id: graph.document_id for graph in graphs for chunk in graph.chunks}
    mention_of = {mention_uuid(dataset, m.chunk_id, m.entity): m for m in mentions}
    return Contributions(
        group=group,
        documents=frozenset(documents),
        moved_from=frozenset(graph.moved_from for graph in graphs if graph.moved_from is not None),
        chunks={episode_of[chunk.id]: chunk for graph in graphs for chunk in graph.chunks},
        entities={entity_of[key]: entity for key, entity in entities.items()},
        facts={fact_uuid(dataset, f.chunk_id, f.source, f.name, f.target, f.text): f for f in facts},
        mentions=mention_of,
        labels={u: given.get((document_of[m.chunk_id], m.entity), ()) for u, m in mention_of.items()},
        episode_of=episode_of,
        entity_of=entity_of,
    )


def settle_entity(entity: Entity, stored_row: Row | None) -> Entity:
    """The entity as it will be stored, before ``GraphWriter`` removes labels that its documents no longer give.

    Labels add up; the stored name stays unless a new kind of thing names it.

    So a note's title wins over other spellings in any order of writing.
    """
    if stored_row is None:
        return entity
    known = set(stored_row["labels"])
    name = entity.name if set(entity.labels) - known else stored_row["name"]
    return Entity(entity.key, name, tuple(sorted(known | set(entity.labels))))


def is_settled(entity: Entity, stored_row: Row) -> bool:
    """Whether the stored row says the same already, so that it need not be written."""
    return bool(entity.name == stored_row["name"] and set(entity.labels) <= set(stored_row["labels"]))


def build_contribution(
    plan: Contributions,
    entities: Mapping[str, Entity],
    stored_rows: Mapping[str, Row],
    vectors: Mapping[str, FloatArray],
    now: datetime,
) -> Contribution:
    """The rows; summary and attributes of entities that Graphiti enriched are kept. ``vectors``: of the facts, by uuid."""
    return Contribution(
        episodes=_episodes(plan, now),
        entities=[
            _entity(uuid, entity, plan.group, stored_rows.get(uuid), now) for uuid, entity in entities.items()
        ],
        facts=[_fact(uuid, fact, plan, vectors[uuid], now) for uuid, fact in plan.facts.items()],
        mentions=[
            {
                "uuid": uuid,
                "group_id": plan.group,
                "created_at": now,
                "source_uuid": plan.episode_of[mention.chunk_id],
                "target_uuid": plan.entity_of[mention.entity],
                "entity_labels": list(plan.labels[uuid]),
            }
            for uuid, mention in plan.mentions.items()
        ],
    )


def _check_chunks(graph: DocumentGraph) -> None:
    own = {chunk.id for chunk in graph.chunks}
    for chunk_id in [*(f.chunk_id for f in graph.facts), *(m.chunk_id for m in graph.mentions)]:
        if chunk_id not in own:
            raise InputError(
                f"document {graph.document_id!r} has a fact or mention of chunk {chunk_id!r}, "
                "which is not one of its chunks"
            )
    for chunk in graph.chunks:
        if chunk.document_id != graph.document_id:
            raise InputError(
                f"chunk {chunk.id!r} belongs to {chunk.document_id!r}, not {graph.document_id!r}"
            )


def _merge_entities(graphs: Sequence[DocumentGraph], mentions: Iterable[Mention]) -> dict[str, Entity]:
    """One entity a key: the first spelling of those with the most labels, all labels.

    One that no fact or mention names is left out; one that is named and not given is called by its key.
    """
    found: dict[str, Entity] = {}
    most: dict[str, int] = {}
    for entity in (entity for graph in graphs for entity in graph.entities):
        before = found.get(entity.key)
        if before is None:
            found[entity.key] = entity
            most[entity.key] = len(entity.labels)
        elif before != entity:
            richer = len(entity.labels) > most[entity.key]
            most[entity.key] = max(most[entity.key], len(entity.labels))
            labels = tuple(sorted({*before.labels, *entity.labels}))
            found[entity.key] = Entity(entity.key, (entity if richer else before).name, labels)
    return {m.entity: found.get(m.entity, Entity(m.entity, m.entity)) for m in mentions}


def _episodes(plan: Contributions, now: datetime) -> list[Row]:
    facts_of: dict[str, list[str]] = {}
    for uuid, fact in plan.facts.items():
        facts_of.setdefault(fact.chunk_id, []).append(uuid)
    return [
        episode_row(
            {
                "uuid": uuid,
                "name": chunk.id,
                "group_id": plan.group,
                "source": "text",
                "source_description": chunk.path,
                "content": chunk.text,
                "created_at": now,
                "valid_at": utc(chunk.date) or UNDATED_INSTANT,
                "entity_edges": sorted(facts_of.get(chunk.id, [])),
                "metadata": json.dumps(episode_metadata(chunk), ensure_ascii=True),
            },
            chunk,
        )
        for uuid, chunk in plan.chunks.items()
    ]


def _entity(uuid: str, entity: Entity, group: str, stored_row: Row | None, now: datetime) -> Row:
    return entity_row(
        {
            "uuid": uuid,
            "name": entity.name,
            "group_id": group,
            "labels": entity.labels,
            "created_at": stored_row["created_at"] if stored_row else now,
            "summary": stored_row["summary"] if stored_row else "",
            "attributes": stored_row["attributes"] if stored_row else "{}",
        }
    )


def _fact(uuid: str, fact: Fact, plan: Contributions, vector: FloatArray, now: datetime) -> Row:
    chunk = plan.chunks[plan.episode_of[fact.chunk_id]]
    return fact_row(
        {
            "uuid": uuid,
            "group_id": plan.group,
            "source_uuid": plan.entity_of[fact.source],
            "target_uuid": plan.entity_of[fact.target],
            "name": fact.name,
            "fact": fact.text,
            "vector": vector,
            "episodes": [plan.episode_of[fact.chunk_id]],
            "created_at": now,
            "expired_at": None,
            "valid_at": utc(fact.valid_at),
            "invalid_at": utc(fact.invalid_at),
            "reference_time": utc(chunk.date),
            "attributes": "{}",
        }
    )
