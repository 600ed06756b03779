"""BM25 for stores without full text: Robertson's formula with Lucene's idf, over ``text.tokens``.

score(d) = Σ idf(t) · tf · (k1 + 1) / (tf + k1 · (1 - b + b · |d| / mean |d|)) over the distinct query
terms t, idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5)), k1 = 1.2, b = 0.75: what ``stores.in_memory`` and LanceDB compute.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import numpy as np

from agentic_rag.ports import FloatArray

K1, B = 1.2, 0.75


class Bm25Index:
    """Word statistics of a list of token sequences; never changes.

    Args:
        corpus: tokens of each text, in order.
    """

    def __init__(self, corpus: Sequence[Sequence[str]]) -> None:
        self._size = len(corpus)
        self._ids: dict[str, int] = {}
        numbered = [[self._ids.setdefault(word, len(self._ids)) for word in words] for words in corpus]
        self._index = None
        if self._ids:
            import bm25s

            logging.getLogger("bm25s").setLevel(logging.WARNING)
            # ATIRE's term frequency is the one with (k1 + 1) above the line.
            self._index = bm25s.BM25(k1=K1, b=B, method="atire", idf_method="lucene", backend="numpy")
            self._index.index((numbered, dict(self._ids)), show_progress=False)  # it adds to the dict

    def scores(self, words: Iterable[str]) -> FloatArray:
        """A score of at least 0 for each text, float32, shape (texts,); 0 where no word occurs."""
        known = sorted({self._ids[word] for word in words if word in self._ids})
        if self._index is None or not known:
            return np.zeros(self._size, dtype=np.float32)
        scores: FloatArray = self._index.get_scores_from_ids(known)
        return scores
