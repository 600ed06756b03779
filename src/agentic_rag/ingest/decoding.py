"""Bytes of a file to its text: what encoding it is in, and whether it is text at all."""

from __future__ import annotations

import codecs

from agentic_rag.errors import RunError

_MAX_NUL_SHARE = 0.1
# UTF-32 first: its little-endian mark begins with UTF-16's.
_MARKED = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


class SourceError(RunError):
    """One source cannot be read as what it claims to be; the others are not affected."""


def decode(raw: bytes) -> str:
    """The text without its byte order mark, line ends as they are.

    UTF-8, or what the mark says. Single NUL characters are kept, as dropping them would shift every offset.

    Raises:
        SourceError: another encoding, or not text.
    """
    encoding = next((name for mark, name in _MARKED if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        hint = " (it may be a binary file)" if raw.count(0) else ""
        raise SourceError(
            f"not valid {error.encoding.upper()} at byte {error.start}{hint}; save it as UTF-8"
        ) from error
    if text.count("\0") > len(text) * _MAX_NUL_SHARE:
        raise SourceError(
            "binary content (more than a tenth NUL characters); if it is text, save it as UTF-8"
        )
    return text
