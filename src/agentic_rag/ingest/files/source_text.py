"""The text of a source: its encoding, JSON, and the errors by which one is left out."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from hashlib import blake2b
from typing import Any

from agentic_rag.errors import RunError
from agentic_rag.ingest.files.encodings import decode_text

ZIP_DAMAGES = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError)
"""What reading a damaged or locked zip raises; ``NotImplementedError`` is a ``RuntimeError``."""


_MAX_NUL_SHARE = 0.1


CHANGE_REASON = "the file changed while it was being read; ingest it again"


class SourceError(RunError):
    """One source cannot be read in its claimed format; other sources are not affected."""


class NothingToRead(SourceError):
    """A source that is sound and has no text, such as a scanned page."""


def load_json(text: str) -> Any:
    """The JSON value of a text.

    Raises:
        SourceError: it is none.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"no valid JSON ({error})") from error


def decode(raw: bytes) -> str:
    """The text that ``decode_with_note`` gives, without what it says of the encoding."""
    return decode_with_note(raw)[0]


def decode_with_note(raw: bytes) -> tuple[str, str | None]:
    """The text without its byte order mark, line ends as they are; and a line where its encoding was recognised.

    UTF-8, or what the mark says, or another that it surely is. Single NUL characters are kept, as dropping them would
    shift every offset.

    Raises:
        SourceError: another encoding, or not text.
    """
    try:
        text, about = decode_text(raw)
    except UnicodeDecodeError as error:
        hint = " (it may be a binary file)" if raw.count(0) else ""
        raise SourceError(
            f"not valid {error.encoding.upper()} at byte {error.start}{hint}; save it as UTF-8"
        ) from error
    if text.count("\0") > len(text) * _MAX_NUL_SHARE:
        raise SourceError(
            "binary content (more than a tenth NUL characters); if it is text, save it as UTF-8"
        )
    return text, about


def reason(error: OSError | RuntimeError) -> str:
    """The operating system's message without the path next to it."""
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be read: {error.strerror}"
    return f"cannot be read: {error}"


def raw_digest(raw: bytes) -> str:
    """By which a file that changed meanwhile is recognised."""
    return blake2b(raw, digest_size=16).hexdigest()
