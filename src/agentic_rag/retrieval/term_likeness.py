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
from agentic_rag.domain.token_vectors import Floats, QuestionTokens, cosines
from agentic_rag.text import starts_cjk

Places = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class _Passage:
    starts: Places
    """Of each token of the passage's text, ascending, in the document."""
    similar: Floats
    """Cosines, shape (question's tokens, passage's tokens)."""
    above: Floats
    """Of each of the question's tokens the nearest token of title and headings; -1 where there are none."""


@dataclass(frozen=True, slots=True)
class TermLikeness:
    """The tokens of a question beside those of passages."""

    question: str
    spans: tuple[tuple[int, int], ...]
    """Of the question's tokens, in the question."""
    passages: Mapping[str, _Passage] = field(default_factory=dict)

    def inside(self, chunk_id: str, start: int, end: int) -> Floats | None:
        """Of each of the question's tokens the cosine with the nearest token of a span of the document, shape
        (question's tokens,); None where the passage has no tokens there."""
        passage = self.passages.get(chunk_id)
        if passage is None:
            return None
        first, last = np.searchsorted(passage.starts, (start, end))
        return None if first == last else passage.similar[:, first:last].max(axis=1)

    def above(self, chunk_id: str) -> Floats | None:
        """The same of the passage's title and headings."""
        passage = self.passages.get(chunk_id)
        return None if passage is None else passage.above

    def of_term(self, near: Floats | None, start: int, end: int) -> float:
        """The cosine of a word of the question; -1 where it is not known.

        The mean over its tokens, which are letters of one word; of Chinese the least, since each is a word of its own
        (香油 is not 香醋).
        """
        if near is None:
            return -1.0
        own = [n for n, (a, b) in enumerate(self.spans) if a < end and start < b]
        if not own:
            return -1.0
        return float(near[own].min() if starts_cjk(self.question[start:end]) else near[own].mean())


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
    return await asyncio.to_thread(_compared, embedding, question, tokens, known, stored)


def _compared(
    embedding: TokenEmbedding,
    question: str,
    tokens: QuestionTokens,
    chunks: Sequence[Chunk],
    stored: Mapping[str, bytes],
) -> TermLikeness:
    texts = [search_text(chunk) for chunk in chunks]
    places = embedding.token_spans(texts)
    passages = {}
    for chunk, text, spans in zip(chunks, texts, places, strict=True):
        similar = cosines(tokens, stored[chunk.id])
        if len(spans) == similar.shape[1]:  # else the model cut the text otherwise than it was stored
            passages[chunk.id] = _passage(chunk, text, spans, similar)
    return TermLikeness(question, tokens.spans, passages)


def _passage(chunk: Chunk, text: str, spans: Sequence[tuple[int, int]], similar: Floats) -> _Passage:
    begin = len(text) - len(chunk.text.strip())
    by = chunk.start + len(chunk.text) - len(chunk.text.lstrip()) - begin
    bounds = np.array(spans, dtype=np.int32).reshape(-1, 2)
    is_own = bounds[:, 1] > begin
    is_above = (bounds[:, 1] > 0) & ~is_own
    above = similar[:, is_above].max(axis=1) if is_above.any() else np.full(len(similar), -1.0, np.float32)
    # A token begins with the space before its word: its last letter tells which word it belongs to.
    return _Passage(bounds[is_own, 1] - 1 + by, similar[:, is_own], above)
