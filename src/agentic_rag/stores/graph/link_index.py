"""The links of a graph by the uuids of its entities and episodes, in memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from agentic_rag.domain.ports import GraphLinks
from agentic_rag.stores.graph.link_columns import TYPES, LinkColumns, Values

DatedChunk = tuple[str, datetime | None]
"""A chunk's id and date."""


class LinkIndex:
    """The links by uuid; saves look-ups in the tables."""

    def __init__(self, columns: LinkColumns) -> None:
        self.columns = columns
        self.links = _links(columns)
        self._episodes = SortedPlaces(columns.episodes, columns.episode_order.to_numpy())
        self._entities = SortedPlaces(columns.entities, range(len(columns.entities)))

    def names(self, entities: Collection[str]) -> dict[str, str]:
        """The known names."""
        return {uuid: self.links.names[place] for uuid, place in self._entities.of(entities)}

    def chunks_of_episodes(self, episodes: Collection[str]) -> dict[str, DatedChunk]:
        """The chunks that are known episodes."""
        found = dict(self._episodes.of(episodes))
        places = np.fromiter(found.values(), np.int32, len(found))
        ids = self.columns.chunk_ids.take(pa.array(places)).to_pylist()
        dates = (date and date.replace(tzinfo=UTC) for date in self.links.dates[places].tolist())
        return dict(zip(found, zip(ids, dates, strict=True), strict=True))


class SortedPlaces:
    """The places of uuids in an array, found by bisection: a dictionary of half a million takes 60 MB.

    Args:
        uuids: distinct.
        order: their places, in the order of the uuids.
    """

    def __init__(self, uuids: pa.Array, order: Sequence[int]) -> None:
        self._uuids = uuids
        self._order = order

    def of(self, uuids: Iterable[str]) -> Iterator[tuple[str, int]]:
        """The given uuids that the array has, each with its place."""
        for uuid in uuids:
            found = bisect_left(self._order, uuid, key=self._at)
            if found < len(self._order) and self._at(place := int(self._order[found])) == uuid:
                yield uuid, place

    def _at(self, place: int) -> str:
        uuid: str = self._uuids[place].as_py()
        return uuid


def _links(columns: LinkColumns) -> GraphLinks:
    return GraphLinks(
        chunk_ids=Values(columns.chunk_ids),
        documents=columns.documents.to_numpy(),
        titles=Values(columns.titles),
        aliases=Values(columns.aliases),
        dates=columns.dates.to_numpy().view("datetime64[us]"),
        names=Values(columns.names),
        labels=Values(pa.DictionaryArray.from_arrays(columns.labels, columns.label_sets)),
        mentioning=columns.mentioning.to_numpy(),
        mentioned_entities=columns.mentioned_entities.to_numpy(),
    )


NOTHING = LinkIndex(LinkColumns(*(pa.array([], of) for of in TYPES.values())))
"""Of a group without tables, and of one whose changes are not read yet: the tables are asked instead."""
