"""``ingest.engines.IngestEngine`` on Ray Data: workers prepare shares of the documents, this process stores them.

Shares stream through a pool of actors, a core each (and a GPU, where the cluster has them and the model can use one).
Ray Data keeps back what comes faster than it is stored, and moves what waits to disk. A worker that dies is started
anew and does its share again; what this process had stored is marked done, so a run that was killed goes on there.
"""

from __future__ import annotations

import asyncio
import pickle
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from agentic_rag.distributed.cluster import Cluster, translated
from agentic_rag.distributed.worker import Made, Open, PreparingWorker, Share, packed, parse_share
from agentic_rag.domain.ports import ChunkStore, PieceStore
from agentic_rag.domain.progress import Meter
from agentic_rag.errors import AgenticRagError
from agentic_rag.ingest.engines import BATCH_DOCUMENTS, Batch, Order, grouped
from agentic_rag.ingest.names import TitleIndex
from agentic_rag.ingest.planning import Action, FileReport, Work, parsed
from agentic_rag.ingest.preparing import Prepared, PreparedDocument
from agentic_rag.ingest.sources import SourceItem
from agentic_rag.models.bundled import can_use_gpu

PARSED_TOGETHER = 128
"""Sources a task."""
THREADS = 1
"""Of a worker: it has one core."""
SHARE_BYTES = 400_000
"""Of text that a worker is given at a time, or one document: some seconds of embedding, which are lost with a worker."""


class RayEngine:
    """Parses and prepares on a cluster.

    Args:
        cluster: joined when there is something to do.
        open_parts: opens a worker's own stores and model.
        chunks: the store of this process.
    """

    def __init__(self, cluster: Cluster, open_parts: Open, chunks: ChunkStore) -> None:
        self._cluster = cluster
        self._open_parts = open_parts
        self._chunks = chunks

    def parsed(self, found: Sequence[tuple[SourceItem, Action]]) -> Iterator[Work | FileReport]:
        if len(found) <= PARSED_TOGETHER:  # done before a task would begin
            yield from (parsed(item, action) for item, action in found)
            return
        rows = [
            {"sources": packed(list(found[start : start + PARSED_TOGETHER]))}
            for start in range(0, len(found), PARSED_TOGETHER)
        ]
        for row in self._streamed(rows, "parsing", parse_share):
            yield from pickle.loads(row["parsed"])

    async def prepared(
        self,
        dataset: str,
        orders: Sequence[Order],
        titles: TitleIndex | None,
        meter: Meter,
        lap: Callable[[str], None],
    ) -> AsyncGenerator[Batch]:
        if not orders:
            return
        if isinstance(self._chunks, PieceStore):
            await self._chunks.expect_pieces(dataset)
        batches = self._batches(dataset, orders, titles)
        while batch := await asyncio.to_thread(next, batches, None):
            lap("prepare")
            meter.add(sum(work.text_bytes for work in batch.works if work.action != "relinked"))
            yield batch

    def _batches(self, dataset: str, orders: Sequence[Order], titles: TitleIndex | None) -> Iterator[Batch]:
        shares = list(_shares(orders))
        rows = [{"share": pickle.dumps(_packed(share), pickle.HIGHEST_PROTOCOL)} for share in shares]
        ray = self._cluster.joined()
        gpus, kept = _gpus(ray), ray.put(titles)
        made = self._streamed(
            rows,
            "preparing documents",
            PreparingWorker,
            compute=_pool(ray, len(rows), gpus),
            num_cpus=1,
            num_gpus=gpus,
            fn_constructor_args=(self._open_parts, dataset, [kept], THREADS),
        )
        documents = self._documents(made, shares)
        for some in grouped(documents, lambda one: len(one[1].graph.chunks), BATCH_DOCUMENTS):
            yield _batch(some)

    def _documents(
        self, made: Iterator[dict[str, Any]], shares: Sequence[Sequence[Order]]
    ) -> Iterator[tuple[Work, PreparedDocument, Made]]:
        for row, share in zip(made, shares, strict=True):
            one: Made | AgenticRagError = pickle.loads(row["made"])
            if isinstance(one, AgenticRagError):
                raise one
            for order, document in zip(share, one.documents, strict=True):
                yield order.work, document, one

    def _streamed(
        self, rows: list[dict[str, Any]], doing: str, work: Any, **options: Any
    ) -> Iterator[dict[str, Any]]:
        """Rows as they are ready, in their order."""
        if not rows:
            return
        data = self._cluster.joined().data
        with translated(doing):
            yield from data.from_items(rows, override_num_blocks=len(rows)).map(work, **options).iter_rows()


def _pool(ray: Any, shares: int, gpus: int) -> Any:
    """As many workers as there are cores, or GPUs, and not more than shares."""
    found = int(ray.cluster_resources().get("GPU" if gpus else "CPU", 1))
    return ray.data.ActorPoolStrategy(size=max(1, min(found, shares)))


def _gpus(ray: Any) -> int:
    """Of each worker: 1 where the cluster has some and the bundled model can use one."""
    return int(bool(ray.cluster_resources().get("GPU")) and can_use_gpu())


def _shares(orders: Sequence[Order]) -> Iterator[list[Order]]:
    share: list[Order] = []
    size = 0
    for order in orders:
        more = order.work.text_bytes
        if share and (len(share) == BATCH_DOCUMENTS or size + more > SHARE_BYTES):
            yield share
            share, size = [], 0
        share.append(order)
        size += more
    yield share


def _packed(orders: Sequence[Order]) -> Share:
    return Share(tuple((order.work.packed, order.stored, order.moved_from) for order in orders))


def _added(seconds: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: defaultdict[str, float] = defaultdict(float)
    for one in seconds:
        for stage, taken in one.items():
            total[stage] += taken
    return total


def _batch(some: Sequence[tuple[Work, PreparedDocument, Made]]) -> Batch:
    """Pieces go with the first of their documents."""
    made = list({id(one): one for _, _, one in some}.values())
    first = [one for _, document, one in some if document is one.documents[0]]
    vectors = {text: vector for one in made for text, vector in zip(one.texts, one.vectors, strict=True)}
    pieces = tuple(one.piece for one in first if one.piece is not None)
    return Batch(
        tuple(work for work, _, _ in some),
        Prepared(tuple(document for _, document, _ in some), vectors, pieces),
        _added(one.seconds for one in first),
    )
