"""Fakes for tests of programs that use this package: deterministic, offline, instant. ``contracts``: suites of the ports."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any, cast

import numpy as np
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool

from agentic_rag.domain import Chunk, Findings, Hit, by_document, new_hit
from agentic_rag.domain.filters import Expression
from agentic_rag.domain.ports import FloatArray, PassageVectors
from agentic_rag.domain.token_vectors import Places, QuestionTokens, pack
from agentic_rag.errors import ModelError
from agentic_rag.nodes.prepare_query import initial_keys
from agentic_rag.retrieval.config import Strategy
from agentic_rag.retrieval.ports import Filters, SourceQuery
from agentic_rag.retrieval.schemas import JudgedResults, Leg, RetrievalResult, chunk_metadata
from agentic_rag.retrieval.term_likeness import TermLikeness
from agentic_rag.settings.parameters import Parameters
from agentic_rag.state import CanvasRAGState
from agentic_rag.text import placed_tokens, tokens


class HashingEmbedding:
    """``ports.Embedding`` that hashes words, without a model: texts that share words have a high cosine.

    ``embedded_texts`` lists every embedded text, in order, so that a test can check what was reused.
    """

    def __init__(self, dimension: int = 64) -> None:
        self._dimension = dimension
        self.embedded_texts: list[str] = []

    @property
    def name(self) -> str:
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return self._vectors(texts)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> FloatArray:
        self.embedded_texts.extend(texts)
        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for token in tokens(text) or [""]:
                raw = blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                vectors[row, int.from_bytes(raw[:4], "big") % self._dimension] += 1.0 if raw[4] % 2 else -1.0
            if not vectors[row].any():  # the words cancel each other
                vectors[row, 0] = 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if len(texts) else vectors


class TokenHashingEmbedding(HashingEmbedding):
    """``ports.TokenEmbedding`` that hashes words: each word is a token, similar to itself and to no other."""

    async def embed_passage_tokens(self, texts: Sequence[str]) -> PassageVectors:
        vectors = await self.embed_passages(texts)
        return PassageVectors(vectors, tuple(pack(self._tokens(text)) for text in texts))

    async def question_tokens(self, text: str) -> QuestionTokens:
        vectors = self._tokens(text)
        weights = np.full(len(vectors), 1 / max(len(vectors), 1), dtype=np.float32)
        return QuestionTokens(vectors, weights, tuple((start, end) for _, start, end in placed_tokens(text)))

    def token_places(self, texts: Sequence[str]) -> list[Places]:
        spans = [[(start, end) for _, start, end in placed_tokens(text)] for text in texts]
        return [np.array(own, dtype=np.int32).reshape(-1, 2) for own in spans]

    def _tokens(self, text: str) -> FloatArray:
        """Vectors of random signs, shape (words, dimension), L2 norm 1."""
        drawn = [
            np.random.default_rng(list(token.encode("utf-8", "surrogatepass"))).choice(
                [-1.0, 1.0], self._dimension
            )
            for token, _, _ in placed_tokens(text)
        ]
        signs = np.array(drawn, dtype=np.float32).reshape(len(drawn), self._dimension)
        unit: FloatArray = signs / np.sqrt(self._dimension, dtype=np.float32)
        return unit


def prepared_state(parameters: Parameters | None = None, **keys: Any) -> dict[str, Any]:
    """The state after ``prepare_query`` for the caller's ``keys``, for tests of single nodes."""
    written = initial_keys(cast(CanvasRAGState, keys), parameters or Parameters())
    return {**keys, **written, "messages": [*keys.get("messages", []), *written["messages"]]}


def fake_chunk(document_id: str, text: str = "", *, ordinal: int = 0, **fields: Any) -> Chunk:
    """A chunk that begins its document; without ``text``, its text is the document's id."""
    text = text or document_id
    whole = {"start": 0, "end": len(text), "title": document_id, "path": document_id, "kind": "paragraph"}
    return Chunk(f"{document_id}#{ordinal}", document_id, text, ordinal=ordinal, **{**whole, **fields})


def _request(query: SourceQuery) -> dict[str, Any]:
    request = asdict(replace(query, filters=None)) | {"filters": query.filters}
    return {"query": request.pop("text"), **request}


class _ScriptedSource:
    """Returns given results after a given time, or raises a given error.

    Args:
        results: chunks with their relevance in [0, 1], best first.
        seconds: how long a search takes.
        error: raised by every search.

    ``requests`` holds the arguments of every search, in order.
    """

    def __init__(
        self,
        results: Sequence[tuple[Chunk, float]] = (),
        *,
        seconds: float = 0.0,
        error: Exception | None = None,
    ) -> None:
        self.results = list(results)
        self.seconds = seconds
        self.error = error
        self.requests: list[dict[str, Any]] = []

    async def _answer(self, limit: int, **request: Any) -> list[tuple[Chunk, float]]:
        self.requests.append({"limit": limit, **request})
        await asyncio.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        return self.results[:limit]


