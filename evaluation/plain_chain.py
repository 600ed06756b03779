"""A plain chain of LangChain as a peer of ``ask``: the passage most similar to the question, shown whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from agentic_rag import Rag
from agentic_rag.domain import search_text
from agentic_rag.domain.ports import Embedding, FloatArray, Restriction

MAX_CHUNKS = 100_000
REFUSES_BELOW = 0.84
"""Cosine below which the chain refuses: of .78 to .90, that of the most right answers on the vaults that choose."""


class Passage(NamedTuple):
    """The chain's answer: title, headings and text of a chunk, and the path of its note."""

    text: str
    path: str


class StoredVectors(Embeddings):
    """The stored vectors of passages, so that none is embedded twice, and an embedding for questions.

    Both are asynchronous, as the chain's calls are.
    """

    def __init__(self, vectors: Mapping[str, FloatArray], questions: Embedding) -> None:
        """``vectors``: by the text of each passage, shape (dimension,)."""
        self._vectors = vectors
        self._questions = questions

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        # Arrays instead of lists: LangChain makes a matrix of all of them for every question.
        return cast(list[list[float]], [self._vectors[text] for text in texts])

    async def aembed_query(self, text: str) -> list[float]:
        return cast(list[float], (await self._questions.embed_queries([text]))[0].tolist())

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise NotImplementedError("call aembed_documents")

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError("call aembed_query")


Chain = Runnable[Sequence[str], Passage | None]
"""From the questions of a conversation, the last one last, to a passage; None: it refuses."""


async def plain_chain(rag: Rag, dataset: str) -> Chain:
    """The chain over the stored chunks of a dataset.

    A follow-up is searched together with the questions before it: without a chat model, a plain chain has no other
    way to know its subject. On the vaults that choose, this makes .68 of the follow-ups right, the question alone .09.
    """
    ids = await rag.chunks.matching_chunk_ids(dataset, Restriction(), limit=MAX_CHUNKS)
    chunks = await rag.chunks.get_chunks(dataset, ids)
    vectors = await rag.chunks.get_vectors(dataset, ids)
    texts = {chunk.id: search_text(chunk) for chunk in chunks.values()}
    store = InMemoryVectorStore(StoredVectors({texts[name]: vectors[name] for name in texts}, rag.embedding))
    await store.aadd_documents(
        [Document(texts[chunk.id], id=chunk.id, metadata={"path": chunk.path}) for chunk in chunks.values()]
    )

    async def best(query: str) -> Passage | None:
        for passage, cosine in await store.asimilarity_search_with_score(query, k=1):
            if cosine >= REFUSES_BELOW:
                return Passage(passage.page_content, str(passage.metadata["path"]))
        return None

    joined: Runnable[Sequence[str], str] = RunnableLambda("\n".join)
    return joined | RunnableLambda(best)
