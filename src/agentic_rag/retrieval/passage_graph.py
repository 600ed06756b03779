"""Multi-hop search: personalised PageRank over the graph of chunks and the entities they mention.

A question names some entities; what answers it may lie two links away, in a passage that shares no word
with it. A walk that starts at the named entities and at the passages the graph's own search found best,
goes from entity to passage to entity, and restarts every tenth step or so, visits such passages often.
Source: Gutiérrez et al., HippoRAG 2 (From RAG to Memory), 2025; the push is Andersen, Chung, Lang, Local
Graph Partitioning using PageRank Vectors, FOCS 2006.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from agentic_rag.identity import entity_key
from agentic_rag.instants import as_utc
from agentic_rag.ports import GraphLinks
from agentic_rag.retrieval.entity_linking import EntityNames

CONTINUE = 0.9
"""Probability that the walk goes on instead of starting again."""
ENTITY_SHARE = 0.8
"""Of all starts: at the named entities, by rarity. The rest start at the best passages."""
START_PASSAGES = 20
"""Passages the walk starts from, by the square of their relevance."""
OWN_WEIGHT = 3.0
"""How much stronger a passage is tied to what its document is about than to what it mentions."""
LEAST_VISITS = 1e-6
"""Visits (all sum to 1) below which a place is not walked on from."""
MOST_STEPS = 25
"""There and back; what is still under way then is a fourteenth of all, and evenly spread."""
FEW = 0.02
"""Share of places up to which it is quicker to pick their ties out than to multiply by all of them."""

Floats = NDArray[np.float64]


class PassageGraph:
    """The links of a dataset, ready to be walked on. Immutable: one is built for each state of the graph.

    The tie of a passage and an entity weighs ``log(1 + N / df)``, N passages, df of them mentioning the
    entity; ``OWN_WEIGHT`` times as much where the entity is the passage's own document.
    """

    def __init__(self, links: GraphLinks) -> None:
        self._links = links
        titles = [entity_key(title) for title in links.titles]
        aliases: dict[str, set[str]] = defaultdict(set)
        for title, names in zip(titles, links.aliases, strict=True):
            aliases[title].update(names)
        self._names = EntityNames(links.entities, aliases)
        self._placed = np.array([self._names.is_placed(n) for n in range(len(links.entities))], dtype=bool)
        self._place = {chunk_id: number for number, chunk_id in enumerate(links.chunk_ids)}
        chunks, entities = len(links.chunk_ids), len(links.entities)
        frequency = np.maximum(np.bincount(links.mentioned, minlength=entities), 1)
        self._rarity: Floats = np.log1p(chunks / frequency)
        keys = np.array([entity.key for entity in links.entities], dtype=object)
        own = keys[links.mentioned] == np.array(titles, dtype=object)[links.mentioning]
        weights = self._rarity[links.mentioned] * np.where(own, OWN_WEIGHT, 1.0)
        ties = sparse.csr_array((weights, (links.mentioning, links.mentioned)), shape=(chunks, entities))
        self._to_entities, self._to_chunks = _Ties.of(ties), _Ties.of(sparse.csr_array(ties.T))

    def named_in(self, question: str) -> list[int]:
        """Places of the entities that the question names; none where no one of them has a place of its own.

        A name that is only known from running text is no firm ground: where nothing else is named, walks
        made rankings worse. See ``EntityNames``.
        """
        named = self._names.named_in(question)
        return named if any(self._placed[named]) else []

    def visits(
        self,
        named: Collection[int],
        found: Mapping[str, float],
        *,
        limit: int,
        within: Collection[str] | None = None,
        as_of: datetime | None = None,
    ) -> dict[str, float]:
        """The passages a walk visits most, up to ``limit``: visits in (0, 1], the most visited has 1.

        They are raised to the power of how telling the most telling name is, in (0, 1]: 1 for a note that
        one passage speaks of, .3 for a person who takes part in every other one.

        Args:
            named: see ``named_in``; not empty.
            found: relevance in [0, 1] by chunk id of what a search found; chunks unknown here are ignored.
            within: only these chunk ids, or those without a date or dated up to ``as_of``; the walk does
                not pass through others either.
        """
        allowed = self._allowed(within, as_of)
        chunks, entities = self._starts(named, found, allowed)
        seen = np.zeros_like(chunks)
        for _ in range(MOST_STEPS):
            seen += (1 - CONTINUE) * chunks
            reached_entities = self._to_entities.step(chunks)
            chunks = CONTINUE * self._to_chunks.step(entities)
            if allowed is not None:
                chunks *= allowed
            entities = CONTINUE * reached_entities
            if max(chunks.max(initial=0.0), entities.max(initial=0.0)) < LEAST_VISITS:
                break
        telling = self._rarity[list(named)][self._placed[list(named)]].max()
        trust = float(telling / np.log1p(len(seen)))
        best = np.argsort(-seen, kind="stable")[:limit]
        most = float(seen[best[0]]) if len(best) else 0.0
        return {
            self._links.chunk_ids[n]: (float(seen[n]) / most) ** trust for n in best.tolist() if seen[n] > 0
        }

    def _starts(
        self, named: Collection[int], found: Mapping[str, float], allowed: Floats | None
    ) -> tuple[Floats, Floats]:
        """Where the walk starts: over chunks and over entities, together 1 (or less where nothing is there)."""
        chunks, entities = np.zeros(len(self._links.chunk_ids)), np.zeros(len(self._links.entities))
        places = list(named)
        entities[places] = self._rarity[places]
        known = [(self._place[chunk], score) for chunk, score in found.items() if chunk in self._place]
        for place, score in sorted(known, key=lambda pair: (-pair[1], pair[0]))[:START_PASSAGES]:
            chunks[place] = score**2
        if allowed is not None:
            chunks *= allowed
        total = float(chunks.sum())
        share = ENTITY_SHARE if total > 0 else 1.0
        return chunks * ((1 - share) / total if total > 0 else 0.0), entities * (
            share / max(float(entities.sum()), 1e-12)
        )

    def _allowed(self, within: Collection[str] | None, as_of: datetime | None) -> Floats | None:
        if within is None and as_of is None:
            return None
        allowed = np.ones(len(self._links.chunk_ids))
        if within is not None:
            allowed[:] = 0.0
            allowed[[self._place[chunk] for chunk in within if chunk in self._place]] = 1.0
        if as_of is not None:
            moment = np.datetime64(as_utc(as_of).replace(tzinfo=None), "us")
            allowed *= ~(self._links.dates > moment)  # a comparison with no date is False: it passes
        return allowed


@dataclass(frozen=True, slots=True)
class _Ties:
    """Probabilities of the next place, by row; and the same transposed, for where the mass is everywhere."""

    forward: sparse.csr_array
    backward: sparse.csr_array

    @classmethod
    def of(cls, weights: sparse.csr_array) -> _Ties:
        totals = np.asarray(weights.sum(axis=1)).ravel()
        totals[totals == 0] = 1.0
        forward = sparse.csr_array(sparse.diags_array(1.0 / totals) @ weights)
        return cls(forward, sparse.csr_array(forward.T))

    def step(self, mass: Floats) -> Floats:
        """Where the mass goes next; the least of it goes nowhere, so that a step costs what it reaches."""
        active = np.flatnonzero(mass > LEAST_VISITS)
        if len(active) > FEW * len(mass):
            spread: Floats = self.backward @ mass
            return spread
        if len(active) == 0:
            return np.zeros(self.forward.shape[1])
        moved: Floats = mass[active] @ self.forward[active]
        return moved
