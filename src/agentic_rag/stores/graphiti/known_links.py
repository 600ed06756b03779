"""The links of a graph by the uuids that Graphiti's results hold, in memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import merge
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from agentic_rag.domain.ports import GraphLinks
from agentic_rag.stores.graphiti.link_assembly import Assembled, MentionRows

DatedChunk = tuple[str, datetime | None]
"""A chunk's id and date."""


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The links, by the uuids that Graphiti's results hold: what is here need not be looked up in the tables."""

    links: GraphLinks
    episodes: Places
    """Places in ``links.chunk_ids``."""
    entities: Places
    """Places in ``links.names``."""
    _mentioning: NDArray[np.int32]
    """Places of chunks, those of one entity after those of the one before it, each entity's in id order."""
    _ends: NDArray[np.integer[Any]]
    """Of each entity, where its chunks end in ``_mentioning``."""
    _said: MentionRows

    def assembled(self) -> Assembled:
        return Assembled(self.links, self.episodes.uuids(), self.entities.uuids(), self._said)

    def names(self, entities: Collection[str]) -> dict[str, str]:
        """Names of those that are known."""
        return {uuid: self.links.names[place] for uuid, place in self.entities.of(entities)}

    def chunks_of_episodes(self, episodes: Collection[str]) -> dict[str, DatedChunk]:
        """The chunks that are known episodes."""
        return {uuid: self._chunk(place) for uuid, place in self.episodes.of(episodes)}

    def chunks_of_entities(self, entities: Collection[str]) -> dict[str, Iterator[DatedChunk]]:
        """The chunks that mention known entities, in id order; read one by one, for a tag is on every note."""
        found: dict[str, Iterator[DatedChunk]] = {}
        for uuid, place in self.entities.of(entities):
            start = int(self._ends[place - 1]) if place else 0
            found[uuid] = map(self._chunk, self._mentioning[start : self._ends[place]])
        return found

    def _chunk(self, place: int) -> DatedChunk:
        date = self.links.dates[place].item()
        return self.links.chunk_ids[place], None if date is None else date.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, eq=False)
class Updated:
    """The links as they were read, and what was written since: reading all of a large graph takes seconds."""

    before: Known
    gone: frozenset[str]
    """Chunks that are not there any more."""
    dates: Mapping[str, datetime | None]
    """Of the chunks that were written since."""
    chunks: Mapping[str, str]
    """Episode uuid → chunk id, of the same."""
    called: Mapping[str, str]
    """Entity uuid → name, where it was written since."""
    mentioning: Mapping[str, Mapping[str, datetime | None]]
    """Entity uuid → chunks that were found to mention it since."""

    @property
    def links(self) -> GraphLinks:
        """As they were read."""
        return self.before.links

    def names(self, entities: Collection[str]) -> dict[str, str]:
        """Names of those that are known."""
        written = {uuid: self.called[uuid] for uuid in entities if uuid in self.called}
        return self.before.names(entities) | written

    def chunks_of_episodes(self, episodes: Collection[str]) -> dict[str, DatedChunk]:
        """The chunks that are known episodes."""
        known = self.before.chunks_of_episodes(episodes)
        kept = {uuid: self._now(chunk) for uuid, chunk in known.items() if chunk[0] not in self.gone}
        written = {uuid: self.chunks[uuid] for uuid in episodes if uuid in self.chunks}
        return kept | {uuid: (chunk, self.dates[chunk]) for uuid, chunk in written.items()}

    def chunks_of_entities(self, entities: Collection[str]) -> dict[str, Iterator[DatedChunk]]:
        """The chunks that mention known entities, in id order, each once."""
        known = self.before.chunks_of_entities(entities)
        written = {uuid: self.mentioning[uuid] for uuid in entities if uuid in self.mentioning}
        return {
            uuid: self._joined(known.get(uuid, iter(())), written.get(uuid, {}))
            for uuid in known.keys() | written.keys()
        }

    def _joined(
        self, before: Iterator[DatedChunk], since: Mapping[str, datetime | None]
    ) -> Iterator[DatedChunk]:
        kept = (self._now(one) for one in before if one[0] not in self.gone and one[0] not in since)
        written = sorted(self._now(one) for one in since.items() if one[0] not in self.gone)
        return merge(kept, written, key=itemgetter(0))

    def _now(self, chunk: DatedChunk) -> DatedChunk:
        return chunk[0], self.dates.get(chunk[0], chunk[1])


class Places:
    """Where uuids stand in a sequence, found by bisection: a dictionary of half a million takes 60 MB.

    Args:
        uuids: distinct.
    """

    def __init__(self, uuids: pa.ChunkedArray) -> None:
        order = pc.sort_indices(uuids)
        self._sorted = uuids.take(order).combine_chunks()
        self._places = order.to_numpy()

    def uuids(self) -> pa.ChunkedArray:
        """As they were given."""
        return pa.chunked_array([self._sorted.take(pa.array(np.argsort(self._places)))])

    def of(self, uuids: Iterable[str]) -> Iterator[tuple[str, int]]:
        """Those that are there, each with its place."""
        for uuid in uuids:
            found = bisect_left(self._sorted, uuid, key=_text)
            if found < len(self._sorted) and self._sorted[found].as_py() == uuid:
                yield uuid, int(self._places[found])


def _text(value: pa.Scalar) -> str:
    text: str = value.as_py()
    return text


_NOBODY = Places(pa.chunked_array([], pa.string()))
NOTHING = Known(
    GraphLinks(
        (), (), (), np.zeros(0, "datetime64[us]"), (), (), np.zeros(0, np.int32), np.zeros(0, np.int32)
    ),
    _NOBODY,
    _NOBODY,
    np.zeros(0, np.int32),
    np.zeros(0, np.intp),
    MentionRows(np.zeros(0, np.bool_), np.zeros(0, np.int32), 0),
)
"""Of a group without tables."""


def by_uuid(found: Assembled) -> Known:
    links = found.links
    # Entities × chunks; it sorts in a tenth of the time that argsort takes.
    said = sparse.csr_array(
        (np.ones(len(links.mentioned), np.bool_), (links.mentioned, links.mentioning)),
        shape=(len(links.names), len(links.chunk_ids)),
    )
    return Known(
        links,
        Places(found.episodes),
        Places(found.entities),
        said.indices,
        said.indptr[1:],
        found.mentions,
    )
