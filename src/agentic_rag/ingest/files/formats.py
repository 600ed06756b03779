"""Formats of files that other programs write, each an entry of ``agentic_rag.formats``, and the documents of such files.

``Format`` is for files that take a library: it reads them in the process of ``extraction``, which calls ``extract``.
``TextFormat`` is for texts, which are decoded as notes are.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import PurePosixPath
from typing import TypeVar

from agentic_rag.domain import REGIONS, Block, Document
from agentic_rag.extensions import entries
from agentic_rag.ingest.files.extracted_text import ExtractedText
from agentic_rag.ingest.files.source_text import ZIP_DAMAGES, NothingToRead, SourceError
from agentic_rag.notes.markdown import parse_markdown, parse_text

_DAMAGES = (*ZIP_DAMAGES, SyntaxError, OSError)
"""What libraries raise about damaged files; lxml's are of ``SyntaxError``, PDFium's of ``RuntimeError``."""
MAX_BYTES, MAX_UNPACKED_BYTES = 100_000_000, 500_000_000
"""Bytes of a file, and of all that a zipped one unpacks to."""


@dataclass(frozen=True, slots=True)
class Format:
    """An entry of ``agentic_rag.formats``: files whose bytes a library reads."""

    suffixes: tuple[str, ...]
    """In lower case, with the dot."""
    extract: Callable[[bytes], ExtractedText]
    """The text of a file's bytes, called in a process of its own, within limits of time and memory. Raises
    ``SourceError`` where it cannot be read; any other error is reported as damage. A library that takes long to import
    is imported in the call."""
    is_plain: bool = False
    """The text is plain: blank lines part paragraphs. Else it is Markdown."""
    missing: Callable[[], str | None] = lambda: None
    """What to install before such files are read; None where it is there."""
    task: str = ""
    """What reading is called, of files that a folder holds in numbers, such as pictures: while something is missing the
    report counts them. "": it names each."""
    conditions: Callable[[float], tuple[str, ...]] = lambda seconds: ()
    """What the text depends on besides the bytes, by the seconds that a file may take: part of the content hash."""


@dataclass(frozen=True, slots=True)
class TextFormat:
    """An entry of ``agentic_rag.formats``: texts that are turned into Markdown."""

    suffixes: tuple[str, ...]
    """In lower case, with the dot."""
    convert: Callable[[str], str]
    """The Markdown of a file's text, in which citations count."""


F = TypeVar("F", Format, TextFormat)


@cache
def _all_formats() -> tuple[Format | TextFormat, ...]:
    return tuple(point.load() for _, point in sorted(entries("formats").items()))


def _by_suffix(kind: type[F]) -> dict[str, F]:
    """Of two formats for one suffix the first entry by name counts."""
    of_kind = (one for one in reversed(_all_formats()) if isinstance(one, kind))
    return {suffix: one for one in of_kind for suffix in one.suffixes}


@cache
def formats() -> Mapping[str, Format]:
    """The installed formats that a library reads, by suffix."""
    return _by_suffix(Format)


@cache
def text_formats() -> Mapping[str, TextFormat]:
    """The installed formats of texts, by suffix."""
    return _by_suffix(TextFormat)


def suffixes() -> tuple[str, ...]:
    """Of all installed formats, in the order of their entries' names."""
    return tuple(dict.fromkeys(suffix for one in _all_formats() for suffix in one.suffixes))


def missing(suffix: str) -> str | None:
    """What to install before a kind of file is read; None where it is there, or the kind needs nothing."""
    found = formats().get(suffix)
    return None if found is None else found.missing()


def extract(raw: bytes, suffix: str) -> ExtractedText:
    """The text of a file's bytes, of a suffix of ``formats``.

    Raises:
        SourceError: it is damaged, locked, too large, or has only pictures; or the extra is missing.
    """
    if (extra := missing(suffix)) is not None:
        raise SourceError(extra)
    try:
        _require_size(raw)
        found = formats()[suffix].extract(raw)
    except SourceError:
        raise
    except _DAMAGES as error:
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise SourceError(f"it is damaged ({told[:120]})") from error
    if not any(letter.isalnum() for letter in found.text):
        raise NothingToRead("; ".join(["it holds no text", *found.warnings]))
    return found


def _require_size(raw: bytes) -> None:
    if len(raw) > MAX_BYTES:
        raise SourceError(f"it has more than {MAX_BYTES / 1e6:g} MB")
    if zipfile.is_zipfile(BytesIO(raw)):
        with zipfile.ZipFile(BytesIO(raw)) as packed:
            unpacked = sum(member.file_size for member in packed.infolist())
        if unpacked > MAX_UNPACKED_BYTES:
            raise SourceError(f"it unpacks to more than {MAX_UNPACKED_BYTES / 1e6:g} MB")


def parse_extracted(
    document_id: str, path: str, extracted_text: ExtractedText, *, url: str | None = None
) -> Document:
    """The document of a file of ``formats``; each block knows its page, and the regions of the lines that OCR read."""
    parse = parse_text if formats()[PurePosixPath(path).suffix.lower()].is_plain else parse_markdown
    document = parse(document_id, path, extracted_text.text, url=url)
    return replace(
        document,
        blocks=tuple(_with_pages(block, extracted_text) for block in document.blocks),
        warnings=(*document.warnings, *extracted_text.warnings),
    )


def _with_pages(block: Block, extracted_text: ExtractedText) -> Block:
    page = extracted_text.page_at(block.start)
    metadata = dict(block.metadata) if page is None else {**block.metadata, "page": page}
    if regions := extracted_text.regions_in(block.start, block.end):
        metadata[REGIONS] = [[start, end, *box] for start, end, box in regions]
    return replace(block, metadata=metadata)
