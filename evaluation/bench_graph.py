"""Write, open and search times of the graph store and of stock Graphiti on FalkorDB: 50,000 entities, 100,000 facts.

    python evaluation/bench_graph.py [--quick] [--json FILE]

Graphiti stores the same entities and facts by its own bulk write, and gets the same questions through its own
combined hybrid search. The data are synthetic and the vectors random, 384 dimensions, so the figures measure the
stores and not quality. Needs the development tools (FalkorDB's wheel). ``--quick`` uses a fifth of the entities
and facts. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from agentic_rag.domain import Chunk, DocumentGraph, Entity, Fact, GraphHit, Mention
from agentic_rag.domain.identity import entity_uuid, episode_uuid, group_id
from agentic_rag.domain.ports import FloatArray
from agentic_rag.stores.graphiti.engine import NoLanguageModel, PassthroughReranker
from agentic_rag.stores.graphiti.store import GraphitiStore
from figures import Row, options, report, row

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from graph_servers import GraphServer, falkordb_server

ENTITIES, QUICK_ENTITIES = 50_000, 10_000
FACTS_AN_ENTITY, ENTITIES_A_DOCUMENT, CHUNKS_A_DOCUMENT = 2, 20, 5
DIMENSION = 384
DOCUMENTS_A_CALL = 100
SEARCHES, QUICK_SEARCHES, GRAPHITIS_SEARCHES = 400, 60, 20
CHECKED, LIMIT = 50, 10
CONCURRENT = 50
BEGINNING, DAYS = datetime(2015, 1, 1, tzinfo=UTC), 3650
AS_OF = datetime(2020, 1, 1, tzinfo=UTC)
SEARCH_FLOOR_MS, DATED_FLOOR_MS, OPEN_FLOOR_MS = 60.0, 80.0, 3_000.0
GRAPHITI_FLOOR, BULK_FLOOR = 50.0, 5.0
_WORDS = [
    f"{a}{b}{c}"
    for a in ("ba", "ke", "lo", "mi", "tu")
    for b in ("ran", "sel", "tik", "vom")
    for c in "aeiou"
]


class RandomEmbedding:
    """Random unit vectors per text, made beforehand, so that the write is measured without a model."""

    name = "random"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._made: dict[str, FloatArray] = {}

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        vectors = [self.vector(text) for text in texts]
        return np.stack(vectors) if vectors else np.empty((0, DIMENSION), np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return await self.embed_queries(texts)

    def vector(self, text: str) -> FloatArray:
        if text not in self._made:
            drawn = np.random.default_rng(list(text.encode())).standard_normal(DIMENSION, dtype=np.float32)
            self._made[text] = np.asarray(drawn / np.linalg.norm(drawn), dtype=np.float32)
        return self._made[text]


EMBEDDING = RandomEmbedding()


def documents(count: int) -> list[DocumentGraph]:
    """Documents whose facts join random entities; every entity occurs."""
    chance = random.Random(7)
    entities = [
        Entity(f"entity {i}", f"Entity {i} {chance.choice(_WORDS)}", ("Thing",)) for i in range(count)
    ]
    graphs = []
    for number in range(count // ENTITIES_A_DOCUMENT):
        name = f"note-{number}.md"
        chunks = [_chunk(name, i, chance) for i in range(CHUNKS_A_DOCUMENT)]
        own = entities[number * ENTITIES_A_DOCUMENT : (number + 1) * ENTITIES_A_DOCUMENT]
        facts, mentions = [], []
        for i in range(len(own) * FACTS_AN_ENTITY):
            source, target = own[i % len(own)], chance.choice(entities)
            sentence = f"{source.name} {' '.join(chance.choices(_WORDS, k=8))} {target.name}"
            chunk = chunks[i % len(chunks)].id
            begun = BEGINNING + timedelta(days=chance.randrange(DAYS)) if i % 2 else None
            ended = begun + timedelta(days=chance.randrange(1, DAYS)) if begun and i % 4 == 1 else None
            facts.append(Fact(source.key, target.key, "RELATES", sentence, chunk, begun, ended))
            mentions.append(Mention(source.key, chunk))
        named = {entity.key: entity for entity in own}
        named |= {f.target: entities[int(f.target.removeprefix("entity "))] for f in facts}
        graphs.append(
            DocumentGraph(name, tuple(chunks), tuple(named.values()), tuple(facts), tuple(mentions))
        )
    return graphs


def _chunk(document: str, ordinal: int, chance: random.Random) -> Chunk:
    text = " ".join(chance.choices(_WORDS, k=60))
    return Chunk(
        f"{document}#{ordinal}", document, text, 0, len(text), ordinal, document, document, "paragraph"
    )


@dataclass(frozen=True, slots=True)
class Question:
    """Words and their vector."""

    text: str
    vector: FloatArray


def questions(count: int, seed: int) -> list[Question]:
    """Questions of six random words."""
    chance = random.Random(seed)
    texts = [" ".join(chance.choices(_WORDS, k=6)) for _ in range(count)]
    return [Question(text, EMBEDDING.vector(text)) for text in texts]


@dataclass(slots=True)
class Measured:
    """Times of one store: seconds, and milliseconds of each search, ascending."""

    rows: int = 0
    writing: float = 0.0
    searches: Sequence[float] = ()
    dated: Sequence[float] = ()

    def rate(self) -> float:
        """Entities, facts, passages and mentions written a second."""
        return self.rows / self.writing


@dataclass(slots=True)
class Ours(Measured):
    """Further measurements of our store."""

    optimizing: float = 0.0
    again: float = 0.0
    opening: float = 0.0
    first: float = 0.0
    together: float = 0.0
    """Seconds of ``CONCURRENT`` searches at once."""
    differing: int = 0
    """Number of these searches whose results differ from sequential ones."""
    inexact: int = 0
    """Number of searches by vector alone that missed one of the nearest facts."""
    undated: int = 0
    """Number of facts found that did not hold at the given time."""


async def measured(folder: Path, graphs: Sequence[DocumentGraph], searches: int) -> Ours:
    """Our store: written, closed, opened and searched."""
    found = Ours()
    await EMBEDDING.embed_passages(
        [text for one in graphs for text in (*(e.name for e in one.entities), *(f.text for f in one.facts))]
    )
    store = await _opened(folder)
    await store.counts("bench")  # imports LanceDB
    started = time.perf_counter()
    for start in range(0, len(graphs), DOCUMENTS_A_CALL):
        await store.replace_documents("bench", graphs[start : start + DOCUMENTS_A_CALL])
    found.writing = time.perf_counter() - started
    counts = await store.counts("bench")
    found.rows = counts.entities + counts.facts + counts.episodes + counts.mentions
    started = time.perf_counter()
    await store.optimize("bench")
    found.optimizing = time.perf_counter() - started
    started = time.perf_counter()
    await store.replace_documents("bench", graphs[:1])
    found.again = time.perf_counter() - started
    await store.close()

    started = time.perf_counter()
    store = await _opened(folder)
    found.opening = time.perf_counter() - started
    asked = questions(searches + 5, 11)
    started = time.perf_counter()
    await store.search("bench", asked[0].text, asked[0].vector, limit=LIMIT)
    found.first = time.perf_counter() - started

    async def plain(question: Question) -> list[GraphHit]:
        return await store.search("bench", question.text, question.vector, limit=LIMIT)

    async def dated(question: Question) -> list[GraphHit]:
        hits = await store.search("bench", question.text, question.vector, limit=LIMIT, as_of=AS_OF)
        found.undated += sum(not _holds(hit.valid_at, hit.invalid_at) for hit in hits if hit.kind == "edge")
        return hits

    found.searches = await _taken(plain, asked)
    found.dated = await _taken(dated, asked)
    one_by_one = [await plain(question) for question in asked[:CONCURRENT]]
    started = time.perf_counter()
    together = await asyncio.gather(*(plain(question) for question in asked[:CONCURRENT]))
    found.together = time.perf_counter() - started
    found.differing = sum(one != other for one, other in zip(one_by_one, together, strict=True))
    found.inexact = await _inexact(store, graphs)
    await store.close()
    return found


async def _inexact(store: GraphitiStore, graphs: Sequence[DocumentGraph]) -> int:
    """Number of checked searches that miss one of the nearest facts, with and without a date."""
    facts = [fact for graph in graphs for fact in graph.facts]
    vectors = await EMBEDDING.embed_passages([fact.text for fact in facts])
    holding = np.array([_holds(fact.valid_at, fact.invalid_at) for fact in facts])
    missed = 0
    for question in questions(CHECKED, 17):
        cosines = vectors @ question.vector
        for as_of, allowed in ((None, cosines), (AS_OF, np.where(holding, cosines, -2.0))):
            nearest = {facts[i].text for i in np.argsort(-allowed)[:LIMIT]}
            # The word occurs nowhere, so the results come from the vector.
            hits = await store.search("bench", "qqqq", question.vector, limit=LIMIT, as_of=as_of)
            missed += {hit.text for hit in hits if hit.kind == "edge"} != nearest
    return missed


def _holds(valid_at: datetime | None, invalid_at: datetime | None) -> bool:
    return (valid_at is None or valid_at <= AS_OF) and (invalid_at is None or invalid_at > AS_OF)


async def _opened(folder: Path) -> GraphitiStore:
    return await GraphitiStore.open(uri=str(folder / "lance"), folder=folder, embedding=EMBEDDING)


async def _taken(
    search: Callable[[Question], Awaitable[object]], asked: Sequence[Question], warming: int = 5
) -> list[float]:
    """Milliseconds of each search, ascending; the first ones open tables and fill caches."""
    taken = []
    for number, question in enumerate(asked):
        started = time.perf_counter()
        await search(question)
        if number >= warming:
            taken.append((time.perf_counter() - started) * 1e3)
    return sorted(taken)


async def of_graphiti(server: GraphServer, graphs: Sequence[DocumentGraph]) -> Measured:
    """Stock Graphiti on FalkorDB."""
    from graphiti_core import Graphiti
    from graphiti_core.driver.falkordb_driver import FalkorDriver
    from graphiti_core.search.search_config_recipes import COMBINED_HYBRID_SEARCH_RRF
    from graphiti_core.search.search_filters import ComparisonOperator, DateFilter, SearchFilters
    from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk

    host, _, port = server.uri.removeprefix("redis://").partition(":")
    driver = FalkorDriver(host, int(port), password=server.password, database=group_id("bench"))
    graphiti = Graphiti(
        graph_driver=driver,
        llm_client=NoLanguageModel(),
        embedder=_embedder(),
        cross_encoder=PassthroughReranker(),
    )
    await graphiti.build_indices_and_constraints()
    found = Measured()
    written: set[str] = set()
    for start in range(0, len(graphs), DOCUMENTS_A_CALL):
        rows = _as_graphitis(graphs[start : start + DOCUMENTS_A_CALL], written)
        found.rows += sum(len(part) for part in rows)
        started = time.perf_counter()
        await add_nodes_and_edges_bulk(driver, *rows, graphiti.embedder)
        found.writing += time.perf_counter() - started
    config = COMBINED_HYBRID_SEARCH_RRF.model_copy(deep=True)
    config.limit, config.community_config = LIMIT, None
    config.edge_config.sim_min_score = config.node_config.sim_min_score = 0.0
    begun = DateFilter(date=AS_OF, comparison_operator=ComparisonOperator.less_than_equal)
    not_over = DateFilter(date=AS_OF, comparison_operator=ComparisonOperator.greater_than)
    missing = DateFilter(comparison_operator=ComparisonOperator.is_null)
    as_of = SearchFilters(valid_at=[[begun], [missing]], invalid_at=[[not_over], [missing]])

    def searching(filters: SearchFilters) -> Callable[[Question], Awaitable[object]]:
        async def search(question: Question) -> object:
            return await graphiti.search_(
                question.text,
                config=config,
                group_ids=[group_id("bench")],
                search_filter=filters,
                query_vector=question.vector.tolist(),
            )

        return search

    asked = questions(GRAPHITIS_SEARCHES + 1, 11)
    found.searches = await _taken(searching(SearchFilters()), asked, warming=1)
    found.dated = await _taken(searching(as_of), asked, warming=1)
    await graphiti.close()
    return found


def _as_graphitis(graphs: Sequence[DocumentGraph], written: set[str]) -> tuple[list[Any], ...]:
    """Episodes, mentions, entities and facts as Graphiti's own objects, with their vectors; an entity once."""
    from graphiti_core.edges import EntityEdge, EpisodicEdge
    from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode

    group, now = group_id("bench"), datetime.now(UTC)
    episodes, mentions, entities, facts = [], [], [], []
    for graph in graphs:
        episodes += [
            EpisodicNode(
                uuid=episode_uuid("bench", chunk.id), name=chunk.id, group_id=group, source=EpisodeType.text,
                source_description="note", content=chunk.text, created_at=now, valid_at=now,
            )
            for chunk in graph.chunks
        ]  # fmt: skip
        mentions += [
            EpisodicEdge(
                source_node_uuid=episode_uuid("bench", one.chunk_id),
                target_node_uuid=entity_uuid("bench", one.entity),
                group_id=group,
                created_at=now,
            )
            for one in graph.mentions
        ]
        for entity in graph.entities:
            if entity.key not in written:
                written.add(entity.key)
                entities.append(
                    EntityNode(
                        uuid=entity_uuid("bench", entity.key), name=entity.name, group_id=group,
                        created_at=now, name_embedding=EMBEDDING.vector(entity.name).tolist(),
                    )
                )  # fmt: skip
        facts += [
            EntityEdge(
                source_node_uuid=entity_uuid("bench", fact.source),
                target_node_uuid=entity_uuid("bench", fact.target),
                group_id=group, name=fact.name, fact=fact.text, created_at=now, valid_at=fact.valid_at,
                invalid_at=fact.invalid_at, episodes=[episode_uuid("bench", fact.chunk_id)],
                fact_embedding=EMBEDDING.vector(fact.text).tolist(),
            )
            for fact in graph.facts
        ]  # fmt: skip
    return episodes, mentions, entities, facts


