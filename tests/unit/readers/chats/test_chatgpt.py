"""ChatGPT's tree of messages: the branch last shown, without what its page does not show."""

from datetime import UTC, datetime
from typing import Any

from agentic_rag_readers.chats.chatgpt import chatgpt_threads, looks_like_chatgpt

HOUR = 1714550000.0


def node(
    identity: str, parent: str | None, role: str = "user", *parts: Any, content: str = "text", **more: Any
) -> dict[str, Any]:
    message = {
        "id": identity,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": HOUR,
        "content": {"content_type": content, "parts": list(parts)},
        "status": "finished_successfully",
        "recipient": "all",
        "metadata": {},
        **more,
    }
    return {"id": identity, "message": message if parts else None, "parent": parent, "children": []}


def conversation(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "title": "Sourdough help",
        "create_time": HOUR,
        "mapping": {one["id"]: one for one in nodes},
        "current_node": nodes[-1]["id"],
        "conversation_id": "c-1",
        **more,
    }


def lines(*nodes: dict[str, Any], **more: Any) -> list[str]:
    (thread,) = chatgpt_threads([conversation(*nodes, **more)])
    return [message.line for message in thread.messages]


def test_only_the_branch_last_shown_is_read():
    nodes = (
        node("root", None),
        node("q1", "root", "user", "Why is it flat?"),
        node("a1", "q1", "assistant", "Too warm."),
        node("q2", "root", "user", "Why is my loaf flat?"),
        node("a2", "q2", "assistant", "It is hungry."),
    )
    (thread,) = chatgpt_threads([conversation(*nodes)])
    assert [message.line for message in thread.messages] == [
        "User: Why is my loaf flat?",
        "ChatGPT: It is hungry.",
    ]
    assert (thread.id, thread.title, thread.url) == ("c-1", "Sourdough help", "https://chatgpt.com/c/c-1")
    assert thread.messages[0].time == datetime.fromtimestamp(HOUR, UTC)
    assert lines(*nodes, current_node="a1") == ["User: Why is it flat?", "ChatGPT: Too warm."]


def test_without_a_current_node_the_last_one_ends_the_branch():
    nodes = (node("root", None), node("q", "root", "user", "Hi"), node("a", "q", "assistant", "Hello"))
    for missing in ({"current_node": None}, {"current_node": "gone"}):
        assert lines(*nodes, **missing) == ["User: Hi", "ChatGPT: Hello"]


def test_what_the_page_does_not_show_is_left_out():
    assert lines(
        node("s", None, "system", "You are helpful"),
        node("i", "s", "user", "About me", metadata={"is_visually_hidden_from_conversation": True}),
        node("q", "i", "user", "Plot it"),
        node("c", "q", "assistant", "import x", content="code", recipient="python"),
        node("r", "c", "tool", "42", content="execution_output"),
        node("t", "r", "assistant", "Hm", content="thoughts"),
        node("a", "t", "assistant", "It is 42 \ue200cite\ue202turn0search1\ue201(see 【4†source】)."),
    ) == ["User: Plot it", "ChatGPT: It is 42 (see )."]


def test_pictures_and_files_are_counted_and_spoken_words_read():
    named = {"attachments": [{"id": "f", "name": "plan.pdf"}]}
    (thread,) = chatgpt_threads(
        [
            conversation(
                node("q", None, "user", {"content_type": "image_asset_pointer"}, "What is it?", content="multimodal_text"),
                node("p", "q", "user", "Read this", metadata=named),
                node("v", "p", "user", {"content_type": "audio_transcription", "text": "And aloud"}, content="multimodal_text"),
            )
        ]
    )  # fmt: skip
    assert [(one.line, one.attachments) for one in thread.messages] == [
        ("User: What is it?", ("",)),
        ("User: Read this [attached: plan.pdf]", ("plan.pdf",)),
        ("User: And aloud", ()),
    ]


def test_missing_fields_and_circles_end_the_branch():
    assert lines(node("a", "b", "user", "x"), node("b", "a", "user", "y")) == ["User: x", "User: y"]
    assert lines(node("a", "gone", "user", "x")) == ["User: x"]
    broken = [{"mapping": {}}, {"mapping": {"a": None, "b": {"message": {"author": "me"}}}}, "text"]
    assert looks_like_chatgpt(broken)
    assert [thread.messages for thread in chatgpt_threads(broken)] == [(), (), ()]
    assert not any(map(looks_like_chatgpt, ([], {}, [1], [{"mapping": 1}], "mapping")))


def test_a_document_beside_the_conversation():
    call = '{"name": "Plan", "type": "document", "content": "Row at six."}'
    nodes = [
        node("a", None, "assistant", call, recipient="canmore.create_textdoc"),
        node("b", "a", "assistant", "not JSON", recipient="canmore.create_textdoc"),
        node("c", "b", "assistant", call, recipient="python"),
    ]
    assert lines(*nodes) == ["ChatGPT: Plan\nRow at six.", ""]
