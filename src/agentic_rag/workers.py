"""Bulk work apart from this process: the port that an engine such as a Ray cluster implements."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from agentic_rag.domain.ports import ChunkStore, Embedding
from agentic_rag.errors import InputError
from agentic_rag.extensions import load
from agentic_rag.settings.config import RagConfig

if TYPE_CHECKING:
    from agentic_rag.ingest.engines import IngestEngine

LOCAL = "local"
"""The engine that is this process."""
Parts = TypeVar("Parts")
Item = TypeVar("Item")
Result = TypeVar("Result")
Open = Callable[[], AbstractAsyncContextManager[Parts]]
"""Opens the parts of a worker; must be picklable."""
Task = Callable[[Parts, Item], Awaitable[Result]]
"""What a worker does with an item; must be picklable, as its items and results."""


class ParallelEmbedding(Embedding, Protocol):
    """An embedding whose passages are embedded by workers."""

    @property
    def at_once(self) -> int:
        """Number of concurrent calls that keep all workers busy; at least 1."""


class Workers(Protocol):
    """The workers of an engine, joined at the first work, so that a run without work needs none.

    Every method raises ``RunError`` where the workers cannot be reached or fail.
    """

    def ingest_engine(
        self, config: RagConfig, embedding: Embedding | None, chunks: ChunkStore
    ) -> IngestEngine:
        """Parses, chunks, derives and embeds documents.

        Args:
            config: opens a worker's own stores.
            embedding: its model; None: the configured one.
            chunks: the store of this process.
        """

    async def embedding(
        self, config: RagConfig, embedding: Embedding | None, here: Embedding
    ) -> ParallelEmbedding:
        """An embedding of the same kind as ``here``, which embeds the questions."""

    def stream(
        self,
        open_parts: Open[Parts],
        task: Task[Parts, Item, Result],
        items: Sequence[Item],
        doing: str,
        *,
        embeds: bool = False,
    ) -> AsyncGenerator[Result]:
        """The result of each item, in order, as soon as it is ready.

        Args:
            open_parts: opens the parts of a worker.
            task: makes the result of an item.
            items: in order.
            doing: the activity as errors name it.
            embeds: whether the task embeds passages, so that GPUs are used.

        Raises:
            AgenticRagError: a worker raised it.
        """


class Engine(Protocol):
    """An entry of ``agentic_rag.engines``: joins workers at an address, and leaves them at the end."""

    def __call__(self, address: str | None) -> AbstractAsyncContextManager[Workers]: ...


@asynccontextmanager
async def join_workers(engine: str, address: str | None) -> AsyncIterator[Workers | None]:
    """The workers of an engine, left at the end; None for ``local``, which is this process.

    Raises:
        InputError: an unknown engine, or ``local`` with an address.
        MissingExtra: a package that the engine needs is not installed.
    """
    if engine == LOCAL:
        if address is not None:
            raise InputError(
                "an address is for the engine 'ray' alone; give that engine too, or leave the address out"
            )
        yield None
        return
    join: Engine = load("engines", engine, "engine", (LOCAL,))
    async with join(address) as workers:
        yield workers
