"""Re-embedding: a dataset's vectors are made anew into new tables, which then take over all at once.

Readers and writers use the old tables until everything is copied. Then writers wait while their last changes are
carried over. One row switches the dataset to the new tables. A crash before that changes nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any

import pyarrow.compute as pc

from agentic_rag.domain.identity import dataset_name, group_id
from agentic_rag.domain.ports import Embedding, PassageVectors
from agentic_rag.domain.progress import Meter, Progress
from agentic_rag.errors import UnknownDataset
from agentic_rag.ingest.preparing import CALLS, TEXT_OVERHEAD, embed_texts, embedding_work
from agentic_rag.stores.lancedb.connection import LanceConnection, delete_keys, translate_errors, upsert
from agentic_rag.stores.lancedb.indexes import tidy_table
from agentic_rag.stores.lancedb.manifests import Manifests, generation_name
from agentic_rag.stores.lancedb.process_lock import only_one, switching
from agentic_rag.stores.lancedb.vector_tables import Reindexable, Row, VectorTable

PAGE = 2_048
"""Rows that are held, and then written, together."""
FEW = 500
"""Rows changed meanwhile that may be left for when writers have to wait."""
MAX_ROUNDS = 4
"""Most rounds of carrying changes over before writers have to wait."""


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """What a reindex did."""

    dataset: str
    before: str
    """Model, dimension and metric until now."""
    now: str
    rows: Mapping[str, int]
    """By table."""
    embedded: int
    """Texts that were embedded; an equal text in the neighbourhood is embedded once."""
    seconds: float
    embedding_seconds: float
    waiting_seconds: float
    """For how long writers had to wait."""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


async def reindex(
    stores: Sequence[Reindexable],
    embedding: Embedding,
    dataset: str,
    progress: Progress | None = None,
    *,
    at_once: int = CALLS,
) -> ReindexReport:
    """Make all vectors of a dataset anew with the embedding, and switch to them.

    On an object store, which has no locks, stop the writers first.

    Args:
        stores: those that hold vectors of the dataset, all in one database.
        embedding: the model from now on.
        dataset: its name.
        progress: told ``embed``, rows done (weighed by work), rows in all.
        at_once: calls of the embedding under way.

    Raises:
        UnknownDataset: nothing was ever written under the name.
        StoreLocked: another process is reindexing it.
        StoreError, ModelError: something failed; nothing has changed.
    """
    group = group_id(dataset)
    connection = stores[0].connection
    manifests = Manifests(connection, model=embedding.name, dimension=embedding.dimension)
    stored = await manifests.stored_manifest(group)
    if stored is None:
        raise UnknownDataset(dataset, await manifests.names())
    async with _reindexing(connection, dataset):
        parts = [part for store in stores for part in store.vector_tables(dataset)]
        return await _Reindex(connection, manifests, embedding, at_once, parts, group, dataset).run(progress)


async def renew_vectors(stores: Sequence[Reindexable], embedding: Embedding, dataset: str) -> None:
    """Reindex a dataset that another model embedded, and drop all its tables but those in force.

    Nothing where nothing was ever written under the name. Arguments and errors are those of ``reindex``.
    """
    group = group_id(dataset)
    connection = stores[0].connection
    manifests = Manifests(connection, model=embedding.name, dimension=embedding.dimension)
    stored = await manifests.stored_manifest(group)
    if stored is None:
        return
    if not stored.is_made_like(manifests.configured_manifest):
        await reindex(stores, embedding, dataset)
    async with _reindexing(connection, dataset):
        bases = [part.base for store in stores for part in store.vector_tables(dataset)]
        await manifests.drop_others(group, bases)


def _reindexing(connection: LanceConnection, dataset: str) -> AbstractAsyncContextManager[None]:
    """Held by the only one who makes generations of the dataset's tables."""
    refusal = f"another process is reindexing dataset {dataset_name(dataset)!r}; wait until it is done"
    return only_one(connection.locks, f"reindexing-{group_id(dataset)}", refusal)


