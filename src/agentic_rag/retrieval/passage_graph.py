"""Multi-hop search: personalised PageRank over the graph of chunks and the entities they mention.

A question names some entities; its answer may lie two links away, in a passage that shares no word with it. The
walk starts at these entities (or, if the question names none, at the ends of its nearest facts) and at the best
passages of the graph's own search. It goes from entity to passage to entity and restarts about every tenth step.
It often visits passages with answers.
Source: Gutiérrez et al., HippoRAG 2 (From RAG to Memory), 2025; the push is Andersen, Chung, Lang, Local
Graph Partitioning using PageRank Vectors, FOCS 2006.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from agentic_rag.dates.instants import as_utc
from agentic_rag.domain.identity import entity_key
from agentic_rag.domain.ports import GraphLinks
from agentic_rag.retrieval.entity_names import _LINKED_LABELS, EntityNames, HashedPlaces

CONTINUE = 0.9
"""Probability that the walk goes on instead of starting again."""
ENTITY_SHARE = 0.8
"""Share of the restart probability at entities; the rest is at the best passages."""
START_PASSAGES = 20
"""Passages the walk starts from, by the square of their relevance."""
OWN_WEIGHT = 3.0
"""Factor on the tie between a passage and its own document's entity."""
MIN_VISITS = 1e-5
"""Mass (the total is 1) below which a place passes nothing on, as long as few places lie above it. With a tenth of it a walk
over 215,000 chunks takes 2.6 times as long; on musique and pool3 the same passages are found (recall@10 ± .001)."""
CONVERGENCE = 0.1
"""The walk ends when the mass that arrives at a passage in each of two successive steps, summed over all later
steps, stays below this share of the most visited passage's visits. In a graph of 100,000 chunks this saves a
quarter of the time and changes no visits by more than .002."""
MAX_STEPS = 25
"""Most steps. After them a fourteenth of the mass is still moving, and it is evenly spread."""
FEW = 0.1
"""Share of active places up to which a step selects their ties; above it, multiplying by the whole matrix is
quicker. A walk over 215,000 chunks takes 17 ms, with .02 26 ms."""

Floats = NDArray[np.float32]
"""Half the width of numpy's default, because reading all ties from memory takes most of the time of a step."""


