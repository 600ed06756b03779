"""The rewrite node with a chat model: the model's query, or expansion if it fails."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.domain.ports import Chat
from agentic_rag.errors import ModelError
from agentic_rag.nodes.rewrite_query import rewrite_query
from agentic_rag.settings.parameters import Parameters
from agentic_rag.testing import prepared_state

BY_CHAT = Parameters().override({"rewrite": {"method": "chat"}})


class Recording:
    """A chat that says one thing, or fails, and remembers what it was asked."""

    def __init__(self, said: str | None) -> None:
        self.said = said
        self.user = ""

    async def complete(self, system: str, user: str) -> str:
        self.user = user
        if self.said is None:
            raise ModelError("down")
        return self.said


async def rewritten(chat: Chat | None, *contents: str) -> list[str]:
    results = [{"id": str(n), "content": content, "metadata": {}} for n, content in enumerate(contents)]
    state: Any = {**prepared_state(BY_CHAT, query="tea?"), "rewrites": ["first"], "reranked_results": results}
    written: dict[str, Any] = await rewrite_query(state, chat=chat)
    failed = getattr(chat, "said", "") is None
    assert written["rewrite_outcome"] == {
        "status": "degraded" if failed else "ok",
        "reason": "down" if failed else None,
        "method": "expansion" if failed else "chat",
    }
    return list(written["rewrites"])


async def test_the_first_line_is_the_query() -> None:
    assert await rewritten(Recording("  origin of tea \nBecause …")) == ["first", "origin of tea"]


async def test_it_reads_where_a_passage_stands() -> None:
    chat = Recording("origin of tea")
    found = {"id": "a", "content": "It is rolled.", "metadata": {"title": "Oolong", "date": "2021-03-04"}}
    state: Any = {**prepared_state(BY_CHAT, query="tea?"), "reranked_results": [found]}
    await rewrite_query(state, chat=chat)
    assert "Oolong (2021-03-04)\nIt is rolled." in chat.user


async def test_an_endless_line_is_cut() -> None:
    assert len((await rewritten(Recording("tea " * 5000)))[1]) <= 1000


@pytest.mark.parametrize("said", [None, "", " \n "])
async def test_failure_and_silence_fall_back_to_expansion(said: str | None) -> None:
    words = (await rewritten(Recording(said), "Camellia sinensis grows in Yunnan."))[1]
    assert words.startswith("tea? ")
    assert "camellia" in words
