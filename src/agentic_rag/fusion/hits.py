"""Fusion, first step: read hits, LanceDB rows, and Graphiti's ``SearchResults`` by its fields, into one shape."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from enum import Enum
from itertools import islice, zip_longest
from typing import Any, Protocol, cast, get_args

from agentic_rag.domain import Hit, HitKind, Metadata, new_hit
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.results import GraphFact
from agentic_rag.errors import InputError

TYPES: frozenset[str] = frozenset(get_args(HitKind))
PASSAGES: frozenset[str] = frozenset({"document", "episode"})
"""Types whose content is the chunk's own text; any other type only stands in for it."""


LanceDBResults = Iterable[Mapping[str, object]]


def read_lancedb(rows: LanceDBResults) -> list[Hit]:
    """The vector store's side as hits, best first, one per chunk.

    Rows as LanceDB returns them are told by one of ``chunk_id``, ``text``, ``_distance``, ``distance``,
    ``_score``, ``_relevance_score``; their order is their rank. The score is ``_relevance_score``, else
    ``_score`` (BM25), else 1 - ``_distance`` (cosine distance), else 1 - ``distance``, else ``score``;
    None where the row has none of them. The other columns become metadata, except vectors.

    Raises:
        InputError: as ``read_graphiti``.
    """
    items = _items(rows, "lancedb")
    if all(map(_ROW_KEYS.isdisjoint, items)):
        return read_hits(items, "lancedb")
    return _rank_hits([_read_row(row) for row in items])


def read_hits(items: Iterable[Mapping[str, object]], source: str) -> list[Hit]:
    """Hits of any source, checked, best first, one per id at its best rank; reading twice changes nothing.

    Given ranks are taken as they are. Without ranks the order is score descending, then id; hits
    without a score follow in the order given; ranks then count distinct ids from 1.
    """
    given = _items(items, source)
    found = [_read_hit(item, source) for item in given]
    unranked = sum(hit["rank"] == 0 for hit in found)
    if unranked == 0:
        found.sort(
            key=lambda hit: (hit["rank"], math.inf if hit["score"] is None else -hit["score"], hit["id"])
        )
        return _once(found)
    if unranked < len(found):
        raise InputError(
            f"{unranked} of {len(found)} {source} hits have no rank; give all of them one, or none"
        )
    return _rank_hits(
        sorted(found, key=lambda hit: (math.inf, "") if hit["score"] is None else (-hit["score"], hit["id"]))
    )


def _rank_hits(hits: Sequence[Hit]) -> list[Hit]:
    """Each id once, ranks from 1 in the order given."""
    best = _once(hits)
    for rank, hit in enumerate(best, start=1):
        hit["rank"] = rank
    return best


def _items(items: Iterable[Mapping[str, object]], source: str) -> list[Mapping[str, Any]]:
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InputError(f"{source} results are a list of hits, not {type(items).__name__}")
    listed = cast(list[Mapping[str, Any]], list(items))
    for item in listed:
        if type(item) is not dict and not isinstance(item, Mapping):
            raise InputError(f"a {source} hit is a mapping, not {type(item).__name__}: {item!r:.80}")
    return listed


_KEYS = ("id", "content", "type", "rank", "score", "metadata", "evidence", "facts")


def _read_hit(item: Mapping[str, Any], source: str) -> Hit:
    get = item.get
    identity = as_identity(get("id"), source)
    kind = get("type")
    if kind is None:
        kind = "document" if source == "lancedb" else "episode"
    elif not isinstance(kind, str) or kind not in TYPES:
        raise InputError(
            f"{source} hit {identity!r} has type {kind!r}; use one of: {', '.join(sorted(TYPES))}"
        )
    rank = get("rank")
    if rank is None:
        rank = 0
    elif type(rank) is not int or rank < 1:
        raise InputError(f"{source} hit {identity!r} has rank {rank!r}; ranks are whole numbers from 1")
    content, metadata, facts = get("content"), get("metadata"), get("facts")
    return {
        "id": identity,
        "content": content if type(content) is str else "" if content is None else str(content),
        "type": kind,
        "rank": rank,
        "score": _score(get("score"), identity, source),
        "metadata": metadata if type(metadata) is dict else _object(metadata, "metadata", identity, source),
        "evidence": _object(get("evidence"), "evidence", identity, source),
        "facts": [] if not facts and type(facts) is list else _facts(facts, identity, source),
    }


def _object(value: Any, name: str, identity: str, source: str) -> Json:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{source} hit {identity!r} has {name} {value!r:.80}; give an object")
    return dict(value)


def _facts(value: Any, identity: str, source: str) -> list[GraphFact]:
    if value is None:
        return []
    if isinstance(value, list | tuple) and set(map(type, value)) <= {dict}:
        return list(value)
    raise InputError(f"{source} hit {identity!r} has facts {value!r:.80}; give a list of objects")


def as_identity(value: Any, source: str) -> str:
    """The id of a hit; ``InputError`` for anything but a string that is not empty."""
    if not isinstance(value, str) or not value:
        raise InputError(f"a {source} hit needs an id, a string that is not empty, not {value!r}")
    return value


