"""What every exported conversation is read into, and its documents: one a day, one block a message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agentic_rag.dates.months import day_text
from agentic_rag.domain import Block, Document
from agentic_rag.notes.values import valid_unicode

UNDATED_KEY = "undated"
"""In place of the day, of messages before which none has a time."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message as its reader sees it."""

    key: str
    """Names it in its conversation, in this export and in later ones."""
    sender: str
    """A name; "" where the export has none."""
    time: datetime | None
    """In UTC, or as the export shows it where it shows local times alone."""
    text: str
    attachments: tuple[str, ...] = ()
    """Names of files that belong to it and are not read; "" for one without a name."""

    @property
    def line(self) -> str:
        """``Ann: text [attached: plan.pdf]``; "" where neither text nor a file's name is there."""
        names = (f"[attached: {name}]" for name in self.attachments if name)
        content = " ".join([*filter(None, [self.text.strip()]), *names])
        return f"{self.sender}: {content}" if self.sender and content else content


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation of an export: a chat, a channel."""

    id: str
    """The same in a later export."""
    title: str
    messages: tuple[Message, ...]
    """In order."""
    url: str | None = None
    warning: str | None = None
    """What of it is a guess."""


def days(thread: Thread) -> dict[str, tuple[Message, ...]]:
    """The messages with content by ISO day, or ``UNDATED_KEY``; one without a time is of the day before it."""
    found: dict[str, list[Message]] = {}
    day = UNDATED_KEY
    for message in thread.messages:
        day = day if message.time is None else message.time.date().isoformat()
        if message.line:
            found.setdefault(day, []).append(message)
    return {day: tuple(messages) for day, messages in found.items()}


def parse_day(
    document_id: str, path: str, title: str, messages: Sequence[Message], url: str | None
) -> Document:
    """The document of one day of a conversation, each message a turn with speaker, day and time of its own."""
    blocks: list[Block] = []
    position = 0
    for message in messages:
        end = position + len(message.line)
        metadata = _metadata(title, message)
        blocks.append(
            Block("turn", position, end, key=message.key or None, date=message.time, metadata=metadata)
        )
        position = end + 1
    date = next((message.time for message in messages if message.time is not None), None)
    return Document(
        id=document_id,
        path=path,
        title=title if date is None else f"{title}, {day_text(date)}",
        text="\n".join(message.line for message in messages),
        kind="session",
        blocks=tuple(blocks),
        metadata={"conversation": title},
        date=date,
        url=url,
    )


def _metadata(title: str, message: Message) -> dict[str, Any]:
    found = {"conversation": title}
    if message.sender:
        found["speaker"] = message.sender
    if message.time is not None:
        found |= {"date": message.time.date().isoformat(), "time": f"{message.time:%H:%M:%S}"}
    return found


def branch(parents: Mapping[str, str | None], leaf: str | None) -> list[str]:
    """The ids from the root to ``leaf``, each the child of the one before; none for an id that is not there."""
    found: dict[str, None] = {}
    while leaf is not None and leaf in parents and leaf not in found:
        found[leaf] = None
        leaf = parents[leaf]
    return list(reversed(found))


def objects(value: object) -> Iterator[dict[str, Any]]:
    """The items of a list, with an empty object for each that is none; nothing where it is no list."""
    for item in value if isinstance(value, list) else ():
        yield item if isinstance(item, dict) else {}


def inner(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An object within an object; an empty one where it is missing or none."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def text_of(value: object) -> str:
    """A string, or a number as text; "" for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return valid_unicode(str(value))


def name_of(*candidates: object) -> str:
    """The first that is a text, in one line; "" where none is."""
    return next((name for one in candidates if (name := " ".join(text_of(one).split()))), "")


def moment(value: object) -> datetime | None:
    """Seconds since 1970 (a number, or one as text) or an ISO time, in UTC; None for what is neither."""
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdecimal():
            written = datetime.fromisoformat(value)
            return written.replace(tzinfo=UTC) if written.tzinfo is None else written.astimezone(UTC)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(float(value), UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None
