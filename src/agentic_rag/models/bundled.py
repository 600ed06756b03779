"""The bundled embedding model: multilingual-e5-small, int8 ONNX, run in process with onnxruntime.

It also gives the vectors of a text's tokens, for late interaction: they come from the same run, and the graph itself
centres, projects and packs them (see the README beside the model).

The model is loaded when the first text is embedded. Runs are spread over one-thread calls on a single
session, which on two cores is faster than one two-thread call for all but the shortest texts. The texts of a run have
the same number of tokens, so there is neither padding nor a mask.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib import resources
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain.ports import FloatArray, PassageVectors
from agentic_rag.domain.token_vectors import Places, QuestionTokens
from agentic_rag.errors import ModelError
from agentic_rag.text.cache import TextCache

DIMENSION = 384
TOKEN_DIMENSION = 96
QUERY_PREFIX = 3
"""Tokens of ``query:``."""
MAX_TOKENS = 510
"""Maximum tokens of one run without the two that the model adds; the prefix counts."""
RUN_TOKENS = 512
"""Maximum tokens of a run of several texts, which bounds memory. Larger runs are no faster."""
QUERY_CACHE = 4096
QUESTIONS = 256
"""Number of questions whose tokens are cached."""
PASSAGES = 4096
"""Number of passages whose tokens' places are cached."""
WORKERS = os.cpu_count() or 1
"""Number of embedding threads; see ``use_threads``."""

_BEGIN, _END = 0, 2
SENTENCE = "sentence_embedding"
_CUDA = "CUDAExecutionProvider"
_FOLDER = "models/multilingual-e5-small"


def _providers() -> list[str]:
    return [*[_CUDA] * can_use_gpu(), "CPUExecutionProvider"]


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
            with resources.as_file(folder) as files:
                # The weights are in the model's published file, next to the graph.
                self.session = onnxruntime.InferenceSession(
                    str(files / "encoder.onnx"), options, providers=_providers()
                )
                self.tokenizer = sentencepiece.SentencePieceProcessor(
                    model_file=str(files / "sentencepiece.model")
                )
        except Exception as error:
            raise ModelError(f"the bundled embedding model cannot be loaded: {error}") from error

    def run(self, rows: Sequence[list[int]], outputs: Sequence[str]) -> list[NDArray[Any]]:
        """Outputs of the graph for rows of equal length; token outputs without the two tokens that the model adds."""
        ids = np.array([[_BEGIN, *row, _END] for row in rows], dtype=np.int64)
        try:
            made: list[NDArray[Any]] = self.session.run(list(outputs), {"input_ids": ids})
        except Exception as error:
            raise ModelError(f"the bundled embedding model failed: {error}") from error
        return [
            values if name == SENTENCE else values[:, 1:-1]
            for name, values in zip(outputs, made, strict=True)
        ]


_load_lock = threading.Lock()
_engine: _Engine | None = None


def _load() -> _Engine:
    global _engine
    with _load_lock:
        if _engine is None:
            _engine = _Engine()
        return _engine


@lru_cache(maxsize=1)
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="embedding")


def use_threads(count: int) -> None:
    """Set the number of embedding threads before the first text; for a process that shares the machine with others."""
    global WORKERS
    WORKERS = count


def can_use_gpu() -> bool:
    """Whether the installed onnxruntime supports CUDA."""
    import onnxruntime

    return _CUDA in onnxruntime.get_available_providers()


def load_ahead() -> None:
    """Start loading the model in a worker thread; the first text waits for it, and gets its error."""
    import onnxruntime  # noqa: F401  imports belong to the caller's thread: two that import can lock each other
    import sentencepiece  # noqa: F401

    _workers().submit(_load)


RAREST = 15.0
"""Negative log-likelihood of the rarest pieces, in nats."""


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

    def clear_cache(self) -> None:
        """Clear the cache of question vectors."""
        self._queries.clear()
        self._questions.clear()

    @property
    def cache_uses(self) -> dict[str, int]:
        """See ``ports.CacheStatistics``."""
        return {"found": self._queries.hits, "made": self._queries.misses}

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        vectors = await self._queries.of(texts, self._embed_new)
        return np.array(vectors, dtype=np.float32).reshape(-1, DIMENSION)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return (await _run([_passage(text) for text in texts]))[0]

    async def _embed_new(self, queries: list[str]) -> FloatArray:
        vectors, tokens = await _embed_questions(queries)
        self._questions.keep(zip(queries, tokens, strict=True))
        return vectors

    async def embed_passage_tokens(self, texts: Sequence[str]) -> PassageVectors:
        vectors, windows = await _run([_passage(text) for text in texts], "packed_tokens")
        return PassageVectors(vectors, tuple(b"".join(own.tobytes() for _, own in of) for of in windows))

    async def question_tokens(self, text: str) -> QuestionTokens:
        async def tokens(texts: list[str]) -> list[QuestionTokens]:
            return (await _embed_questions(texts))[1]

        return (await self._questions.of([text], tokens))[0]

    def token_places(self, texts: Sequence[str]) -> list[Places]:
        return [_places(text) for text in texts]


Window = tuple[list[int], NDArray[Any]]
"""Token ids of a text or of a part of it, and the graph's output for each token."""


