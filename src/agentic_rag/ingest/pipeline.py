"""Incremental ingest: what changed goes into both stores, what is gone leaves both, the rest costs nothing.

Whatever a run is about to change or remove is marked pending in the ledger, all of it before either store changes.
A batch is marked done once both stores hold it, the last one and what was removed once the indexes are tidied as
well. So a run that was killed leaves a mark, and whatever comes next writes or removes what is marked.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath

from agentic_rag.domain.identity import dataset_name
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.ports import (
    DocumentRecord,
    ExtractionOutcome,
    Failure,
    Ledger,
)
from agentic_rag.domain.progress import Meter, Progress, StageClock, in_this_loop, silent
from agentic_rag.domain.usage import Usage, UsageValues, counting
from agentic_rag.errors import InputError, RunError, StoreError
from agentic_rag.ingest.documents import DocumentWriter
from agentic_rag.ingest.engines import BATCH_DOCUMENTS, Batch, IngestEngine, InProcess, Order
from agentic_rag.ingest.files.discovery import discover, resolve_path
from agentic_rag.ingest.files.extraction import Extractor
from agentic_rag.ingest.files.scanning import SourceItem, SourceScan
from agentic_rag.ingest.layers import STORING_ACTIONS, joined_reports, layers, never_read
from agentic_rag.ingest.planning import (
    BY_CHAT,
    FORMAT_VERSION,
    Action,
    FileReport,
    Plan,
    StoredDataset,
    Work,
    make_plan,
)
from agentic_rag.ingest.preparing import PreparedDocument, StoredState
from agentic_rag.ingest.remembered import DatasetCache

UNFINISHED_REASON = (
    "not all of it could be read by the chat model (see quarantine.jsonl); ingest again to try again"
)
TIDIED_FROM = 0.02
"""Share of a dataset's documents from which an ingest ends with tidying. To tidy 3,000 notes takes two seconds, for which
the next edit would wait; after fewer changes, what the stores do by themselves after some writes is enough."""
GRAPH_WORK, CHAT_WORK = 0.25, 20.0
"""Time for a text's facts, derived or read by a chat model, as a multiple of the time for its embedding."""
_STORED_STATES: dict[Action, StoredState] = {"added": "none", "changed": "some", "relinked": "all"}


@dataclass(frozen=True, slots=True)
class ExtractionCounts:
    """What extraction by a chat model did; all zero where facts come from what people wrote."""

    episodes: int = 0
    extracted: int = 0
    retried: int = 0
    quarantined: int = 0

    @classmethod
    def of(cls, batches: Sequence[ExtractionOutcome]) -> ExtractionCounts:
        """The sums over the batches of a run."""
        return cls(
            sum(batch.episodes for batch in batches),
            sum(batch.read_count for batch in batches),
            sum(batch.retry_count for batch in batches),
            sum(batch.quarantine_count for batch in batches),
        )


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Everything an ingest did; nothing that was given is missing from ``files``."""

    dataset: str
    files: tuple[FileReport, ...] = field(repr=False)
    documents: int
    """Held by the dataset now."""
    chunks: int
    entities: int
    facts: int
    seconds: float
    stages: dict[str, float] = field(default_factory=dict, repr=False)
    """Seconds by stage; those of an engine's workers, added up, as ``workers: STAGE``."""
    extraction: ExtractionCounts = ExtractionCounts()
    usage: UsageValues = field(default_factory=UsageValues)
    """What the endpoints of models used (see ``domain.usage``); empty where none was asked."""

    def count(self, action: Action) -> int:
        """Files with this action."""
        return sum(file.action == action for file in self.files)

    @property
    def counts(self) -> dict[Action, int]:
        """Number of files by action, where there are some."""
        return dict(sorted(Counter(file.action for file in self.files).items()))

    def to_dict(self) -> Json:
        """Plain JSON values."""
        return {**asdict(self), "counts": self.counts}


@dataclass(frozen=True, slots=True)
class _LedgerState:
    """What the ledger has of a dataset, and what this process remembers of it."""

    dataset: str
    records: Mapping[str, DocumentRecord]
    failures: Mapping[str, Failure]
    cache: DatasetCache = field(default_factory=DatasetCache)


