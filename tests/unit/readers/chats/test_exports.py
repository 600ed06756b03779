"""Exports of conversations as files, zips and folders: recognised, kept up to date, and what is broken told."""

from __future__ import annotations

import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.ingest.files.discovery import discover, made_text
from agentic_rag.ingest.files.scanning import Scan, SourceScan
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag.ingest.pipeline import IngestReport
from agentic_rag.ingest.remembered import DatasetCache
from agentic_rag_readers.chats import exports
from agentic_rag_readers.chats.chatgpt import chatgpt_threads, looks_like_chatgpt
from agentic_rag_readers.chats.claude import claude_threads, looks_like_claude
from agentic_rag_readers.chats.messages import days
from agentic_rag_readers.chats.reader import ChatExports
from agentic_rag_readers.chats.slack import Names, looks_like_slack, slack_thread
from agentic_rag_readers.chats.telegram import looks_like_telegram, telegram_threads
from in_memory_pipeline import pipeline
from written_files import write, zipped

CLAUDE: list[Any] = [
    {
        "uuid": "u",
        "name": "Bike chain",
        "chat_messages": [
            {"uuid": "1", "sender": "human", "text": "How long?", "created_at": "2024-05-01T10:00:00Z"},
            {"uuid": "2", "sender": "assistant", "text": "Long.", "created_at": "2024-05-01T10:00:05Z"},
        ],
    }
]
CHATGPT: list[Any] = [
    {
        "title": "Loaf",
        "conversation_id": "c",
        "current_node": "b",
        "mapping": {
            "a": {"parent": None, "message": {"author": {"role": "user"}, "create_time": 1714550001.0, "content": {"content_type": "text", "parts": ["Flat?"]}}},
            "b": {"parent": "a", "message": {"author": {"role": "assistant"}, "create_time": 1714550002.0, "content": {"content_type": "text", "parts": ["Feed it."]}}},
        },
    }
]  # fmt: skip
TELEGRAM: dict[str, Any] = {
    "name": "Hiking",
    "type": "private_group",
    "id": 1,
    "messages": [
        {"id": 1, "type": "message", "date": "2024-05-01T10:00:00", "from": "Mara", "text": "The key is at the bakery."},
        {"id": 2, "type": "message", "date": "2024-05-02T10:00:00", "from": "Jon", "text": "At six."},
    ],
}  # fmt: skip
SLACK: list[Any] = [{"type": "message", "user": "U1", "text": "The server moves", "ts": "1714550000.000100"}]
USERS = [{"id": "U1", "team_id": "T1", "real_name": "Ann"}]
WHATSAPP = "13/05/2024, 09:15 - Ines: Shall we meet?\n13/05/2024, 09:16 - Karl: <Media omitted>\n"


def zip_file(path: Path, files: dict[str, Any]) -> Path:
    return write(path.parent, {path.name: zipped(files)}) / path.name


def ids(scan: SourceScan) -> list[str]:
    return [item.document_id for item in scan.items]


def reasons(scan: SourceScan) -> list[str]:
    return [skipped.reason for skipped in scan.skipped_files]


def counts(report: IngestReport) -> dict[str, int]:
    return dict(report.to_dict()["counts"])


@pytest.mark.parametrize(
    ("kind", "name", "content", "identity", "line"),
    [
        ("chatgpt", "any.json", CHATGPT, "chatgpt/c/2024-05-01", "ChatGPT: 2 messages of 1 conversation"),
        ("claude", "conversations.json", CLAUDE, "claude/u/2024-05-01", "Claude: 2 messages of 1 conversation"),
        ("telegram", "result.json", TELEGRAM, "telegram/1/2024-05-01", "Telegram: 2 messages of 1 conversation"),
        ("slack", "general/2024-05-01.json", SLACK, "slack/general/2024-05-01", "Slack: 1 message of 1 conversation"),
        ("whatsapp", "Ann/_chat.txt", WHATSAPP, "whatsapp/Ann/2024-05-13", "WhatsApp: 2 messages of 1 conversation; 1 attachment not read"),
    ],
)  # fmt: skip
def test_each_export_is_recognised_as_a_file_in_a_folder_and_by_kind(
    tmp_path: Path, kind: str, name: str, content: Any, identity: str, line: str
):
    path = write(tmp_path, {name: content}) / name
    for scan in (discover([path]), discover([path], kind)):
        assert ids(scan)[0] == identity
        assert [what for _, what in scan.exports] == [line]
        assert scan.skipped_files == ()
    named = path if name != "any.json" else path.rename(tmp_path / "conversations (1).json")
    for scan in (discover([tmp_path]), discover([tmp_path], kind)):
        assert (ids(scan)[0], scan.skipped_files) == (identity, ())
    assert {item.path for item in discover([tmp_path]).items} == {named.relative_to(tmp_path).as_posix()}
    other: str = "claude" if kind != "claude" else "slack"
    assert reasons(discover([named], other)) == [f"no export of {exports.CHATS[other]}"]
    assert reasons(discover([tmp_path], other)) == [f"no export of {exports.CHATS[other]} is in it"]
    assert all(not item.document_id.startswith(kind) for item in discover([tmp_path], "files").items)


