"""Claude's ``conversations.json``: messages with ``sender``, of which the branch that ends last is read."""

from __future__ import annotations

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

_SENDERS = {"human": "User", "assistant": "Claude"}


def looks_like_claude(json_value: object) -> bool:
    """Whether a JSON value is a list of conversations with ``chat_messages``."""
    return any(isinstance(one.get("chat_messages"), list) for one in objects(json_value))


def claude_threads(json_value: object) -> Iterator[Thread]:
    """The conversations of a value that ``looks_like_claude``."""
    for conversation in objects(json_value):
        title = name_of(conversation.get("name")) or "Claude"
        named = name_of(conversation.get("uuid"))
        shown = _visible_branch(list(objects(conversation.get("chat_messages"))), conversation)
        yield Thread(
            named or title,
            title,
            tuple(map(_message, shown)),
            f"https://claude.ai/chat/{named}" if named else None,
        )


def _visible_branch(messages: list[Json], conversation: Json) -> list[Json]:
    """All where no message names one before it: older exports have no branches."""
    by_id = {text_of(one.get("uuid")): one for one in messages if one.get("uuid")}
    parents = {identity: text_of(one.get("parent_message_uuid")) for identity, one in by_id.items()}
    if not by_id.keys() & set(parents.values()):
        return messages
    leaf = text_of(conversation.get("current_leaf_message_uuid"))
    return [by_id[identity] for identity in branch(parents, leaf if leaf in by_id else next(reversed(by_id)))]


def _message(message_json: Json) -> Message:
    blocks = [text for block in objects(message_json.get("content")) if (text := _block_text(block))]
    pasted = list(objects(message_json.get("attachments")))
    read = [text_of(one.get("extracted_content")) for one in pasted]
    texts = [*(blocks or [text_of(message_json.get("text"))]), *read]
    unread = [one for one, content in zip(pasted, read, strict=True) if not content]
    return Message(
        text_of(message_json.get("uuid")),
        _SENDERS.get(text_of(message_json.get("sender")), name_of(message_json.get("sender"))),
        moment(message_json.get("created_at")),
        "\n".join(filter(None, texts)),
        tuple(name_of(one.get("file_name")) for one in [*unread, *objects(message_json.get("files"))]),
    )


def _block_text(block: Json) -> str:
    """A block's text, or the document that stands beside the conversation (an artifact); "" for thoughts and tools."""
    if block.get("type") == "text":
        return text_of(block.get("text"))
    written = (
        inner(block, "input") if (block.get("type"), block.get("name")) == ("tool_use", "artifacts") else {}
    )
    content = text_of(written.get("content")) or text_of(written.get("new_str"))
    return "\n".join(filter(None, [text_of(written.get("title")), content])) if content else ""
