"""Claude's messages: the branch that ends last, pasted texts, files counted."""

from datetime import UTC, datetime
from typing import Any

from agentic_rag_readers.chats.claude import claude_threads, looks_like_claude


def message(identity: str, sender: str, text: str, parent: str | None = None, **more: Any) -> dict[str, Any]:
    found = {
        "uuid": identity,
        "text": text,
        "sender": sender,
        "created_at": "2024-05-01T10:00:00.123456Z",
        "attachments": [],
        "files": [],
        **more,
    }
    return found if parent is None else found | {"parent_message_uuid": parent}


def conversation(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"uuid": "u", "name": "Bike chain", "chat_messages": list(messages), **more}


def lines(*messages: Any, **more: Any) -> list[str]:
    (thread,) = claude_threads([conversation(*messages, **more)])
    return [one.line for one in thread.messages]


def test_messages_of_an_export_without_branches():
    (thread,) = claude_threads(
        [conversation(message("1", "human", "How long?"), message("2", "assistant", "Long."))]
    )
    assert [one.line for one in thread.messages] == ["User: How long?", "Claude: Long."]
    assert (thread.id, thread.title, thread.url) == ("u", "Bike chain", "https://claude.ai/chat/u")
    assert thread.messages[0].time == datetime(2024, 5, 1, 10, 0, 0, 123456, tzinfo=UTC)


def test_the_branch_of_the_last_message_or_of_the_leaf_that_is_named():
    messages = (
        message("1", "human", "How long?", "00000000-0000-4000-8000-000000000000"),
        message("2", "assistant", "Long.", "1"),
        message("3", "human", "How long does a chain last?", "00000000-0000-4000-8000-000000000000"),
        message("4", "assistant", "3,000 km.", "3"),
    )
    assert lines(*messages) == ["User: How long does a chain last?", "Claude: 3,000 km."]
    assert lines(*messages, current_leaf_message_uuid="2") == ["User: How long?", "Claude: Long."]


def test_blocks_of_text_pasted_texts_and_files():
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."}, {"type": "tool_use"}]
    pasted = [{"file_name": "a.txt", "extracted_content": "pasted words"}, {"file_name": "b.bin"}]
    (thread,) = claude_threads(
        [conversation(message("1", "assistant", "Yes. (not supported)", content=blocks, attachments=pasted, files=[{"file_name": "c.png"}]))]
    )  # fmt: skip
    (only,) = thread.messages
    assert only.text == "Yes.\npasted words"
    assert only.attachments == ("b.bin", "c.png")


def test_missing_fields():
    broken = [conversation(), conversation("text", {}), {"chat_messages": None}, 7]
    assert looks_like_claude(broken)
    assert [[one.line for one in thread.messages] for thread in claude_threads(broken)] == [
        [],
        ["", ""],
        [],
        [],
    ]
    assert not any(map(looks_like_claude, ([], {}, [{"chat_messages": {}}])))


def test_a_document_beside_the_conversation():
    def made(**written: str) -> dict[str, Any]:
        return {"type": "tool_use", "name": "artifacts", "input": written}

    blocks = [
        {"type": "text", "text": "Here."},
        made(command="create", title="Plan", content="Row at six."),
        made(command="update", old_str="six", new_str="seven"),
        {"type": "tool_use", "name": "web_search", "input": {"content": "secret"}},
    ]
    assert lines(message("1", "assistant", "Here.", content=blocks)) == [
        "Claude: Here.\nPlan\nRow at six.\nseven"
    ]
