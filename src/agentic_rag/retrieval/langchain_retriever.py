"""Searches as a langchain-core retriever, for chains that are not this package's graph."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from agentic_rag.domain.loops import result_of, running_loop
from agentic_rag.errors import InputError
from agentic_rag.retrieval.schemas import RetrievalResult

LOOP_SECONDS = 5.0
"""How long a synchronous call waits for a busy event loop before it takes it to be blocked by the caller."""
T = TypeVar("T")


class DocumentRetriever(BaseRetriever):
    """A search whose documents are best first; made by ``RetrievalEngine.as_retriever`` and ``Rag.as_retriever``.

    ``ainvoke`` is the way inside a running event loop. ``invoke`` works where none runs, and in a thread
    beside one: stores and models belong to the loop they were opened on, so it is that loop which searches.
    """

    search: Callable[[str], Awaitable[list[Document]]] = Field(exclude=True, repr=False)
    home: asyncio.AbstractEventLoop | None = Field(exclude=True, repr=False)
    """The loop of the stores; None where none ran."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        if running_loop() is not None:
            raise InputError(
                "invoke cannot wait inside a running event loop; use: await retriever.ainvoke(…)"
            )
        return _waited_for(self._search(query), self.home)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await self.search(query)

    async def _search(self, query: str) -> list[Document]:
        return await self.search(query)


def passage_document(result: RetrievalResult) -> Document:
    """A result of the engine as a document."""
    metadata = {
        **result.metadata,
        "relevance_score": result.score,
        "relevance_legs": result.leg_values(),
    }
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
