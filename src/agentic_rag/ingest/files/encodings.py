"""Encodings of texts: by mark, as UTF-8, as declared, or recognised by chardet where that is sure."""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Iterator

# UTF-32 first: its little-endian mark begins with UTF-16's.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_NAMES = {
    "gb18030": "GB18030", "big5hkscs": "Big5", "cp932": "Shift-JIS", "euc_jis_2004": "EUC-JP", "cp949": "EUC-KR",
    "koi8-r": "KOI8-R", "koi8-u": "KOI8-U", "cp866": "CP866", "cp850": "CP850", "cp852": "CP852", "mac-roman": "Mac Roman",
    **{f"iso8859-{number}": f"ISO 8859-{number}" for number in (2, 5, 7)},
    **{f"cp{number}": f"Windows-{number}" for number in (874, *range(1250, 1258))},
    "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "iso2022_jp_2": "ISO-2022-JP", "iso2022_kr": "ISO-2022-KR",
}  # fmt: skip
"""What is recognised, by chardet's name: what people's files have, as each more is one more to mistake for another."""
_WIDER = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
    "euc_kr": "cp949", "big5": "big5hkscs", "iso8859-9": "cp1254",
}  # fmt: skip
"""Encodings that pages declare, and what browsers read them by, which holds more letters."""
_NEARLY_AS_LIKELY = 1.4
"""Times the confidence of the best: others below are ruled out."""
_SAME_TEXT = 0.2
"""Share of letters in which two readings of one text may differ."""
_HIDDEN_IN_UTF8 = re.compile(rb"\0|\x1b\$")
"""What UTF-16 without a mark, and ISO-2022, have in bytes that may be valid UTF-8."""
_NOT_IN_TEXTS = re.compile("[\0\x80-\x9f]|\x1b\\$")
"""Control characters that show a wrong reading."""
_FEWEST_BYTES, _SAMPLE_BYTES, _SAMPLE_LINES = 16, 100_000, 1_000
_DECLARATION = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{2,40})""", re.IGNORECASE)  # fmt: skip
_DECLARED_WITHIN = 4096


def decode_text(raw: bytes) -> tuple[str, str | None]:
    """A text without its byte order mark, line ends as they are; and where its encoding was recognised, a line about it.

    Raises:
        UnicodeDecodeError: it is not what its mark says, or has none, is not UTF-8 and not surely anything else.
    """
    try:
        return _plainly(raw)
    except UnicodeDecodeError:
        found = None if _mark(raw) or _is_damaged_utf8(raw) else recognise(raw)
        if found is None:
            raise
    return found


def decode_page(raw: bytes) -> tuple[str, str | None]:
    """A page's text, by its mark, as UTF-8, by what it declares, or recognised; and a line about what is uncertain."""
    match = _DECLARATION.search(raw[:_DECLARED_WITHIN])
    declared = None if match is None else _codec((match[1] or match[2]).decode("ascii"))
    # Escapes switch between sets of letters in encodings whose bytes are all valid UTF-8.
    if declared is not None and b"\x1b" in raw and not _mark(raw):
        return raw.decode(declared, "replace"), None
    is_damaged = not _mark(raw) and _is_damaged_utf8(raw)
    if is_damaged:
        declared = "utf-8"
    for encoding in (None, declared):
        try:
            return (raw.decode(encoding), None) if encoding is not None else _plainly(raw)
        except UnicodeDecodeError:
            continue
    found = None if is_damaged else recognise(raw)
    if found is not None:
        return found
    text = raw.decode(declared or "cp1252", "replace")
    return (
        text,
        f"{text.count(chr(0xFFFD))} letters are not in its encoding, {declared or 'which it does not declare'}; save it as UTF-8",
    )


def _mark(raw: bytes) -> str | None:
    """The encoding that a byte order mark names."""
    return next((name for mark, name in _BYTE_ORDER_MARKS if raw.startswith(mark)), None)


def _plainly(raw: bytes) -> tuple[str, str | None]:
    """By its mark or as UTF-8. UTF-16 without a mark, and ISO-2022, may be valid UTF-8 as well."""
    mark = _mark(raw)
    hidden = recognise(raw) if mark is None and _HIDDEN_IN_UTF8.search(raw) else None
    return hidden or (raw.decode(mark or "utf-8"), None)


def _codec(name: str) -> str | None:
    """Python's name of a declared encoding, or of the wider one that browsers take; None if it knows none."""
    try:
        b"a".decode(name)
    except (LookupError, UnicodeError):  # the latter of UTF-16, in which nothing could have been declared
        return None
    known = codecs.lookup(name).name
    return _WIDER.get(known, known)


def recognise(raw: bytes) -> tuple[str, str] | None:
    """Text, and a line about the encoding that was recognised; None where another would do as well.

    Where others that would do differ in a few letters alone, as the Windows encodings of Latin letters do, the line names
    them.
    """
    if len(raw) < _FEWEST_BYTES:
        return None
    sample = _sample(raw)
    readings = {encoding: sample.decode(encoding, "replace") for encoding in _likely(sample)}
    best = next((encoding for encoding in readings if _fits(raw, encoding)), None)
    if best is None:
        return None
    doubts = {encoding: text for encoding, text in readings.items() if text != readings[best]}
    if any(_difference(readings[best], text) > _SAME_TEXT for text in doubts.values()):
        return None
    name, names = _NAMES[best], " or ".join(_NAMES[encoding] for encoding in doubts)
    about = f"; if letters are wrong it is {names}: " if names else ", which it was recognised to be; "
    return raw.decode(best), f"read as {name}{about}save it as UTF-8"


def _sample(raw: bytes) -> bytes:
    """Enough of a text to recognise its encoding: of a long one, lines that are not ASCII."""
    if len(raw) <= _SAMPLE_BYTES or b"\0" in raw:
        return raw
    lines = (line for line in raw.splitlines(keepends=True) if not line.isascii())
    return b"".join(itertools.islice(lines, _SAMPLE_LINES))[:_SAMPLE_BYTES]


def _likely(sample: bytes) -> Iterator[str]:
    """The most likely encoding, and those that are about as likely."""
    import chardet  # loads its models

    best = 0.0
    # UTF-8 is named where it, or nothing, fits.
    for one in chardet.detect_all(
        sample, ignore_threshold=True, include_encodings=[*_NAMES, "utf-8"], compat_names=False, no_match_encoding="utf-8"
    ):  # fmt: skip
        encoding, confidence = one["encoding"], one["confidence"]
        if encoding not in _NAMES or confidence * _NEARLY_AS_LIKELY < best:
            break
        best = best or confidence
        yield encoding


def _fits(raw: bytes, encoding: str) -> bool:
    try:
        return not _NOT_IN_TEXTS.search(raw.decode(encoding))
    except UnicodeDecodeError:
        return False


def _difference(one: str, other: str) -> float:
    """The share of letters that are unlike; 1 for texts of different lengths."""
    if len(one) != len(other):
        return 1.0
    return sum(left != right for left, right in zip(one, other, strict=True)) / len(one)


def _is_damaged_utf8(raw: bytes) -> bool:
    """Whether most of what is not ASCII is valid UTF-8: then a few bytes are broken, and no other encoding fits."""
    text = raw.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    return len(text) - sum(map(str.isascii, text)) - broken >= broken
