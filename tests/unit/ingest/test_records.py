"""BEIR records: a line a document, other fields as metadata, bad lines with a reason."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agentic_rag.ingest.records import BadRecord, load_record, parse_record


def test_a_record() -> None:
    line = b'{"_id": 7, "title": "T", "text": "One.\\n\\nTwo.", "metadata": {"url": "https://e.org", "year": 1}, "year": 2, "date": "2023-01-02"}\n'
    record = load_record(line)
    assert isinstance(record, dict)
    document = parse_record(record, path="corpus.jsonl")
    assert (document.id, document.title, document.text, document.kind) == ("7", "T", "One.\n\nTwo.", "record")
    assert document.metadata == {"url": "https://e.org", "year": 2, "date": "2023-01-02"}
    assert (document.url, document.date) == ("https://e.org", datetime(2023, 1, 2, tzinfo=UTC))
    assert [(block.start, block.end) for block in document.blocks] == [(0, 4), (6, 10)]


def test_the_title_stands_in_for_an_empty_text() -> None:
    document = parse_record({"_id": "a", "title": "T", "text": " "}, path="c.jsonl")
    assert document.text == "T"


def test_odd_fields_are_kept_apart_from_the_text() -> None:
    document = parse_record(
        {"_id": "a\ud800", "text": "x\ud800", "metadata": [1], "n": float("nan")}, path="c"
    )
    assert (document.id, document.text, document.metadata) == ("a\ufffd", "x\ufffd", {"metadata": [1]})
    deep: list[object] = []
    for _ in range(100):
        deep = [deep]
    assert parse_record({"_id": "a", "text": "x", "deep": deep}, path="c").warnings


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "no valid JSON"),
        (b"\xff{}", "not UTF-8"),
        (b"[1]", "not a JSON object"),
        (b'{"text": "x"}', "no _id"),
        (b'{"_id": " ", "text": "x"}', "no _id"),
        (b'{"_id": true, "text": "x"}', "no _id"),
        (b'{"_id": "a"}', "neither text nor title"),
        (b'{"_id": "a", "text": 5}', "must be strings"),
        (b"[" * 100_000, "no valid JSON"),
    ],
)
def test_bad_lines(line: bytes, reason: str) -> None:
    bad = load_record(line)
    assert isinstance(bad, BadRecord)
    assert reason in bad.reason
