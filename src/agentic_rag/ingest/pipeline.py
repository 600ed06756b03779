"""Incremental ingest: what changed goes into both stores, what is gone leaves both, the rest costs nothing.

Whatever a run is about to change or remove is marked pending in the ledger, all of it before either store changes.
A batch is marked done once both stores hold it, the last one and what was removed once the indexes are tidied as
well. So a run that was killed leaves a mark, and whatever comes next writes or removes what is marked.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentic_rag.domain import Chunk, DocumentGraph
from agentic_rag.domain.ports import (
    ChunkWriter,
    DocumentRecord,
    EmbeddedDocument,
    Embedding,
    GraphExtractor,
    GraphStore,
    Ledger,
    TokenCounter,
)
from agentic_rag.domain.progress import Meter, Progress, in_this_loop, silent
from agentic_rag.errors import InputError
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.documents import MAX_CHUNK_TOKENS, embedded_documents, text_work
from agentic_rag.ingest.facts import derive_graph
from agentic_rag.ingest.names import TitleIndex, document_names
from agentic_rag.ingest.planning import BY_CHAT, WRITTEN, Plan, Work, planned
from agentic_rag.ingest.report import ExtractionCounts, FileReport, IngestReport
from agentic_rag.ingest.sources import SourceKind, SourceScan, discover, resolved

UNFINISHED = "not all of it could be read by the chat model (see quarantine.jsonl); ingest again to try again"
BATCH_DOCUMENTS = 64
BATCH_CHUNKS = 512
GRAPH_WORK, CHAT_WORK = 0.25, 20.0
"""Time that a text's facts take, derived or read by a chat model, in times of its own embedding."""

_Batch = Sequence[tuple[Work, tuple[Chunk, ...]]]


