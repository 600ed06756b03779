"""What the legs of a search say of each chunk they found: the input of the calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from agentic_rag.domain import search_text
from agentic_rag.domain.ports import FloatArray, ScoredChunk
from agentic_rag.retrieval.calibration import Evidence
from agentic_rag.text import content_tokens, coverage, script, script_beside

Legs = Mapping[str, Sequence[ScoredChunk]]
"""``dense`` and ``sparse``, where each ran: its chunks, best first. A leg that ran and found nothing is there, empty."""
Vectors = Mapping[str, FloatArray]
"""Unit vectors by chunk id."""

BEST = 3
"""Chunks that the others are compared with (see ``likeness``)."""


def gathered(
    query: str,
    legs: Legs,
    vectors: Vectors | None = None,
    asked: FloatArray | None = None,
    *,
    chunks: int | None = None,
) -> dict[str, Evidence]:
    """The evidence for each chunk that a leg found, by chunk id.

    Args:
        query: what was searched for.
        legs: what each leg found.
        vectors: of the chunks, so that one only the sparse leg found has its cosine too.
        asked: the query's unit vector; goes with ``vectors``.
        chunks: how many the dataset has, where that is known.
    """
    cosines = _scores(legs.get("dense"))
    words = _scores(legs.get("sparse"))
    # A leg that ran and found nothing is evidence too: its best is 0, not unknown.
    best_cosine = None if cosines is None else max(cosines.values(), default=0.0)
    best_bm25 = None if words is None else max(words.values(), default=0.0)
    worst_cosine = min(cosines.values(), default=None) if cosines else None
    if cosines is not None and vectors is not None and asked is not None:
        cosines |= {i: float(np.dot(vector, asked)) for i, vector in vectors.items() if i not in cosines}
    query_script = script(query)
    terms = frozenset(content_tokens(query)) if cosines is None else None
    found = {scored.chunk.id: scored.chunk for leg in legs.values() for scored in leg}
    return {
        chunk_id: Evidence(
            cosine=None if cosines is None else cosines.get(chunk_id),
            bm25=None if words is None else words.get(chunk_id),
            best_cosine=best_cosine,
            best_bm25=best_bm25,
            worst_cosine=worst_cosine,
            scripts=(query_script, script_beside(query_script, chunk.text)),
            chunks=chunks,
            coverage=None if terms is None else coverage(terms, search_text(chunk)),
        )
        for chunk_id, chunk in found.items()
    }


def likeness(order: Mapping[str, float], vectors: Vectors) -> dict[str, float]:
    """How much less each chunk is like the best ones than the chunk that is most like them: cosines, ≤ 0.

    Pseudo-relevance feedback: what answers a question resembles what else answers it. The best are the
    BEST first by ``order``, then id; they are represented by the mean of their vectors. Compared only
    within one search, so it tells chunks apart and says nothing of the search as a whole.
    Source: Rocchio, Relevance Feedback in Information Retrieval, 1971.
    """
    ids = sorted(vectors, key=lambda chunk_id: (-order[chunk_id], chunk_id))
    if not ids:
        return {}
    stacked = np.concatenate([vectors[chunk_id] for chunk_id in ids]).reshape(len(ids), -1)
    alike = stacked @ stacked[:BEST].mean(axis=0)
    return dict(zip(ids, (alike - alike.max()).tolist(), strict=True))


def _scores(leg: Sequence[ScoredChunk] | None) -> dict[str, float] | None:
    return None if leg is None else {scored.chunk.id: scored.score for scored in leg}
