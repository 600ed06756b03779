"""What every chunk store and ledger checks of what it is given, before it changes anything."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.errors import InputError
from agentic_rag.identity import is_unicode
from agentic_rag.ports import DocumentRecord, EmbeddedDocument


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


def checked_records(records: Sequence[DocumentRecord]) -> dict[str, DocumentRecord]:
    """Records by document id, the last one of each.

    Raises:
        InputError: a text holds a lone surrogate, as an undecodable file name does.
    """
    for record in records:
        if not is_unicode("".join([record.document_id, record.root, record.path, *record.names])):
            raise InputError(f"{record.path!r} holds a lone surrogate, which is no Unicode text")
    return {record.document_id: record for record in records}
