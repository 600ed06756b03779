"""Ingest, first answer and questions beside a plain LangChain chain on LanceDB, in one run.

    python evaluation/bench_chain.py [--notes N] [--quick] [--json FILE]

Both get the same chunks, of N notes of bench_scale's vault (by default 1,000), and the bundled model. The chain writes
their texts and vectors into one table with a full-text index and gives the five passages of LanceDB's hybrid search,
so its ingest is without reading and splitting the notes, a graph, facts, names and token vectors, and its first answer
is possible when all is embedded. ``rag.ask`` is asked while its ingest runs. Questions alternate between the two.
``--quick`` is 100 notes.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import lancedb
import pyarrow as pa
from lancedb.rerankers import RRFReranker
from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableLambda

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain import search_text
from agentic_rag.domain.ports import Embedding, Restriction
from agentic_rag.errors import UnknownDataset
from bench_disk import PASSAGES
from bench_scale import notes, written
from figures import Row, options, percentiles, report, row

NOTES, QUICK_NOTES = 1_000, 100
QUESTIONS = 100
PASSAGES_SHOWN = 5
BATCH = 256
PEER = "LangChain on LanceDB"
PAUSE = 0.2
"""Seconds between questions while the ingest runs."""


async def ingested(rag: Rag, vault: Path, question: str) -> tuple[float, float]:
    """Seconds until the first answer with a citation, and until the end of the ingest."""
    started = time.perf_counter()
    ingest = asyncio.create_task(rag.ingest(vault))
    first = None
    while first is None:
        await asyncio.sleep(PAUSE)
        with suppress(UnknownDataset):  # nothing is stored yet
            if (await rag.ask(question)).citations:
                first = time.perf_counter() - started
    await ingest
    return first, time.perf_counter() - started


async def chain_over(
    texts: Sequence[str], embedding: Embedding, folder: Path
) -> Runnable[str, list[Document]]:
    """A table of the texts with its chain from a question to the passages of the hybrid search."""
    vector = pa.list_(pa.float32(), embedding.dimension)
    schema = pa.schema([("text", pa.string()), ("vector", vector)])
    table = await (await lancedb.connect_async(folder)).create_table("chunks", schema=schema)
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        vectors = await embedding.embed_passages(batch)
        await table.add(
            [{"text": text, "vector": vector} for text, vector in zip(batch, vectors, strict=True)]
        )
    await table.create_index("text", config=lancedb.index.FTS())
    ranking = RRFReranker()

    async def search(question: str) -> list[Document]:
        vector = (await embedding.embed_queries([question]))[0]
        query = table.query().nearest_to(vector).nearest_to_text(question).rerank(ranking)
        return [Document(one["text"]) for one in await query.limit(PASSAGES_SHOWN).to_list()]

    return RunnableLambda(search)


async def measured(count: int, folder: Path) -> list[Row]:
    lines = (PASSAGES.parent / "queries.jsonl").open(encoding="utf-8")
    questions = [str(json.loads(line)["text"]) for line in islice(lines, QUESTIONS)]
    written(folder / "vault", islice(notes(count), count))
    async with open_rag(RagConfig(data_dir=folder / "data")) as rag:
        await rag.warm_up()
        first, whole = await ingested(rag, folder / "vault", next(notes(1))[0])
        ids = await rag.chunks.matching_chunk_ids("default", Restriction(), limit=10 * count)
        texts = [search_text(chunk) for chunk in (await rag.chunks.get_chunks("default", ids)).values()]
        started = time.perf_counter()
        chain = await chain_over(texts, rag.embedding, folder / "chain")
        theirs = time.perf_counter() - started
        await chain.ainvoke(questions[0])
        their_first = time.perf_counter() - started
        gc.collect()
        gc.freeze()
        ours_ms, theirs_ms = [], []
        for question in questions:
            begun = time.perf_counter()
            await rag.ask(question)
            between = time.perf_counter()
            await chain.ainvoke(question)
            ours_ms.append((between - begun) * 1e3)
            theirs_ms.append((time.perf_counter() - between) * 1e3)
    rows = [
        row(
            f"{len(texts):,} chunks of {count:,} notes: first cited answer",
            "s",
            first,
            peer=PEER,
            theirs=their_first,
        ),
        row("the whole ingest", "s", whole, peer=PEER, theirs=theirs),
    ]
    for share, ours, their in zip((50, 95), percentiles(ours_ms), percentiles(theirs_ms), strict=True):
        rows.append(row(f"a question, p{share} of {len(questions)}", "ms", ours, peer=PEER, theirs=their))
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, f"{QUICK_NOTES} notes")
    parser.add_argument("--notes", type=int, default=NOTES, metavar="N")
    given = parser.parse_args(arguments)
    if not PASSAGES.exists():
        parser.error(f"{PASSAGES} is missing; the vault is made of its passages")
    with tempfile.TemporaryDirectory() as folder:
        count = QUICK_NOTES if given.quick else given.notes
        return report("chain", asyncio.run(measured(count, Path(folder))), given.json)


if __name__ == "__main__":
    sys.exit(main())