class PassageGraph:
    """The links of a dataset, ready to be walked on. Immutable: one is built for each state of the graph.

    The tie of a passage and an entity weighs ``log(1 + N / df)``, N passages, df of them mentioning the
    entity; ``OWN_WEIGHT`` times as much where the entity is the passage's own document.
    """

    def __init__(self, links: GraphLinks) -> None:
        self._links = links
        keys, titles = list(map(entity_key, links.names)), list(map(entity_key, _document_names(links)))
        aliases: dict[str, set[str]] = defaultdict(set)
        for title, names in zip(titles, links.aliases, strict=True):
            if names:
                aliases[title].update(names)
        self._names = EntityNames(links.names, keys, links.labels, aliases)
        self._chunks = HashedPlaces(links.chunk_ids, links.chunk_ids.__getitem__)
        chunks, entities = len(links.chunk_ids), len(links.names)
        frequency = np.maximum(np.bincount(links.mentioned_entities, minlength=entities), 1)
        self._rarity: NDArray[np.float64] = np.log1p(chunks / frequency)
        first = dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True))
        titled = np.fromiter((first.get(title, -1) for title in titles), np.int32, len(titles))
        mentioned = self._rarity[links.mentioned_entities]
        self._own: NDArray[np.int32] = titled[links.documents]
        """Of each passage, the place of its document's entity; -1 for none."""
        own = links.mentioned_entities == self._own[links.mentioning]
        weights = (mentioned * np.where(own, OWN_WEIGHT, 1.0)).astype(np.float32)
        starts = np.r_[0, np.cumsum(np.bincount(links.mentioning, minlength=chunks))]
        ties = sparse.csr_array((weights, links.mentioned_entities, starts), shape=(chunks, entities))
        of_entities = sparse.csr_array(ties.T)
        self._to_entities, self._to_chunks = _Ties.of(ties, of_entities), _Ties.of(of_entities, ties)

    def named_in(self, question: str) -> list[int]:
        """Places of the entities that the question names; none unless one of them has an entry of its own.

        Walks from names that are only known from running text made rankings worse. See ``EntityNames``. A number names
        an entity only where another document mentions it: "is 1000 enough" is not about the record 1000.
        """
        named = [
            place
            for place in self._names.named_in(question)
            if not self._links.names[place].isdecimal() or self._is_in_others(place, [place])
        ]
        return named if any(map(self._names.is_placed, named)) else []

    def leads_on(self, named_entities: Collection[int]) -> bool:
        """Whether another document mentions one of the entities, or something else that their passages mention; or these
        link to a note, written or not.

        If not, a walk finds the documents that were named, and all else by its nearness to the question alone.
        """
        if any(self._is_in_others(place, [place]) for place in named_entities):
            return True
        passages = chain.from_iterable(self._to_chunks.reached_from(place) for place in named_entities)
        others = set(chain.from_iterable(self._to_entities.reached_from(passage) for passage in passages))
        others -= set(named_entities)
        return any(
            not _LINKED_LABELS.isdisjoint(self._links.labels[place])
            or self._is_in_others(place, named_entities)
            for place in others
        )

    def _is_in_others(self, place: int, documents: Collection[int]) -> bool:
        """Whether a passage outside these documents, by the places of their entities, mentions an entity."""
        return not np.isin(self._own[self._to_chunks.reached_from(place)], list(documents)).all()

    def names(self, places: Iterable[int]) -> list[str]:
        """Names of the entities at these places, sorted."""
        return sorted({self._links.names[place] for place in places})

    def rarity(self, places: Iterable[int]) -> dict[int, float]:
        """``log(1 + N / df)`` of entities by their places."""
        return {place: float(self._rarity[place]) for place in places}

    def places(self, names: Iterable[str | None]) -> list[int]:
        """Places of the entities with these names; unknown names are left out."""
        places = [self._names.place(entity_key(name)) for name in names if name is not None]
        return [place for place in places if place >= 0]

    def specificity(self, named_entities: Collection[int]) -> float:
        """Specificity of the rarest named entity that has an entry of its own, in (0, 1].

        Its rarity divided by the greatest possible rarity: 1 for a note that one passage mentions, .3 for a
        person who occurs in every other passage.
        """
        placed = [place for place in named_entities if self._names.is_placed(place)]
        return float(self._rarity[placed].max() / np.log1p(len(self._links.chunk_ids)))

    def mentioned_in(self, chunk_ids: Iterable[str], named_entities: Collection[int]) -> dict[str, list[str]]:
        """For each chunk id the names of the ``named_entities`` that the chunk mentions, sorted."""
        found: dict[str, list[str]] = {}
        for chunk_id in chunk_ids:
            own = self._to_entities.reached_from(self._chunks.first(chunk_id))
            found[chunk_id] = self.names(set(own.tolist()).intersection(named_entities))
        return found

    def visits(
        self,
        entities: Mapping[int, float],
        passages: Mapping[str, float],
        *,
        limit: int,
        within: Collection[str] | None = None,
        as_of: datetime | None = None,
    ) -> dict[str, float]:
        """Up to ``limit`` most visited passages of a walk: visits in (0, 1], relative to the most visited one.

        Args:
            entities: starts of the walk by place, with weights > 0; not empty.
            passages: relevance in [0, 1] by chunk id of passages it starts at too; chunks unknown here are
                ignored.
            within: only these chunk ids, or those without a date or dated up to ``as_of``; the walk does
                not pass through others either.
        """
        allowed = self._allowed_weights(within, as_of)
        at_chunks, at_entities = self._starts(entities, passages, allowed)
        seen = np.zeros_like(at_chunks)
        arrived = np.inf
        for _ in range(MAX_STEPS):
            seen += (1 - CONTINUE) * at_chunks
            reached_entities = self._to_entities.step(at_chunks)
            at_chunks = CONTINUE * self._to_chunks.step(at_entities)
            if allowed is not None:
                at_chunks *= allowed
            at_entities = CONTINUE * reached_entities
            before, arrived = arrived, at_chunks.max(initial=0.0)
            if max(before, arrived) < CONVERGENCE * (1 - CONTINUE) * seen.max(initial=0.0):
                break
        best = _largest(seen, limit)
        most = float(seen[best[0]]) if len(best) else 0.0
        return {self._links.chunk_ids[n]: float(seen[n]) / most for n in best.tolist() if seen[n] > 0}

    def _starts(
        self, entities: Mapping[int, float], passages: Mapping[str, float], allowed_weights: Floats | None
    ) -> tuple[Floats, Floats]:
        """Start distributions over chunks and over entities; both sum to 1 together, or to less without a
        start."""
        at_chunks = np.zeros(len(self._links.chunk_ids), np.float32)
        at_entities = np.zeros(len(self._links.names), np.float32)
        at_entities[list(entities)] = list(entities.values())
        known = ((self._chunks.first(chunk), score) for chunk, score in passages.items())
        found = [(place, score) for place, score in known if place >= 0]
        for place, score in sorted(found, key=lambda pair: (-pair[1], pair[0]))[:START_PASSAGES]:
            at_chunks[place] = score**2
        if allowed_weights is not None:
            at_chunks *= allowed_weights
        total = float(at_chunks.sum())
        share = ENTITY_SHARE if total > 0 else 1.0
        return at_chunks * ((1 - share) / total if total > 0 else 0.0), at_entities * (
            share / max(float(at_entities.sum()), 1e-12)
        )

    def _allowed_weights(self, within: Collection[str] | None, as_of: datetime | None) -> Floats | None:
        if within is None and as_of is None:
            return None
        allowed = np.ones(len(self._links.chunk_ids), np.float32)
        if within is not None:
            allowed[:] = 0.0
            allowed[[place for place in map(self._chunks.first, within) if place >= 0]] = 1.0
        if as_of is not None:
            moment = np.datetime64(as_utc(as_of).replace(tzinfo=None), "us")
            allowed *= ~(self._links.dates > moment)  # a comparison with no date is False: it passes
        return allowed


