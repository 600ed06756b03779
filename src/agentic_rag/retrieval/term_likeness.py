"""How nearly a piece of a stored passage says a word of a question, by the tokens of the embedding model.

A word that the passage has in other letters (``wrote`` and ``author``, ``页`` and ``pages``) has a token near it; one
that it does not speak of has none. The passage's token vectors were stored with it, so that a question costs one read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain import Chunk, search_text
from agentic_rag.domain.ports import ChunkReader, TokenEmbedding
from agentic_rag.domain.token_vectors import Floats, Places, QuestionTokens, cosines
from agentic_rag.text import starts_cjk

SPACE = 2**32
"""Code points that each passage's places have for themselves; no document is as long."""


@dataclass(frozen=True, slots=True)
class TermLikeness:
    """The tokens of a question beside those of passages."""

    question: str
    spans: tuple[tuple[int, int], ...]
    """Of the question's tokens, in the question."""
    passages: Mapping[str, int]
    """Number of each passage that is known, from 0, by its chunk's id."""
    places: NDArray[np.int64]
    """Of each token of the passages' texts, ascending: SPACE times its passage, and its place in the document."""
    similar: Floats
    """Cosines, shape (question's tokens, passages' tokens + 1); the last column is -1, since every bound of a span has to
    be a column for ``reduceat``."""
    above: Floats
    """Cosine of each of the question's tokens with the nearest token of each passage's title and headings, shape
    (question's tokens, passages); -1 where there are none."""

    def of_spans(self, spans: Sequence[tuple[str, int, int]]) -> Floats:
        """For each of the question's tokens the cosine with the nearest token of each span of a document: id of the chunk,
        start and end.

        Shape (question's tokens, spans), in [-1, 1]; -1 where a span has no tokens in the passage, or nothing is known of
        it.
        """
        numbers = [(self.passages.get(chunk_id, -1), start, end) for chunk_id, start, end in spans]
        number, start, end = np.array(numbers, dtype=np.int64).reshape(-1, 3).T
        bounds = np.searchsorted(self.places, number * SPACE + np.stack((start, end)))
        nearest: Floats = np.maximum.reduceat(self.similar, bounds.T.ravel(), axis=1)[:, ::2]
        nearest[:, bounds[0] >= bounds[1]] = -1.0
        return nearest

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
    read = zip(chunks, texts, embedding.token_places(texts), strict=True)
    # Where the counts differ, the model cuts the text otherwise than it was stored.
    known = [one for one in read if tokens.count(stored_vectors[one[0].id]) == len(one[2])]
    similar = cosines(tokens, b"".join(stored_vectors[chunk.id] for chunk, _, _ in known))
    begins = [len(text) - len(chunk.text.strip()) for chunk, text, _ in known]
    shifts = [
        chunk.start + len(chunk.text) - len(chunk.text.lstrip()) - begin
        for (chunk, _, _), begin in zip(known, begins, strict=True)
    ]
    numbers = np.repeat(np.arange(len(known)), [len(bounds) for _, _, bounds in known])
    ends = np.concatenate([_NOWHERE, *(bounds for _, _, bounds in known)])[:, 1]
    is_own = ends > np.array(begins, np.int64)[numbers]
    # A token begins with the space before its word: its last letter tells which word it belongs to.
    places = (numbers * SPACE + np.array(shifts, np.int64)[numbers] + ends - 1)[is_own]
    is_above = (ends > 0) & ~is_own
    above = np.full((len(similar), len(known)), -1.0, np.float32)
    headed, firsts = np.unique(numbers[is_above], return_index=True)
    if len(headed):
        above[:, headed] = np.maximum.reduceat(similar[:, is_above], firsts, axis=1)
    none = np.full((len(similar), 1), -1.0, np.float32)
    return TermLikeness(
        question,
        tokens.spans,
        {chunk.id: number for number, (chunk, _, _) in enumerate(known)},
        places,
        np.concatenate((similar[:, is_own], none), axis=1),
        above,
    )


_NOWHERE: Places = np.empty((0, 2), np.int32)
