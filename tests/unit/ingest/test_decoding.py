"""Decoding: UTF-8 and what a byte order mark says; anything else is told, never guessed."""

from __future__ import annotations

import codecs

import pytest

from agentic_rag.ingest.decoding import SourceError, decode


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marks_are_dropped_and_line_ends_kept(encoding: str) -> None:
    assert decode("a\r\nb\r茶\n".encode(encoding)) == "a\r\nb\r茶\n"


def test_big_endian() -> None:
    assert decode(codecs.BOM_UTF16_BE + "茶".encode("utf-16-be")) == "茶"


def test_empty() -> None:
    assert decode(b"") == ""
    assert decode(codecs.BOM_UTF8) == ""


def test_single_nuls_are_kept_and_many_are_binary() -> None:
    assert decode(b"0123456789\0") == "0123456789\0"
    with pytest.raises(SourceError, match="binary"):
        decode(b"01\0")


@pytest.mark.parametrize(
    "raw", ["caf\xe9".encode("latin-1"), "茶".encode("gb18030"), b"\xff\xfea", b"\xed\xa0\x80"]
)
def test_other_encodings_say_what_to_do(raw: bytes) -> None:
    with pytest.raises(SourceError, match="save it as UTF-8"):
        decode(raw)
