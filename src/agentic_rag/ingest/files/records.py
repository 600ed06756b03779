"""Records of a BEIR corpus, a line of JSON each, as documents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from agentic_rag.domain import Document
from agentic_rag.domain.identity import digest
from agentic_rag.domain.json_values import Json
from agentic_rag.ingest.files.scanning import (
    PARSER_VERSION,
    Scan,
    SourceItem,
)
from agentic_rag.ingest.files.source_text import CHANGE_REASON, SourceError, load_json, raw_digest, reason
from agentic_rag.notes.markdown import paragraphs
from agentic_rag.notes.values import jsonable, metadata_date, valid_unicode

_MAX_BAD_LINES = 20


_RECORD_FIELDS = ("_id", "title", "text", "metadata")


def scan_records(root: Path, path: Path, scan: Scan) -> None:
    bad = 0
    for number, offset, line in _lines(path):
        try:
            document_id = record_id(load_record(line))
        except SourceError as error:
            bad += 1
            if bad <= _MAX_BAD_LINES:
                scan.skip(f"{path}:{number}", str(error))
            continue
        content_hash = digest(PARSER_VERSION, raw_digest(line), path.name)
        parse = partial(_parse_line, path, number, offset, len(line), content_hash)
        scan.add(SourceItem(document_id, path.name, str(root), content_hash, parse), f"{path}:{number}")
    if bad > _MAX_BAD_LINES:
        scan.skip(path, f"{bad - _MAX_BAD_LINES} more lines that are no records")


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and bytes of each line that is not blank, one at a time."""
    offset = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield number, offset, line
            offset += len(line)


def _parse_line(path: Path, number: int, offset: int, length: int, content_hash: str) -> Document:
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            line = stream.read(length)
    except OSError as error:
        raise SourceError(f"{path.name}:{number}: {reason(error)}") from error
    if digest(PARSER_VERSION, raw_digest(line), path.name) != content_hash:
        raise SourceError(f"{path.name}:{number}: {CHANGE_REASON}")
    return parse_record(load_record(line), path=path.name)


def load_record(line: bytes) -> Json:
    """One line of a BEIR corpus.

    Raises:
        SourceError: it is no record.
    """
    try:
        loaded = load_json(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SourceError("not UTF-8; save the file as UTF-8") from error
    if not isinstance(loaded, dict):
        raise SourceError("not a JSON object")
    written = loaded.get("_id")
    if isinstance(written, bool) or not isinstance(written, str | int) or not str(written).strip():
        raise SourceError("no _id")
    texts = [loaded.get("text"), loaded.get("title")]
    if any(text is not None and not isinstance(text, str) for text in texts):
        raise SourceError("title and text must be strings")
    if not any(text and text.strip() for text in texts):
        raise SourceError("neither text nor title")
    return loaded


def record_id(record: Json) -> str:
    """The document id of a record that ``load_record`` accepted."""
    return valid_unicode(str(record["_id"]))


def parse_record(record: Json, *, path: str) -> Document:
    """The document of a record that ``load_record`` accepted; the title stands in for an empty text.

    Fields besides ``_id``, ``title`` and ``text`` become metadata, those of a ``metadata`` object too.
    """
    title = valid_unicode(str(record.get("title") or "")).strip()
    text = valid_unicode(str(record.get("text") or ""))
    text = text if text.strip() else title
    inner = record.get("metadata")
    fields = dict(inner) if isinstance(inner, dict) else {} if inner is None else {"metadata": inner}
    fields.update({key: value for key, value in record.items() if key not in _RECORD_FIELDS})
    metadata: Json = {}
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
