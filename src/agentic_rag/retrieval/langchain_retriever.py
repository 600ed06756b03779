"""The retrieval engine as a langchain-core retriever, for chains that are not this package's graph."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, PrivateAttr

from agentic_rag.domain.json_values import Json
from agentic_rag.domain.loops import result_of, running_loop
from agentic_rag.errors import InputError
from agentic_rag.retrieval.schemas import RetrievalResult

LOOP_SECONDS = 5.0
"""How long a synchronous call waits for a busy event loop before it takes it to be blocked by the caller."""
T = TypeVar("T")


class EngineRetriever(BaseRetriever):
    """Searches one dataset of an engine; made by ``RetrievalEngine.as_retriever``.

    A document has the chunk's text as ``page_content``, its id, and as metadata what
    ``RetrievalResult.metadata`` holds, with ``relevance_score`` in [0, 1] and ``relevance_legs``
    (``{"dense": {"rank", "score"}, "sparse": {…}}``) on top.

    ``ainvoke`` is the way inside a running event loop. ``invoke`` works where none runs, and in a thread
    beside one: stores and models belong to the loop they were opened on, so it is that loop which searches.
    """

    search: Callable[..., Awaitable[list[RetrievalResult]]] = Field(exclude=True, repr=False)
    """``RetrievalEngine.search``."""
    dataset_id: str
    arguments: Json = Field(default_factory=dict)
    """Of ``search``, without dataset and query."""
    _home: asyncio.AbstractEventLoop | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any) -> None:
        super().model_post_init(context)
        self._home = running_loop()

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        if running_loop() is not None:
            raise InputError(
                "invoke cannot wait inside a running event loop; use: await retriever.ainvoke(…)"
            )
        return _waited_for(self._search(query), self._home)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await self._search(query)

    async def _search(self, query: str) -> list[Document]:
        found = await self.search(self.dataset_id, query, **self.arguments)
        return [_document(result) for result in found]


def _document(result: RetrievalResult) -> Document:
    legs = {name: {"rank": leg.rank, "score": leg.score} for name, leg in result.legs.items()}
    metadata = {**result.metadata, "relevance_score": result.score, "relevance_legs": legs}
    return Document(id=result.id, page_content=result.content, metadata=metadata)


def _waited_for(work: Coroutine[Any, Any, T], home: asyncio.AbstractEventLoop | None) -> T:
    """The result of ``work``, on ``home`` where that is open, else on a loop of its own; no loop runs in this thread."""
    if home is None or home.is_closed():
        return asyncio.run(work)
    if not home.is_running():
        return home.run_until_complete(work)
    awake = threading.Event()
    home.call_soon_threadsafe(awake.set)
    if not awake.wait(LOOP_SECONDS):
        work.close()
        raise InputError(
            "the event loop that the stores belong to is blocked, most likely by a chain's invoke in it; "
            "use: await chain.ainvoke(…)"
        )
    return result_of(work, home)
