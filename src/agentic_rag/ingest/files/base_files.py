"""Obsidian's ``.base`` files to documents: without text, so that no search finds them; the catalogue reads their source."""

from __future__ import annotations

from pathlib import PurePosixPath

from agentic_rag.domain import Document
from agentic_rag.errors import FilterError
from agentic_rag.notes.bases import read_base


def parse_base(document_id: str, path: str, text: str, *, url: str | None = None) -> Document:
    """The document of a base that ``unreadable`` passes."""
    return Document(
        id=document_id,
        path=path,
        title=PurePosixPath(path).stem,
        text="",
        kind="base",
        blocks=(),
        metadata={"base": text},
        url=url,
    )


def unreadable(text: str, path: str) -> str | None:
    """Why a base cannot be read; None if it can."""
    try:
        read_base(text, path)
    except FilterError as error:
        return str(error).removeprefix(f"{path}: ")
    return None
