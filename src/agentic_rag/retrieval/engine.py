"""The retrieval engine: one ``search`` over any chunk store, under the strategy asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from agentic_rag.domain import Chunk, is_own_note
from agentic_rag.domain.filters import And, Expression, as_dict, keys_of, parse_filters
from agentic_rag.domain.identity import dataset_name, without_memories
from agentic_rag.domain.loops import running_loop
from agentic_rag.domain.ports import ChunkSearch, Embedding, Restriction, TokenEmbedding
from agentic_rag.errors import InputError, UnknownDataset
from agentic_rag.retrieval.config import (
    DEFAULT_SCORE_THRESHOLD,
    DEFAULT_TOP_K,
    MIN_CANDIDATES,
    RETRIEVAL_STRATEGY,
    Strategy,
)
from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration
from agentic_rag.retrieval.floor import Nats
from agentic_rag.retrieval.late_interaction import LateInteraction
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.retrieval.schemas import JudgedResults, RetrievalResult
from agentic_rag.retrieval.strategies import STRATEGIES
from agentic_rag.retrieval.term_likeness import TermLikeness, term_likeness

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

MAX_KEYS = 12
"""Most existing metadata keys in the error for an unknown key; the most similar first."""


class RetrievalEngine:
    """Searches datasets of a chunk store.

    Args:
        store: where the chunks are.
        embedding: the model they were embedded with.
        calibration: turns raw scores into relevance; None: the embedding's own.
        nats: the cost of a text under a language model, by which questions are told from gibberish; see
            ``floor``. Without it some nonsense finds something.
    """

    def __init__(
        self,
        store: ChunkSearch,
        embedding: Embedding,
        calibration: EmbeddingCalibration | None = None,
        nats: Nats | None = None,
    ) -> None:
        self._calibration = calibration or EmbeddingCalibration(embedding)
        self._strategies = {
            name: kind(store, embedding, self._calibration, nats) for name, kind in STRATEGIES.items()
        }
        self._tokens = embedding if isinstance(embedding, TokenEmbedding) else None
        self._late_interaction = LateInteraction(self._tokens, store)
        self._store = store

    async def ready(self, strategy: Strategy | None = None) -> None:
        """Load or measure the calibration of the embedding's cosines, unless the strategy is sparse; else the first
        search does it.

        Raises:
            ModelError: the model failed.
        """
        if (strategy or RETRIEVAL_STRATEGY) != "sparse":
            await self._calibration.of_cosines()

    async def chunks(self, dataset_id: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        """The stored chunks that exist among the ids."""
        return await self._store.get_chunks(dataset_id, chunk_ids)

    async def documents(self, dataset_id: str, document_ids: Sequence[str]) -> dict[str, list[Chunk]]:
        """All chunks of the documents that exist among the ids, in the order of the text."""
        return await self._store.document_chunks(dataset_id, document_ids)

    async def likeness(self, dataset_id: str, question: str, chunks: Sequence[Chunk]) -> TermLikeness | None:
        """How nearly the chunks say each word of a question; see ``term_likeness``.

        Raises:
            StoreError, ModelError: something behind the engine failed.
        """
        return await term_likeness(self._tokens, self._store, dataset_id, question, chunks)

    async def search(
        self,
        dataset_id: str,
        query_text: str,
        top_k: int = DEFAULT_TOP_K,
        score_threshold: float | None = None,
        filters: Mapping[str, Any] | Expression | None = None,
        *,
        as_of: datetime | None = None,
        strategy: Strategy | None = None,
        judged_as: str | None = None,
    ) -> list[RetrievalResult]:
        """The ``top_k`` most relevant chunks.

        Args:
            dataset_id: dataset to search.
            query_text: any text; one of white space alone finds nothing.
            top_k: most results, at least 1.
            score_threshold: least relevance in [0, 1]; None: DEFAULT_SCORE_THRESHOLD.
            filters: see ``filters``; applied before anything is ranked.
            as_of: leaves out chunks dated after it.
            strategy: ``dense``, ``sparse`` or ``hybrid``; None: ``hybrid``.
            judged_as: the original question if ``query_text`` is a rewrite of it. Passages that only the rewrite
                finds are judged by their cosine with this question, because added words match the passages they
                were taken from.

        Returns:
            Results by relevance descending, then id.

        Raises:
            InputError: top_k, threshold, strategy or filter out of range or unknown.
            UnknownDataset: nothing was ever ingested under the name.
            StoreError, ModelError: something behind the engine failed.
        """
        threshold = DEFAULT_SCORE_THRESHOLD if score_threshold is None else score_threshold
        if not isinstance(threshold, int | float) or not 0.0 <= threshold <= 1.0:
            raise InputError(f"score_threshold must lie in [0, 1], not {threshold!r}")
        if isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1:
            raise InputError(f"top_k must be a whole number of at least 1, not {top_k!r}")
        if not isinstance(query_text, str):
            raise InputError(f"the query must be a text, not {query_text!r}")
        query = SourceQuery(
            dataset_id,
            query_text,
            judged_as,
            filters=parse_filters(filters),
            as_of=as_of,
            strategy=strategy,
        )
        found = await self.find(query, top_k)
        return [result for result in found.results if result.score >= threshold]

    async def find(self, query: SourceQuery, limit: int) -> JudgedResults:
        """The ``limit`` most relevant chunks, and the question's familiarity.

        Raises:
            InputError: an unknown strategy.
            UnknownDataset, StoreError, ModelError: as ``search``.
        """
        chosen = query.strategy or RETRIEVAL_STRATEGY
        if chosen not in self._strategies:
            raise InputError(f"unknown strategy {chosen!r}; use one of: {', '.join(self._strategies)}")
        if not query.text.strip():
            return JudgedResults([])
        dataset, question = query.dataset, query.question
        restriction = Restriction(query.filters, query.as_of)
        count = max(limit, MIN_CANDIDATES)
        by = self._strategies[chosen]
        found = await by.retrieve(dataset, question, limit=count, restriction=restriction)
        if question != query.text:
            more = await by.retrieve(dataset, query.text, limit=count, restriction=restriction)
            found = await by.join_results(dataset, question, found, more)
        if not query.own_notes:
            found = [result for result in found if not is_own_note(result.metadata)]
        judged = JudgedResults(found)
        if chosen == "hybrid":
            judged = await self._late_interaction.judge(dataset, question, found)
        if not found and dataset_name(dataset) not in (known := await self._store.datasets()):
            raise UnknownDataset(dataset, without_memories(known))
        return judged._replace(results=judged.results[:limit])

    async def why_nothing_passes(
        self,
        dataset_id: str,
        filters: Mapping[str, Any] | Expression | None,
        as_of: datetime | None = None,
    ) -> str | None:
        """The metadata key, condition or date that excludes all chunks, as a sentence; None if some chunk passes.

        A key that no chunk has is reported even if chunks pass.

        Raises:
            FilterError: the filter cannot be read.
            StoreError: the store failed.
        """
        wanted = parse_filters(filters)
        if wanted is not None:
            unknown = await self._unknown_keys(dataset_id, wanted)
            if unknown is not None:
                return unknown
            if not await self._passes(dataset_id, Restriction(wanted)):
                return await self._unmet(dataset_id, wanted)
        if as_of is None or await self._passes(dataset_id, Restriction(wanted, as_of)):
            return None
        which = "every chunk that passes the filter" if wanted else "every chunk"
        return f"{which} in dataset {dataset_id!r} is dated after {as_of.replace(microsecond=0)}"

    async def _passes(self, dataset_id: str, restriction: Restriction) -> bool:
        return bool(await self._store.matching_chunk_ids(dataset_id, restriction, limit=1))

    async def _unmet(self, dataset_id: str, condition: Expression) -> str:
        """A sentence that names the conditions that no chunk meets, or the whole filter if each condition alone
        is met."""
        parts = condition.parts if isinstance(condition, And) else (condition,)
        unmet = [part for part in parts if not await self._passes(dataset_id, Restriction(part))] or [
            condition
        ]
        spelled = " and ".join(str(as_dict(part)) for part in unmet)
        return f"no chunk of dataset {dataset_id!r} passes the filter {spelled}; a number never equals a text"

    async def _unknown_keys(self, dataset_id: str, condition: Expression) -> str | None:
        """A sentence that names the filter's unknown keys and the existing ones; None if all are known."""
        known = await self._store.filter_keys(dataset_id)
        unknown = sorted(keys_of(condition) - known)
        if not unknown:
            return None
        by_likeness = sorted(
            sorted(known),
            key=lambda key: max(SequenceMatcher(None, key, other).ratio() for other in unknown),
            reverse=True,
        )
        there = ", ".join(by_likeness[:MAX_KEYS]) + (", …" if len(known) > MAX_KEYS else "")
        return (
            f"no chunk of dataset {dataset_id!r} has {', '.join(map(repr, unknown))}, which the filter names; "
            f"it can be filtered by: {there or 'nothing'}"
        )

    def as_retriever(
        self,
        dataset_id: str,
        *,
        top_k: int = DEFAULT_TOP_K,
        score_threshold: float | None = None,
        filters: Mapping[str, Any] | Expression | None = None,
        as_of: datetime | None = None,
        strategy: Strategy | None = None,
    ) -> BaseRetriever:
        """The dataset as a langchain-core retriever, for any chain; the other arguments are ``search``'s.

        A document has the chunk's text as ``page_content``, its id, and as metadata what
        ``RetrievalResult.metadata`` holds, with ``relevance_score`` in [0, 1] and ``relevance_legs``
        (``{"dense": {"rank", "score"}, "sparse": {…}}``) on top. ``ainvoke`` in a running event loop, ``invoke``
        elsewhere; see ``DocumentRetriever``.

        Raises:
            FilterError: the filters cannot be read. What else ``search`` raises, invoking raises.
        """
        from agentic_rag.retrieval.langchain_retriever import DocumentRetriever, passage_document

        tree = parse_filters(filters)

        async def documents(query: str) -> list[Document]:
            found = await self.search(
                dataset_id,
                query,
                top_k=top_k,
                score_threshold=score_threshold,
                filters=tree,
                as_of=as_of,
                strategy=strategy,
            )
            return [passage_document(result) for result in found]

        return DocumentRetriever(search=documents, home=running_loop())
