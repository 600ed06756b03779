"""Reciprocal rank fusion of the graph's and the vector store's hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentic_rag.domain import Hit
from agentic_rag.errors import ConfigError
from agentic_rag.fusion.hits import LanceDBResults, read_lancedb
from agentic_rag.fusion.merge import Leg, checked_count, checked_weight, merge
from agentic_rag.fusion.search_results import GraphitiResults, read_graphiti
from agentic_rag.fusion.unified_result import UnifiedResult


def reciprocal_rank_fusion(
    graphiti_results: GraphitiResults,
    lancedb_results: LanceDBResults,
    k: int = 60,
    *,
    graphiti_weight: float = 1.0,
    lancedb_weight: float = 1.0,
    limit: int | None = None,
    episode_chunks: Mapping[str, str] | None = None,
) -> list[UnifiedResult]:
    """Fuse by rank alone: ``score(d) = Σ_i w_i / (k + rank_i(d))``, rank from 1, k = 60.

    A source that does not hold ``d`` adds nothing. With two sources of weight 1 and k = 60 the score
    is at most 2/61: it ranks, it does not judge.

    Args:
        graphiti_results: hits, or Graphiti's ``SearchResults``.
        lancedb_results: hits, or rows as LanceDB returns them.
        k: at least 1; the larger, the less the first ranks stand out.
        graphiti_weight, lancedb_weight: at least 0, only their ratio matters; 0 leaves the source out.
        limit: return at most this many; None returns all.
        episode_chunks: episode uuid to chunk id, for ``SearchResults``.

    Raises:
        ConfigError: ``k``, ``limit`` or a weight out of range, or both weights 0.
        InputError: a hit that cannot be read.

    Source: Cormack, Clarke, Büttcher, Reciprocal Rank Fusion Outperforms Condorcet and Individual
    Rank Learning Methods, SIGIR 2009.

    >>> both = reciprocal_rank_fusion([{"id": "a"}, {"id": "b"}], [{"id": "b"}])
    >>> [(result.id, result.source) for result in both]
    [('b', 'graphiti+lancedb'), ('a', 'graphiti')]
    """
    sources = {
        "graphiti": (read_graphiti(graphiti_results, episode_chunks), graphiti_weight),
        "lancedb": (read_lancedb(lancedb_results), lancedb_weight),
    }
    return fuse_ranks(sources, k, limit=limit)


def fuse_ranks(
    sources: Mapping[str, tuple[Sequence[Hit], float]],
    k: int = 60,
    *,
    limit: int | None = None,
    first_tier: str | None = None,
) -> list[UnifiedResult]:
    """``reciprocal_rank_fusion`` over any number of sources: name to (hits as a reader gives them, weight).

    ``first_tier`` names the source whose finds get ``tier`` 1; the others' finds then get 2.
    """
    checked_count("k", k)
    if limit is not None:
        checked_count("limit", limit)
    weights = [checked_weight(f"{name}_weight", weight) for name, (_, weight) in sources.items()]
    if not any(weights):
        raise ConfigError("every weight is 0, which leaves nothing to fuse; give one source a weight above 0")
    legs = [
        Leg(name, hits, weight, [1.0 / (k + hit["rank"]) for hit in hits])
        for name, (hits, weight) in sources.items()
    ]
    return merge(legs, reciprocal=True, limit=limit, first_tier=first_tier)
