"""BEIR corpora to documents: one JSON record a line, each a document of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from agentic_rag.domain import Document
from agentic_rag.ingest.markdown import paragraphs
from agentic_rag.ingest.values import jsonable, metadata_date, valid_unicode

_OWN_FIELDS = ("_id", "title", "text", "metadata")


@dataclass(frozen=True, slots=True)
class BadRecord:
    """Why a line is no record."""

    reason: str


def load_record(line: bytes) -> dict[str, Any] | BadRecord:
    """One line as a usable record, or why it is none."""
    try:
        loaded = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return BadRecord("not UTF-8; save the file as UTF-8")
    except (ValueError, RecursionError) as error:
        return BadRecord(f"no valid JSON ({error})")
    if not isinstance(loaded, dict):
        return BadRecord("not a JSON object")
    written = loaded.get("_id")
    if isinstance(written, bool) or not isinstance(written, str | int) or not str(written).strip():
        return BadRecord("no _id")
    texts = [loaded.get("text"), loaded.get("title")]
    if any(text is not None and not isinstance(text, str) for text in texts):
        return BadRecord("title and text must be strings")
    if not any(text and text.strip() for text in texts):
        return BadRecord("neither text nor title")
    return loaded


def record_id(record: dict[str, Any]) -> str:
    """The document id of a record that ``load_record`` accepted."""
    return valid_unicode(str(record["_id"]))


def parse_record(record: dict[str, Any], *, path: str) -> Document:
    """The document of a record that ``load_record`` accepted; the title stands in for an empty text.

    Fields besides ``_id``, ``title`` and ``text`` become metadata, those of a ``metadata`` object too.
    """
    title = valid_unicode(record.get("title") or "").strip()
    text = valid_unicode(record.get("text") or "")
    text = text if text.strip() else title
    inner = record.get("metadata")
    fields = dict(inner) if isinstance(inner, dict) else {} if inner is None else {"metadata": inner}
    fields.update({key: value for key, value in record.items() if key not in _OWN_FIELDS})
    metadata: dict[str, Any] = {}
    warnings: tuple[str, ...] = ()
    try:
        metadata = jsonable(fields)
    except ValueError as error:
        warnings = (f"the record's other fields were left out: {error}",)
    url = metadata.get("url")
    return Document(
        id=record_id(record),
        path=path,
        title=title,
        text=text,
        kind="record",
        blocks=paragraphs(text),
        metadata=metadata,
        date=metadata_date(metadata),
        url=url if isinstance(url, str) and url.startswith(("http://", "https://")) else None,
        warnings=warnings,
    )