def _score(value: Any, identity: str, source: str) -> float | None:
    if value is None or (type(value) is float and math.isfinite(value)):
        return value
    try:
        number = math.nan if isinstance(value, str | bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(
            f"{source} hit {identity!r} has a score that is no finite number; give a number or None"
        )
    return number


def _once(hits: Sequence[Hit]) -> list[Hit]:
    """Each id once, at its first place; later finds add facts and metadata, and text to a stand-in."""
    best: dict[str, Hit] = {hit["id"]: hit for hit in reversed(hits)}
    if len(best) == len(hits):
        return list(hits)
    best = {}
    for hit in hits:
        first = best.setdefault(hit["id"], hit)
        if first is hit:
            continue
        first["metadata"] = {**hit["metadata"], **first["metadata"]}
        first["evidence"] = {**hit["evidence"], **first["evidence"]}
        first["facts"] = join_facts(first["facts"], hit["facts"])
        if first["type"] not in PASSAGES and hit["type"] in PASSAGES:
            first["type"], first["content"] = hit["type"], hit["content"]
    return list(best.values())


def join_facts(first: list[GraphFact], more: list[GraphFact]) -> list[GraphFact]:
    """Both in order, in a new list; a fact of ``more`` that repeats one (same ``id``, else equal) is left out."""
    joined = list(first)
    seen = {fact.get("id") for fact in first} if more else set()
    for fact in more:
        key = fact.get("id")
        if key not in seen if key is not None else fact not in joined:
            seen.add(key)
            joined.append(fact)
    return joined


_DISTANCES = ("_distance", "distance")
"""LanceDB's own name first: a table's column of the other name may mean something else."""
_ROW_KEYS = frozenset({"chunk_id", "text", *_DISTANCES, "_score", "_relevance_score"})
_NOT_METADATA = {"chunk_id", "text", "vector", "embedding", *_KEYS}


def _read_row(row: Mapping[str, Any]) -> Hit:
    identity = as_identity(row["chunk_id"] if "chunk_id" in row else row.get("id"), "lancedb")
    content = row.get("text", row.get("content"))
    given = row.get("metadata")
    columns = {name: plain(value) for name, value in row.items() if name not in _NOT_METADATA}
    return new_hit(
        identity,
        "" if content is None else str(content),
        "document",
        score=_row_score(row, identity),
        metadata={**columns, **(plain(given) if isinstance(given, Mapping) else {})},
    )


def _row_score(row: Mapping[str, Any], identity: str) -> float | None:
    for key in ("_relevance_score", "_score"):
        if row.get(key) is not None:
            return _score(row[key], identity, "lancedb")
    for key in _DISTANCES:
        distance = _score(row.get(key), identity, "lancedb")
        if distance is not None:
            return 1.0 - distance
    return _score(row.get("score"), identity, "lancedb")


def plain(value: Any) -> Any:
    """A deep copy of JSON values: dates as ISO 8601, arrays as lists, a number that JSON lacks as None."""
    if value is None or type(value) in (str, bool, int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(entry) for entry in value), key=str)
    if isinstance(value, date | time):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)


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


def _read_search_results(results: SearchResultsLike, episode_chunks: Mapping[str, str]) -> list[Hit]:
    named = {episode.uuid: episode.name or episode.uuid for episode in results.episodes}

    def chunk_of(uuid: str) -> str:
        return episode_chunks.get(uuid) or named.get(uuid) or uuid

    found: dict[str, Hit] = {}
    kinds: dict[str, set[str]] = defaultdict(set)

    def add(identity: str, kind: HitKind, rank: int, content: str, metadata: Metadata) -> Hit:
        hit = found.setdefault(
            as_identity(identity, "graphiti"), new_hit(identity, content, kind, rank=rank, metadata=metadata)
        )
        hit["rank"] = min(hit["rank"], rank)
        kinds[identity].add(kind)
        return hit

    # Episodes come first, so a chunk's own text and type stand wherever the results hold its episode.
    for rank, (episode, score) in enumerate(_with_scores(results, "episode"), start=1):
        metadata = _metadata(episode, ("group_id", "source_description", "valid_at"), score)
        more = plain(getattr(episode, "episode_metadata", None))
        metadata = {"episode_uuid": episode.uuid, **metadata, **(more if isinstance(more, dict) else {})}
        add(chunk_of(episode.uuid), "episode", rank, episode.content, metadata)
    for rank, (edge, score) in enumerate(_with_scores(results, "edge"), start=1):
        chunks = dict.fromkeys(chunk_of(uuid) for uuid in edge.episodes or ())
        for identity in chunks or (edge.uuid,):
            hit = add(identity, "edge", rank, edge.fact, {})
            hit["facts"] = join_facts(hit["facts"], [_fact(edge, rank, score)])
    others: tuple[HitKind, HitKind] = ("node", "community")
    for kind in others:
        for rank, (node, score) in enumerate(_with_scores(results, kind), start=1):
            metadata = _metadata(node, ("name", "group_id", "labels", "attributes"), score)
            text = f"{node.name}: {node.summary}" if node.summary else node.name
            add(node.uuid, kind, rank, text, metadata)
    order = sorted(found.values(), key=lambda hit: (hit["rank"], -len(kinds[hit["id"]]), hit["id"]))
    return _rank_hits(order)


def _with_scores(results: SearchResultsLike, kind: str) -> list[tuple[Any, float | None]]:
    """The things of a kind with Graphiti's reranker score, None where the parallel list is shorter."""
    things = list(getattr(results, "communities" if kind == "community" else f"{kind}s"))
    scores = list(getattr(results, f"{kind}_reranker_scores", None) or ())
    return list(islice(zip_longest(things, scores), len(things)))


def _metadata(thing: Any, names: Sequence[str], reranker_score: float | None) -> Json:
    values = {name: plain(getattr(thing, name, None)) for name in names}
    values["reranker_score"] = plain(reranker_score)
    return {name: value for name, value in values.items() if value not in (None, "", [], {})}


def _fact(edge: Any, rank: int, reranker_score: float | None) -> GraphFact:
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
