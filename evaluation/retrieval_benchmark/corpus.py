"""Synthetic chunks: recombined real texts, mixed real vectors with a little noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from agentic_rag.domain import Chunk
from agentic_rag.domain.ports import EmbeddedDocument, FloatArray
from judged_sets import JudgedSet, available, judged_set

SETS = ("rgb/zh_fact", "rgb/en_fact", "cranfield")
CHUNKS_A_DOCUMENT, DOCUMENTS_A_CALL = 20, 500
NOISE = 0.015
FILTER = {"year": {"$gte": 2010}, "lang": "en"}
"""Matches about 40 % of the chunks: a range and an equality."""


async def base(data: Path) -> list[JudgedSet]:
    """The sets that the synthetic chunks are made from."""
    names = available(SETS, data)
    if not names:
        raise FileNotFoundError(f"{data} holds none of {', '.join(SETS)}; name the data with --data")
    return [await judged_set(name, data) for name in names]


def queries(sets: list[JudgedSet], count: int) -> tuple[list[str], FloatArray]:
    """Real questions with their vectors, sampled evenly from all sets."""
    texts = [query.text for found in sets for query in found.queries]
    vectors = np.concatenate([found.query_vectors for found in sets])
    taken = np.random.default_rng(7).permutation(len(texts))[:count]
    return [texts[i] for i in taken], vectors[taken]


def documents(sets: list[JudgedSet], size: int) -> Iterator[list[EmbeddedDocument]]:
    """Documents of twenty chunks, ``size`` chunks in total, in batches of one store call.

    A text joins sentences of two real ones; its vector is between theirs, with noise.
    """
    chunks = [chunk for found in sets for chunk in found.chunks]
    real = np.concatenate([found.vectors for found in sets])
    sentences = [[s for s in chunk.text.replace("。", ". ").split(". ") if s.strip()] for chunk in chunks]
    is_chinese = [found.name == "rgb/zh_fact" for found in sets for _ in found.chunks]
    generator = np.random.default_rng(7)
    step = CHUNKS_A_DOCUMENT * DOCUMENTS_A_CALL
    for start in range(0, size, step):
        count = min(step, size - start)
        first, second = generator.integers(0, len(chunks), (2, count))
        share = generator.uniform(0.5, 1.0, (count, 1))
        mixed = share * real[first] + (1 - share) * real[second]
        mixed += generator.normal(0.0, NOISE, mixed.shape)
        vectors = (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)
        made = []
        for i in range(count):
            a, b, number = sentences[first[i]], sentences[second[i]], start + i
            picked = [a[number % len(a)], a[(number + 1) % len(a)], b[number % len(b)]]
            text = ". ".join(dict.fromkeys(picked))[:600]
            document = f"note-{number // CHUNKS_A_DOCUMENT}.md"
            made.append(
                Chunk(
                    f"{document}#{number % CHUNKS_A_DOCUMENT}", document, text, 0, len(text),
                    number % CHUNKS_A_DOCUMENT, document, document, "paragraph",
                    metadata={"year": 2000 + number % 25, "lang": "zh" if is_chinese[first[i]] else "en",
                              "tags": [f"topic-{number % 50}", f"group-{number % 7}"]},
                )
            )  # fmt: skip
        yield [
            EmbeddedDocument(made[i].document_id, tuple(made[i : i + CHUNKS_A_DOCUMENT]), vectors[i : i + CHUNKS_A_DOCUMENT])
            for i in range(0, count, CHUNKS_A_DOCUMENT)
        ]  # fmt: skip


class GivenVectors:
    """``ports.Embedding`` with known question vectors, because embedding is not measured."""

    def __init__(self, name: str, texts: list[str], vectors: FloatArray) -> None:
        self.name = name
        self.dimension = vectors.shape[1]
        self._known = dict(zip(texts, vectors, strict=True))

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return np.stack([self._known[text] for text in texts])

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return await self.embed_queries(texts)
