"""The bundled embedding model: multilingual-e5-small, int8 ONNX, run in process with onnxruntime.

It tells a text's tokens apart too, for late interaction: their vectors come from the same run, less their mean,
projected (see ``evaluation/fit_token_projection.py``).

Nothing is read before the first text is embedded. Runs are spread over one-thread calls on a single
session, which on two cores is faster than one two-thread call for all but the shortest texts.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain.ports import FloatArray, PassageVectors
from agentic_rag.domain.token_vectors import QuestionTokens, packed
from agentic_rag.errors import ModelError
from agentic_rag.text.cache import TextCache

DIMENSION = 384
TOKEN_DIMENSION = 96
QUERY_PREFIX = 3
"""Tokens of ``query:``."""
MAX_TOKENS = 510
"""Tokens of one run besides the two the model adds; the prefix counts among them."""
BATCH_TEXTS = 16
BATCH_TOKENS = 512
"""A run holds at most this many tokens with padding, so that memory stays bounded. Larger runs are no faster: with
2,048 tokens, texts of 256 took a seventh longer on two cores, for one waits for the other's last run."""
QUERY_CACHE = 4096
QUESTIONS = 256
"""Whose tokens are remembered."""
WORKERS = os.cpu_count() or 1

_BEGIN, _PAD, _END = 0, 1, 2
Read = TypeVar("Read")
_FOLDER = "models/multilingual-e5-small"


class _Engine:
    """Session and tokenizer, loaded once per process and safe to use from many threads."""

    def __init__(self) -> None:
        import onnxruntime
        import sentencepiece

        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        folder = resources.files("agentic_rag") / _FOLDER
        try:
            with (
                resources.as_file(folder / "model_int8.onnx") as model,
                resources.as_file(folder / "sentencepiece.model") as pieces,
                resources.as_file(folder / "token_projection.npz") as projection,
            ):
                self.session = onnxruntime.InferenceSession(
                    str(model), options, providers=["CPUExecutionProvider"]
                )
                self.tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(pieces))
                with np.load(projection) as held:
                    self._mean: FloatArray = held["mean"]
                    self._components: FloatArray = held["components"]
        except Exception as error:
            raise ModelError(f"the bundled embedding model cannot be loaded: {error}") from error

    def run(self, rows: Sequence[list[int]]) -> FloatArray:
        """The rows' sentence vectors."""
        return self._outputs(rows, ["sentence_embedding"])[0]

    def run_tokens(self, rows: Sequence[list[int]]) -> tuple[FloatArray, list[FloatArray]]:
        """The same, and what tells each row's tokens apart: unit vectors, shape (tokens, TOKEN_DIMENSION)."""
        sentences, tokens = self.run_raw_tokens(rows)
        return sentences, list(map(self._projected, tokens))

    def run_raw_tokens(self, rows: Sequence[list[int]]) -> tuple[FloatArray, list[FloatArray]]:
        """The same before projection, shape (tokens, DIMENSION); without the two tokens that the model adds."""
        sentences, tokens = self._outputs(rows, ["sentence_embedding", "token_embeddings"])
        own = [of_row[1 : len(row) + 1] for of_row, row in zip(tokens, rows, strict=True)]
        return sentences, list(map(_unit, own))

    def _projected(self, tokens: FloatArray) -> FloatArray:
        centred: FloatArray = tokens - self._mean
        return _unit(centred @ self._components)

    def _outputs(self, rows: Sequence[list[int]], names: list[str]) -> list[FloatArray]:
        width = max(len(row) for row in rows) + 2
        ids = np.full((len(rows), width), _PAD, dtype=np.int64)
        mask = np.zeros((len(rows), width), dtype=np.int64)
        for index, row in enumerate(rows):
            ids[index, : len(row) + 2] = [_BEGIN, *row, _END]
            mask[index, : len(row) + 2] = 1
        inputs = {"input_ids": ids, "attention_mask": mask}
        try:
            outputs: list[FloatArray] = self.session.run(names, inputs)
        except Exception as error:
            raise ModelError(f"the bundled embedding model failed: {error}") from error
        return outputs


