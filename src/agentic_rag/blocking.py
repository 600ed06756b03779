"""A synchronous ``Rag`` for programs without an event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from agentic_rag.rag import Rag, open_rag

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from agentic_rag.answer import Answer
    from agentic_rag.boards.files import BoardReport
    from agentic_rag.boards.reviews import Reviews
    from agentic_rag.settings.config import RagConfig

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    method: Callable[Concatenate[Rag, P], Awaitable[T]],
) -> Callable[Concatenate[BlockingRag, P], T]:
    """The coroutine method as one that waits for its result."""

    @wraps(method)
    def call(self: BlockingRag, /, *arguments: P.args, **options: P.kwargs) -> T:
        return self.wait(partial(method, self.rag), *arguments, **options)

    return call


def _iterating(
    method: Callable[Concatenate[Rag, P], AsyncGenerator[T]],
) -> Callable[Concatenate[BlockingRag, P], Iterator[T]]:
    """The asynchronous generator as one that waits for each of its parts."""

    @wraps(method)
    def call(self: BlockingRag, /, *arguments: P.args, **options: P.kwargs) -> Iterator[T]:
        parts = method(self.rag, *arguments, **options)
        try:
            while True:
                yield self.wait(parts.__anext__)
        except StopAsyncIteration:
            return
        finally:
            self.wait(parts.aclose)

    return call


class BlockingRag:
    """A ``Rag`` whose calls block until their result is ready: for scripts and notebooks; made by
    ``open_rag_blocking``.

    Its calls have the arguments, results and errors of the ``Rag``'s. Stores and models run on an event loop in a separate
    thread, so calls may come from any thread, also from one with a running loop (a notebook's).
    """

    def __init__(self, rag: Rag, portal: BlockingPortal) -> None:
        self.rag = rag
        self._portal = portal

    ask = _blocking(Rag.ask)
    stream = _iterating(Rag.stream)
    messages = _blocking(Rag.messages)
    ingest = _blocking(Rag.ingest)
    remove = _blocking(Rag.remove)
    reindex = _blocking(Rag.reindex)
    backup = _blocking(Rag.backup)
    search = _blocking(Rag.search)
    related_facts = _blocking(Rag.related_facts)
    schema = _blocking(Rag.schema)
    check = _blocking(Rag.check)
    selection_base = _blocking(Rag.selection_base)
    write_base = _blocking(Rag.write_base)

    def write_board(self, answer: Answer, path: str) -> BoardReport:
        """See ``Rag.write_board``."""
        return self.rag.write_board(answer, path)

    def reviews(self, user_id: str) -> Reviews:
        """See ``Rag.reviews``."""
        return self.rag.reviews(user_id)

    def invoke(
        self, state: Mapping[str, Any], config: Any = None, *, context: Any = None
    ) -> dict[str, object]:
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

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(open_rag(config, **options)) as rag,
    ):
        yield BlockingRag(rag, portal)
