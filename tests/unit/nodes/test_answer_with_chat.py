"""The answer node with a chat model: citations, not found, and degraded fallbacks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from agentic_rag.domain.ports import Chat, Embedding, PassageVectors
from agentic_rag.errors import ModelError
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.models.bundled import BundledEmbedding
from agentic_rag.models.chats import LangChainChat, chat_from_config
from agentic_rag.nodes.answer import answer
from agentic_rag.settings.config import ChatConfig
from agentic_rag.settings.parameters import Parameters
from agentic_rag.testing import prepared_state
from local_openai_server import LocalOpenAIServer, refused

QUESTION = "Where does tea come from?"
BY_CHAT = Parameters().override({"answer": {"method": "chat"}})


def result(number: int, content: str) -> dict[str, Any]:
    metadata = {"start": 100, "document_id": f"d{number}", "path": f"d{number}.md", "title": f"D{number}"}
    sources = {"lancedb": {"raw": 0.9}}
    return {
        "id": f"d{number}#0",
        "content": content,
        "rerank_score": 0.9,
        "metadata": metadata,
        "sources": sources,
    }


class Recording:
    """A chat that says one thing and remembers what it was asked."""

    def __init__(self, said: str) -> None:
        self.said = said
        self.system = self.user = ""

    async def complete(self, system: str, user: str) -> str:
        self.system, self.user = system, user
        return self.said


async def asked(
    chat: Chat | None,
    *contents: str,
    found: list[dict[str, Any]] | None = None,
    embedding: Embedding | None = None,
    **keys: Any,
) -> dict[str, Any]:
    given = {"query": QUESTION, "operation": "document_retrieval", **keys}
    results = found or [result(n, content) for n, content in enumerate(contents, start=1)]
    judged = {"quality": {"decision": "answer"}, "reranked_results": results}
    state: Any = {**prepared_state(BY_CHAT, **given), **judged}
    return await answer(state, chat=chat, embedding=embedding)


async def test_each_cited_passage_is_a_citation() -> None:
    written = await asked(
        Recording("Tea comes from China [2]. It is old [2, 1], very [9]."), "Tea is old.", " Tea: China.\n"
    )
    assert written["answer"].startswith("Tea comes from China [2]")
    assert written["answer_outcome"] == {"status": "ok", "reason": None, "method": "chat"}
    assert not written["abstained"]
    second, first = written["citations"]
    assert (second["n"], second["chunk_id"], second["quote"]) == (2, "d2#0", "Tea: China.")
    assert (second["start"], second["end"]) == (101, 112)
    assert (first["n"], first["document_id"]) == (1, "d1")


async def test_it_reads_what_a_passage_is_about_and_when() -> None:
    chat = Recording("In 2021 [1].")
    found = result(1, "It was planted by hand.")
    found["metadata"] |= {"title": "Garden", "heading_path": ["Hedge"], "date": "2021-03-04"}
    written = await asked(chat, found=[found])
    assert chat.user.startswith(
        '<passage n="1">\nGarden › Hedge (2021-03-04)\nIt was planted by hand.\n</passage>'
    )
    assert written["citations"][0]["quote"] == "It was planted by hand."


async def test_a_follow_up_is_asked_with_what_it_points_back_to() -> None:
    chat = Recording("By hand [1].")
    said = [
        HumanMessage("Where does tea come from?"),
        AIMessage("China."),
        HumanMessage("And how is it picked?"),
    ]
    await asked(chat, "Tea is picked by hand.", query=said[-1].content, messages=said)
    assert chat.user.endswith("\n\nQuestion: Where does tea come from? And how is tea picked?")


async def test_each_operation_asks_for_its_own_shape() -> None:
    prompts = []
    for operation in CanvasOperation:
        chat = Recording("China [1].")
        await asked(chat, "Tea comes from China.", operation=operation.value)
        assert "Cite every sentence" in chat.system
        prompts.append(chat.system)
    verification, clustering, relation, document = prompts
    assert "numbered questions" in verification
    assert "groups" in clustering
    assert "—relation→" in relation
    assert len(set(prompts)) == 4
    assert len(document) < min(map(len, prompts[:3]))


@pytest.mark.parametrize("top_k", [None, 1])
async def test_it_is_shown_as_many_passages_as_top_k(top_k: int | None) -> None:
    chat = Recording("China [1].")
    await asked(chat, *["Tea comes from China."] * 12, top_k=top_k)
    assert chat.user.count("<passage") == (top_k or 10)


async def test_beyond_the_first_ten_it_is_shown_what_is_relevant_enough() -> None:
    chat = Recording("China [1].")
    results = [result(n, f"Passage {n:02}.") for n in range(1, 14)]
    for found, score in zip(results, [0.9, *[0.1] * 9, 0.1, 0.6, None], strict=True):
        found["rerank_score"] = score
    results[-1]["sources"] = {"lancedb": {"raw": 0.1}}
    await asked(chat, found=results, top_k=20)
    shown = [n for n in range(1, 14) if f"Passage {n:02}." in chat.user]
    assert shown == [*range(1, 11), 12]


@pytest.mark.parametrize("said", ["NOT FOUND", "not found.", " NOT FOUND\n"])
async def test_not_found_abstains(said: str) -> None:
    written = await asked(Recording(said), "Tea comes from China.")
    assert written["abstained"]
    assert written["citations"] == []
    assert written["answer_outcome"] == {"status": "ok", "reason": None, "method": "chat"}


@pytest.mark.parametrize(
    "said", ["Tea comes from China.", "Tea comes from China [7].", "Tea comes from China [2]."]
)
async def test_a_sentence_that_another_passage_supports_cites_that(said: str) -> None:
    written = await asked(Recording(said), "Tea comes from China.", "Coffee does not.")
    assert written["answer"] == "Tea comes from China [1]."
    assert [one["n"] for one in written["citations"]] == [1]
    assert written["answer_outcome"]["status"] == "ok"


@pytest.mark.parametrize(
    "said",
    [
        "It cures cancer.",
        "It also cures cancer. Tea is radioactive [42].",
        "Tea is radioactive [1].",
        "Here is what the notes say:\n\nIt cures cancer [1].",
        "[1][2]",
        "## Tea [1]",
    ],
)
async def test_an_answer_that_no_passage_supports_is_replaced_by_quotes(said: str) -> None:
    written = await asked(Recording(said), "Tea comes from China.", "Coffee does not.")
    assert written["answer_outcome"]["status"] == "degraded"
    assert "nothing that a passage supports" in written["answer_outcome"]["reason"]
    assert written["answer_outcome"]["method"] == "extractive"
    assert not written["abstained"]
    assert written["citations"][0]["quote"] in "Tea comes from China."


async def test_what_the_passages_do_not_support_is_left_out_and_counted() -> None:
    said = (
        "Tea comes from China [1]. It also cures cancer. Tea is radioactive [42]. Steep it for 9 minutes [2]."
    )
    written = await asked(Recording(said), "Tea comes from China.", "Steep it for 3 minutes.")
    assert written["answer"] == "Tea comes from China [1]."
    assert [one["n"] for one in written["citations"]] == [1]
    outcome = written["answer_outcome"]
    assert (outcome["status"], outcome["method"]) == ("partial", "chat")
    assert outcome["left_out"] == {"uncited": 2, "amount": 1}
    assert outcome["reason"].startswith("3 of 4 statements left out: 2 without a citation")
    assert written["messages"][-1].content == written["answer"]


async def test_an_embedding_that_fails_leaves_the_letters_to_compare() -> None:
    class Failing(BundledEmbedding):
        async def embed_passage_tokens(self, texts: Sequence[str]) -> PassageVectors:
            raise ModelError("no")

    chat = Recording("Tea comes from China [1]. It cures cancer [1].")
    written = await asked(chat, "Tea comes from China.", embedding=Failing())
    assert written["answer"] == "Tea comes from China [1]."


@pytest.fixture
async def real(model_server: LocalOpenAIServer) -> AsyncIterator[LangChainChat]:
    chat = chat_from_config(
        ChatConfig.model_validate(
            {"base_url": model_server.base_url, "model": "small", "api_key": "sk-very-secret"}
        )
    )
    assert chat is not None
    yield chat
    await chat.close()


async def test_a_failing_endpoint_degrades_to_quotes_and_tells_no_secret(
    model_server: LocalOpenAIServer, real: LangChainChat, caplog: pytest.LogCaptureFixture
) -> None:
    model_server.judge = lambda request: refused(401)
    written = await asked(real, "Tea comes from China.")
    assert written["answer_outcome"]["status"] == "degraded"
    assert "HTTP 401" in written["answer_outcome"]["reason"]
    assert written["citations"]
    assert "very-secret" not in caplog.text + str(written)
