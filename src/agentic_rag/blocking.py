"""A synchronous ``Rag`` for programs without an event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from agentic_rag.answer import Answer
    from agentic_rag.ingest.pipeline import IngestReport
    from agentic_rag.notes.catalogue import Schema
    from agentic_rag.rag import Rag
    from agentic_rag.retrieval.schemas import RetrievalResult
    from agentic_rag.settings.config import RagConfig
    from agentic_rag.stores.lancedb.reindex import ReindexReport

T = TypeVar("T")


class BlockingRag:
    """A ``Rag`` whose calls block until their result is ready: for scripts and notebooks; made by
    ``open_rag_blocking``.

    Stores and models run on an event loop in a separate thread, so calls may come from any thread, also from one
    with a running loop (a notebook's).
    """

    def __init__(self, rag: Rag, portal: BlockingPortal) -> None:
        self.rag = rag
        self._portal = portal

    def ask(self, question: str, **options: Any) -> Answer:
        """See ``Rag.ask``."""
        return self.wait(self.rag.ask, question, **options)

    def ingest(self, paths: Any, **options: Any) -> IngestReport:
        """See ``Rag.ingest``."""
        return self.wait(self.rag.ingest, paths, **options)

    def remove(self, paths: Any, **options: Any) -> IngestReport:
        """See ``Rag.remove``."""
        return self.wait(self.rag.remove, paths, **options)

    def reindex(self, dataset: str = "default", **options: Any) -> ReindexReport:
        """See ``Rag.reindex``."""
        return self.wait(self.rag.reindex, dataset, **options)

    def search(self, query: str, **options: Any) -> list[RetrievalResult]:
        """See ``Rag.search``."""
        return self.wait(self.rag.search, query, **options)

    def schema(self, dataset: str = "default") -> Schema:
        """See ``Rag.schema``."""
        return self.wait(self.rag.schema, dataset)

    def invoke(self, state: Mapping[str, Any], config: Any = None, *, context: Any = None) -> dict[str, Any]:
        """``rag.graph.ainvoke``, blocking."""
        return self.wait(self.rag.graph.ainvoke, state, config, context=context)

    def wait(self, call: Callable[..., Awaitable[T]], *arguments: Any, **options: Any) -> T:
        """Any other coroutine of ``rag``: ``rag.wait(rag.rag.knowledge.counts, "notes")``."""
        waiting: Callable[[], Awaitable[T]] = partial(call, *arguments, **options)
        return self._portal.call(waiting)


@contextmanager
def open_rag_blocking(config: RagConfig | None = None, **options: Any) -> Iterator[BlockingRag]:
    """``open_rag`` for programs without an event loop: ``with open_rag_blocking() as rag: rag.ask("…")``.

    Arguments and errors are those of ``open_rag``.
    """
    from anyio.from_thread import start_blocking_portal

    from agentic_rag.rag import open_rag

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(open_rag(config, **options)) as rag,
    ):
        yield BlockingRag(rag, portal)
