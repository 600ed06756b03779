"""A dataset's chunks in memory, for BM25, range filters, filters of many values, and in some stores vector
search.

A store without full text has no word statistics, and no store lists the distinct values under a key; both
need every chunk once. It is read again only when the dataset was written.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import bm25s
import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain import Chunk, filterable, search_text
from agentic_rag.domain.ports import FloatArray, Restriction, ScoredChunk
from agentic_rag.retrieval.restrictions import passes
from agentic_rag.stores.metadata_items import metadata_item, metadata_items, value_keys
from agentic_rag.text import tokens
from agentic_rag_backends.vectorstores.backend import Row, row_id, to_chunk

K1, B = 1.2, 0.75
logging.getLogger("bm25s").setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True)
class CachedRows:
    """All chunks of a dataset as they were at one version, in chunk id order."""

    version: str
    chunks: tuple[Chunk, ...]
    words: tuple[tuple[str, ...], ...]
    bm25: Bm25Index
    vectors: FloatArray | None
    """Shape (chunks, dimension); None where the store ranks vectors itself."""
    _values: dict[str, list[str]] = field(default_factory=dict)

    def values(self, key: str) -> list[str]:
        """Distinct value items under a metadata key."""
        if key not in self._values:
            values = (filterable(chunk).get(key) for chunk in self.chunks)
            found = {item for value in values for item in metadata_items({key: value})}
            self._values[key] = sorted(found - {metadata_item(key)})
        return self._values[key]

    def keys(self) -> set[str]:
        """Under which some chunk has a value."""
        return set().union(*(value_keys(filterable(chunk)) for chunk in self.chunks))

    def ids(self, restriction: Restriction) -> tuple[str, ...]:
        """Row ids of the chunks that a restriction lets pass."""
        every = np.arange(len(self.chunks))
        return tuple(row_id(self.chunks[position].id) for position in self._passing(every, restriction))

    def sparse(self, text: str, limit: int, restriction: Restriction) -> list[ScoredChunk]:
        """Best chunks by BM25, descending, ties by chunk id; only those with a score above 0."""
        scores = self.bm25.scores(tokens(text))
        found = self._passing(np.flatnonzero(scores > 0), restriction)
        return self._best(found, scores[found], limit)

    def nearest(self, vector: FloatArray, limit: int, restriction: Restriction) -> list[ScoredChunk]:
        """Nearest chunks by cosine, descending, ties by chunk id."""
        if self.vectors is None:
            return []
        found = self._passing(np.arange(len(self.chunks)), restriction)
        # Row by row: a product of matrices gives equal vectors unequal scores, by their place.
        return self._best(found, np.einsum("ij,j->i", self.vectors[found], vector), limit)

    def _passing(self, positions: NDArray[np.intp], restriction: Restriction) -> NDArray[np.intp]:
        if restriction.is_open():
            return positions
        return positions[[passes(self.chunks[position], restriction) for position in positions]]

    def _best(self, places: NDArray[np.intp], scores: FloatArray, limit: int) -> list[ScoredChunk]:
        order = np.argsort(-scores, kind="stable")[: max(limit, 0)]
        return [ScoredChunk(self.chunks[places[place]], float(scores[place])) for place in order]


def cached_rows(version: str, rows: Sequence[Row], before: CachedRows | None) -> CachedRows:
    """The chunks of the rows; words of a chunk that did not change are taken from ``before``."""
    old = {} if before is None else {c.id: (c, w) for c, w in zip(before.chunks, before.words, strict=True)}
    pairs = sorted(((to_chunk(row), row.vector) for row in rows), key=lambda pair: pair[0].id)
    chunks = tuple(chunk for chunk, _ in pairs)
    words = tuple(
        old[chunk.id][1] if chunk.id in old and old[chunk.id][0] == chunk else tokens(search_text(chunk))
        for chunk in chunks
    )
    vectors = [vector for _, vector in pairs if vector is not None]
    return CachedRows(version, chunks, words, Bm25Index(words), np.stack(vectors) if vectors else None)


class Bm25Index:
    """BM25 over ``text.tokens``, for stores without full text; never changes.

    score(d) = Σ idf(t) · tf · (k1 + 1) / (tf + k1 · (1 - b + b · |d| / mean |d|)) over the distinct query terms t,
    idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5)), k1 = 1.2, b = 0.75: what ``stores.in_memory`` and LanceDB compute.
    Source: Robertson, Zaragoza, The Probabilistic Relevance Framework, 2009; idf as in Lucene.

    Args:
        corpus: tokens of each text, in order.
    """

    def __init__(self, corpus: Sequence[Sequence[str]]) -> None:
        self._size = len(corpus)
        self._ids: dict[str, int] = {}
        numbered = [[self._ids.setdefault(word, len(self._ids)) for word in words] for words in corpus]
        if self._ids:
            # ATIRE's term frequency is the one with (k1 + 1) above the line.
            self._index = bm25s.BM25(k1=K1, b=B, method="atire", idf_method="lucene", backend="numpy")
            self._index.index((numbered, dict(self._ids)), show_progress=False)  # it adds to the dict

    def scores(self, words: Iterable[str]) -> FloatArray:
        """A score of at least 0 for each text, float32, shape (texts,); 0 where no word occurs."""
        known = sorted({self._ids[word] for word in words if word in self._ids})
        if not known:
            return np.zeros(self._size, dtype=np.float32)
        scores: FloatArray = self._index.get_scores_from_ids(known)
        return scores