_load_lock = threading.Lock()
_engine: _Engine | None = None


def _loaded() -> _Engine:
    global _engine
    with _load_lock:
        if _engine is None:
            _engine = _Engine()
        return _engine


@lru_cache(maxsize=1)
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="embedding")


def load_ahead() -> None:
    """Begin to load the model on a worker thread; the first text waits for it, and is told if it failed."""
    import onnxruntime  # noqa: F401  imports belong to the caller's thread: two that import can lock each other
    import sentencepiece  # noqa: F401

    _workers().submit(_loaded)


def raw_tokens(texts: Sequence[str]) -> FloatArray:
    """Unit vectors of all tokens of stored texts before projection, shape (tokens, DIMENSION); for fitting it."""
    rows = _windows([_passage(text) for text in texts])[0]
    found = [_loaded().run_raw_tokens([rows[i] for i in batch])[1] for batch in _batches(rows)]
    return np.concatenate([tokens for of_batch in found for tokens in of_batch])


RAREST = 15.0
"""Nats of the rarest pieces."""


class BundledEmbedding:
    """``ports.TokenEmbedding`` on the model inside the package; 384 dimensions, cosine.

    A text longer than the model takes is embedded in consecutive windows and their mean is
    normalised, so nothing is cut off. Queries are cached (least recently used).
    """

    name = "multilingual-e5-small-int8"
    dimension = DIMENSION
    max_tokens = MAX_TOKENS

    def __init__(self) -> None:
        self._queries = TextCache[FloatArray](QUERY_CACHE)
        self._questions = TextCache[QuestionTokens](QUESTIONS)

    def forget(self) -> None:
        """Make the vectors of questions anew the next time."""
        self._queries.clear()
        self._questions.clear()

    @property
    def cache_uses(self) -> dict[str, int]:
        """See ``ports.TellingCache``."""
        return {"found": self._queries.found, "made": self._queries.made}

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        vectors = await self._queries.of(texts, self._embed_new)
        return np.array(vectors, dtype=np.float32).reshape(-1, DIMENSION)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return (await _run([_passage(text) for text in texts]))[0]

    async def _embed_new(self, queries: list[str]) -> FloatArray:
        vectors, tokens = await _asked(queries)
        self._questions.keep(zip(queries, tokens, strict=True))
        return vectors

    async def embed_passage_tokens(self, texts: Sequence[str]) -> PassageVectors:
        vectors, tokens = await _run([_passage(text) for text in texts], lambda row, own: packed(own))
        return PassageVectors(vectors, tuple(map(b"".join, tokens)))

    async def question_tokens(self, text: str) -> QuestionTokens:
        async def tokens(texts: list[str]) -> list[QuestionTokens]:
            return (await _asked(texts))[1]

        return (await self._questions.of([text], tokens))[0]


async def _run(
    texts: list[str], read: Callable[[list[int], FloatArray], Read] | None = None
) -> tuple[FloatArray, list[list[Read]]]:
    """Vectors of the texts, and what is read from the tokens of each one's windows, in order.

    Args:
        texts: with their prefixes.
        read: given a window's token numbers and token vectors; None: no token vectors are made.
    """
    if not texts:
        return np.zeros((0, DIMENSION), dtype=np.float32), []
    loop = asyncio.get_running_loop()
    rows, owners = await loop.run_in_executor(_workers(), _windows, texts)
    vectors = np.empty((len(rows), DIMENSION), dtype=np.float32)
    of_rows: dict[int, Read] = {}

    def run(batch: list[int]) -> None:
        own = [rows[i] for i in batch]
        if read is None:
            vectors[batch] = _loaded().run(own)
            return
        vectors[batch], tokens = _loaded().run_tokens(own)
        of_rows.update({i: read(rows[i], of_row) for i, of_row in zip(batch, tokens, strict=True)})

    await asyncio.gather(*(loop.run_in_executor(_workers(), run, batch) for batch in _batches(rows)))
    of_texts: list[list[Read]] = [[] for _ in texts]
    for i, found in sorted(of_rows.items()):
        of_texts[owners[i]].append(found)
    return _merged(vectors, owners, len(texts)), of_texts


