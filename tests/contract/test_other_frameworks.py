"""Retrievers of LangChain as a source of the graph, and the graph's results as retrievers of three frameworks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from agentic_rag import Rag, RagConfig, build_rag_graph, open_rag
from agentic_rag.errors import ConfigError
from agentic_rag.retrieval.langchain_source import RetrieverSource
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.testing import HashingEmbedding
from asked_vaults import stored

TEXTS = {
    "tea.md": "Oolong tea comes from Fujian in China.",
    "milk.md": "Milk is poured into tea in Tibet.",
    "train.md": "The railway station of Exeter closes at midnight.",
}
QUESTION: Any = {"query": "Where does oolong tea come from?", "operation": "document_retrieval"}


class Hashing(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return HashingEmbedding()._vectors(texts).tolist()  # type: ignore[no-any-return]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.fixture
def store() -> InMemoryVectorStore:
    documents = [Document(text, metadata={"source": path, "year": 2020}) for path, text in TEXTS.items()]
    filled = InMemoryVectorStore(Hashing())
    filled.add_documents(documents)
    return filled


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("shade"), {"shade.md": "Shade keeps theanine in the leaf.\n"})


@pytest.fixture
async def rag(data: Path) -> AsyncIterator[Rag]:
    async with open_rag(RagConfig(data_dir=data)) as opened:
        yield opened


def with_source(rag: Rag, retriever: BaseRetriever) -> Any:
    source = RetrieverSource(retriever, rag.embedding)
    return build_rag_graph(replace(rag.parts, lancedb=source), rag.config).compile()


async def test_a_vector_store_of_langchain_is_fused_reranked_and_cited(rag: Rag, store: InMemoryVectorStore):
    state = await with_source(rag, store.as_retriever()).ainvoke(QUESTION)
    assert "Fujian" in state["answer"]
    assert state["outcomes"]["lancedb"]["count"] == 3
    citation = state["citations"][0]
    assert citation["path"] == "tea.md"
    assert TEXTS["tea.md"][citation["start"] : citation["end"]] == citation["quote"]
    relevance = [result["rerank_score"] for result in state["reranked_results"]]
    assert relevance == sorted(relevance, reverse=True)


async def test_what_it_does_not_have_is_refused(rag: Rag, store: InMemoryVectorStore):
    asked = {**QUESTION, "query": "Which king signed the treaty of Verdun?"}
    assert (await with_source(rag, store.as_retriever()).ainvoke(asked))["abstained"]


@pytest.mark.parametrize(("year", "found"), [(2020, 3), (2021, 0)])
async def test_filters_hold_for_it_too(rag: Rag, store: InMemoryVectorStore, year: int, found: int):
    asked = {**QUESTION, "filters": {"year": year}}
    outcome = (await with_source(rag, store.as_retriever()).ainvoke(asked))["outcomes"]["lancedb"]
    assert outcome["count"] == found
    assert (outcome["reason"] or "").startswith(
        "" if found else "no document that the retriever found passes"
    )


async def test_dates_in_metadata_bound_it(rag: Rag):
    old, new = (
        Document("Oolong is brewed hot.", id=date, metadata={"date": date})
        for date in ("2020-01-01", "2030-01-01")
    )
    store = InMemoryVectorStore(Hashing())
    store.add_documents([old, new])
    state = await with_source(rag, store.as_retriever()).ainvoke({**QUESTION, "as_of": "2025-01-01"})
    assert [result["id"] for result in state["fused_results"]] == ["2020-01-01"]


class Failing(BaseRetriever):
    def _get_relevant_documents(self, query: str, **given: Any) -> list[Document]:
        raise OSError("the index is away")


async def test_a_retriever_that_fails_is_a_degraded_source(rag: Rag):
    state = await with_source(rag, Failing()).ainvoke(QUESTION)
    outcome = state["outcomes"]["lancedb"]
    assert outcome["status"] == "degraded"
    assert "the retriever Failing failed: OSError: the index is away" in outcome["reason"]


@pytest.mark.parametrize("given", [InMemoryVectorStore(Hashing()), "notes", Failing])
def test_what_is_no_retriever_is_refused_when_the_source_is_made(given: Any):
    with pytest.raises(ConfigError, match=r"needs a langchain-core retriever, .*as_retriever\(\)"):
        RetrieverSource(given, HashingEmbedding())


@pytest.mark.parametrize("found", ["oolong", [{"page_content": "oolong"}], [AIMessage("oolong")]])
async def test_a_runnable_that_gives_no_documents_is_a_degraded_source(rag: Rag, found: Any):
    state = await with_source(rag, RunnableLambda(lambda _: found)).ainvoke(QUESTION)  # type: ignore[arg-type]
    outcome = state["outcomes"]["lancedb"]
    assert outcome["status"] == "degraded"
    assert "not documents" in outcome["reason"]


async def test_found_documents_stay_readable_by_id(rag: Rag, store: InMemoryVectorStore):
    source = RetrieverSource(store.as_retriever(), rag.embedding)
    found = (await source.find(SourceQuery("default", "oolong"), 10)).results
    assert set(await source.chunks("default", [one.id for one in found])) == {one.id for one in found}
    assert set(await source.documents("default", ["tea.md"])) == {"tea.md"}


async def test_results_are_documents_of_langchain(rag: Rag):
    documents = await rag.as_retriever(operation="document_retrieval").ainvoke("What does shade keep?")
    assert documents[0].page_content.startswith("Shade keeps theanine")
    assert documents[0].metadata["path"] == "shade.md"
    assert set(documents[0].metadata["sources"]) <= {"graphiti", "lancedb"}


async def test_asking_is_a_tool_with_one_argument(rag: Rag):
    tool = rag.as_tool(operation="document_retrieval")
    assert list(tool.args) == ["question"]
    call = {"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": "What does shade keep?"}}
    message = await tool.ainvoke(call)
    assert message.content.startswith("Shade keeps theanine in the leaf. [1]")
    assert "[1] shade.md: Shade keeps theanine in the leaf." in message.content
    assert [citation["path"] for citation in message.artifact] == ["shade.md"]
    call["args"] = {"question": "Which king signed the treaty of Verdun?"}
    assert (await tool.ainvoke(call)).artifact == []


@pytest.mark.parametrize("option", ["operatoin", "nme", "limit"])
async def test_an_option_that_ask_does_not_have_is_refused_at_once(rag: Rag, option: str):
    given: Any = {option: 3}
    for made in (rag.as_tool, rag.as_retriever):
        with pytest.raises(TypeError, match=f"ask has no argument '{option}'; it takes"):
            made(**given)


async def test_what_cannot_be_asked_is_an_error_for_the_model(rag: Rag):
    tool = rag.as_tool(dataset="nothing")
    call = {"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": "Anything?"}}
    message = await tool.ainvoke(call)
    assert message.status == "error"
    assert "unknown dataset 'nothing'" in message.content
