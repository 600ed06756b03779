"""Fusion, first step: read the graph's side, hits or Graphiti's ``SearchResults`` by its fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from agentic_rag.domain import Hit
from agentic_rag.fusion.hits import as_identity, plain, read_hits


class SearchResultsLike(Protocol):
    """The fields of ``graphiti_core.search.search_config.SearchResults`` that are read here."""

    @property
    def edges(self) -> Sequence[Any]: ...
    @property
    def nodes(self) -> Sequence[Any]: ...
    @property
    def episodes(self) -> Sequence[Any]: ...
    @property
    def communities(self) -> Sequence[Any]: ...


GraphitiResults = SearchResultsLike | Iterable[Mapping[str, object]]


def read_graphiti(results: GraphitiResults, episode_chunks: Mapping[str, str] | None = None) -> list[Hit]:
    """The graph's side as hits, best first, one per chunk.

    Args:
        results: hits, or Graphiti's ``SearchResults``.
        episode_chunks: episode uuid to chunk id, for ``SearchResults``. An episode that it does not
            name gives its own ``name`` if it is among the results, else its uuid.

    From ``SearchResults`` an edge counts for each chunk its episodes came from and is kept there as a
    fact; what names no chunk stays a result of its own under its uuid. A chunk takes its best rank
    over the kinds; at equal rank the chunk that more kinds name comes first, then by id. Graphiti's
    reranker scores say "ranked first somewhere", not "relevant", so they are kept beside the evidence
    and ``score`` is None.

    Raises:
        InputError: a hit without an id, with an impossible rank, or with a score that is no number.
    """
    if hasattr(results, "edges") and hasattr(results, "episodes"):
        return _read_search_results(cast(SearchResultsLike, results), episode_chunks or {})
    return read_hits(results, "graphiti")


@dataclass(slots=True)
class _Evidence:
    """What the kinds of one ``SearchResults`` say about one identity, while it is gathered."""

    content: str
    type: str
    rank: int
    metadata: dict[str, Any]
    kinds: set[str] = field(default_factory=set)
    facts: list[dict[str, Any]] = field(default_factory=list)


def _read_search_results(results: SearchResultsLike, episode_chunks: Mapping[str, str]) -> list[Hit]:
    named = {episode.uuid: episode.name or episode.uuid for episode in results.episodes}

    def chunk_of(uuid: str) -> str:
        return episode_chunks.get(uuid) or named.get(uuid) or uuid

    found: dict[str, _Evidence] = {}
    for rank, (episode, score) in enumerate(_scored(results, "episode"), start=1):
        metadata = _metadata(episode, ("group_id", "source_description", "valid_at"), score)
        more = plain(getattr(episode, "episode_metadata", None))
        metadata = {"episode_uuid": episode.uuid, **metadata, **(more if isinstance(more, dict) else {})}
        _add(found, chunk_of(episode.uuid), "episode", rank, episode.content, metadata)
    for rank, (edge, score) in enumerate(_scored(results, "edge"), start=1):
        fact = _fact(edge, rank, score)
        chunks = dict.fromkeys(chunk_of(uuid) for uuid in edge.episodes or ())
        for identity in chunks or (edge.uuid,):
            _add(found, identity, "edge", rank, edge.fact, {}, fact)
    for kind in ("node", "community"):
        for rank, (node, score) in enumerate(_scored(results, kind), start=1):
            metadata = _metadata(node, ("name", "group_id", "labels", "attributes"), score)
            text = f"{node.name}: {node.summary}" if node.summary else node.name
            _add(found, node.uuid, kind, rank, text, metadata)
    order = sorted(found, key=lambda identity: (found[identity].rank, -len(found[identity].kinds), identity))
    return [_evidence_hit(identity, found[identity], rank) for rank, identity in enumerate(order, start=1)]


def _scored(results: SearchResultsLike, kind: str) -> list[tuple[Any, float | None]]:
    """The things of a kind with Graphiti's reranker score, None where the parallel list is shorter."""
    things = list(getattr(results, "communities" if kind == "community" else f"{kind}s"))
    scores = list(getattr(results, f"{kind}_reranker_scores", None) or ())[: len(things)]
    return list(zip(things, scores + [None] * (len(things) - len(scores)), strict=True))


def _add(
    found: dict[str, _Evidence],
    identity: str,
    kind: str,
    rank: int,
    content: str,
    metadata: dict[str, Any],
    fact: dict[str, Any] | None = None,
) -> None:
    """Episodes come first, so a chunk's own text and type stand wherever the results hold its episode."""
    as_identity(identity, "graphiti")
    evidence = found.setdefault(identity, _Evidence(content, kind, rank, metadata))
    evidence.rank = min(evidence.rank, rank)
    evidence.kinds.add(kind)
    if fact is not None and all(known["id"] != fact["id"] for known in evidence.facts):
        evidence.facts.append(fact)


def _evidence_hit(identity: str, evidence: _Evidence, rank: int) -> Hit:
    return {
        "id": identity,
        "content": evidence.content,
        "type": evidence.type,
        "rank": rank,
        "score": None,
        "metadata": evidence.metadata,
        "evidence": {},
        "facts": evidence.facts,
    }


def _metadata(thing: Any, names: Sequence[str], reranker_score: float | None) -> dict[str, Any]:
    values = {name: plain(getattr(thing, name, None)) for name in names}
    values["reranker_score"] = plain(reranker_score)
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


def _fact(edge: Any, rank: int, reranker_score: float | None) -> dict[str, Any]:
    return {
        "kind": "edge",
        "id": edge.uuid,
        "name": edge.name,
        "text": edge.fact,
        "rank": rank,
        "source": getattr(edge, "source_node_uuid", None),
        "target": getattr(edge, "target_node_uuid", None),
        "valid_at": plain(getattr(edge, "valid_at", None)),
        "invalid_at": plain(getattr(edge, "invalid_at", None)),
        "reranker_score": plain(reranker_score),
    }