async def _asked(questions: list[str]) -> tuple[FloatArray, list[QuestionTokens]]:
    """Vectors of questions, and the tokens of their first windows."""
    vectors, tokens = await _run([f"query: {text.strip()}" for text in questions], _question_tokens)
    return vectors, [windows[0] for windows in tokens]


def _question_tokens(row: list[int], vectors: FloatArray) -> QuestionTokens:
    """A token's weight is its information content under the unigram model of the tokenizer."""
    told = np.array([_token_nats(number) for number in row[QUERY_PREFIX:]], dtype=np.float32)
    return QuestionTokens(vectors[QUERY_PREFIX:], told / max(float(told.sum()), 1e-9))


def _passage(text: str) -> str:
    return f"passage: {text.strip()}"


def _encodable(text: str) -> str:
    """The text, each surrogate that stands alone as a question mark: the tokenizer takes UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def count_tokens(text: str) -> int:
    """Tokens the model reads of a text, without prefix and without the two it adds itself."""
    return count_tokens_batch([text])[0]


def count_tokens_batch(texts: Sequence[str]) -> list[int]:
    """``count_tokens`` of many texts."""
    return [len(ids) for ids in _loaded().tokenizer.encode([_encodable(text.strip()) for text in texts])]


def nats(text: str) -> float:
    """Negative log-likelihood of a text under the tokenizer's unigram model of a hundred languages.

    What no piece stands for costs as much as the rarest piece, a character.
    """
    tokenizer = _loaded().tokenizer
    pieces: list[str] = tokenizer.encode(_encodable(text), out_type=str)
    ids = [tokenizer.piece_to_id(piece) for piece in pieces]
    return sum(
        _token_nats(number) * (len(piece) if tokenizer.is_unknown(number) else 1)
        for piece, number in zip(pieces, ids, strict=True)
    )


def _token_nats(number: int) -> float:
    tokenizer = _loaded().tokenizer
    return RAREST if tokenizer.is_unknown(number) else -float(tokenizer.get_score(number))


def _windows(texts: list[str]) -> tuple[list[list[int]], list[int]]:
    """Token rows of at most MAX_TOKENS, and for each the index of the text it belongs to."""
    encoded: Any = _loaded().tokenizer.encode([_encodable(text) for text in texts])
    rows: list[list[int]] = []
    owners: list[int] = []
    for index, ids in enumerate(encoded):
        for start in range(0, max(len(ids), 1), MAX_TOKENS):
            rows.append(ids[start : start + MAX_TOKENS])
            owners.append(index)
    return rows, owners


def _batches(rows: Sequence[list[int]]) -> list[list[int]]:
    """Indices of rows of like length together, longest first, within BATCH_TEXTS and BATCH_TOKENS."""
    batches: list[list[int]] = []
    current: list[int] = []
    for index in sorted(range(len(rows)), key=lambda i: (-len(rows[i]), i)):
        widest = len(rows[current[0]]) if current else len(rows[index])
        if current and (len(current) == BATCH_TEXTS or (len(current) + 1) * widest > BATCH_TOKENS):
            batches.append(current)
            current = []
        current.append(index)
    batches.append(current)
    # Runs take about equally long, so the last of each worker, of a few texts the only one, is made as large as
    # the others' last.
    last = len(batches) % WORKERS or WORKERS
    rest = [index for batch in batches[-last:] for index in batch]
    ends = [len(rest) * n // WORKERS for n in range(WORKERS + 1)]
    shares = [rest[start:end] for start, end in pairwise(ends) if start < end]
    if rest and all(len(share) * len(rows[share[0]]) <= BATCH_TOKENS for share in shares):
        batches[-last:] = shares
    return batches


def _merged(vectors: FloatArray, owners: Sequence[int], count: int) -> FloatArray:
    if len(owners) == count:
        return vectors
    sums = np.zeros((count, DIMENSION), dtype=np.float32)
    np.add.at(sums, np.asarray(owners), vectors)
    return _unit(sums)


def _unit(rows: NDArray[Any]) -> FloatArray:
    scaled: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled
