"""ChatGPT's ``conversations.json``: a tree of messages a conversation, of which the branch last shown is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from agentic_rag.domain.json_values import Json
from agentic_rag_readers.chats.messages import (
    Message,
    Thread,
    branch,
    inner,
    moment,
    name_of,
    objects,
    text_of,
)

_SENDERS = {"user": "User", "assistant": "ChatGPT"}
_CONTENTS = frozenset({"text", "multimodal_text", "code"})
_CANVAS = "canmore.create_textdoc"
_MARKS = re.compile("\ue200[^\ue200\ue201]*\ue201|[\ue200-\ue206]|【\\d+[^】]{0,40}】")
"""References to search results, which the page draws as buttons."""


def looks_like_chatgpt(json_value: object) -> bool:
    """Whether a JSON value is a list of conversations with a ``mapping``."""
    return any(isinstance(one.get("mapping"), dict) for one in objects(json_value))


def chatgpt_threads(json_value: object) -> Iterator[Thread]:
    """The conversations of a value that ``looks_like_chatgpt``."""
    for conversation in objects(json_value):
        nodes = {
            identity: node for identity, node in inner(conversation, "mapping").items() if isinstance(node, dict)
        }  # fmt: skip
        parents = {identity: text_of(node.get("parent")) or None for identity, node in nodes.items()}
        leaf = text_of(conversation.get("current_node"))
        shown = branch(parents, leaf if leaf in nodes else next(reversed(nodes), None))
        title = name_of(conversation.get("title")) or "ChatGPT"
        named = name_of(conversation.get("conversation_id"), conversation.get("id"))
        messages = (_message(identity, inner(nodes[identity], "message")) for identity in shown)
        yield Thread(
            named or title,
            title,
            tuple(message for message in messages if message is not None),
            f"https://chatgpt.com/c/{named}" if named else None,
        )


def _message(identity: str, message_json: Json) -> Message | None:
    """None for what is not shown: instructions, calls of tools but for a document's (a canvas), thoughts."""
    sender = _SENDERS.get(text_of(inner(message_json, "author").get("role")))
    content, about = inner(message_json, "content"), inner(message_json, "metadata")
    recipient = message_json.get("recipient", "all")
    is_hidden = about.get("is_visually_hidden_from_conversation") or recipient not in ("all", _CANVAS)
    if sender is None or is_hidden or text_of(content.get("content_type")) not in _CONTENTS:
        return None
    given = content.get("parts")
    parts = given if isinstance(given, list) else [content.get("text")]
    texts = [text_of(part.get("text")) if isinstance(part, dict) else text_of(part) for part in parts]
    pictures = [part for part in parts if isinstance(part, dict) and not part.get("text")]
    names = [name_of(one.get("name")) for one in objects(about.get("attachments"))]
    unnamed = ("",) * max(0, len(pictures) - len(names))
    text = _MARKS.sub("", "\n".join(filter(None, texts)))
    text = _canvas_text(text) if recipient == _CANVAS else text
    return Message(identity, sender, moment(message_json.get("create_time")), text, (*names, *unnamed))


def _canvas_text(call: str) -> str:
    """Name and content of the document that a call makes."""
    try:
        written = json.loads(call)
    except (ValueError, RecursionError):
        return ""
    document = written if isinstance(written, dict) else {}
    return "\n".join(filter(None, (text_of(document.get(key)) for key in ("name", "content"))))
