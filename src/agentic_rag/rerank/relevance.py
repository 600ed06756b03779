"""The relevance of a fused result: what both sources judge, each by what it knows, as one probability.

The vector store judges the passage's words and vectors, the graph its place in the graph. As the two know different
things, their log-odds add up. A passage that the vector store did not find is judged there like the last one it found.
The graph only adds: a passage that lies far from what the question names may answer all the same. A source that found
nothing, or was left out, says nothing of any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentic_rag.domain.odds import log_odds, probability

UNKNOWN = 0.01
"""Relevance of what no source judged."""

Result = Mapping[str, Any]
"""A ``UnifiedResult`` as the state holds it."""


def relevance_odds(results: Sequence[Result]) -> list[float]:
    """Log-odds of each result's relevance; all results of a question are looked at together."""
    read, walked = _of_source(results, "lancedb"), _of_source(results, "graphiti")
    if read is None:
        return walked or [log_odds(UNKNOWN)] * len(results)
    if walked is None:
        return read
    return [by_text + max(0.0, by_graph) for by_text, by_graph in zip(read, walked, strict=True)]


def judged(results: Sequence[Result]) -> list[float]:
    """Relevance in [0, 1] of each result: its rerank score; where none has one, by the sources.

    A result that the rerank did not look at stands behind those it did, and is at most as relevant as the last.
    """
    by_sources = [probability(odds) for odds in relevance_odds(results)]
    scores = [result.get("rerank_score") for result in results]
    most = min((float(score) for score in scores if score is not None), default=1.0)
    return [
        min(most, own) if score is None else float(score)
        for score, own in zip(scores, by_sources, strict=True)
    ]


def vector_odds(results: Sequence[Result]) -> list[float]:
    """Log-odds by the source that reads the passages themselves, else by the graph."""
    found = _of_source(results, "lancedb") or _of_source(results, "graphiti")
    return found or [log_odds(UNKNOWN)] * len(results)


def _of_source(results: Sequence[Result], name: str) -> list[float] | None:
    """None where the source judged nothing of these."""
    raws = [result["sources"].get(name, {}).get("raw") for result in results]
    odds = [None if raw is None else log_odds(raw) for raw in raws]
    lowest = min((value for value in odds if value is not None), default=None)
    return None if lowest is None else [lowest if value is None else value for value in odds]
