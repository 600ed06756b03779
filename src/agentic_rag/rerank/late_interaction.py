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


@dataclass(frozen=True, slots=True)
class LateInteraction:
    """Compares a question with chunks by their tokens."""

    embedding: TokenEmbedding
    chunks: ChunkStore

    async def similarities(self, dataset: str, question: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Similarity of each chunk whose tokens are stored; see ``token_vectors``.

        Raises:
            StoreError: the tokens cannot be read.
            ModelError: the question's cannot be made.
        """
        if not chunk_ids:
            return {}
        stored, asked = await asyncio.gather(
            self.chunks.get_token_vectors(dataset, chunk_ids), self.embedding.question_tokens(question)
        )
        near = await asyncio.to_thread(similarities, asked, list(stored.values()))
        return dict(zip(stored, near, strict=True))


def with_similarity(results: Sequence[Found], similar: Mapping[str, float]) -> list[Found]:
    """The results in their order, each that has one with its ``SIMILARITY``."""

    def told(result: Found) -> Found:
        metadata = {**result["metadata"], SIMILARITY: round(similar[result["id"]], 6)}
        return cast("Found", {**result, "metadata": metadata})

    return [told(result) if result["id"] in similar else result for result in results]
