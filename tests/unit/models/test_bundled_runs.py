"""How the bundled model's texts are put into runs."""

from __future__ import annotations

import numpy as np
import pytest

from agentic_rag.domain.ports import FloatArray, Remembering
from agentic_rag.domain.token_vectors import QuestionTokens
from agentic_rag.models import bundled
from agentic_rag.models.bundled import BATCH_TEXTS, BATCH_TOKENS, BundledEmbedding


def rows(*lengths: int) -> list[list[int]]:
    return [[7] * length for length in lengths]


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
@pytest.mark.parametrize("lengths", [[5], [94] * 64, [20] * 64, [510] * 5, [*range(1, 90)], [3] * 7])
def test_every_text_is_in_one_run_within_the_bounds(
    workers: int, lengths: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bundled, "WORKERS", workers)
    batches = bundled._batches(rows(*lengths))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert 1 <= len(batch) <= BATCH_TEXTS
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= BATCH_TOKENS


@pytest.mark.parametrize("workers", [2, 3, 4])
def test_no_worker_gets_more_than_one_text_more(workers: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundled, "WORKERS", workers)
    for texts in range(40, 90):
        runs = [len(batch) for batch in bundled._batches(rows(*[94] * texts))]
        loads = [sum(runs[n::workers]) for n in range(workers)]
        assert max(loads) - min(loads) <= 1


def test_no_text_is_no_run():
    assert bundled._batches([]) == [[]]


async def test_what_is_forgotten_is_made_anew(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    async def embed(questions: list[str]) -> tuple[FloatArray, list[QuestionTokens]]:
        asked.extend(questions)
        tokens = QuestionTokens(np.zeros((1, 2), np.float32), np.ones(1, np.float32))
        return np.ones((len(questions), bundled.DIMENSION), np.float32), [tokens] * len(questions)

    monkeypatch.setattr(bundled, "_asked", embed)
    embedding = BundledEmbedding()
    assert isinstance(embedding, Remembering)
    for _ in range(2):
        await embedding.embed_queries(["tea"])
        await embedding.question_tokens("tea")
    assert asked == ["tea"]
    embedding.forget()
    await embedding.question_tokens("tea")
    await embedding.embed_queries(["tea"])
    assert asked == ["tea"] * 3
