"""A pool of workers on the cluster, one per core; each opens its parts once and then processes items.

Items stream through Ray Data, which slows producers down to the pace of the consumer and spills waiting data to disk.
A worker that dies is restarted and repeats its item.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

from agentic_rag.errors import AgenticRagError
from agentic_rag.models import bundled
from agentic_rag.workers import Item, Open, Parts, Result, Task
from agentic_rag_backends.distributed.cluster import Cluster, cores, translate_errors

THREADS = 1
"""Embedding threads per worker, which has one core."""


class Worker:
    """A Ray actor: opens its parts for its first item, then processes one item after the other.

    Expected errors, in opening or at work, are returned as values, because Ray keeps only the text of a raised one.
    """

    def __init__(self, open_parts: Open[Any], work: Task[Any, Any, Any]) -> None:
        bundled.use_threads(THREADS)
        self._open = open_parts
        self._work = work
        self._runner = asyncio.Runner()
        self._exit_stack = AsyncExitStack()
        self._parts: Any = None

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The item's result, or the error."""
        try:
            made = self._runner.run(self._result_of(pickle.loads(row["item"])))
        except AgenticRagError as error:
            made = error
        return {"made": pack(made)}

    async def _result_of(self, item: Any) -> Any:
        if self._parts is None:
            self._parts = await self._exit_stack.enter_async_context(self._open())
        return await self._work(self._parts, item)


class Pool:
    """The workers of a cluster, which is joined when there is work."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def share(self, value: Any) -> list[Any]:
        """A reference to a value shared by all workers, in a list, so that it can be passed to ``Worker``; see
        ``get_shared``."""
        return [self._cluster.connect().put(value)]

    def results(
        self,
        open_parts: Open[Parts],
        task: Task[Parts, Item, Result],
        items: Sequence[Item],
        doing: str,
        *,
        embeds: bool = False,
    ) -> Iterator[Result]:
        """As ``agentic_rag.workers.Workers.stream``, but it blocks, so call it in a thread."""
        if not items:
            return
        ray = self._cluster.connect()
        many, gpus = workers(ray, embed=embeds)
        rows = ray.data.from_items([{"item": pack(item)} for item in items], override_num_blocks=len(items))
        made = rows.map(
            Worker,
            compute=ray.data.ActorPoolStrategy(size=min(many, len(items))),
            num_cpus=1,
            num_gpus=gpus,
            fn_constructor_args=(open_parts, task),
        )
        with translate_errors(doing):
            for row in made.iter_rows():
                one: Result | AgenticRagError = pickle.loads(row["made"])
                if isinstance(one, AgenticRagError):
                    raise one
                yield one

    async def stream(
        self,
        open_parts: Open[Parts],
        task: Task[Parts, Item, Result],
        items: Sequence[Item],
        doing: str,
        *,
        embeds: bool = False,
    ) -> AsyncGenerator[Result]:
        """See ``agentic_rag.workers.Workers.stream``."""
        results = self.results(open_parts, task, items, doing, embeds=embeds)
        for _ in items:
            yield await asyncio.to_thread(next, results)


def get_shared(shared_value: Sequence[Any]) -> Any:
    """In a worker, the value given to ``Pool.share``."""
    import ray

    return ray.get(shared_value[0])


def pack(value: Any) -> bytes:
    """Bytes for ``pickle.loads``; also of functions that pickle itself cannot serialise."""
    from ray import cloudpickle

    made: bytes = cloudpickle.dumps(value)
    return made


def workers(ray: Any, *, embed: bool) -> tuple[int, int]:
    """Number of workers for the cluster, and GPUs of each.

    Embedding workers are one per GPU if the cluster has GPUs and the bundled model can use them. Otherwise workers are
    one per core.
    """
    gpus = int(ray.cluster_resources().get("GPU", 0)) if embed and bundled.can_use_gpu() else 0
    return (gpus, 1) if gpus else (cores(ray), 0)