class IngestPipeline:
    """Writes sources into a chunk store and a graph store.

    Args:
        writer: writes what is parsed, with the stores and the models.
        ledger: what was written.
        engine: parses and prepares documents; None: this process.
        documents: reads PDF and office files; None: with the default limits.
    """

    def __init__(
        self,
        writer: DocumentWriter,
        ledger: Ledger,
        engine: IngestEngine | None = None,
        documents: Extractor | None = None,
    ) -> None:
        self._writer = writer
        self._chunks, self._graph = writer.chunks, writer.graph
        self._ledger = ledger
        self._documents = documents or Extractor()
        self._reads_by_chat = writer.extractor is not None
        # A chat model takes minutes for a long document: what it has read is stored, and told, one by one.
        most = 1 if self._reads_by_chat else BATCH_DOCUMENTS
        self._engine = engine or InProcess(writer.preparer, most)

    async def run(
        self,
        paths: Sequence[Path],
        dataset: str,
        kind: str = "auto",
        progress: Progress | None = None,
        cache: DatasetCache | None = None,
    ) -> IngestReport:
        """Make the dataset hold what the paths hold now; other roots of the dataset stay as they are.

        ``cache``: state of this process's last run of the dataset, if folders are followed.

        Raises:
            InputError: a path does not exist or is a part of what is held already, a bad dataset name or kind, or a new
                name that differs from another dataset's in case alone.
            StoreError, ModelError: a store or model failed; run again to finish.
        """
        clock = StageClock()
        progress = progress or silent
        await self._chunks.count(dataset)  # refuses another model's vectors before anything is marked pending
        ledger_state = await self._ledger_state(dataset, cache)
        records = ledger_state.records
        if not records:
            _check_name(dataset_name(dataset), await self._ledger.datasets())
        await asyncio.to_thread(_check_parts, paths, records, dataset)
        holders = {document_id: record.root for document_id, record in records.items()}
        seen = None if cache is None else cache.files
        scan = await asyncio.to_thread(
            discover, paths, kind, holders=holders, seen_files=seen, extractor=self._documents
        )
        clock.lap("scan")
        reasons = _reasons(scan, ledger_state.failures, self._documents)
        parts = None if self._reads_by_chat else layers(scan, records, reasons)
        with counting() as usage:
            first: list[FileReport] = []
            if parts is not None:
                marks = parts.marks(records)
                await self._ledger.put(dataset, marks)
                marked = replace(ledger_state, records={**records, **{one.document_id: one for one in marks}})
                first, _ = await self._carry_out(parts.texts, marked, progress, clock, waiting=parts.waiting)
                ledger_state = await self._ledger_state(dataset, cache)
            earlier_count = sum(file.action in STORING_ACTIONS for file in first)
            last, counts = await self._carry_out(
                scan, ledger_state, progress, clock, earlier_count=earlier_count
            )
        return await self._report(dataset, joined_reports(first, last), counts, usage, clock)

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
        clock = StageClock()
        ledger_state = await self._ledger_state(dataset, None)
        roots = {record.root for record in ledger_state.records.values()}
        held = sorted(roots | {failure.root for failure in ledger_state.failures.values()})
        gone = held if paths is None else await asyncio.to_thread(_roots_under, paths, held, dataset)
        # Like a scan that finds nothing there: the remaining documents are relinked and tidied as after any
        # ingest.
        scan = SourceScan((), (), tuple(gone))
        with counting() as usage:
            files, counts = await self._carry_out(scan, ledger_state, progress or silent, clock)
        return await self._report(dataset, files, counts, usage, clock)

    async def _ledger_state(self, dataset: str, cache: DatasetCache | None) -> _LedgerState:
        records = await self._ledger.records(dataset)
        return _LedgerState(dataset, records, await self._ledger.failures(dataset), cache or DatasetCache())

    async def _carry_out(
        self,
        scan: SourceScan,
        ledger_state: _LedgerState,
        progress: Progress,
        clock: StageClock,
        *,
        waiting: Sequence[SourceItem] = (),
        earlier_count: int = 0,
    ) -> tuple[list[FileReport], ExtractionCounts]:
        """Make the dataset hold what the scan found; ``waiting``: what is read afterwards, for which the indexes wait too.

        ``earlier_count``: number of documents stored before, without tidying.
        """
        way = BY_CHAT if self._reads_by_chat else FORMAT_VERSION
        dataset, records, failures = ledger_state.dataset, ledger_state.records, ledger_state.failures
        reasons = _reasons(scan, failures, self._documents)
        state = StoredDataset(records, reasons, ledger_state.cache)
        plan = await self._make_plan(scan, state, way, in_this_loop(progress))
        await self._ledger.replace_failures(dataset, _failures(plan, scan, failures, self._documents))
        clock.lap("parse")
        wanted = {one.document_id for one in (*waiting, *(work.item for work in plan.work))}
        gone = [record.document_id for record in plan.removed_records]
        gone += never_read(records, scan.roots, {*wanted, *gone})
        await self._ledger.put(dataset, _marks(plan, records))
        written, counts, done = await self._write(dataset, plan, progress, clock)
        await self._writer.remove(dataset, gone)
        clock.lap("remove")
        plan = replace(plan, work=())  # what is stored makes room for the indexes
        if not waiting and earlier_count + len(written) + len(gone) > TIDIED_FROM * len(records):
            # One after the other: each takes hundreds of MB for a large dataset, and all cores.
            await self._engine.optimize(self._chunks, dataset)
            await self._engine.optimize(self._graph, dataset)
        untouched = [replace(record, graph_hash=plan.graph_hash) for record in plan.untouched_records]
        await self._ledger.put(dataset, [*done, *untouched])
        await self._ledger.remove(dataset, gone)
        clock.lap("index")
        return [*plan.files, *written], counts

    async def _report(
        self,
        dataset: str,
        files: Sequence[FileReport],
        counts: ExtractionCounts,
        usage: Usage,
        clock: StageClock,
    ) -> IngestReport:
        held = await self._graph.counts(dataset)
        return IngestReport(
            dataset=dataset,
            files=tuple(sorted(files, key=lambda file: (file.path, file.action))),
            documents=len(await self._ledger.records(dataset)),
            chunks=await self._chunks.count(dataset),
            entities=held.entities,
            facts=held.facts,
            seconds=clock.total(),
            stages=clock.stages,
            extraction=counts,
            usage=usage.to_dict() if usage.calls else UsageValues(),
        )

    async def _make_plan(self, scan: SourceScan, state: StoredDataset, way: str, progress: Progress) -> Plan:
        """The plan, made in a thread that ends when this is cancelled."""
        stopped = threading.Event()

        def parse(items: Sequence[tuple[SourceItem, Action]]) -> Iterator[Work | FileReport]:
            for found in self._engine.parse_items(items):
                if stopped.is_set():
                    raise RunError("the ingest was cancelled")
                yield found

        try:
            return await asyncio.to_thread(make_plan, scan, state, way, parse, progress)
        except asyncio.CancelledError:
            stopped.set()
            self._documents.interrupt()
            raise

    async def _write(
        self, dataset: str, plan: Plan, progress: Progress, clock: StageClock
    ) -> tuple[list[FileReport], ExtractionCounts, list[DocumentRecord]]:
        """File reports, extraction counts, and the records of the last batch, which is still marked pending."""
        files: list[FileReport] = []
        extracted: list[ExtractionOutcome] = []
        done: list[DocumentRecord] = []
        meter = self._meter(plan.work, progress)
        titles = None if self._reads_by_chat else plan.titles
        # Graphiti's model reads what happened in the order in which it is written.
        works = plan.work if self._reads_by_chat else await asyncio.to_thread(_newest_first, plan.work)
        orders = _orders(works, plan.removed_records)
        batches = self._engine.prepare_batches(dataset, orders, titles, meter, clock.lap)
        try:
            async with aclosing(batches) as prepared:
                async for batch in prepared:
                    for stage, seconds in batch.seconds:
                        clock.add(f"workers: {stage}", seconds)
                    await self._ledger.put(dataset, done)
                    found = await self._writer.store(dataset, batch.content, clock.lap)
                    extracted.append(found)
                    done, told = _batch_outcome(batch, found.unfinished_ids, plan.graph_hash)
                    files += told
                    meter.add(sum(self._graph_work * its.text_bytes for its in batch.works))
        except BaseException:
            with suppress(StoreError):
                await self._ledger.put(dataset, done)  # what was stored whole is not done again
            raise
        if plan.work:
            meter.finish()
        return files, ExtractionCounts.of(extracted), done

    @property
    def _graph_work(self) -> float:
        return CHAT_WORK if self._reads_by_chat else GRAPH_WORK

    def _meter(self, work: Sequence[Work], progress: Progress) -> Meter:
        """A progress meter over the documents to store, weighed by text; without documents it reports nothing."""
        total = sum(
            (self._graph_work + (_STORED_STATES[one.action] != "all")) * one.text_bytes for one in work
        )
        return Meter(progress if work else None, "store", units=len(work), work=total)