async def _run(texts: list[str], tokens: str | None = None) -> tuple[FloatArray, list[list[Window]]]:
    """Vectors of the texts, and the windows of each, in order.

    Args:
        texts: with their prefixes.
        tokens: output of the graph with the token vectors; None: no windows are returned.
    """
    if not texts:
        return np.zeros((0, DIMENSION), dtype=np.float32), []
    loop = asyncio.get_running_loop()
    rows, owners = await loop.run_in_executor(_workers(), _windows, texts)
    vectors = np.empty((len(rows), DIMENSION), dtype=np.float32)
    of_rows: dict[int, Window] = {}

    def run(together: list[int]) -> None:
        own = [rows[i] for i in together]
        if tokens is None:
            (vectors[together],) = _load().run(own, [SENTENCE])
            return
        vectors[together], found = _load().run(own, [SENTENCE, tokens])
        of_rows.update(zip(together, zip(own, found, strict=True), strict=True))

    await asyncio.gather(*(loop.run_in_executor(_workers(), run, together) for together in _runs(rows)))
    of_texts: list[list[Window]] = [[] for _ in texts]
    for i, window in sorted(of_rows.items()):
        of_texts[owners[i]].append(window)
    return _merge_windows(vectors, owners, len(texts)), of_texts


async def _embed_questions(questions: list[str]) -> tuple[FloatArray, list[QuestionTokens]]:
    """Vectors of questions, and the tokens of their first windows."""
    vectors, windows = await _run([f"query: {text.strip()}" for text in questions], "token_vectors")
    return vectors, [_question_tokens(text, *of[0]) for text, of in zip(questions, windows, strict=True)]


def _question_tokens(text: str, row: list[int], vectors: FloatArray) -> QuestionTokens:
    """The tokens of a question; the weight of a token is its information content under the tokenizer's unigram
    model."""
    nats = np.array([_token_nats(number) for number in row[QUERY_PREFIX:]], dtype=np.float32)
    spans = _spans(f"query: {text.strip()}", len(text) - len(text.lstrip()), QUERY_PREFIX)
    weights = nats / max(float(nats.sum()), 1e-9)
    return QuestionTokens(vectors[QUERY_PREFIX:], weights, tuple(map(tuple, spans[: len(weights)].tolist())))


def _spans(prefixed_text: str, lead: int, skipped_tokens: int = 0) -> Places:
    """Places of the tokens of a text with its prefix in the text itself, which begins with ``lead`` spaces; (0, 0) for a
    token of the prefix or without letters."""
    offsets = _load().tokenizer.encode(_encodable(prefixed_text), return_type="offset_mapping")["offsets"]
    by = lead - (prefixed_text.index(": ") + 2)
    places = np.fromiter(chain.from_iterable(offsets[skipped_tokens:]), np.int32).reshape(-1, 2)
    places += by
    np.maximum(places, 0, out=places)
    places[places[:, 1] <= places[:, 0]] = 0
    return places


@lru_cache(PASSAGES)
def _places(text: str) -> Places:
    """Of a passage's tokens. Remembered, since one note's passages are compared with many questions."""
    places = _spans(_passage(text), len(text) - len(text.lstrip()))
    places.setflags(write=False)
    return places


def _passage(text: str) -> str:
    return f"passage: {text.strip()}"


def _encodable(text: str) -> str:
    """The text with lone surrogates replaced by question marks, because the tokenizer requires UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def count_tokens(text: str) -> int:
    """Tokens the model reads of a text, without prefix and without the two it adds itself."""
    return count_tokens_batch([text])[0]


def count_tokens_batch(texts: Sequence[str]) -> list[int]:
    """``count_tokens`` of many texts."""
    return [len(ids) for ids in _load().tokenizer.encode([_encodable(text.strip()) for text in texts])]


def nats(text: str) -> float:
    """Negative log-likelihood of a text under the tokenizer's unigram model of a hundred languages.

    Characters without a piece cost as much as the rarest piece, each.
    """
    tokenizer = _load().tokenizer
    pieces: list[str] = tokenizer.encode(_encodable(text), out_type=str)
    ids = [tokenizer.piece_to_id(piece) for piece in pieces]
    return sum(
        _token_nats(number) * (len(piece) if tokenizer.is_unknown(number) else 1)
        for piece, number in zip(pieces, ids, strict=True)
    )


def _token_nats(number: int) -> float:
    tokenizer = _load().tokenizer
    return RAREST if tokenizer.is_unknown(number) else -float(tokenizer.get_score(number))


def _windows(texts: list[str]) -> tuple[list[list[int]], list[int]]:
    """Token rows of at most MAX_TOKENS, and for each the index of the text it belongs to."""
    encoded: Any = _load().tokenizer.encode([_encodable(text) for text in texts])
    rows: list[list[int]] = []
    owners: list[int] = []
    for index, ids in enumerate(encoded):
        for start in range(0, max(len(ids), 1), MAX_TOKENS):
            rows.append(ids[start : start + MAX_TOKENS])
            owners.append(index)
    return rows, owners


def _runs(rows: Sequence[list[int]]) -> Iterator[list[int]]:
    """Indices of rows of equal length, longest first; a group has at most RUN_TOKENS, and is small enough to give
    every worker a share."""
    of_length: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        of_length.setdefault(len(row), []).append(index)
    fair = -(-len(rows) // WORKERS)
    for length in sorted(of_length, reverse=True):
        of_it, most = of_length[length], max(1, min(fair, RUN_TOKENS // (length + 2)))
        yield from (of_it[start : start + most] for start in range(0, len(of_it), most))


def _merge_windows(vectors: FloatArray, owners: Sequence[int], count: int) -> FloatArray:
    if len(owners) == count:
        return vectors
    sums = np.zeros((count, DIMENSION), dtype=np.float32)
    np.add.at(sums, np.asarray(owners), vectors)
    return _unit(sums)


def _unit(rows: NDArray[Any]) -> FloatArray:
    scaled: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled
