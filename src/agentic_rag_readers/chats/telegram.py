"""Telegram Desktop's ``result.json``: one chat, or all of an account; times as the export shows them."""

from __future__ import annotations

from collections.abc import Iterator

from agentic_rag.domain.json_values import Json
from agentic_rag_readers.chats.messages import Message, Thread, inner, moment, name_of, objects, text_of

_MEDIA = ("file", "photo", "media_type", "location_information", "contact_information")


def looks_like_telegram(json_value: object) -> bool:
    """Whether a JSON value is a chat with messages of Telegram's form, or an account's chats."""
    return isinstance(json_value, dict) and any(True for _ in _chats(json_value))


def telegram_threads(json_value: Json) -> Iterator[Thread]:
    """The chats of a value that ``looks_like_telegram``; notices, such as of who joined, are left out."""
    for chat in _chats(json_value):
        title = name_of(chat.get("name"), str(chat.get("type", "")).replace("_", " ")) or "Telegram"
        written = objects(chat.get("messages"))
        messages = tuple(_message(one) for one in written if one.get("type", "message") == "message")
        yield Thread(name_of(chat.get("id")) or title, title, messages)


def _chats(json_value: Json) -> Iterator[Json]:
    listed = [one for key in ("chats", "left_chats") for one in objects(inner(json_value, key).get("list"))]
    return (chat for chat in listed or [json_value] if _is_chat(chat))


def _is_chat(chat_json: Json) -> bool:
    messages = chat_json.get("messages")
    if not isinstance(messages, list) or not {"type", "id"} <= chat_json.keys():
        return False
    return not messages or any({"date", "text"} <= one.keys() for one in objects(messages))


def _message(chat_json: Json) -> Message:
    source = name_of(chat_json.get("forwarded_from"))
    poll = inner(chat_json, "poll")
    answers = [text_of(one.get("text")) for one in objects(poll.get("answers"))]
    texts = [f"(forwarded from {source})" if source else "", _text(chat_json.get("text"))]
    particulars = list(_particulars(chat_json))
    texts += [_text(poll.get("question")), ", ".join(filter(None, answers)), *particulars]
    has_media = any(chat_json.get(key) for key in _MEDIA) and not any(particulars)
    return Message(
        text_of(chat_json.get("id")),
        name_of(chat_json.get("from")) or ("Deleted account" if chat_json.get("from_id") else ""),
        moment(chat_json.get("date")),
        " ".join(filter(None, texts)) if any(texts[1:]) else "",
        (name_of(chat_json.get("file_name")),) if has_media else (),
    )


def _particulars(chat_json: Json) -> Iterator[str]:
    """The words of a place, a contact and a checklist."""
    contact, tasks = inner(chat_json, "contact_information"), inner(chat_json, "todo_list")
    yield from (text_of(chat_json.get(key)) for key in ("place_name", "address"))
    yield from (text_of(contact.get(key)) for key in ("first_name", "last_name", "phone_number"))
    yield _text(tasks.get("title"))
    yield ", ".join(filter(None, (_text(one.get("text")) for one in objects(tasks.get("items")))))


def _text(value: object) -> str:
    """A text, or the joined pieces of one: strings, and objects for links, mentions and styles."""
    if not isinstance(value, list):
        return text_of(value)
    return "".join(text_of(one.get("text") if isinstance(one, dict) else one) for one in value)
