"""A langchain-core retriever as the main graph's vector source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.runnables import Runnable

from agentic_rag.dates.instants import moment_of
from agentic_rag.domain import Chunk, by_document, is_own_note, search_text
from agentic_rag.domain.filters import Expression
from agentic_rag.domain.identity import digest
from agentic_rag.domain.ports import Embedding, Restriction
from agentic_rag.errors import ConfigError, StoreError
from agentic_rag.retrieval.config import Strategy
from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.retrieval.restrictions import passes
from agentic_rag.retrieval.schemas import JudgedResults, Leg, RetrievalResult
from agentic_rag.retrieval.term_likeness import TermLikeness
from agentic_rag.text import script

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever

MAX_KEPT = 10_000
"""Chunks that stay readable by id, the latest found; a resumed run and neighbouring passages read them."""


class RetrieverSource:
    """``retrieval.ports.VectorSearch`` on a langchain-core retriever; of a ``VectorStore`` on its ``as_retriever()``.

    ``dataclasses.replace(rag.parts, lancedb=RetrieverSource(retriever, rag.embedding))`` puts it beside the graph, and its
    documents are fused, reranked and cited like notes. A retriever tells no relevance, so each document is judged by the
    cosine of its text with the question under ``embedding``.

    Of a document's metadata, ``source`` or ``path`` names the note, ``title`` and ``date`` (ISO 8601) have their usual
    meaning, and every key can be filtered by; filters and ``as_of`` leave out what the retriever found.

    Args:
        retriever: finds documents; how many is its own setting (``search_kwargs={"k": 50}``).
        embedding: of the graph.

    Raises:
        ConfigError: it is no retriever.
    """

    def __init__(self, retriever: BaseRetriever, embedding: Embedding) -> None:
        if not isinstance(retriever, Runnable):
            raise ConfigError(
                f"a source needs a langchain-core retriever, not a {type(retriever).__name__}; of a vector store, give its "
                "as_retriever()"
            )
        self._retriever, self._embedding = retriever, embedding
        self._calibration = EmbeddingCalibration(embedding)
        self._chunks: dict[str, Chunk] = {}

    async def ready(self, strategy: Strategy | None = None) -> None:
        """Measure the embedding's cosines, where it has no fitted calibration."""
        await self._calibration.of_cosines()

    async def find(self, query: SourceQuery, limit: int) -> JudgedResults:
        """The retriever's documents by relevance in [0, 1] descending, then id; ``strategy`` is the retriever's own.

        Raises:
            StoreError: the retriever failed.
            ModelError: the embedding failed.
        """
        restriction = Restriction(query.filters, query.as_of)
        chunks = [
            chunk
            for chunk in map(chunk_of, await self._documents(query.text))
            if passes(chunk, restriction) and (query.own_notes or not is_own_note(chunk.metadata))
        ]
        distinct = list({one.id: one for one in chunks}.values())
        return JudgedResults((await self._judge_chunks(query.question, distinct))[:limit])

    async def _documents(self, query: str) -> list[Document]:
        name = type(self._retriever).__name__
        try:
            documents = list(await self._retriever.ainvoke(query))
        except Exception as error:
            raise StoreError(f"the retriever {name} failed: {type(error).__name__}: {error}") from error
        if other := [one for one in documents if not isinstance(one, Document)]:
            raise StoreError(f"the retriever {name} gave a {type(other[0]).__name__}, not documents")
        return documents

    async def _judge_chunks(self, question: str, chunks: Sequence[Chunk]) -> list[RetrievalResult]:
        if not chunks:
            return []
        vectors = await self._embedding.embed_passages([search_text(chunk) for chunk in chunks])
        (asked,) = await self._embedding.embed_queries([question])
        self._keep(chunks)
        relevance = (await self._calibration.of_cosines()).judge(script(question))
        cosines = [float(one) for one in vectors @ asked]
        results = [
            RetrievalResult(chunk, relevance(cosine, chunk.text), {"dense": Leg(rank, cosine)})
            for rank, (chunk, cosine) in enumerate(zip(chunks, cosines, strict=True), start=1)
        ]
        return sorted(results, key=lambda one: (-one.score, one.id))

    def _keep(self, chunks: Sequence[Chunk]) -> None:
        for chunk in chunks:
            self._chunks.pop(chunk.id, None)  # so that it counts as the latest
            self._chunks[chunk.id] = chunk
        for oldest in list(self._chunks)[: max(0, len(self._chunks) - MAX_KEPT)]:
            del self._chunks[oldest]

    async def chunks(self, dataset_id: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        """The documents found before that exist among the ids."""
        return {one: self._chunks[one] for one in chunk_ids if one in self._chunks}

    async def documents(self, dataset_id: str, document_ids: Sequence[str]) -> dict[str, list[Chunk]]:
        """The documents found before, by the note that they are of."""
        return by_document(chunk for chunk in self._chunks.values() if chunk.document_id in document_ids)

    async def likeness(self, dataset_id: str, question: str, chunks: Sequence[Chunk]) -> TermLikeness | None:
        """None: a retriever has no token vectors."""
        return None

    async def why_nothing_passes(
        self, dataset_id: str, filters: Mapping[str, Any] | Expression | None, as_of: datetime | None = None
    ) -> str | None:
        """A sentence where something was to be filtered; what the retriever could have found is not known."""
        if filters is None and as_of is None:
            return None
        return "no document that the retriever found passes the filters and the date"


def chunk_of(document: Document) -> Chunk:
    """A langchain-core document as a chunk; one without an id is known by its place and text."""
    metadata, text = dict(document.metadata), document.page_content
    path = str(metadata.get("path") or metadata.get("source") or "")
    identity = document.id or f"{path}#{digest(path, text)[:16]}"
    date = metadata.get("date")
    return Chunk(
        identity,
        str(metadata.get("document_id") or path or identity),
        text,
        ordinal=0,
        kind="paragraph",
        path=path or identity,
        title=str(metadata.get("title") or path.rpartition("/")[2] or identity),
        date=date if isinstance(date, datetime) else moment_of(str(date)) if date else None,
        start=int(metadata.get("start") or 0),
        end=int(metadata.get("start") or 0) + len(text),
        metadata=metadata,
    )
