"""Vectors of lines are made once: follow-up questions are about the same notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from agentic_rag.answering.answers import PassageReading, read_passages
from agentic_rag.domain.ports import FloatArray
from agentic_rag.graph import GraphParts
from agentic_rag.nodes.evidence import EvidenceReader
from agentic_rag.questions.question import Question
from agentic_rag.testing import FakeGraphEngine, FakeRetrievalEngine, HashingEmbedding
from agentic_rag.text.cache import TextCache
from retrieved import documents_of, results_of

NOTES = {
    "House.md": "# House\n\nAnna repaired the roof. The boiler leaks. Ben mowed the lawn behind the house.\n"
}


class CountingEmbedding(HashingEmbedding):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        self.texts += texts
        return await super().embed_passages(texts)


def reading(question: str) -> PassageReading:
    documents = documents_of(*NOTES, notes=NOTES)
    results = results_of(documents)
    return read_passages(Question.of(question), results, [0.9] * len(results), documents)


def reader(embedding: CountingEmbedding, kept: TextCache[FloatArray] | None) -> EvidenceReader:
    return EvidenceReader(cast(Any, None), Question.of("?"), [], [], None, embedding, kept)


async def test_a_later_question_takes_the_vectors_of_the_lines_it_shares() -> None:
    embedding, kept = CountingEmbedding(), TextCache[FloatArray](100)
    first = await reader(embedding, kept)._by_meaning(reading("Who mended the roof of the house?"))
    assert len(embedding.texts) > 1
    made = list(embedding.texts)
    await reader(embedding, kept)._by_meaning(reading("Who cut the lawn of the house?"))
    assert len(set(embedding.texts)) == len(embedding.texts)
    assert set(embedding.texts) >= set(made)
    anew = await reader(embedding, None)._by_meaning(reading("Who mended the roof of the house?"))
    again = await reader(embedding, kept)._by_meaning(reading("Who mended the roof of the house?"))
    for other in (anew, again):
        np.testing.assert_allclose(
            [one.nearness for one in other.candidates], [one.nearness for one in first.candidates], rtol=1e-6
        )


def test_parts_with_another_model_begin_without_vectors() -> None:
    parts = GraphParts(FakeGraphEngine([]), FakeRetrievalEngine([]), HashingEmbedding())
    parts.unit_vectors.keep([("line", np.zeros(2, np.float32))])
    assert not list(replace(parts, embedding=CountingEmbedding()).unit_vectors)
