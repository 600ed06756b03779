"""Grouping of the bundled model's texts into runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from agentic_rag.domain.ports import CachedEmbedding, FloatArray
from agentic_rag.domain.token_vectors import QuestionTokens, pack
from agentic_rag.models import bundled
from agentic_rag.models.bundled import RUN_TOKENS, BundledEmbedding


def rows(*lengths: int) -> list[list[int]]:
    return [[7] * length for length in lengths]


@pytest.mark.parametrize("workers", [1, 2, 3, 8])
@pytest.mark.parametrize("lengths", [[5], [94] * 64, [20] * 64, [510] * 5, [*range(1, 90)], [3] * 7])
def test_every_text_is_in_one_run_of_its_length(
    workers: int, lengths: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bundled, "WORKERS", workers)
    runs = list(bundled._runs(rows(*lengths)))
    assert sorted(index for run in runs for index in run) == list(range(len(lengths)))
    for run in runs:
        assert len({lengths[i] for i in run}) == 1
        assert len(run) == 1 or len(run) * (lengths[run[0]] + 2) <= RUN_TOKENS


def test_the_longest_texts_come_first():
    runs = list(bundled._runs(rows(3, 90, 3, 40, 90)))
    assert [len(rows(3, 90, 3, 40, 90)[run[0]]) for run in runs] == [90, 40, 3]


@pytest.mark.parametrize("workers", [2, 3, 4])
@pytest.mark.parametrize("texts", [2, 4, 5, 9])
def test_few_texts_of_one_length_keep_every_worker_busy(
    workers: int, texts: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bundled, "WORKERS", workers)
    runs = [len(run) for run in bundled._runs(rows(*[20] * texts))]
    assert max(runs) == -(-texts // workers)


def test_no_text_is_no_run():
    assert list(bundled._runs([])) == []


def test_the_graph_packs_tokens_as_passages_are_compared():
    """What the graph's integers stand for is what ``similarities`` reads."""
    row = bundled._windows(["passage: Oolong is grown in Fujian. 乌龙茶来自福建。"])[0][0]
    vectors, tokens = bundled._load().run([row], ["token_vectors", "packed_tokens"])
    assert vectors.shape == (1, len(row), bundled.TOKEN_DIMENSION)
    assert np.linalg.norm(vectors[0], axis=1) == pytest.approx(np.ones(len(row)), abs=1e-5)
    assert tokens.dtype == np.uint8
    assert tokens[0].tobytes() == pack(vectors[0])


def test_the_graph_says_what_the_published_one_says():
    """To the last digits: vectors stored before it was written are compared with those of today."""
    folder = Path(bundled.__file__).parent / "multilingual-e5-small"
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    published = onnxruntime.InferenceSession(str(folder / "model_int8.onnx"), options)
    for text in ("query: tea", "passage: 乌龙茶来自福建。", "passage: " + "Oolong is grown in Fujian. " * 40):
        row = bundled._windows([text])[0][0]
        ids = np.array([[0, *row, 2]])
        (wanted,) = published.run(
            ["sentence_embedding"], {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        )
        (made,) = bundled._load().run([row], [bundled.SENTENCE])
        assert np.abs(made[0] - wanted[0]).max() < 1e-6


async def test_what_is_forgotten_is_made_anew(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    async def embed(questions: list[str]) -> tuple[FloatArray, list[QuestionTokens]]:
        asked.extend(questions)
        tokens = QuestionTokens(np.zeros((1, 2), np.float32), np.ones(1, np.float32))
        return np.ones((len(questions), bundled.DIMENSION), np.float32), [tokens] * len(questions)

    monkeypatch.setattr(bundled, "_embed_questions", embed)
    embedding = BundledEmbedding()
    assert isinstance(embedding, CachedEmbedding)
    for _ in range(2):
        await embedding.embed_queries(["tea"])
        await embedding.question_tokens("tea")
    assert asked == ["tea"]
    embedding.clear_cache()
    await embedding.question_tokens("tea")
    await embedding.embed_queries(["tea"])
    assert asked == ["tea"] * 3
