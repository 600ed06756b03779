"""Ranking quality and separation by relevance, on judged sets that the calibration was not fitted on."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np

from agentic_rag.domain import Chunk
from agentic_rag.domain.filters import Expression, matches, parse_filters
from agentic_rag.domain.ports import EmbeddedDocument, Restriction
from agentic_rag.models.bundled import BundledEmbedding, nats
from agentic_rag.retrieval.calibration import script_pair
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import lance_connection
from agentic_rag.text import script
from agentic_rag_lab.evaluation.metrics import ndcg
from agentic_rag_lab.evaluation.statistics import area_under_roc
from figures import Row, row
from judged_sets import CACHE, JudgedSet, KeptEmbedding, gibberish, judged_set
from retrieval_benchmark.corpus import GivenVectors

FLOORS = {"rgb/zh_fact": 0.55, "rgb/en_fact": 0.47, "cranfield": 0.52, "scifact/train": 0.74}
BELOW_BETTER_LEG = 0.02
STRATEGIES = ("hybrid", "dense", "sparse")
JUDGED = 50
"""Results per query whose relevance is compared with the judgements."""


async def measured(names: list[str], data: Path, folder: Path) -> list[Row]:
    """Rows of every set."""
    rows: list[Row] = []
    # Scores of the results that are judged relevant, and of all others, by pair of scripts.
    relevant: dict[str, list[float]] = defaultdict(list)
    others: dict[str, list[float]] = defaultdict(list)
    kept, asked, passed, nonsense = 0, 0, 0, 0
    for name in names:
        found = await judged_set(name, data)
        async with _engine(found, folder, name) as engine:
            means = {strategy: await _ndcg(engine, found, strategy) for strategy in STRATEGIES}
            better = max(means["dense"], means["sparse"])
            rows += [
                row(f"{name}: nDCG@10 of hybrid, {len(found.queries)} queries", "", means["hybrid"], bound="min",
                    floor=FLOORS[name], peer="better leg", theirs=better),
                row(f"{name}: hybrid less its better leg", "", means["hybrid"] - better, bound="min",
                    floor=-BELOW_BETTER_LEG),
            ]  # fmt: skip
            for query in found.queries:
                results = await engine.search(name, query.text, JUDGED)
                asked, kept = asked + 1, kept + bool(results)
                for result in results:
                    pair = script_pair((script(query.text), script(result.content)))
                    of = relevant if query.relevant.get(result.chunk.document_id, 0) > 0 else others
                    of[pair].append(result.score)
            for text in gibberish([query.text for query in found.queries]):
                nonsense, passed = nonsense + 1, passed + bool(await engine.search(name, text))
    for pair in ("latin", "cjk"):
        if relevant[pair]:
            area = area_under_roc(relevant[pair], others[pair])
            rows.append(row(f"relevance of passages, {pair}: area under ROC", "", area, bound="min"))
    rows.append(row("share of questions that find something", "", kept / asked, bound="min", floor=0.99))
    rows.append(row("share of gibberish that finds something", "", passed / nonsense, floor=0.03))
    return rows


@asynccontextmanager
async def _engine(found: JudgedSet, folder: Path, name: str) -> AsyncIterator[RetrievalEngine]:
    """The engine over a set, with known vectors of its queries and of similar gibberish."""
    texts = [query.text for query in found.queries]
    nonsense = gibberish(texts)
    vectors = np.concatenate([found.query_vectors, await KeptEmbedding(CACHE).embed_queries(nonsense)])
    async with lance_connection(str(folder / name.replace("/", "-"))) as connection:
        store = LanceChunkStore(connection, model=BundledEmbedding.name, dimension=384)
        await found.store(store, name)
        given = GivenVectors(BundledEmbedding.name, [*texts, *nonsense], vectors)
        yield RetrievalEngine(store, given, nats=nats)


async def _ndcg(engine: RetrievalEngine, found: JudgedSet, strategy: str) -> float:
    values = []
    for query in found.queries:
        results = await engine.search(found.name, query.text, 30, strategy=strategy)  # type: ignore[arg-type]
        ranking = list(dict.fromkeys(result.chunk.document_id for result in results))[:10]
        values.append(ndcg(ranking, query.relevant))
    return float(np.mean(values))


async def filter_row(folder: Path, cases: int) -> Row:
    """Random filters on random metadata, evaluated by the store and by plain Python."""
    dice = random.Random(7)
    chunks = [
        Chunk(f"d{n}#0", f"d{n}", "tea", 0, 3, 0, "", "", "paragraph", metadata=_metadata(dice))
        for n in range(400)
    ]
    vector = np.eye(4, dtype=np.float32)[:1]
    wrong = 0
    async with lance_connection(str(folder / "filters")) as connection:
        store = LanceChunkStore(connection, model="none", dimension=4)
        await store.replace_documents(
            "filters", [EmbeddedDocument(chunk.document_id, (chunk,), vector) for chunk in chunks]
        )
        await store.optimize("filters")
        for _ in range(cases):
            expression = _expression(dice, 3)
            expected = sorted(chunk.id for chunk in chunks if matches(expression, chunk.metadata))
            found = await store.matching_chunk_ids("filters", Restriction(expression), limit=len(chunks))
            wrong += found != expected
    return row(f"filters answered wrong, of {cases:,} random ones", "", float(wrong), floor=0.0)


KEYS = ("year", "lang", "tags", "da'te", 'q"uote', "茶", "a.b", "$x")
VALUES = (2020, 2023, 2023.0, 2023.5, -1, True, False, "zh", "en", "", "2023", "2024-05-01", "o'clock", "' OR 1=1 --", "茶", "\\", "%")  # fmt: skip


def _metadata(dice: random.Random) -> dict[str, object]:
    found: dict[str, object] = {}
    for key in KEYS:
        # An empty text is no tag: the store leaves it out.
        values = [value for value in VALUES if value != "" or key != "tags"]
        if dice.random() < 0.6:
            many = [dice.choice(values) for _ in range(dice.randint(0, 3))]
            found[key] = dice.choice([dice.choice(values), many, None])
    return found


def _expression(dice: random.Random, depth: int) -> Expression:
    parsed = parse_filters(_spelled(dice, depth))
    assert parsed is not None  # noqa: S101  a spelled filter is never empty
    return parsed


def _spelled(dice: random.Random, depth: int) -> dict[str, object]:
    if depth and dice.random() < 0.4:
        if dice.random() < 0.3:
            return {"$not": _spelled(dice, depth - 1)}
        return {dice.choice(["$and", "$or"]): [_spelled(dice, depth - 1) for _ in range(dice.randint(1, 3))]}
    operator = dice.choice(
        ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$contains"]
    )
    value: object = dice.choice(VALUES)
    if operator in ("$in", "$nin"):
        value = [dice.choice(VALUES) for _ in range(dice.randint(0, 3))]
    elif operator == "$exists":
        value = dice.random() < 0.5
    elif operator == "$contains":
        value = dice.choice([value for value in VALUES if isinstance(value, str)])
    elif operator not in ("$eq", "$ne"):
        value = dice.choice([value for value in VALUES if not isinstance(value, bool)])
    return {dice.choice([key for key in KEYS if not key.startswith("$")]): {operator: value}}