def _check_name(name: str, known_names: Sequence[str]) -> None:
    """Raises ``InputError`` if a case-insensitive disk would confuse the dataset's tables with those of another
    one."""
    for other in known_names:
        if other != name and other.casefold() == name.casefold():
            raise InputError(
                f"dataset {name!r} differs from {other!r} in case alone, and some file systems ignore case; "
                f"ingest into {other!r}, or choose another name"
            )


def _check_parts(paths: Sequence[Path], records: Mapping[str, DocumentRecord], dataset: str) -> None:
    """Raises ``InputError`` for a path inside an ingested folder: its documents would be stored twice, under two
    ids. A path that was itself ingested before passes and is updated."""
    held = {record.root for record in records.values()}
    for given in paths:
        path = resolve_path(given)
        if path is None or str(path) in held:
            continue
        for root in held.intersection(map(str, path.parents)):
            places = (Path(root) / record.path for record in records.values() if record.root == root)
            if any(place == path or path in place.parents for place in places):
                raise InputError(
                    f"{str(given)!r} is part of {root}, from which dataset {dataset!r} was ingested; "
                    f"ingest {root} again: unchanged files cost nothing"
                )


def _roots_under(paths: Sequence[Path], stored_roots: Sequence[str], dataset: str) -> list[str]:
    """The held roots that are one of the paths or lie below it."""
    found: dict[str, None] = {}
    for given in paths:
        path = resolve_path(given)
        below = [root for root in stored_roots if path is not None and Path(root).is_relative_to(path)]
        if not below:
            holds = f"it holds what came from {', '.join(stored_roots)}" if stored_roots else "it is empty"
            raise InputError(f"nothing in dataset {dataset!r} was ingested from {str(given)!r}; {holds}")
        found.update(dict.fromkeys(below))
    return list(found)


