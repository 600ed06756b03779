"""How fast the graph store writes, opens and searches: 10,000 entities and 20,000 facts, 384 dimensions.

    python evaluation/bench_graph.py [--quick] [--json FILE]

The data are synthetic and the vectors random, so that the numbers say nothing of quality and everything
of the stores. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agentic_rag.domain import Chunk, DocumentGraph, Entity, Fact, Mention
from agentic_rag.domain.ports import FloatArray
from agentic_rag.stores.graphiti.store import GraphitiStore
from figures import Row, options, report, row

ENTITIES, FACTS, DIMENSION = 10_000, 20_000, 384
DOCUMENTS, CHUNKS_A_DOCUMENT = 500, 5
DOCUMENTS_A_CALL = 100
SEARCH_FLOOR_MS = 60.0
WRITE_FLOOR = 5_000.0
_WORDS = [
    f"{a}{b}{c}"
    for a in ("ba", "ke", "lo", "mi", "tu")
    for b in ("ran", "sel", "tik", "vom")
    for c in "aeiou"
]


class RandomEmbedding:
    """Random unit vectors, made in no time, so that writing is measured and not a model."""

    name = "random"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._generator = np.random.default_rng(7)

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        vectors = self._generator.standard_normal((len(texts), DIMENSION), dtype=np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return await self.embed_queries(texts)


def documents() -> list[DocumentGraph]:
    """Documents whose facts join entities at random; every entity occurs."""
    chance = random.Random(7)
    entities = [
        Entity(f"entity {i}", f"Entity {i} {chance.choice(_WORDS)}", ("Thing",)) for i in range(ENTITIES)
    ]
    facts_a_document = FACTS // DOCUMENTS
    graphs = []
    for number in range(DOCUMENTS):
        name = f"note-{number}.md"
        chunks = [_chunk(name, i, chance) for i in range(CHUNKS_A_DOCUMENT)]
        own = entities[number * ENTITIES // DOCUMENTS : (number + 1) * ENTITIES // DOCUMENTS]
        facts, mentions = [], []
        for i in range(facts_a_document):
            source, target = own[i % len(own)], chance.choice(entities)
            sentence = f"{source.name} {' '.join(chance.choices(_WORDS, k=8))} {target.name}"
            chunk = chunks[i % len(chunks)].id
            facts.append(Fact(source.key, target.key, "RELATES", sentence, chunk))
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


async def measured(folder: Path, searches: int) -> dict[str, float]:
    """Rows written a second, milliseconds to open, and to search (p50, p95), in milliseconds."""
    embedding = RandomEmbedding()
    graphs = documents()
    store = await _opened(folder, embedding)
    await store.counts("bench")  # imports LanceDB
    started = time.perf_counter()
    for start in range(0, len(graphs), DOCUMENTS_A_CALL):
        await store.replace_documents("bench", graphs[start : start + DOCUMENTS_A_CALL])
    seconds = time.perf_counter() - started
    counts = await store.counts("bench")
    rows = counts.entities + counts.facts + counts.episodes + counts.mentions
    started = time.perf_counter()
    await store.optimize("bench")
    optimizing = time.perf_counter() - started
    started = time.perf_counter()
    await store.replace_documents("bench", graphs[:1])
    again = time.perf_counter() - started
    await store.close()

    started = time.perf_counter()
    store = await _opened(folder, embedding)
    opening = time.perf_counter() - started
    plain = await _searched(store, embedding, searches)
    await store.close()
    return {
        "rows": rows,
        "write": rows / seconds,
        "optimize": optimizing,
        "again": again * 1e3,
        "open": opening * 1e3,
        "p50": plain[len(plain) // 2],
        "p95": plain[int(len(plain) * 0.95)],
    }


async def _opened(folder: Path, embedding: RandomEmbedding) -> GraphitiStore:
    return await GraphitiStore.open(uri=str(folder / "lance"), folder=folder, embedding=embedding)


async def _searched(store: GraphitiStore, embedding: RandomEmbedding, searches: int) -> list[float]:
    chance = random.Random(11)
    taken = []
    for number in range(searches + 5):
        query = " ".join(chance.choices(_WORDS, k=6))
        vector = (await embedding.embed_queries([query]))[0]
        started = time.perf_counter()
        await store.search("bench", query, vector, limit=10)
        if number >= 5:  # the first ones open tables and fill caches
            taken.append((time.perf_counter() - started) * 1e3)
    return sorted(taken)


def rows_of(found: dict[str, float]) -> list[Row]:
    """The rows of the report; there is no peer to compare with, only floors."""
    size = f"{ENTITIES:,} entities, {FACTS:,} facts"
    return [
        row(f"combined search p95, {size}", "ms", found["p95"], floor=SEARCH_FLOOR_MS),
        row(f"combined search p50, {size}", "ms", found["p50"]),
        row("write, without embedding", "rows/s", found["write"], bound="min", floor=WRITE_FLOOR),
        row("write one document again", "ms", found["again"]),
        row("open the store", "ms", found["open"]),
        row("optimize", "s", found["optimize"]),
    ]


def main() -> int:
    arguments = options(__doc__, "fewer searches, the same sizes").parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = rows_of(asyncio.run(measured(Path(folder), 60 if arguments.quick else 400)))
    return report("graph store", rows, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