class FakeGraphEngine(_ScriptedSource):
    """``retrieval.ports.GraphSearch``; also ``search`` and ``nearest`` of the engine, for memory services."""

    async def ready(self) -> None:
        """Returns at once."""

    async def find(self, query: SourceQuery, limit: int) -> Findings:
        found = await self._answer(limit, **_request(query))
        hits: list[Hit] = [
            {
                "id": chunk.id,
                "content": chunk.text,
                "type": "episode",
                "rank": rank,
                "score": score,
                "metadata": chunk_metadata(chunk),
                "evidence": {},
                "facts": [],
            }
            for rank, (chunk, score) in enumerate(found, start=1)
        ]
        return Findings(hits, {})

    async def search(self, dataset: str, query: str, *, limit: int, **how: Any) -> list[Hit]:
        return (await self.find(SourceQuery(dataset, query, **how), limit)).hits

    async def nearest(
        self, dataset: str, query: str, *, limit: int, filters: Expression | None = None
    ) -> list[tuple[Chunk, float]]:
        return self.results[:limit]


class FakeRetrievalEngine(_ScriptedSource):
    """``retrieval.ports.VectorSearch``."""

    async def ready(self, strategy: Strategy | None = None) -> None:
        """Returns at once."""

    async def find(self, query: SourceQuery, limit: int) -> JudgedResults:
        found = await self._answer(limit, **_request(query))
        return JudgedResults(
            [
                RetrievalResult(chunk, score, {"dense": Leg(rank, score)})
                for rank, (chunk, score) in enumerate(found, start=1)
            ]
        )

    async def search(
        self,
        dataset_id: str,
        query_text: str,
        top_k: int = 4,
        score_threshold: float | None = None,
        **how: Any,
    ) -> list[RetrievalResult]:
        return (await self.find(SourceQuery(dataset_id, query_text, **how), top_k)).results

    async def chunks(self, dataset_id: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        return {chunk.id: chunk for chunk, _ in self.results if chunk.id in chunk_ids}

    async def documents(self, dataset_id: str, document_ids: Sequence[str]) -> dict[str, list[Chunk]]:
        return by_document(chunk for chunk, _ in self.results if chunk.document_id in document_ids)

    async def likeness(self, dataset_id: str, question: str, chunks: Sequence[Chunk]) -> TermLikeness | None:
        return None

    async def why_nothing_passes(
        self, dataset_id: str, filters: Filters, as_of: datetime | None = None
    ) -> str | None:
        return f"no {dataset_id} pass {filters}" if filters else None


class FakeMemory:
    """``retrieval.ports.MemorySearch``: returns the given memories of each user with their relevance, best first.

    ``requests`` holds the arguments of every search; ``error`` is raised by each instead, after ``seconds``.
    """

    def __init__(
        self,
        memories: Mapping[str, Sequence[tuple[str, float]]],
        *,
        seconds: float = 0.0,
        error: Exception | None = None,
        degraded_types: Sequence[str] = (),
    ) -> None:
        self.memories = memories
        self.seconds = seconds
        self.error = error
        self.degraded_types = list(degraded_types)
        self.requests: list[dict[str, Any]] = []

    async def find(self, user_id: str, query: str, *, limit: int, **how: Any) -> Findings:
        self.requests.append({"user_id": user_id, "query": query, "limit": limit, **how})
        await asyncio.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        hits = [
            new_hit(
                f"memory-{user_id}-{rank}",
                text,
                "document",
                rank=rank,
                score=score,
                metadata={
                    "document_id": f"memory-{user_id}-{rank}",
                    "path": "memory/semantic",
                    "title": "",
                    "start": 0,
                    "kind": "memory",
                },
            )
            for rank, (text, score) in enumerate(self.memories.get(user_id, ())[:limit], start=1)
        ]
        return Findings(hits, {"degraded": self.degraded_types})


class ScriptedChat:
    """``ports.Chat`` that replies with its lines in order; an exception among them is raised.

    ``prompts`` holds (system, user) of every call. A call beyond the last line raises ``ModelError``.
    """

    def __init__(self, *lines: str | Exception) -> None:
        self._lines = list(lines)
        self.prompts: list[tuple[str, str]] = []

    async def complete(self, system: str, user: str) -> str:
        self.prompts.append((system, user))
        if not self._lines:
            raise ModelError("the scripted chat has no more lines")
        line = self._lines.pop(0)
        if isinstance(line, Exception):
            raise line
        return line


class ScriptedAgent(ScriptedChat):
    """``ports.MessageChat`` that replies with its messages in order: calls of tools, or a text; an exception among them is
    raised.

    ``conversations`` holds the messages of every call, ``offered_tools`` the names of its tools.
    """

    def __init__(self, *replies: AIMessage | str | Exception) -> None:
        super().__init__()
        self._replies = list(replies)
        self.conversations: list[list[BaseMessage]] = []
        self.offered_tools: list[list[str]] = []

    async def respond(self, messages: Sequence[BaseMessage], tools: Sequence[BaseTool] = ()) -> AIMessage:
        self.conversations.append(list(messages))
        self.offered_tools.append([tool.name for tool in tools])
        if not self._replies:
            raise ModelError("the scripted agent has no more replies")
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return AIMessage(reply) if isinstance(reply, str) else reply


def tool_call(tool: str, /, *, call_id: str = "call-1", **arguments: Any) -> AIMessage:
    """A model's message that calls one tool."""
    return AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": call_id, "type": "tool_call"}])
