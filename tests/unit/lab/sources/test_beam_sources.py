"""BEAM conversations as documents: marks out, dates carried forward, a turn a message."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.ingest.files.discovery import discover
from agentic_rag.notes.values import read_date
from agentic_rag_lab.sources.beam import (
    Message,
    batches,
    looks_like_beam,
    name_of,
    parse_batch,
    read_chat,
    without_control_words,
)
from beam_files import batches as written
from beam_files import write


def told(*messages: dict[str, object]) -> list[tuple[str, str]]:
    chat = read_chat([{"turns": [list(messages)]}])
    return [(oddity.text, oddity.note) for oddity in chat.oddities]


def said(identity: object, content: object = "x", **more: object) -> dict[str, object]:
    return {"role": "user", "id": identity, "content": content, **more}


def test_messages_have_no_marks_and_the_last_date_before_them():
    chat = read_chat(written())
    assert [message.id for message in chat.messages] == [str(n) for n in range(12)]
    assert not any("->->" in message.text for message in chat.messages)
    assert chat.messages[2].text == "Always answer with short sentences."
    assert {message.date for message in chat.messages[:6]} == {datetime(2024, 3, 3, tzinfo=UTC)}
    assert {message.date for message in chat.messages[6:]} == {datetime(2024, 4, 25, tzinfo=UTC)}
    assert [(oddity.text, oddity.note) for oddity in chat.oddities] == [
        ("9", "message that says the text of 1 again: each is a message of its own"),
        ("->->", "the generator's marks in 7 messages: taken out"),
    ]


def test_messages_that_cannot_be_used_are_told():
    assert told(said(1), said(1, "y"), said(None), said(True), said(2, "  "), said(3, 7), "no message") == [
        ("1", "message id that comes a second time: the first counts"),
        ("{'role': 'user', 'id': None, 'content': 'x'}", "message without an id: left out"),
        ("{'role': 'user', 'id': True, 'content': 'x'}", "message without an id: left out"),
        ("2", "message without a text: left out"),
        ("3", "message without a text: left out"),
        ("'no message'", "message without an id: left out"),
    ]


def test_odd_dates_marks_and_lengths_are_told():
    assert told(
        said(1, "x", time_anchor="Smarch-01-2024"), said(2, "y ->-> soon"), said(3, "w " * 4_000)
    ) == [
        ("Smarch-01-2024", "no date that can be read: the one before it counts"),
        ("2", "message with a mark of the generator that is not known: left in"),
        ("3", "message of 4000 words: taken whole"),
    ]


def test_a_mark_within_a_text_leaves_its_words_apart():
    chat = read_chat([{"turns": [[said(1, "one ->-> 1,2 two")]]}])
    assert chat.messages[0].text == "one two"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("March-03-2024", datetime(2024, 3, 3, tzinfo=UTC)),
        ("2024-03-03", datetime(2024, 3, 3, tzinfo=UTC)),
        ("February-30-2024", None),
        ("soon", None),
        (None, None),
    ],
)
def test_anchors(text: str | None, date: datetime | None):
    assert read_date(text) == date


def test_a_batch_is_a_document_of_turns():
    chat = read_chat(written())
    documents = [parse_batch("100K/1", inner, path="chat.json") for _, inner in batches(chat.messages)]
    first = documents[0]
    assert [document.id for document in documents] == ["100K/1/batch_1", "100K/1/batch_2"]
    assert (first.title, first.kind) == ("100K/1, batch 1, 3 March 2024", "session")
    assert [first.text[block.start : block.end] for block in first.blocks] == [
        message.text for message in chat.messages[:6]
    ]
    assert {block.kind for block in first.blocks} == {"turn"}
    assert first.blocks[2].metadata == {
        "dia_id": "2", "id": "2", "role": "user", "speaker": "user", "index": "1,2", "date": "2024-03-03",
    }  # fmt: skip
    assert first.metadata == {"conversation": "100K/1", "batch": 1}


def test_the_control_takes_two_words_out_and_nothing_else():
    texts = ["Always, I never do. ALWAYS nevertheless", "never"]
    messages = tuple(Message(str(n), "user", text, None, 1, n) for n, text in enumerate(texts))
    assert [message.text for message in without_control_words(messages)] == [", I do. nevertheless", "never"]


@given(st.lists(st.sampled_from(["Always", "never", "NEVER", "I", "go", "whenever", "\n"])))
def test_the_control_is_done_at_once(words: list[str]):
    once = without_control_words((Message("1", "user", " ".join([*words, "end"]), None, 1, 0),))
    assert without_control_words(once) == once
    assert not {"always", "never"} & set(once[0].text.casefold().split())


@pytest.mark.parametrize("value", [None, {}, [], [1], [{"turns": 1}], [{"conversation": {}, "qa": []}]])
def test_other_json_is_not_taken_for_a_conversation(value: object):
    assert not looks_like_beam(value)


def test_a_conversation_is_called_after_its_folders(tmp_path: Path):
    assert name_of(tmp_path / "100K" / "1" / "chat.json") == "100K/1"


@pytest.mark.parametrize("kind", ["auto", "beam"])
def test_the_file_of_a_conversation_is_found(tmp_path: Path, kind: str):
    folder = write(tmp_path / "100K" / "1")
    items = discover([folder / "chat.json"], kind).items
    assert [item.document_id for item in items] == ["100K/1/batch_1", "100K/1/batch_2"]
    control = discover([folder / "chat.json"], "beam-control").items
    assert "Always" in items[0].parse().text
    assert "Always" not in control[0].parse().text
    assert items[0].content_hash != control[0].content_hash


def test_what_is_no_conversation_is_told(tmp_path: Path):
    (tmp_path / "chat.json").write_text("[{}]", encoding="utf-8")
    told = (
        discover([tmp_path / "chat.json"], "beam").skipped_files + discover([tmp_path], "beam").skipped_files
    )
    assert [skipped.reason for skipped in told] == [
        "not a BEAM conversation: a list of objects with 'turns' was expected",
        "a folder; name the chat.json itself",
    ]