def _reasons(scan: SourceScan, failures: Mapping[str, Failure], documents: Extractor) -> dict[str, str]:
    """Why sources that are as they were when they could not be read are not tried again, by document id."""
    return {
        item.document_id: held.reason
        for item in scan.items
        if (held := failures.get(item.document_id)) is not None
        and held.attempt == documents.attempt(item.content_hash)
    }


def _failures(
    plan: Plan, scan: SourceScan, before: Mapping[str, Failure], documents: Extractor
) -> list[Failure]:
    """Those of the plan, and those of other roots."""
    kept = [one for one in before.values() if one.root not in scan.roots]
    return kept + [
        Failure(item.document_id, item.root, documents.attempt(item.content_hash), reason)
        for item, reason in plan.failures
    ]


def _newest_first(works: Sequence[Work]) -> list[Work]:
    """The notes edited last first, because they are asked about first; of one file in their order."""

    def edit_time(work: Work) -> float:
        try:
            return Path(work.item.root, work.item.path).stat().st_mtime
        except OSError:  # a part of a file, or gone by now
            return 0.0

    return sorted(works, key=edit_time, reverse=True)


def _orders(works: Sequence[Work], removed_records: Sequence[DocumentRecord]) -> list[Order]:
    # A note that was moved keeps its name; another name is another text to embed.
    gone = {PurePosixPath(record.document_id).name: record.document_id for record in removed_records}
    return [
        Order(work, _STORED_STATES[work.action], gone.get(PurePosixPath(work.item.document_id).name))
        for work in works
    ]


def _marks(plan: Plan, records: Mapping[str, DocumentRecord]) -> list[DocumentRecord]:
    """Pending records of all documents that the plan writes or removes; ``chunks`` and ``note`` are still those stored."""
    before = {document_id: (record.chunks, record.note) for document_id, record in records.items()}
    written = [_record(work, "", *before.get(work.item.document_id, (0, b""))) for work in plan.work]
    return [
        replace(r, pending=True, content_hash="", graph_hash="") for r in (*written, *plan.removed_records)
    ]


def _record(work: Work, graph_hash: str, chunks: int, note: bytes) -> DocumentRecord:
    return DocumentRecord(
        document_id=work.item.document_id,
        root=work.item.root,
        path=work.item.path,
        content_hash=work.item.content_hash,
        graph_hash=graph_hash,
        names=work.names,
        pending=False,
        chunks=chunks,
        note=note,
    )


def _batch_outcome(
    batch: Batch, unfinished_ids: Collection[str], graph_hash: str
) -> tuple[list[DocumentRecord], list[FileReport]]:
    """Records and reports of a batch that is stored; ``unfinished_ids``: ids of documents that were not read whole."""
    records, files = [], []
    for work, one in zip(batch.works, batch.content.documents, strict=True):
        is_unfinished = work.item.document_id in unfinished_ids
        # Without a graph hash, a document that is not read whole joins the work of the next ingest.
        records.append(_record(work, "" if is_unfinished else graph_hash, len(one.graph.chunks), work.note))
        files.append(_file_report(work, one, is_unfinished=is_unfinished))
    return records, files


def _file_report(work: Work, one: PreparedDocument, *, is_unfinished: bool) -> FileReport:
    reason = "; ".join([*one.warnings, *[UNFINISHED_REASON] * is_unfinished]) or None
    return FileReport(work.item.path, work.action, reason, len(one.graph.chunks), len(one.graph.facts))
