"""Shared by all stores: checks of arguments, total order of results, batches, error texts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from agentic_rag.domain.identity import is_unicode
from agentic_rag.domain.ports import (
    DocumentRecord,
    EmbeddedDocument,
    FloatArray,
    ScoredChunk,
)
from agentic_rag.errors import InputError, ManifestMismatch

T = TypeVar("T")
MOST_TIED = 4096
"""Chunks of one score that are put in id order where a search's limit cuts through them."""


def batches(values: Sequence[T], size: int) -> Iterator[tuple[T, ...]]:
    """The values in turn, at most ``size`` at a time."""
    for start in range(0, len(values), size):
        yield tuple(values[start : start + size])


def first_line(error: Exception) -> str:
    """The first line of an error's message, shortened; its type without a message."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


def checked_ids(documents: Sequence[EmbeddedDocument]) -> list[str]:
    """Ids of documents that a chunk store may be given together.

    Raises:
        InputError: a document or chunk id is given twice, a chunk is another document's, or a text
            holds a lone surrogate.
    """
    ids = [document.document_id for document in documents]
    if len(set(ids)) != len(ids):
        raise InputError("the same document id is given twice in one call")
    chunks = [chunk for document in documents for chunk in document.chunks]
    if len({chunk.id for chunk in chunks}) != len(chunks):
        raise InputError("the same chunk id is given twice in one call")
    for document in documents:
        for chunk in document.chunks:
            if chunk.document_id != document.document_id:
                raise InputError(f"chunk {chunk.id!r} is not one of document {document.document_id!r}")
            if not is_unicode("".join([chunk.id, chunk.path, *chunk.heading_path, chunk.title, chunk.text])):
                raise InputError(f"chunk {chunk.id!r} holds a lone surrogate, which is no Unicode text")
    return ids


def checked_vectors(documents: Sequence[EmbeddedDocument], dimension: int) -> FloatArray:
    """The vectors of all chunks in their order, shape (chunks, dimension).

    Raises:
        ManifestMismatch: a document's vectors have another shape than its chunks and the store ask for.
    """
    parts = [np.zeros((0, dimension), dtype=np.float32)]
    for document in documents:
        expected = (len(document.chunks), dimension)
        if document.chunks and document.vectors.shape != expected:
            raise ManifestMismatch(
                f"vectors of {document.document_id!r} have shape {document.vectors.shape}, "
                f"the store holds {expected}; open it with the model it was made with"
            )
        if document.chunks:
            parts.append(document.vectors)
    return np.concatenate(parts)


def check_query(vector: FloatArray, dimension: int, model: str) -> None:
    """Raises ``ManifestMismatch`` for a query vector of another shape than the store's (dimension,)."""
    if vector.shape != (dimension,):
        raise ManifestMismatch(
            f"the query vector has shape {vector.shape}, the store holds {dimension} dimensions of {model}"
        )


def tokens_of(document: EmbeddedDocument) -> tuple[bytes, ...]:
    """Packed token vectors of each chunk of a document, empty bytes where there are none.

    Raises:
        InputError: they are not one a chunk.
    """
    if not document.tokens:
        return (b"",) * len(document.chunks)
    if len(document.tokens) != len(document.chunks):
        raise InputError(
            f"{document.document_id!r} has {len(document.chunks)} chunks and token vectors of {len(document.tokens)}"
        )
    return document.tokens


def checked_records(records: Sequence[DocumentRecord]) -> dict[str, DocumentRecord]:
    """Records by document id, the last one of each.

    Raises:
        InputError: a text holds a lone surrogate, as an undecodable file name does.
    """
    for record in records:
        if not is_unicode("".join([record.document_id, record.root, record.path, *record.names])):
            raise InputError(f"{record.path!r} holds a lone surrogate, which is no Unicode text")
    return {record.document_id: record for record in records}


async def first_by_score(
    search: Callable[[int], Awaitable[list[ScoredChunk]]], limit: int
) -> list[ScoredChunk]:
    """The first ``limit`` chunks by score, then id. A store may cut anywhere within equal scores, so more chunks
    are requested until a lower score follows the last one kept.

    Args:
        search: finds that many chunks, or more where it likes; fewer only where there are no more.
        limit: how many are wanted; below 1 none.
    """
    if limit < 1:
        return []
    asked_for = limit + 1
    while True:
        found = sorted(
            await search(asked_for), key=lambda scored_chunk: (-scored_chunk.score, scored_chunk.chunk.id)
        )
        tied = len(found) >= asked_for and found[limit - 1].score == found[-1].score
        if not tied or asked_for >= limit + MOST_TIED:
            return found[:limit]
        asked_for = min(asked_for * 4, limit + MOST_TIED)