@dataclass(slots=True)
class _Reindex:
    """One run of it."""

    connection: LanceConnection
    manifests: Manifests
    embedding: Embedding
    at_once: int
    parts: Sequence[VectorTable]
    group: str
    dataset: str
    copied_rows: dict[str, dict[str, bytes]] = field(default_factory=lambda: defaultdict(dict))
    """By table: key → digest of the row as it was carried over."""
    versions: dict[str, int | None] = field(default_factory=dict)
    """By table: the version that was carried over whole."""
    embedded_count: int = 0
    embedding_seconds: float = 0.0

    async def run(self, progress: Progress | None) -> ReindexReport:
        started = time.perf_counter()
        bases = [part.base for part in self.parts]
        await self.manifests.drop_unfinished(self.group, bases)
        await self.manifests.drop_superseded(self.group, bases)
        before = await self.manifests.stored_manifest(self.group)
        generation = before.generation if before is not None else 0
        meter = await self._meter(generation, progress)
        for _ in range(MAX_ROUNDS):
            if await self._carry_over(generation, meter) <= FEW:
                break
        await self._index(generation + 1)
        async with switching(self.connection.locks, self.group):
            waited = time.perf_counter()
            await self._carry_over(generation, meter)
            await self.manifests.switch(self.group, generation + 1)
            waited = time.perf_counter() - waited
        meter.finish()
        return ReindexReport(
            dataset=dataset_name(self.dataset),
            before=str(before),
            now=str(self.manifests.configured_manifest),
            rows={part.name: len(self.copied_rows[part.base]) for part in self.parts},
            embedded=self.embedded_count,
            seconds=round(time.perf_counter() - started, 3),
            embedding_seconds=round(self.embedding_seconds, 3),
            waiting_seconds=round(waited, 3),
        )

    async def _meter(self, generation: int, progress: Progress | None) -> Meter:
        rows, work = 0, 0
        for part in self.parts:
            source = await self.connection.table(generation_name(part.base, generation))
            if source is None:
                continue
            with translate_errors(f"measuring {part.name}"):
                rows += await source.count_rows()
                async for batch in await source.query().select([part.measured_column]).to_batches():
                    length = pc.sum(pc.binary_length(batch[part.measured_column])).as_py() or 0
                    work += length + TEXT_OVERHEAD * len(batch)
        return Meter(progress, "embed", units=rows, work=work)

    async def _carry_over(self, generation: int, meter: Meter) -> int:
        """Make the new tables equal to the old ones as they are now; the number of rows that took."""
        return sum([await self._carry_over_table(part, generation, meter) for part in self.parts])

    async def _carry_over_table(self, part: VectorTable, generation: int, meter: Meter) -> int:
        source = await self.connection.table(generation_name(part.base, generation))
        if source is None:
            return 0
        with translate_errors(f"reading {part.name}"):
            await source.checkout_latest()
            version = await source.version()
        if version == self.versions.get(part.base):
            return 0
        target = await self.connection.create_table(
            generation_name(part.base, generation + 1), part.schema, part.key, part.prepare
        )
        copied, seen, changes = self.copied_rows[part.base], set[str](), 0
        async for rows in _pages(source, part):
            digests = {row[part.key]: _digest(row) for row in rows}
            seen.update(digests)
            changed = [row for row in rows if copied.get(row[part.key]) != digests[row[part.key]]]
            if changed:
                await self._store(part, target, changed, meter)
                copied |= {row[part.key]: digests[row[part.key]] for row in changed}
                changes += len(changed)
        gone = copied.keys() - seen
        with translate_errors(f"removing {part.name}"):
            await delete_keys(target, part.key, gone)
        for key in gone:
            del copied[key]
        with translate_errors(f"reading {part.name}"):
            await source.checkout_latest()
            # Pages of a table that changes meanwhile may miss a row; of one that did not, they miss none.
            self.versions[part.base] = version if await source.version() == version else None
        return changes + len(gone)

    async def _store(self, part: VectorTable, target: Any, rows: Sequence[Row], meter: Meter) -> None:
        began = time.perf_counter()
        texts = [part.text(row) for row in rows]
        work: dict[str, float] = dict.fromkeys(texts, 0.0)
        for text, row in zip(texts, rows, strict=True):
            work[text] += embedding_work(row[part.measured_column])
        distinct = list(work)
        found = await embed_texts(
            self.embedding, distinct, list(work.values()), meter, tokens=part.tokens, at_once=self.at_once
        )
        place = {text: number for number, text in enumerate(distinct)}
        self.embedding_seconds += time.perf_counter() - began
        self.embedded_count += len(distinct)
        places = [place[text] for text in texts]
        of_rows = PassageVectors(found.vectors[places], tuple(found.tokens[number] for number in places))
        made = await asyncio.to_thread(part.make_rows, rows, of_rows)
        with translate_errors(f"storing {len(rows)} {part.name}"):
            await upsert(target, part.key, made)

    async def _index(self, generation: int) -> None:
        for part in self.parts:
            table = await self.connection.table(generation_name(part.base, generation))
            if table is not None:
                await tidy_table(table, part.plan, part.name)


async def _pages(source: Any, part: VectorTable) -> AsyncIterator[list[Row]]:
    """All rows, in pages; each of the version that is the latest then, for an old one may be cleaned away."""
    start = 0
    while True:
        with translate_errors(f"reading {part.name}"):
            query = source.query().select(list(part.columns)).offset(start).limit(PAGE)
            rows: list[Row] = (await query.to_arrow()).to_pylist()
        if rows:
            # Two versions under one page turn may show a row twice.
            yield list({row[part.key]: row for row in rows}.values())
        if len(rows) < PAGE:
            return
        start += PAGE


def _digest(row: Row) -> bytes:
    return blake2b(repr(list(row.values())).encode("utf-8"), digest_size=16).digest()