def test_parts_and_pictures_of_a_zip(tmp_path: Path):
    second = [{**CHATGPT[0], "conversation_id": "d"}]
    files = {
        "conversations-000.json": CHATGPT,
        "conversations-001.json": second,
        "user.json": {},
        "file-1.png": "x",
    }
    scan = discover([zip_file(tmp_path / "e.zip", files)])
    assert ids(scan) == ["chatgpt/c/2024-05-01", "chatgpt/d/2024-05-01"]
    assert [what for _, what in scan.exports] == ["ChatGPT: 4 messages of 2 conversations"]


def test_the_zip_names_a_chat_whose_text_does_not(tmp_path: Path):
    path = zip_file(
        tmp_path / "WhatsApp Chat - Ines.zip",
        {"_chat.txt": WHATSAPP, "1.jpg": "x", "__MACOSX/._chat.txt": "x"},
    )
    assert ids(discover([path])) == ["whatsapp/Ines/2024-05-13"]
    inside = zip_file(tmp_path / "x.zip", {"WhatsApp Chat with Karl.txt": WHATSAPP})
    assert ids(discover([inside])) == ["whatsapp/Karl/2024-05-13"]
    folder = zip_file(
        tmp_path / "y.zip", {"WhatsApp Chat - Ann/_chat.txt": WHATSAPP, "notes/other.txt": WHATSAPP}
    )
    assert ids(discover([folder])) == ["whatsapp/Ann/2024-05-13"]


def test_a_text_in_no_encoding_beside_an_export_costs_nothing(tmp_path: Path):
    path = zip_file(tmp_path / "e.zip", {"conversations.json": CLAUDE})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("README.txt", b"\xff\x00\x81" * 99)
    assert ids(discover([path])) == ["claude/u/2024-05-01"]


def test_a_workspace_is_read_from_its_folder_or_its_zip(tmp_path: Path):
    files: dict[str, Any] = {
        "users.json": USERS,
        "channels.json": [],
        "general/2024-05-01.json": SLACK,
        "random/2024-05-02.json": SLACK,
    }
    folder, archive = write(tmp_path / "acme", files), zip_file(tmp_path / "acme.zip", files)
    wrapped = zip_file(tmp_path / "w.zip", {f"acme/{name}": content for name, content in files.items()})
    for given_path in (folder, archive, wrapped):
        scan = discover([given_path])
        assert ids(scan) == ["slack/T1/general/2024-05-01", "slack/T1/random/2024-05-01"]
        assert scan.exports == ((str(given_path), "Slack: 2 messages of 2 conversations"),)
        # A worker of a cluster is sent what parses it.
        assert pickle.loads(pickle.dumps(scan.items[0])).parse().text == "Ann: The server moves"
    assert reasons(discover([folder])) == ["files of other kinds: 2 .json"]


def test_names_outside_of_what_was_given_are_not_read(tmp_path: Path):
    write(tmp_path, {"users.json": USERS, "general/2024-05-01.json": SLACK})
    for root in (tmp_path / "general", tmp_path / "general" / "2024-05-01.json"):
        (item,) = discover([root]).items
        assert (item.document_id, item.parse().text) == ("slack/general/2024-05-01", "U1: The server moves")
    inside = write(tmp_path / "in", {"general/2024-05-01.json": SLACK})
    (inside / "users.json").symlink_to(tmp_path / "users.json")
    assert ids(discover([inside])) == ["slack/general/2024-05-01"]