class IngestPipeline:
    """Writes sources into a chunk store and a graph store.

    Args:
        chunks, graph, ledger: the stores.
        embedding: the model for the chunks.
        count_tokens: the model's tokens of a batch of texts.
        extractor: reads facts with a chat model; None: from what people wrote.
    """

    def __init__(
        self,
        chunks: ChunkWriter,
        graph: GraphStore,
        ledger: Ledger,
        embedding: Embedding,
        count_tokens: TokenCounter,
        extractor: GraphExtractor | None = None,
    ) -> None:
        self._chunks = chunks
        self._graph = graph
        self._ledger = ledger
        self._embedding = embedding
        self._count_tokens = count_tokens
        self._extractor = extractor

    async def run(
        self,
        paths: Sequence[Path],
        dataset: str,
        kind: SourceKind = "auto",
        progress: Progress | None = None,
    ) -> IngestReport:
        """Make the dataset hold what the paths hold now; other roots of the dataset stay as they are.

        Raises:
            InputError: a path does not exist or is a part of what is held already, a bad dataset name or kind.
            StoreError, ModelError: a store or model failed; run again to finish.
        """
        clock = _Clock()
        progress = progress or silent
        await self._chunks.count(dataset)  # refuses another model's vectors before anything is marked pending
        records = await self._ledger.records(dataset)
        await asyncio.to_thread(_check_parts, paths, records, dataset)
        holders = {document_id: record.root for document_id, record in records.items()}
        scan = await asyncio.to_thread(discover, paths, kind, holders=holders)
        clock.lap("scan")
        return await self._carry_out(dataset, scan, records, progress, clock)

    async def remove(
        self, paths: Sequence[Path] | None, dataset: str, progress: Progress | None = None
    ) -> IngestReport:
        """Take out of the dataset what was ingested from the paths, which need not be there any more.

        Args:
            paths: as they were given to ingest, or folders over them; None: everything.
            dataset: its name.
            progress: called with stage, done, total.

        Raises:
            InputError: nothing was ingested from a path.
            StoreError: a store failed; run again to finish.
        """
        clock = _Clock()
        records = await self._ledger.records(dataset)
        held = sorted({record.root for record in records.values()})
        gone = held if paths is None else await asyncio.to_thread(_roots_under, paths, held, dataset)
        # As a scan that found nothing there: what remains is relinked and tidied as after any ingest.
        scan = SourceScan((), (), tuple(gone))
        return await self._carry_out(dataset, scan, records, progress or silent, clock)

    async def _carry_out(
        self,
        dataset: str,
        scan: SourceScan,
        records: Mapping[str, DocumentRecord],
        progress: Progress,
        clock: _Clock,
    ) -> IngestReport:
        way = WRITTEN if self._extractor is None else BY_CHAT
        plan = await asyncio.to_thread(planned, scan, records, way, in_this_loop(progress))
        clock.lap("parse")
        # A chat model takes minutes for a long document: what it has read is stored, and told, one by one.
        most = BATCH_DOCUMENTS if self._extractor is None else 1
        batches = await asyncio.to_thread(_batches, plan.work, self._count_tokens, most)
        clock.lap("chunk")
        gone = [record.document_id for record in plan.removed]
        await self._ledger.put(dataset, _marks(plan, records))
        written, counts, done = await self._write(dataset, plan, batches, progress, clock)
        await self._drop(dataset, gone)
        clock.lap("remove")
        if plan.work or plan.removed:
            await asyncio.gather(self._chunks.optimize(dataset), self._graph.optimize(dataset))
        untouched = [replace(record, graph_hash=plan.graph_hash) for record in plan.untouched]
        await self._ledger.put(dataset, [*done, *untouched])
        await self._ledger.remove(dataset, gone)
        clock.lap("index")
        held = await self._graph.counts(dataset)
        return IngestReport(
            dataset=dataset,
            files=tuple(sorted([*plan.files, *written], key=lambda file: (file.path, file.action))),
            documents=len(await self._ledger.records(dataset)),
            chunks=await self._chunks.count(dataset),
            entities=held.entities,
            facts=held.facts,
            seconds=clock.total(),
            stages=clock.stages,
            extraction=counts,
        )

    async def _drop(self, dataset: str, document_ids: Sequence[str]) -> None:
        if not document_ids:
            return
        await self._chunks.remove_documents(dataset, document_ids)
        await self._graph.remove_documents(dataset, document_ids)
        if self._extractor is not None:
            await self._extractor.forget(dataset, document_ids)

    async def _write(
        self, dataset: str, plan: Plan, batches: Sequence[_Batch], progress: Progress, clock: _Clock
    ) -> tuple[list[FileReport], ExtractionCounts, list[DocumentRecord]]:
        """What there is to tell, and the records of the last batch, which is still marked pending."""
        files: list[FileReport] = []
        counts = ExtractionCounts()
        done: list[DocumentRecord] = []
        meter = self._meter(batches, progress)
        for batch in batches:
            await self._ledger.put(dataset, done)
            chunked = {work.document.id: chunks for work, chunks in batch}
            new = [(work, chunks) for work, chunks in batch if work.action != "relinked"]
            made = await self._embedded(dataset, new, meter)
            clock.lap("embed")
            await self._chunks.replace_documents(dataset, made)
            clock.lap("vectors")
            titles = plan.titles if self._extractor is None else None
            graphs = await asyncio.to_thread(_derived, batch, titles)
            clock.lap("facts")
            counts, unfinished = await self._write_graph(dataset, graphs, counts)
            clock.lap("graph")
            # Without a graph hash, a document that is not read whole joins the work of the next ingest.
            done = [
                _record(work, "" if work.document.id in unfinished else plan.graph_hash, len(chunks))
                for work, chunks in batch
            ]
            meter.add(sum(self._graph_work * text_work(chunks) for _, chunks in batch))
            by_id = {graph.document_id: graph for graph in graphs}
            files += [
                _reported(
                    work,
                    len(chunked[work.document.id]),
                    len(by_id[work.document.id].facts),
                    UNFINISHED if work.document.id in unfinished else None,
                )
                for work, _ in batch
            ]
        if batches:
            meter.finish()
        return files, counts, done

    @property
    def _graph_work(self) -> float:
        return GRAPH_WORK if self._extractor is None else CHAT_WORK

    def _meter(self, batches: Sequence[_Batch], progress: Progress) -> Meter:
        """Of the chunks to be stored, by their text; the bar waits until there is one."""
        work = 0.0
        for done, chunks in (pair for batch in batches for pair in batch):
            embedding = 0.0 if done.action == "relinked" else 1.0
            work += (embedding + self._graph_work) * text_work(chunks)
        chunks_in_all = sum(len(chunks) for batch in batches for _, chunks in batch)
        return Meter(progress if batches else None, "store", units=chunks_in_all, work=work)

    async def _write_graph(
        self, dataset: str, graphs: Sequence[DocumentGraph], counts: ExtractionCounts
    ) -> tuple[ExtractionCounts, frozenset[str]]:
        """The counts so far, and the documents that the chat model could not read whole."""
        if self._extractor is None:
            await self._graph.replace_documents(dataset, graphs)
            return counts, frozenset()
        found = await self._extractor.extract(dataset, graphs)
        summed = ExtractionCounts(
            counts.episodes + found.episodes,
            counts.extracted + found.extracted,
            counts.retried + found.retried,
            counts.quarantined + found.quarantined,
        )
        return summed, frozenset(found.unfinished)

    async def _embedded(self, dataset: str, batch: _Batch, meter: Meter) -> list[EmbeddedDocument]:
        """Vectors of the chunks; only a changed document may have some that are stored already."""
        chunked = [(work.document.id, own) for work, own in batch]
        held = [chunk.id for work, own in batch if work.action == "changed" for chunk in own]
        return await embedded_documents(self._chunks, self._embedding, dataset, chunked, held, meter)