def _document_names(links: GraphLinks) -> list[str]:
    """Of each document what its entity is called: the title, or the id of a document without one."""
    first = dict(zip(*(part.tolist() for part in np.unique(links.documents, return_index=True)), strict=True))
    return [
        title or links.chunk_ids[first[place]].rpartition("#")[0] for place, title in enumerate(links.titles)
    ]


def _largest(values: Floats, count: int) -> NDArray[np.intp]:
    """Places of the largest values, descending, then by place."""
    if count < 1:
        return np.zeros(0, np.intp)
    if count < len(values):
        least = np.partition(values, len(values) - count)[len(values) - count]
        some = np.flatnonzero(values >= least)
    else:
        some = np.arange(len(values))
    return some[np.argsort(-values[some], kind="stable")][:count]


@dataclass(frozen=True, slots=True)
class _Ties:
    """Transitions of the walk: the probability of a step is the tie's weight divided by the total weight of the
    place."""

    weights: sparse.csr_array
    transpose: sparse.csr_array
    """The transposed matrix, for steps from many places."""
    totals: Floats
    """Weights of all ties of a place."""

    @classmethod
    def of(cls, weights: sparse.csr_array, transpose: sparse.csr_array) -> _Ties:
        totals = np.asarray(weights.sum(axis=1), np.float32).ravel()
        totals[totals == 0] = 1.0
        return cls(weights, transpose, totals)

    def reached_from(self, place: int) -> NDArray[np.int32]:
        """The places one step away."""
        reached: NDArray[np.int32] = self.weights.indices[
            self.weights.indptr[place] : self.weights.indptr[place + 1]
        ]
        return reached

    def step(self, mass: Floats) -> Floats:
        """The mass after one step; places below MIN_VISITS pass nothing on, so a step costs only the ties it
        uses."""
        active = np.flatnonzero(mass > MIN_VISITS)
        if len(active) > FEW * len(mass):
            spread: Floats = self.transpose @ (mass / self.totals)
            return spread
        if len(active) == 0:
            return np.zeros(self.weights.shape[1], np.float32)
        moved: Floats = (mass[active] / self.totals[active]) @ self.weights[active]
        return moved
