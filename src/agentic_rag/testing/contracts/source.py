"""What every ``retrieval.sources.Source`` promises."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.domain import Findings
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.retrieval.sources import Source


def query(text: str, user_id: str | None = "ada") -> SourceQuery:
    """A query for a text, of a user, without filters."""
    return SourceQuery("default", text, user_id=user_id)


async def find(source: Source, text: str, user_id: str | None = "ada") -> Findings:
    """What a source finds, once it is ready."""
    asked = query(text, user_id)
    await source.ready(asked)
    return await source.find(asked)


class SourceContract:
    """What every ``retrieval.sources.Source`` promises."""

    @pytest.fixture
    def source(self) -> Any:
        """A source that finds something for ``known_text``."""
        raise NotImplementedError("override this fixture")

    @pytest.fixture
    def known_text(self) -> str:
        """A question that the source has hits for."""
        raise NotImplementedError("override this fixture")

    async def test_satisfies_the_protocol(self, source: Source) -> None:
        assert isinstance(source, Source)

    async def test_hits_are_ranked_by_relevance_within_0_and_1(self, source: Source, known_text: str) -> None:
        hits = (await find(source, known_text)).hits
        assert [hit["rank"] for hit in hits] == list(range(1, len(hits) + 1)) != []
        scores = [hit["score"] for hit in hits]
        assert all(score is not None and 0 <= score <= 1 for score in scores)
        assert scores == sorted(scores, key=lambda score: -(score or 0.0))
        assert len({hit["id"] for hit in hits}) == len(hits)
        assert all(hit["id"] and hit["content"].strip() for hit in hits)

    async def test_the_same_query_finds_the_same(self, source: Source, known_text: str) -> None:
        first, second = await find(source, known_text), await find(source, known_text)
        assert first.hits == second.hits

    @pytest.mark.parametrize("text", ["", " ", "zxqv wprt", "' OR 1=1 --", "🍵", "茶" * 2000])
    async def test_any_text_may_be_asked(self, source: Source, text: str) -> None:
        findings = await find(source, text)
        assert isinstance(findings.hits, list)
        if not findings.hits:
            assert isinstance(await source.why_empty(query(text)), str | None)

    async def test_nobody_may_ask(self, source: Source, known_text: str) -> None:
        assert isinstance((await find(source, known_text, user_id=None)).hits, list)
