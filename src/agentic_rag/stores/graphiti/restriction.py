"""Graphiti's ``SearchFilters`` with what it lacks: allowed episodes, a reference time, and raw scores."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import PrivateAttr

from agentic_rag.domain.ports import FloatArray
from agentic_rag.stores.graphiti.library import ComparisonOperator, DateFilter, SearchFilters


@dataclass
class Recorder:
    """Raw scores by uuid, gathered over the legs of one search; the best where a leg ran twice."""

    asked: FloatArray | None = None
    """The question's unit vector, with which what is found by words is compared too; None: with nothing."""
    cosine: dict[str, float] = field(default_factory=dict)
    bm25: dict[str, float] = field(default_factory=dict)

    def saw_cosine(self, uuid: str, score: float) -> None:
        self.cosine[uuid] = max(score, self.cosine.get(uuid, score))

    def saw_bm25(self, uuid: str, score: float) -> None:
        self.bm25[uuid] = max(score, self.bm25.get(uuid, score))


class RestrictedFilters(SearchFilters):  # type: ignore[misc]
    """Filters of one search; never share an instance between searches.

    ``within``: only what comes from these episodes; None allows all, an empty list nothing.
    ``as_of``: chunks dated later, and facts and entities that only such chunks name, are left out; the
    facts' own validity is in ``valid_at`` and ``invalid_at`` (see ``as_of_filters``).
    """

    within: list[str] | None = None
    as_of: datetime | None = None
    _recorder: Recorder = PrivateAttr(default_factory=Recorder)
    _conditions: dict[tuple[str, str], asyncio.Task[str]] = PrivateAttr(default_factory=dict)

    @property
    def recorder(self) -> Recorder:
        return self._recorder

    async def once(self, group: str, kind: str, make: Callable[[], Coroutine[Any, Any, str]]) -> str:
        """What ``within`` means for a kind; several legs of a search ask, one look-up answers."""
        if (group, kind) not in self._conditions:
            self._conditions[group, kind] = asyncio.create_task(make())
        return await self._conditions[group, kind]


def as_of_filters(as_of: datetime | None, within: list[str] | None) -> RestrictedFilters:
    """valid_at ≤ as_of < invalid_at, a missing bound open, in Graphiti's own words."""
    if as_of is None:
        return RestrictedFilters(within=within)
    missing = [DateFilter(comparison_operator=ComparisonOperator.is_null)]
    begun = [DateFilter(date=as_of, comparison_operator=ComparisonOperator.less_than_equal)]
    not_over = [DateFilter(date=as_of, comparison_operator=ComparisonOperator.greater_than)]
    return RestrictedFilters(
        within=within, as_of=as_of, valid_at=[begun, missing], invalid_at=[not_over, missing]
    )
