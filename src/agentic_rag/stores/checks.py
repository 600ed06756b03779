"""Checks of what stores are given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agentic_rag.domain.identity import is_unicode
from agentic_rag.domain.ports import DocumentRecord, EmbeddedDocument, FloatArray
from agentic_rag.errors import InputError, ManifestMismatch


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
