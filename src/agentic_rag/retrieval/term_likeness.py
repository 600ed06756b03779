"""How nearly a piece of a stored passage says a word of a question, by the tokens of the embedding model.

A word that the passage has in other letters (``wrote`` and ``author``, ``页`` and ``pages``) has a token near it; one
that it does not speak of has none. The passage's token vectors were stored with it, so that a question costs one read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain import Chunk, search_text
from agentic_rag.domain.ports import ChunkReader, TokenEmbedding
from agentic_rag.domain.token_vectors import Floats, Places, QuestionTokens, cosines
from agentic_rag.text import starts_cjk


@dataclass(frozen=True, slots=True)
class _Passage:
    starts: NDArray[np.int32]
    """Of each token of the passage's text, ascending, in the document, shape (passage's tokens,)."""
    similar: Floats
    """Cosines, shape (question's tokens, passage's tokens + 1); the last column is -1, since every bound of a span has to
    be a column for ``reduceat``."""
    above: Floats
    """Of each of the question's tokens the nearest token of title and headings; -1 where there are none."""


@dataclass(frozen=True, slots=True)
class TermLikeness:
    """The tokens of a question beside those of passages."""

    question: str
    spans: tuple[tuple[int, int], ...]
    """Of the question's tokens, in the question."""
    passages: Mapping[str, _Passage] = field(default_factory=dict)

    def of_spans(self, chunk_id: str, spans: Sequence[tuple[int, int]]) -> Floats | None:
        """For each of the question's tokens the cosine with the nearest token of each span of the document.

        Shape (question's tokens, spans), in [-1, 1]; -1 where a span has no tokens in the passage; None where nothing
        is known of the passage.
        """
        passage = self.passages.get(chunk_id)
        if passage is None:
            return None
        bounds = np.searchsorted(passage.starts, np.array(spans, dtype=np.int32).reshape(-1, 2))
        nearest: Floats = np.maximum.reduceat(passage.similar, bounds.ravel(), axis=1)[:, ::2]
        nearest[:, bounds[:, 0] >= bounds[:, 1]] = -1.0
        return nearest

    def above(self, chunk_id: str) -> Floats | None:
        """For each of the question's tokens the cosine with the nearest token of the passage's title and headings, shape
        (question's tokens,); None where nothing is known of the passage."""
        passage = self.passages.get(chunk_id)
        return None if passage is None else passage.above

    def of_term(self, near: Floats, start: int, end: int) -> Floats:
        """The cosines of a word of the question, shape (spans,); -1 where it has no tokens.

        The mean over its tokens, which are letters of one word; of Chinese the least, since each is a word of its own
        (香油 is not 香醋).

        Args:
            near: of the question's tokens, shape (question's tokens, spans).
            start, end: of the word in the question.
        """
        own = [n for n, (a, b) in enumerate(self.spans) if a < end and start < b]
        if not own:
            return np.full(near.shape[1], -1.0, np.float32)
        is_chinese = starts_cjk(self.question[start:end])
        cosines: Floats = near[own].min(axis=0) if is_chinese else near[own].mean(axis=0)
        return cosines


async def term_likeness(
    embedding: TokenEmbedding | None,
    reader: ChunkReader,
    dataset: str,
    question: str,
    chunks: Sequence[Chunk],
) -> TermLikeness | None:
    """The question's tokens beside those of the chunks; None where the model or the store tells no tokens.

    Raises:
        StoreError: the tokens cannot be read.
        ModelError: the question's tokens cannot be made.
    """
    if embedding is None or not chunks:
        return None
    ids = [chunk.id for chunk in chunks]
    stored, tokens = await asyncio.gather(
        reader.get_token_vectors(dataset, ids), embedding.question_tokens(question)
    )
    if not stored or not tokens.spans:
        return None
    known = [chunk for chunk in chunks if chunk.id in stored]
    return await asyncio.to_thread(_compare_terms, embedding, question, tokens, known, stored)


def _compare_terms(
    embedding: TokenEmbedding,
    question: str,
    tokens: QuestionTokens,
    chunks: Sequence[Chunk],
    stored_vectors: Mapping[str, bytes],
) -> TermLikeness:
    texts = [search_text(chunk) for chunk in chunks]
    places = embedding.token_places(texts)
    passages = {}
    for chunk, text, bounds in zip(chunks, texts, places, strict=True):
        similar = cosines(tokens, stored_vectors[chunk.id])
        if len(bounds) == similar.shape[1]:  # else the model cut the text otherwise than it was stored
            passages[chunk.id] = _passage(chunk, text, bounds, similar)
    return TermLikeness(question, tokens.spans, passages)


def _passage(chunk: Chunk, text: str, bounds: Places, similar: Floats) -> _Passage:
    begin = len(text) - len(chunk.text.strip())
    by = chunk.start + len(chunk.text) - len(chunk.text.lstrip()) - begin
    is_own = bounds[:, 1] > begin
    is_above = (bounds[:, 1] > 0) & ~is_own
    above = similar[:, is_above].max(axis=1) if is_above.any() else np.full(len(similar), -1.0, np.float32)
    # A token begins with the space before its word: its last letter tells which word it belongs to.
    none = np.full((len(similar), 1), -1.0, np.float32)
    return _Passage(bounds[is_own, 1] - 1 + by, np.concatenate((similar[:, is_own], none), axis=1), above)