class _Clock:
    """Seconds by stage."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self.stages: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.stages[stage] = round(self.stages.get(stage, 0.0) + now - self._last, 4)
        self._last = now

    def total(self) -> float:
        return round(time.perf_counter() - self._started, 4)


def _check_parts(paths: Sequence[Path], records: Mapping[str, DocumentRecord], dataset: str) -> None:
    """Raises ``InputError`` for a path whose documents are held as those of a folder over it: they would stand there
    twice, under other ids. Not for one that holds documents of its own, which are brought up to date."""
    held = {record.root for record in records.values()}
    for given in paths:
        path = resolved(given)
        if path is None or str(path) in held:
            continue
        for root in held.intersection(map(str, path.parents)):
            places = (Path(root) / record.path for record in records.values() if record.root == root)
            if any(place == path or path in place.parents for place in places):
                raise InputError(
                    f"{str(given)!r} is part of {root}, which dataset {dataset!r} holds; "
                    "ingest that again: what did not change costs nothing"
                )


def _roots_under(paths: Sequence[Path], held: Sequence[str], dataset: str) -> list[str]:
    """The held roots that are one of the paths or lie below it."""
    found: dict[str, None] = {}
    for given in paths:
        path = resolved(given)
        below = [root for root in held if path is not None and Path(root).is_relative_to(path)]
        if not below:
            holds = f"it holds what came from {', '.join(held)}" if held else "it is empty"
            raise InputError(f"nothing in dataset {dataset!r} was ingested from {str(given)!r}; {holds}")
        found.update(dict.fromkeys(below))
    return list(found)


def _derived(batch: _Batch, titles: TitleIndex | None) -> list[DocumentGraph]:
    """What people wrote; chunks alone where a chat model is to read them (no titles)."""
    if titles is None:
        return [DocumentGraph(work.document.id, chunks) for work, chunks in batch]
    return [derive_graph(work.document, chunks, titles) for work, chunks in batch]


def _batches(work: Sequence[Work], count_tokens: TokenCounter, most: int) -> list[_Batch]:
    batches: list[list[tuple[Work, tuple[Chunk, ...]]]] = [[]]
    size = 0
    for done in work:
        chunks = chunk_document(done.document, max_tokens=MAX_CHUNK_TOKENS, count_tokens=count_tokens)
        if batches[-1] and (len(batches[-1]) == most or size + len(chunks) > BATCH_CHUNKS):
            batches.append([])
            size = 0
        batches[-1].append((done, chunks))
        size += len(chunks)
    return list(filter(None, batches))


def _marks(plan: Plan, records: Mapping[str, DocumentRecord]) -> list[DocumentRecord]:
    """Of all that the plan writes or removes; ``chunks`` are still those of before."""
    before = {document_id: record.chunks for document_id, record in records.items()}
    written = [_record(work, "", before.get(work.document.id, 0)) for work in plan.work]
    return [replace(r, pending=True, content_hash="", graph_hash="") for r in (*written, *plan.removed)]


def _record(work: Work, graph_hash: str, chunks: int) -> DocumentRecord:
    return DocumentRecord(
        document_id=work.document.id,
        root=work.item.root,
        path=work.item.path,
        content_hash=work.item.content_hash,
        graph_hash=graph_hash,
        names=document_names(work.document),
        pending=False,
        chunks=chunks,
    )


def _reported(work: Work, chunks: int, facts: int, unfinished: str | None) -> FileReport:
    warnings = [*work.document.warnings, *([unfinished] if unfinished else [])]
    reason = "; ".join(warnings) or None
    return FileReport(work.item.path, work.action, reason, chunks, facts)
