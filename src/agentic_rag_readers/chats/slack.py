"""Slack's export: a folder a channel with a JSON file a day, and ``users.json`` with the names."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from agentic_rag.domain.json_values import Json
from agentic_rag_readers.chats.messages import Message, Thread, inner, moment, name_of, objects, text_of

DAY_FILE = re.compile(r"(?P<base>(?:.*/)?)(?P<channel>[^/]+)/\d{4}-\d\d-\d\d\.json")
_OWN = frozenset({"", "bot_message", "file_share", "file_comment", "me_message", "thread_broadcast"})
"""Subtypes of what somebody wrote; the others are notices."""
_DEEPEST = 20
_REFERENCE = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


@dataclass(frozen=True, slots=True)
class Names:
    """What the ids of an export stand for."""

    users: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)
    """Of conversations whose folders are called by an id: those who take part."""
    team: str = ""
    """Id of the workspace: every one has a channel ``general``."""

    @classmethod
    def of(cls, load: Callable[[str], object]) -> Names:
        """The names in the files beside the folders; ``load`` gives None for one that is not there."""
        written = list(objects(load("users.json")))
        users = {text_of(one.get("id")): _user(one) for one in written}
        talks = {text_of(one.get("id")): one.get("members") for one in objects(load("dms.json"))}
        titles = {
            identity: " and ".join(users.get(one, one) for one in map(text_of, members))
            for identity, members in talks.items()
            if isinstance(members, list)
        }
        return cls(users, titles, name_of(*(one.get("team_id") for one in written)))


def _user(message_json: Json) -> str:
    profile = inner(message_json, "profile")
    return name_of(message_json.get("real_name"), profile.get("real_name"), profile.get("display_name"), message_json.get("name"))  # fmt: skip


def looks_like_slack(json_value: object) -> bool:
    """Whether a JSON value is a list of messages with ``ts``."""
    return any("ts" in one and one.get("type") == "message" for one in objects(json_value))


def slack_thread(json_value: object, channel: str, names: Names) -> Thread:
    """One day of a channel, from a value that ``looks_like_slack``; notices are left out."""
    messages = (_message(one, names) for one in objects(json_value) if text_of(one.get("subtype")) in _OWN)
    identity = f"{names.team}/{channel}" if names.team else channel
    return Thread(identity, names.channels.get(channel) or channel, tuple(messages))


def _message(message_json: Json, names: Names) -> Message:
    user = text_of(message_json.get("user"))
    sender = name_of(names.users.get(user), inner(message_json, "user_profile").get("real_name"), message_json.get("username"), user)  # fmt: skip
    # What a program posts is often in blocks or attachments alone.
    text = text_of(message_json.get("text")) or "\n".join(_block_texts(message_json.get("blocks")))
    posted = chain.from_iterable(map(_attachment_texts, objects(message_json.get("attachments"))))
    text = "\n".join([*filter(None, [text]), *(one for one in dict.fromkeys(posted) if one not in text)])
    files = tuple(name_of(one.get("name"), one.get("title")) for one in objects(message_json.get("files")))
    return Message(
        text_of(message_json.get("ts")), sender, moment(message_json.get("ts")), _plain(text, names), files
    )


def _attachment_texts(attachment: Json) -> Iterator[str]:
    """The texts that Slack shows of an attachment, such as what a link leads to; else what stands for all of it."""
    shown = [text_of(attachment.get(key)) for key in ("pretext", "title", "text")]
    shown += [
        ": ".join(filter(None, (text_of(one.get("title")), text_of(one.get("value")))))
        for one in objects(attachment.get("fields"))
    ]
    shown += _block_texts(attachment.get("blocks"))
    yield from filter(None, shown if any(shown) else [text_of(attachment.get("fallback"))])


def _block_texts(blocks: object) -> list[str]:
    """The texts of blocks, each in one line: of rich text, of sections with fields, of headers."""
    return [line for one in objects(blocks) if (line := "".join(_pieces(one)).strip())]


def _pieces(block: Json, depth: int = 0) -> Iterator[str]:
    kind = text_of(block.get("type"))
    if kind == "user":
        yield f"<@{text_of(block.get('user_id'))}>"
    elif kind == "link":
        yield f"<{text_of(block.get('url'))}|{text_of(block.get('text'))}>"
    elif kind == "emoji":
        yield f":{text_of(block.get('name'))}:"
    elif depth < _DEEPEST:
        yield text_of(block.get("text"))
        for key in ("text", "fields", "elements"):
            inner_blocks = block.get(key)
            for one in objects([inner_blocks] if isinstance(inner_blocks, dict) else inner_blocks):
                yield from _pieces(one, depth + 1)
        yield "\n" * kind.startswith(("rich_text_", "mrkdwn", "plain_text"))


def _plain(text: str, names: Names) -> str:
    """The text as Slack shows it: names for ids, labels with their addresses."""

    def visible_text(reference: re.Match[str]) -> str:
        sign, target, label = reference.groups()
        if sign == "@":
            return f"@{names.users.get(target) or label or target}"
        if sign:
            return f"{'@' if sign == '!' else '#'}{label or target}"
        return f"{label} ({target})" if label and label not in target else target

    return html.unescape(_REFERENCE.sub(visible_text, text))
