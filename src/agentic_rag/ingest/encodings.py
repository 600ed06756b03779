"""Encodings of texts: by mark, as UTF-8, as declared, or recognised by charset-normalizer where that is sure."""

from __future__ import annotations

import codecs
import re

from charset_normalizer import from_bytes

# UTF-32 first: its little-endian mark begins with UTF-16's.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)
_NAMES = {
    "gb18030": "GB18030", "big5hkscs": "Big5", "cp932": "Shift-JIS", "euc_jp": "EUC-JP", "cp949": "EUC-KR", "koi8_r": "KOI8-R",
    **{f"cp{number}": f"Windows-{number}" for number in range(1250, 1258)},
}  # fmt: skip
"""What is recognised, by Python's name: what people's files have, as each more is one more to mistake for another."""
_LATIN = frozenset({"cp1250", "cp1252", "cp1254", "cp1257"})
_WIDER = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
    "euc_kr": "cp949", "big5": "big5hkscs", "iso8859-9": "cp1254",
}  # fmt: skip
"""Encodings that pages declare, and what browsers read them by, which holds more letters."""
_NEARLY_AS_CLEAN, _NEARLY_AS_COHERENT = 0.02, 0.1
_FEWEST_BYTES = 16
_DECLARATION = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{2,40})""", re.IGNORECASE)  # fmt: skip
_DECLARED_WITHIN = 4096


def decode_text(raw: bytes) -> tuple[str, str | None]:
    """A text without its byte order mark, line ends as they are; and where its encoding was recognised, a line about it.

    Raises:
        UnicodeDecodeError: it is not what its mark says, or has none, is not UTF-8 and not surely anything else.
    """
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if raw.startswith(mark)), "utf-8")
    try:
        return raw.decode(encoding), None
    except UnicodeDecodeError:
        found = None if encoding != "utf-8" or _is_damaged_utf8(raw) else recognise(raw)
        if found is None:
            raise
    return found


def decode_page(raw: bytes) -> tuple[str, str | None]:
    """A page's text, by its mark, as UTF-8, by what it declares, or recognised; and a line about what is uncertain."""
    match = _DECLARATION.search(raw[:_DECLARED_WITHIN])
    declared = None if match is None else _codec((match[1] or match[2]).decode("ascii"))
    is_marked = any(raw.startswith(mark) for mark, _ in _BYTE_ORDER_MARKS)
    # Escapes switch between sets of letters in encodings whose bytes are all valid UTF-8.
    if declared is not None and b"\x1b" in raw and not is_marked:
        return raw.decode(declared, "replace"), None
    for encoding in (None, declared):
        try:
            return (raw.decode(encoding), None) if encoding is not None else _plainly(raw)
        except UnicodeDecodeError:
            continue
    found = recognise(raw)
    if found is not None:
        return found
    text = raw.decode(declared or "cp1252", "replace")
    return (
        text,
        f"{text.count(chr(0xFFFD))} letters are not in its encoding, {declared or 'which it does not declare'}; save it as UTF-8",
    )


def _plainly(raw: bytes) -> tuple[str, None]:
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS if raw.startswith(mark)), "utf-8")
    return raw.decode(encoding), None


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

    Texts of Latin letters that more than one Windows encoding fits are read by the Western one, which the line says.
    """
    matches = list(from_bytes(raw, cp_isolation=list(_NAMES))) if len(raw) >= _FEWEST_BYTES else []
    if not matches:
        return None
    best = matches[0]
    likely = {
        one.encoding: one
        for one in matches
        if one.chaos <= best.chaos + _NEARLY_AS_CLEAN
        and one.coherence >= best.coherence - _NEARLY_AS_COHERENT
    }
    if all(str(one) == str(best) for one in likely.values()):
        name = "cp1252" if "cp1252" in best.could_be_from_charset else best.encoding
        return str(best), f"read as {_NAMES[name]}, which it was recognised to be; save it as UTF-8"
    western = likely.get("cp1252")
    if western is None or western.coherence < best.coherence or not _LATIN.issuperset(likely):
        return None
    doubts = ", ".join(_NAMES[name] for name in likely if name != "cp1252")
    return str(western), f"read as Windows-1252; if letters are wrong it is {doubts}: save it as UTF-8"


def _is_damaged_utf8(raw: bytes) -> bool:
    """Whether most of what is not ASCII is valid UTF-8: then a few bytes are broken, and no other encoding fits."""
    text = raw.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    return len(text) - sum(map(str.isascii, text)) - broken >= broken