def _embedder() -> Any:
    from graphiti_core.embedder import EmbedderClient

    class Embedder(EmbedderClient):  # type: ignore[misc]
        async def create(self, input_data: Any) -> list[float]:
            return [float(x) for x in EMBEDDING.vector(str(input_data))]

    return Embedder()


def rows_of(ours: Ours, theirs: Measured, size: str) -> list[Row]:
    """The report's rows."""
    peer = "Graphiti on FalkorDB"

    def p95(taken: Sequence[float]) -> float:
        return float(np.percentile(taken, 95))

    plain, dated, stock = p95(ours.searches), p95(ours.dated), p95(theirs.searches)
    return [
        row(f"combined search p95, {size}", "ms", plain, floor=SEARCH_FLOOR_MS, peer=peer, theirs=stock),
        row(
            "the same with a date p95", "ms", dated, floor=DATED_FLOOR_MS, peer=peer, theirs=p95(theirs.dated)
        ),
        row("Graphiti's time as a multiple of ours", "×", stock / plain, bound="min", floor=GRAPHITI_FLOOR),
        row("write, without embedding", "rows/s", ours.rate(), bound="min", peer=peer, theirs=theirs.rate()),
        row(
            "our rows a second as a multiple of Graphiti's",
            "×",
            ours.rate() / theirs.rate(),
            bound="min",
            floor=BULK_FLOOR,
        ),
        row(f"{2 * CHECKED} searches by vector that miss a nearest fact", "searches", ours.inexact, floor=0),
        row("facts found that did not hold on the day", "facts", ours.undated, floor=0),
        row(
            f"{CONCURRENT} searches at once: other results than one by one",
            "searches",
            ours.differing,
            floor=0,
        ),
        row(f"{CONCURRENT} searches at once", "s", ours.together),
        row("open the store", "ms", ours.opening * 1e3, floor=OPEN_FLOOR_MS),
        row("first search after that", "ms", ours.first * 1e3),
        row("write one document again", "ms", ours.again * 1e3),
        row("optimize", "s", ours.optimizing),
    ]


async def _both(entities: int, searches: int) -> tuple[Ours, Measured]:
    graphs = documents(entities)
    with tempfile.TemporaryDirectory() as folder:
        ours = await measured(Path(folder), graphs, searches)
    with tempfile.TemporaryDirectory() as folder, falkordb_server(Path(folder)) as server:
        return ours, await of_graphiti(server, graphs)


def main() -> int:
    arguments = options(__doc__, "a fifth of the entities and facts, fewer searches").parse_args()
    entities = QUICK_ENTITIES if arguments.quick else ENTITIES
    searches = QUICK_SEARCHES if arguments.quick else SEARCHES
    ours, theirs = asyncio.run(_both(entities, searches))
    size = f"{entities:,} entities, {entities * FACTS_AN_ENTITY:,} facts"
    return report("graph store", rows_of(ours, theirs, size), arguments.json)


if __name__ == "__main__":
    sys.exit(main())
