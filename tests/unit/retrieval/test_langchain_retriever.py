"""``as_retriever``: the engine in LangChain's chains, with and without an event loop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from agentic_rag.domain.ports import EmbeddedDocument
from agentic_rag.errors import FilterError, InputError, UnknownDataset
from agentic_rag.retrieval import RetrievalEngine, langchain_retriever
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.testing import FakeRetrievalEngine, HashingEmbedding, fake_chunk

CHUNKS = [
    fake_chunk("tea", "Oolong tea comes from Fujian.", metadata={"year": 2024}),
    fake_chunk("milk", "Milk tea is sweet and cold.", metadata={"year": 2020}),
    fake_chunk("water", "Water boils.", metadata={"year": 2021}),
]


async def engine() -> RetrievalEngine:
    embedding = HashingEmbedding()
    store = InMemoryChunkStore(dimension=embedding.dimension)
    for chunk in CHUNKS:
        vectors = await embedding.embed_passages([chunk.text])
        await store.replace_documents("notes", [EmbeddedDocument(chunk.document_id, (chunk,), vectors)])
    return RetrievalEngine(store, embedding)


def texts(documents: list[Document]) -> str:
    return " | ".join(document.page_content for document in documents)


def chain(retriever: BaseRetriever) -> Any:
    return {"context": retriever | RunnableLambda(texts), "question": RunnablePassthrough()} | RunnableLambda(
        lambda given: f"{given['question']}: {given['context']}"
    )


async def test_a_document_is_the_result():
    searched = await engine()
    retriever = searched.as_retriever("notes", top_k=2)
    found = await retriever.ainvoke("oolong tea")
    expected = await searched.search("notes", "oolong tea", 2)
    assert isinstance(retriever, BaseRetriever)
    assert [(d.id, d.page_content) for d in found] == [(r.id, r.content) for r in expected]
    first = found[0].metadata
    assert first["relevance_score"] == expected[0].score
    assert first["relevance_legs"]["dense"] == {"rank": 1, "score": expected[0].legs["dense"].score}
    assert {"dense", "sparse"} == set(first["relevance_legs"])
    assert (first["year"], first["document_id"], first["title"]) == (2024, "tea", "tea")


async def test_arguments_are_those_of_search(monkeypatch: pytest.MonkeyPatch):
    searched, told = await engine(), FakeRetrievalEngine([(chunk, 0.5) for chunk in CHUNKS])
    monkeypatch.setattr(searched, "search", told.search)
    retriever = searched.as_retriever("notes", top_k=2, filters={"year": {"$gte": 2021}}, strategy="dense")
    assert len(await retriever.ainvoke("q")) == 2
    asked = told.requests[0]
    assert (asked["dataset"], asked["query"], asked["limit"], asked["strategy"]) == ("notes", "q", 2, "dense")
    assert (asked["filters"].key, asked["filters"].operator, asked["filters"].value) == ("year", "$gte", 2021)
    with pytest.raises(FilterError, match="unknown filter operator"):
        searched.as_retriever("notes", filters={"year": {"$near": 1}})


async def test_filters_and_threshold_hold():
    searched = await engine()
    found = await searched.as_retriever("notes", filters={"year": {"$lt": 2022}}).ainvoke("tea")
    assert {document.id for document in found} == {"milk#0", "water#0"}
    assert await searched.as_retriever("notes", score_threshold=1.0).ainvoke("nothing of it") == []


async def test_in_a_chain_with_ainvoke():
    searched = await engine()
    said = await chain(searched.as_retriever("notes", top_k=1)).ainvoke("oolong tea")
    assert said == "oolong tea: Oolong tea comes from Fujian."
    both = await searched.as_retriever("notes", top_k=1).abatch(["oolong", "milk"])
    assert [documents[0].id for documents in both] == ["tea#0", "milk#0"]


def test_in_a_chain_without_an_event_loop():
    retriever = asyncio.run(engine()).as_retriever("notes", top_k=1)
    assert chain(retriever).invoke("oolong tea") == "oolong tea: Oolong tea comes from Fujian."


def test_the_loop_it_was_made_on_searches_while_it_rests():
    async def made() -> BaseRetriever:
        return (await engine()).as_retriever("notes", top_k=1)

    with asyncio.Runner() as runner:
        retriever = runner.run(made())
        assert retriever.invoke("oolong")[0].id == "tea#0"
        assert retriever.invoke("milk")[0].id == "milk#0"


async def test_beside_a_running_loop_that_loop_searches(monkeypatch: pytest.MonkeyPatch):
    searched_on: list[Any] = []
    watched = await engine()
    search = watched.search

    async def seen(*arguments: Any, **named: Any) -> Any:
        searched_on.append(asyncio.get_running_loop())
        return await search(*arguments, **named)

    monkeypatch.setattr(watched, "search", seen)
    retriever = watched.as_retriever("notes", top_k=1)
    assert (await asyncio.to_thread(retriever.invoke, "oolong"))[0].id == "tea#0"
    assert searched_on == [asyncio.get_running_loop()]


async def test_inside_a_running_loop_invoke_says_what_to_use():
    retriever = (await engine()).as_retriever("notes")
    with pytest.raises(InputError, match="ainvoke"):
        retriever.invoke("oolong")


async def test_a_chain_that_blocks_the_loop_is_told_and_does_not_hang(monkeypatch: pytest.MonkeyPatch):
    """A chain's branches run in threads: there is no loop in them, but the one they need waits for them."""
    monkeypatch.setattr(langchain_retriever, "LOOP_SECONDS", 0.2)
    retriever = (await engine()).as_retriever("notes")
    with pytest.raises(InputError, match=r"await chain\.ainvoke"):
        chain(retriever).invoke("oolong")


async def test_errors_pass_through():
    retriever = (await engine()).as_retriever("nothing")
    with pytest.raises(UnknownDataset):
        await retriever.ainvoke("oolong")
    with pytest.raises(InputError, match="top_k"):
        await (await engine()).as_retriever("notes", top_k=0).ainvoke("oolong")
