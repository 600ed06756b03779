"""A langchain-core ``Embeddings`` that hands out vectors which were made before."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from langchain_core.embeddings import Embeddings

from agentic_rag.domain.ports import FloatArray

_GIVEN: ContextVar[list[list[float]] | None] = ContextVar("_GIVEN", default=None)


class PreparedEmbeddings(Embeddings):
    """Vectors come from the enclosing ``prepared``; outside of one, embedding is an error."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        given = _GIVEN.get()
        if given is None or len(given) != len(texts):
            raise ValueError("vectors are made before they are stored; none are prepared for these texts")
        return given

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@contextmanager
def prepared(vectors: FloatArray) -> Iterator[None]:
    """Inside, texts are embedded as these vectors, in order; other tasks and threads do not see them."""
    token = _GIVEN.set(vectors.tolist())
    try:
        yield
    finally:
        _GIVEN.reset(token)
