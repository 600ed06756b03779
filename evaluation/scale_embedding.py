"""Texts per second of the bundled model, compared with its published graph as run before ``encoder.onnx``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime

from agentic_rag.domain.ports import FloatArray, PassageVectors
from agentic_rag.domain.progress import Meter
from agentic_rag.domain.token_vectors import QuestionTokens, packed
from agentic_rag.ingest.preparing import embedded
from agentic_rag.models import bundled
from encoder_graph import PUBLISHED, folder, projection
from figures import Row, row

ROUNDS = 5
ONE_WINDOW = bundled.MAX_TOKENS - 10
"""Maximum tokens of a text with its prefix that is embedded in one run."""
FASTER_FLOOR, ALIKE_FLOOR = 1.5, 0.999
_PAD = 1
_RUN_TEXTS, _RUN_TOKENS = 16, 512


class Published:
    """Texts of similar length padded to one, token vectors projected and packed in numpy; for comparison only."""

    dimension = bundled.DIMENSION

    def __init__(self) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(folder() / PUBLISHED), options)
        self._mean, self._components = projection()
        self._workers = ThreadPoolExecutor(bundled.WORKERS)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return (await self.embed_passage_tokens(texts)).vectors

    async def embed_passage_tokens(self, texts: Sequence[str]) -> PassageVectors:
        rows = bundled._windows([f"passage: {text.strip()}" for text in texts])[0]
        vectors = np.empty((len(rows), self.dimension), np.float32)
        tokens = [b""] * len(rows)

        def run(some: list[int]) -> None:
            sentences, of_tokens = self._outputs([rows[i] for i in some])
            vectors[some] = sentences
            for i, own in zip(some, of_tokens, strict=True):
                centred = bundled._unit(own[1 : len(rows[i]) + 1]) - self._mean
                tokens[i] = packed(bundled._unit(centred @ self._components))

        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(self._workers, run, some) for some in _padded(rows)))
        return PassageVectors(vectors, tuple(tokens))

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        raise NotImplementedError("only passages are compared")

    async def question_tokens(self, text: str) -> QuestionTokens:
        raise NotImplementedError("only passages are compared")

    name = "published"

    def _outputs(self, rows: Sequence[list[int]]) -> list[FloatArray]:
        width = max(map(len, rows)) + 2
        ids = np.full((len(rows), width), _PAD, np.int64)
        mask = np.zeros_like(ids)
        for place, row_ in enumerate(rows):
            ids[place, : len(row_) + 2] = [0, *row_, 2]
            mask[place, : len(row_) + 2] = 1
        made: list[FloatArray] = self._session.run(
            ["sentence_embedding", "token_embeddings"], {"input_ids": ids, "attention_mask": mask}
        )
        return made


def _padded(rows: Sequence[list[int]]) -> list[list[int]]:
    runs: list[list[int]] = []
    for index in sorted(range(len(rows)), key=lambda i: -len(rows[i])):
        if (
            not runs
            or len(runs[-1]) == _RUN_TEXTS
            or (len(runs[-1]) + 1) * len(rows[runs[-1][0]]) > _RUN_TOKENS
        ):
            runs.append([])
        runs[-1].append(index)
    return runs


def comparison(texts: Sequence[str]) -> tuple[list[Row], float]:
    """``compared``, for a separate process."""
    return asyncio.run(compared(texts))


async def compared(texts: Sequence[str]) -> tuple[list[Row], float]:
    """Rows, and the factor of the published graph's time; both in turns, medians of the rounds."""
    counts = bundled.count_tokens_batch(list(texts))
    texts = [text for text, count in zip(texts, counts, strict=True) if count < ONE_WINDOW]
    ours, theirs = bundled.BundledEmbedding(), Published()
    rates: dict[str, list[float]] = {"ours": [], "theirs": []}
    vectors: dict[str, FloatArray] = {}
    await ours.embed_passage_tokens(texts[:8])  # loads it
    for _ in range(ROUNDS):
        for called, model in (("ours", ours), ("theirs", theirs)):
            meter = Meter(None, "texts", units=len(texts), work=0.0)
            started = time.perf_counter()
            made = await embedded(model, texts, [0.0] * len(texts), meter, tokens=True)
            rates[called].append(len(texts) / (time.perf_counter() - started))
            vectors[called] = made.vectors
    alike = float(np.sum(vectors["ours"] * vectors["theirs"], axis=1).min())
    ratio = float(np.median(np.array(rates["ours"]) / np.array(rates["theirs"])))
    tokens = sum(bundled.count_tokens_batch(list(texts))) / len(texts)
    rows = [
        row(f"texts of {tokens:.0f} tokens embedded", "1/s", float(np.median(rates["ours"])), bound="min",
            peer="published graph", theirs=float(np.median(rates["theirs"]))),
        row("as many times as fast, median of the rounds", "×", ratio, bound="min", floor=FASTER_FLOOR),
        row("their vectors' least cosine", "cosine", alike, bound="min", floor=ALIKE_FLOOR),
    ]  # fmt: skip
    return rows, ratio