def test_a_document_is_read_anew(tmp_path: Path):
    write(tmp_path, {"users.json": USERS, "general/2024-05-01.json": SLACK, "note.md": "x"})
    place = tmp_path, "general/2024-05-01.json"
    assert made_text(*place, "slack/T1/general/2024-05-01") == "Ann: The server moves"
    with pytest.raises(SourceError, match="does not hold 'slack/general/2024-05-01' any more"):
        made_text(*place, "slack/general/2024-05-01")
    assert made_text(tmp_path, "note.md", "note.md") is None
    assert ChatExports(Scan({})).made_text(tmp_path, "note.md", "slack/note.md") is None
    path = zip_file(tmp_path / "WhatsApp Chat - Ines.zip", {"_chat.txt": WHATSAPP})
    assert made_text(path, path.name, "whatsapp/Ines/2024-05-13") is not None


def test_notes_and_other_files_beside_an_export_are_as_they_were(tmp_path: Path):
    write(
        tmp_path,
        {"a.md": "x", "b.txt": "y", "package.json": {}, "result.json": {"passed": 3}, "2024-05-01.json": []},
    )
    zip_file(tmp_path / "other.zip", {"a.md": "x"})
    scan = discover([tmp_path])
    assert ids(scan) == ["a.md", "b.txt"]
    assert reasons(scan) == ["files of other kinds: 3 .json, 1 .zip"]
    told = reasons(discover([tmp_path / "result.json", tmp_path / "other.zip"]))
    assert told[0].endswith("; nor an export of ChatGPT, Claude, Telegram, Slack, WhatsApp")
    assert len(told) == 2


async def test_a_longer_export_changes_what_changed(tmp_path: Path):
    path, ingest = write(tmp_path, {"result.json": TELEGRAM}) / "result.json", pipeline()
    assert counts(await ingest.run([path], "d")) == {"added": 2, "recognised": 1}
    first, second = TELEGRAM["messages"]
    third = {**second, "id": 3, "date": "2024-05-03T08:00:00", "text": "Thanks."}
    write(tmp_path, {"result.json": {**TELEGRAM, "messages": [first, second, third]}})
    report = await ingest.run([path], "d")
    assert counts(report) == {"added": 1, "recognised": 1, "unchanged": 2}
    edited = {**first, "text": "The key is at the mill.", "edited": "2024-05-04T08:00:00"}
    write(tmp_path, {"result.json": {**TELEGRAM, "messages": [edited, second, third]}})
    report = await ingest.run([path], "d")
    assert counts(report) == {"changed": 1, "recognised": 1, "unchanged": 2}
    assert report.chunks == 3


async def test_a_newer_export_of_another_name_takes_the_place_of_the_older_one(tmp_path: Path):
    first, _ = TELEGRAM["messages"]
    old = write(tmp_path, {"old/result.json": {**TELEGRAM, "messages": [first]}}) / "old" / "result.json"
    new = write(tmp_path, {"new/result.json": TELEGRAM}) / "new" / "result.json"
    ingest = pipeline()
    await ingest.run([old], "d")
    assert counts(await ingest.run([new], "d")) == {"added": 1, "recognised": 1, "unchanged": 1}
    scan = discover([tmp_path])
    assert {item.path for item in scan.items} == {"new/result.json"}
    assert [what for _, what in scan.exports] == [
        "Telegram: 2 messages of 1 conversation",
        "Telegram: 1 message of 1 conversation; 1 day of it in a newer export, which is read",
    ]


async def test_a_broken_file_leaves_what_is_stored(tmp_path: Path):
    path, ingest = zip_file(tmp_path / "e.zip", {"conversations.json": CLAUDE}), pipeline()
    whole = path.read_bytes()
    await ingest.run([path], "d")
    await ingest.run([tmp_path], "folder")
    for broken in (whole[: len(whole) // 2], b""):
        path.write_bytes(broken)
        report = await ingest.run([path], "d")
        assert (counts(report), report.documents) == ({"skipped": 1}, 1)
        assert (await ingest.run([tmp_path], "folder")).documents == 1
    zip_file(path, {"conversations.json": '[{"chat_messages": ['})
    report = await ingest.run([path], "d")
    assert (counts(report), report.documents) == ({"skipped": 1}, 1)
    assert str(report.files[0].reason).startswith("no valid JSON")


def test_limits_of_a_zip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    bomb = zip_file(tmp_path / "bomb.zip", {"conversations.json": "[" + " " * 11_000_000 + "]"})
    (told,) = reasons(discover([bomb]))
    assert told == (
        "too large unpacked: 'conversations.json' has 11,000,002 bytes, and the limits are 500,000,000 for all that is "
        "read and 100 times the packed size"
    )
    parts = zip_file(tmp_path / "parts.zip", {f"conversations-{part}.json": CLAUDE for part in range(3)})
    assert len(discover([parts]).items) == 1
    monkeypatch.setattr(exports, "MAX_UNPACKED", 2 * len(json.dumps(CLAUDE)))
    assert reasons(discover([parts]))[0].startswith("'conversations-2.json': too large unpacked")


def test_a_zip_that_understates_a_size_is_told(tmp_path: Path):
    path = zip_file(tmp_path / "e.zip", {"conversations.json": "[" + " " * 3_000_000 + "]"})
    size = (3_000_002).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (7).to_bytes(4, "little")))
    assert len(reasons(discover([path]))) == 1


