"""Reciprocal rank fusion of the graph's and the vector store's hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentic_rag.domain import Hit
from agentic_rag.domain.results import Result
from agentic_rag.errors import ConfigError, InputError
from agentic_rag.fusion.hits import GraphitiResults, LanceDBResults, read_graphiti, read_lancedb
from agentic_rag.fusion.merging import WeighedHits, checked_count, checked_weight, merge, sum_scores
from agentic_rag.fusion.unified_result import UnifiedResult, as_unified


def reciprocal_rank_fusion(
    graphiti_results: GraphitiResults,
    lancedb_results: LanceDBResults,
    k: int = 60,
    *,
    graphiti_weight: float = 1.0,
    lancedb_weight: float = 1.0,
    limit: int | None = None,
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
        "graphiti": (read_graphiti(graphiti_results), graphiti_weight),
        "lancedb": (read_lancedb(lancedb_results), lancedb_weight),
    }
    return as_unified(fuse_ranks(sources, k, limit=limit))


def fuse_ranks(
    sources: Mapping[str, tuple[Sequence[Hit], float]],
    k: int = 60,
    *,
    limit: int | None = None,
    first_tier: str | None = None,
) -> list[Result]:
    """``reciprocal_rank_fusion`` over any number of sources: name to (hits as a reader gives them, weight).

    ``first_tier`` names the source whose finds get ``tier`` 1; the others' finds then get 2.
    """
    _check(k, limit, {name: weight for name, (_, weight) in sources.items()})
    legs = [
        WeighedHits(name, hits, weight, [1.0 / (k + hit["rank"]) for hit in hits])
        for name, (hits, weight) in sources.items()
    ]
    return merge(legs, reciprocal=True, limit=limit, first_tier=first_tier)


def fuse_ids(
    rankings: Mapping[str, Sequence[str]],
    k: int = 60,
    *,
    weights: Mapping[str, float] | None = None,
    limit: int | None = None,
) -> list[tuple[str, float]]:
    """``reciprocal_rank_fusion`` of rankings that are nothing but ids: ids with scores, by score, then id.

    Args:
        rankings: ids by source, best first; a repeated id counts at its first place, and the ids behind it move
            up.
        k, limit: see ``reciprocal_rank_fusion``.
        weights: by source, 1 where none is given; 0 leaves the source out.

    Raises:
        ConfigError: ``k``, ``limit`` or a weight out of range, a weight of a source that is not there, or
            every weight 0.
        InputError: a ranking that is no list, or an id that is no string or empty.

    >>> fuse_ids({"graph": ["a", "b"], "vectors": ["b"]}, k=1)
    [('b', 0.8333333333333333), ('a', 0.5)]
    """
    given = weights or {}
    if unknown := sorted(set(given) - set(rankings)):
        raise ConfigError(
            f"a weight is given for the unknown ranking {', '.join(map(repr, unknown))}; "
            f"use some of: {', '.join(map(repr, rankings)) or 'none'}"
        )
    of_each = {name: given.get(name, 1.0) for name in sorted(rankings)}
    _check(k, limit, of_each)
    once = {name: _ids(name, rankings[name]) for name, weight in of_each.items() if weight != 0}
    shares = [1.0 / (k + rank) for rank in range(1, 1 + max(map(len, once.values()), default=0))]
    return sum_scores(
        [(ids, [of_each[name] * share for share in shares[: len(ids)]]) for name, ids in once.items()], limit
    )


def _ids(name: str, ranking: Sequence[str]) -> dict[str, None]:
    """Each id of a ranking once, in order."""
    if isinstance(ranking, str | bytes) or not isinstance(ranking, Sequence):
        raise InputError(f"the ranking {name!r} is a list of ids, not {type(ranking).__name__}")
    if not set(map(type, ranking)) <= {str} or "" in (once := dict.fromkeys(ranking)):
        wrong = next(identity for identity in ranking if type(identity) is not str or not identity)
        raise InputError(f"the ranking {name!r} holds {wrong!r}; an id is a string that is not empty")
    return once


def _check(k: int, limit: int | None, weights: Mapping[str, float]) -> None:
    checked_count("k", k)
    if limit is not None:
        checked_count("limit", limit)
    # Every weight is looked at: one that is wrong is told, whatever stands before it.
    checked = [checked_weight(f"{name}_weight", weight) for name, weight in weights.items()]
    if not any(checked):
        raise ConfigError("every weight is 0, which leaves nothing to fuse; give one source a weight above 0")
