"""Which memories speak of the same things: the links of a memory that has a knowledge graph; pure.

It is reckoned from the graphs that the memory wrote itself, not read back from the store, so a link is
there as soon as both its ends are, and is the same on every machine.
"""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Mapping

from agentic_rag.domain import DocumentGraph


class SharedEntities:
    """Entities by memory and memories by entity, document by document.

    The strength of a link is the weight of the entities both memories mention over the weight of those
    that either does, with log(1 + N / df) the weight of an entity that df of N memories mention: in [0, 1], the
    same both ways, 1 where both mention the same things. Source: the weighted Jaccard similarity, weights
    after Spärck Jones, "A statistical interpretation of term specificity", 1972.
    """

    def __init__(self) -> None:
        self._documents: dict[str, frozenset[str]] = {}
        self._entities: dict[str, frozenset[str]] = {}
        self._memories: dict[str, set[str]] = defaultdict(set)
        # What is linked is reckoned off the event loop while a write may be changing it there.
        self._changing = threading.Lock()

    def replace(self, graph: DocumentGraph, entry_of: Mapping[str, str]) -> None:
        """Make a document's memories mention what its graph says.

        The session itself, which all its chunks mention, is nothing they speak of.

        Args:
            graph: what was derived from the document.
            entry_of: entry id by chunk id.
        """
        sessions = {entity.key for entity in graph.entities if "Session" in entity.labels}
        mentioned: dict[str, set[str]] = defaultdict(set)
        for mention in graph.mentions:
            if mention.chunk_id in entry_of and mention.entity not in sessions:
                mentioned[entry_of[mention.chunk_id]].add(mention.entity)
        with self._changing:
            self._forget(graph.document_id)
            self._documents[graph.document_id] = frozenset(mentioned)
            for entry_id, entities in mentioned.items():
                self._entities[entry_id] = frozenset(entities)
                for entity in entities:
                    self._memories[entity].add(entry_id)

    def remove(self, document_id: str) -> None:
        """Forget a document's memories."""
        with self._changing:
            self._forget(document_id)

    def _forget(self, document_id: str) -> None:
        for entry_id in self._documents.pop(document_id, frozenset()):
            for entity in self._entities.pop(entry_id):
                self._memories[entity].discard(entry_id)
                if not self._memories[entity]:
                    del self._memories[entity]

    def linked(self, entry_id: str, total: int) -> list[tuple[str, float]]:
        """Memories that share an entity with one, with the link's strength; descending, then by id.

        Args:
            entry_id: the memory.
            total: N, memories held.
        """
        with self._changing:
            own = self._entities.get(entry_id, frozenset())
            others = {other for entity in own for other in self._memories[entity]} - {entry_id}
            strengths = [(other, self._strength(own, self._entities[other], total)) for other in others]
        return sorted(strengths, key=lambda link: (-link[1], link[0]))

    def _strength(self, one: frozenset[str], other: frozenset[str], total: int) -> float:
        return self._weight(one & other, total) / self._weight(one | other, total)

    def _weight(self, entities: frozenset[str], total: int) -> float:
        # fsum: the same sum in whatever order a set gives its members.
        return math.fsum(math.log(1 + total / len(self._memories[entity])) for entity in entities)
