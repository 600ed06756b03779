"""Slack's export: a folder a channel with a JSON file a day, and ``users.json`` with the names."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agentic_rag.domain.json_values import Json
from agentic_rag.ingest.chats.messages import Message, Thread, inner, moment, name_of, objects, text_of

DAY_FILE = re.compile(r"(?P<base>(?:.*/)?)(?P<channel>[^/]+)/\d{4}-\d\d-\d\d\.json")
_OWN = frozenset({"", "bot_message", "file_share", "file_comment", "me_message", "thread_broadcast"})
"""Subtypes of what somebody wrote; the others are notices."""
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
    # What a program posts is often in attachments alone.
    posted = [
        name_of(one.get("text"), one.get("fallback")) for one in objects(message_json.get("attachments"))
    ]
    text = text_of(message_json.get("text")) or "\n".join(filter(None, posted))
    files = tuple(name_of(one.get("name"), one.get("title")) for one in objects(message_json.get("files")))
    return Message(
        text_of(message_json.get("ts")), sender, moment(message_json.get("ts")), _plain(text, names), files
    )


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