def test_locked_and_otherwise_packed_zips_are_told(tmp_path: Path):
    path = zip_file(tmp_path / "e.zip", {"conversations.json": CLAUDE})
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    assert reasons(discover([path])) == ["it is locked by a password"]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("conversations.json", json.dumps(CLAUDE))
    assert reasons(discover([path])) == ["no zip that can be read (packed by another way than deflate)"]


def test_an_export_without_messages(tmp_path: Path):
    path = write(tmp_path, {"result.json": {**TELEGRAM, "messages": []}}) / "result.json"
    scan = discover([path])
    assert (scan.items, scan.exports[0][1]) == ((), "Telegram: 0 messages of 1 conversation")


def test_messages_without_text_are_counted(tmp_path: Path):
    messages = [*TELEGRAM["messages"], {"id": 3, "type": "message", "date": "x", "text": ""}]
    scan = discover([write(tmp_path, {"result.json": {**TELEGRAM, "messages": messages}}) / "result.json"])
    assert scan.exports[0][1] == "Telegram: 3 messages of 1 conversation; 1 message without text"


async def test_following_a_folder_reads_an_unchanged_export_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = write(tmp_path, {"result.json": TELEGRAM}) / "result.json"
    os.utime(path, (1, 1))
    monkeypatch.setattr("agentic_rag.ingest.remembered.SETTLED_NS", -(10**12))
    ingest, remembered, read = pipeline(), DatasetCache(), []
    real = exports.read_exports
    monkeypatch.setattr(
        "agentic_rag_readers.chats.reader.read_exports", lambda *given: read.append(given[0]) or real(*given)
    )
    for _ in range(3):
        report = await ingest.run([tmp_path], "d", cache=remembered)
    assert (report.documents, read) == (2, [path])


JUNK = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.integers(), max_size=2), st.just({}))  # fmt: skip


def _damaged(value: Any, draw: Any) -> Any:
    if draw(st.integers(0, 9)) == 0:
        return draw(JUNK)
    if isinstance(value, dict):
        return {key: _damaged(inner, draw) for key, inner in value.items() if draw(st.integers(0, 19))}
    return [_damaged(inner, draw) for inner in value] if isinstance(value, list) else value


@given(st.data())
def test_no_damage_to_the_form_ends_a_reader(data: st.DataObject):
    rich = {"attachments": [{"file_name": "a", "extracted_content": "b"}], "files": [{"file_name": "c"}]}
    claude = [{**CLAUDE[0], "chat_messages": [{**one, **rich, "content": [{"type": "text", "text": "x"}], "parent_message_uuid": "1"} for one in CLAUDE[0]["chat_messages"]]}]  # fmt: skip
    telegram = {"chats": {"list": [{**TELEGRAM, "messages": [{**one, "poll": {"question": "q", "answers": [{"text": "a"}]}, "file": "f"} for one in TELEGRAM["messages"]]}]}}  # fmt: skip
    slack = [{**SLACK[0], "files": [{"name": "a"}], "attachments": [{"text": "t"}], "user_profile": {"real_name": "A"}, "subtype": ""}]  # fmt: skip
    for written, looks_like, threads in (
        (CHATGPT, looks_like_chatgpt, chatgpt_threads),
        (claude, looks_like_claude, claude_threads),
        (telegram, looks_like_telegram, telegram_threads),
    ):
        damaged = _damaged(written, data.draw)
        if looks_like(damaged):
            assert all(len(days(thread)) <= 3 for thread in threads(damaged))
    day = _damaged(slack, data.draw)
    names = Names.of({"users.json": _damaged(USERS, data.draw), "dms.json": _damaged([{"id": "D", "members": ["U1"]}], data.draw)}.get)  # fmt: skip
    if looks_like_slack(day):
        assert len(days(slack_thread(day, "c", names))) <= 1
