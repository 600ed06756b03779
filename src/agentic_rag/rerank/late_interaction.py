"""Late interaction: how near the question's tokens come to each passage's own, told beside the result.

One vector says what a passage is about; its tokens say whether it speaks of what is asked. They were stored with
the chunk, so that a question costs one read; a store that has none leaves the results as they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from agentic_rag.ports import ChunkStore, TokenEmbedding
from agentic_rag.token_vectors import similarities

Found = TypeVar("Found", bound=Mapping[str, Any])
SIMILARITY = "token_similarity"
"""Key in a result's metadata: about in [-1, 1], higher is nearer; see ``token_vectors``."""
FAMILIARITY = "familiarity"
"""The same of all that was compared, read as one passage: one value for all results of a question."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What late interaction tells of chunks; see ``token_vectors.Similarities``."""

    each: Mapping[str, float]
    """Of each chunk whose tokens are stored, by its id."""
    together: float
    """Of them all, read as one passage."""


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """Compares a question with chunks by their tokens."""

    embedding: TokenEmbedding
    chunks: ChunkStore

    async def compare(self, dataset: str, question: str, chunk_ids: Sequence[str]) -> Compared:
        """How near the question's tokens come to those of the chunks whose tokens are stored.

        Raises:
            StoreError: the tokens cannot be read.
            ModelError: the question's cannot be made.
        """
        if not chunk_ids:
            return Compared({}, -1.0)
        stored, asked = await asyncio.gather(
            self.chunks.get_token_vectors(dataset, chunk_ids), self.embedding.question_tokens(question)
        )
        near = await asyncio.to_thread(similarities, asked, list(stored.values()))
        return Compared(dict(zip(stored, near.each, strict=True)), near.together)


def with_similarity(results: Sequence[Found], compared: Compared) -> list[Found]:
    """The results in their order, each that was compared with its ``SIMILARITY`` and the ``FAMILIARITY``."""
    together = round(compared.together, 6)

    def told(result: Found) -> Found:
        own = {SIMILARITY: round(compared.each[result["id"]], 6), FAMILIARITY: together}
        return cast("Found", {**result, "metadata": {**result["metadata"], **own}})

    return [told(result) if result["id"] in compared.each else result for result in results]
