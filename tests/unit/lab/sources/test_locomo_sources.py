"""LoCoMo: sessions to documents, turns to blocks, dates in UTC, and the irregularities of the public file."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.domain import Document
from agentic_rag.ingest.files.discovery import discover
from agentic_rag_lab.sources.locomo import looks_like_locomo, parse_session, parse_session_date, sessions

SAMPLE: dict[str, Any] = {
    "sample_id": "conv-26",
    "qa": [],
    "conversation": {
        "speaker_a": "Caroline",
        "speaker_b": "Melanie",
        "session_10_date_time": "12:48 am on 1 February, 2023",
        "session_10": [{"speaker": "Melanie", "dia_id": "D10:1", "text": "Late!"}],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
        "session_2": [
            {"speaker": "Caroline", "dia_id": "D2:1", "text": "Hi \ud800"},
            {
                "speaker": "Melanie",
                "dia_id": "D2:2",
                "text": "Look.",
                "blip_caption": "a dog",
                "query": "dog",
                "img_url": ["http://x/y.jpg"],
                "re-download": True,
            },
            {"speaker": "Caroline", "blip_caption": "a cat"},
            {"speaker": "Melanie", "dia_id": "D2:4", "text": ""},
            "not a turn",
        ],
        "session_3_date_time": "2 pm on 9 May, 2023",
        "session_4": [],
        "session_5": None,
    },
}


def documents(loaded: object) -> list[Document]:
    return [parse_session(session, path="l.json") for session in sessions(loaded, name="l")]


def test_a_document_for_each_session_with_turns_in_numeric_order() -> None:
    second, tenth = documents([SAMPLE])
    assert (second.id, second.title, second.kind) == (
        "conv-26/session_2",
        "Caroline and Melanie, 8 May 2023",
        "session",
    )
    assert second.date == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert second.metadata == {"conversation": "conv-26", "session": 2, "date": "2023-05-08"}
    assert (tenth.id, tenth.date) == ("conv-26/session_10", datetime(2023, 2, 1, 0, 48, tzinfo=UTC))


def test_turns_are_blocks() -> None:
    document = documents([SAMPLE])[0]
    assert document.text == (
        "Caroline: Hi \ufffd\nMelanie: Look. [shares a photo: a dog]\nCaroline: [shares a photo: a cat]"
    )
    assert [document.text[block.start : block.end] for block in document.blocks] == document.text.split("\n")
    assert [block.key for block in document.blocks] == ["D2:1", "D2:2", "D2:3"]
    assert {block.date for block in document.blocks} == {document.date}
    assert document.blocks[1].metadata == {
        "conversation": "conv-26",
        "session": 2,
        "date": "2023-05-08",
        "speaker": "Melanie",
        "dia_id": "D2:2",
        "image_caption": "a dog",
        "image_query": "dog",
        "image_url": ["http://x/y.jpg"],
    }


def test_a_single_sample_and_a_bare_conversation() -> None:
    assert [d.id for d in documents(SAMPLE)] == [d.id for d in documents([SAMPLE])]
    assert [d.id for d in documents(SAMPLE["conversation"])] == ["l/session_2", "l/session_10"]
    nameless = [{"qa": [], "conversation": SAMPLE["conversation"]}] * 2
    assert [d.id for d in documents(nameless)][::2] == ["l-1/session_2", "l-2/session_2"]


def test_what_looks_like_locomo() -> None:
    assert looks_like_locomo([SAMPLE])
    assert looks_like_locomo(SAMPLE)
    assert looks_like_locomo(SAMPLE["conversation"])
    for other in ([], {}, [1], [{"conversation": {}}], {"conversation": {}}, "x", None):
        assert not looks_like_locomo(other)


def test_a_session_without_a_date() -> None:
    (document,) = documents({"session_1": [{"text": "Hello"}]})
    assert (document.date, document.title, document.text) == (None, "l, session 1", "Hello")
    assert "no date" in document.warnings[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:05 pm on 31 December, 2022", datetime(2022, 12, 31, 12, 5, tzinfo=UTC)),
        ("12:05 am on 1 Sept 2022", datetime(2022, 9, 1, 0, 5, tzinfo=UTC)),
        ("8 May, 2023", datetime(2023, 5, 8, tzinfo=UTC)),
        ("2023-05-08T10:00:00Z", datetime(2023, 5, 8, 10, tzinfo=UTC)),
        ("31 February, 2023", None),
        ("1 Foo, 2023", None),
        ("some day", None),
        (None, None),
    ],
)
def test_session_dates(text: str | None, expected: datetime | None) -> None:
    assert parse_session_date(text) == expected


def a_file(sessions: int) -> str:
    conversation: dict[str, Any] = {"speaker_a": "A", "speaker_b": "B"}
    for number in range(1, sessions + 1):
        conversation[f"session_{number}"] = [{"speaker": "A", "dia_id": f"D{number}:1", "text": "Hi"}]
        conversation[f"session_{number}_date_time"] = "1:56 pm on 8 May, 2023"
    return json.dumps([{"sample_id": "c", "qa": [], "conversation": conversation}])


def test_a_new_session_leaves_the_others_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "l.json"
    path.write_text(a_file(1))
    before = discover([path])
    assert [(item.document_id, item.path) for item in before.items] == [("c/session_1", "l.json")]
    assert before.items[0].parse().text == "A: Hi"
    path.write_text(a_file(2))
    after = discover([path], "locomo")
    assert [item.document_id for item in after.items] == ["c/session_1", "c/session_2"]
    assert after.items[0].content_hash == before.items[0].content_hash
    assert "a folder" in discover([tmp_path], "locomo").skipped_files[0].reason
