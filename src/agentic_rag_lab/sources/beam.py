"""BEAM conversations to documents: one a batch, one block a message.

The published ``chat.json`` is a list of batches of turns of messages. It dates the first message of a batch only,
repeats some texts word for word, and its generator left marks such as ``->-> 1,13`` in messages.

Source: Tavakoli et al., Beyond a Million Tokens: Benchmarking and Enhancing Long-Term Memory in LLMs, 2025,
arXiv:2510.27246.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from agentic_rag.dates.months import day_text
from agentic_rag.domain import Block, Document
from agentic_rag.domain.json_values import Json
from agentic_rag.notes.values import read_date, valid_unicode

CHAT = "chat.json"
"""What the file of a conversation is called."""
ABSTENTION = "abstention"
EVENT_ORDERING = "event_ordering"
SUMMARIZATION = "summarization"
SIX_KINDS = (
    "contradiction_resolution",
    "knowledge_update",
    "temporal_reasoning",
    "information_extraction",
    "multi_session_reasoning",
    "preference_following",
)
"""Kinds of question whose few sources can be found by a search; evidence recall is averaged over them."""
KINDS = (*SIX_KINDS, "instruction_following", EVENT_ORDERING, SUMMARIZATION, ABSTENTION)
"""Of question."""
LONG_WORDS = 4_000
"""Minimum number of words of a message that is reported as unusually long."""

_MARK = re.compile(r"\s*->->\s*\d+\s*,\s*(?:\d+|N/A)\)?[ \t]*")
_CONTROL = re.compile(r"\b(?:always|never)\b[ \t]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    id: str
    """Unique in the conversation: what evidence names."""
    role: str
    """``user`` or ``assistant``."""
    text: str
    """Without the generator's marks."""
    date: datetime | None
    """Of the last message before it, or itself, that has one; in UTC."""
    batch: int
    """From 1."""
    position: int
    """In the conversation, from 0."""
    index: str | None = None
    """``batch,bullet`` of the plan that the generator worked by, where the file says it."""


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something in the file that could not be taken as it stood."""

    text: str
    note: str


@dataclass(frozen=True, slots=True)
class Chat:
    """The messages of a file in order, and its irregularities."""

    messages: tuple[Message, ...]
    oddities: tuple[Oddity, ...] = ()


def looks_like_beam(json_value: object) -> bool:
    """Whether a JSON value is a list of batches with turns."""
    return (
        isinstance(json_value, list)
        and bool(json_value)
        and all(isinstance(batch, dict) and isinstance(batch.get("turns"), list) for batch in json_value)
    )


def name_of(chat_file: Path) -> str:
    """What a conversation is called: the last two folders over its file, ``100K/1``."""
    folder = chat_file.resolve().parent
    return valid_unicode("/".join(folder.parts[-2:]).lstrip("/")) or chat_file.stem


def read_chat(json_value: Sequence[Mapping[str, Any]]) -> Chat:
    """The messages of a value that ``looks_like_beam``.

    A message without id or text, or with an id that was given before, is left out and told.
    """
    messages: list[Message] = []
    oddities: list[Oddity] = []
    first_of: dict[str, str] = {}
    ids: set[str] = set()
    date: datetime | None = None
    marked = 0
    for batch, item in _items(json_value):
        written = _anchor(item)
        dated = read_date(written)
        if written is not None and dated is None:
            oddities.append(Oddity(written, "no date that can be read: the one before it counts"))
        date = dated or date
        identity, said = _id(item), _text(item)
        text, marks = _MARK.subn(" ", said)
        text = text.strip()
        why = _unusable(identity, text, ids)
        if why:
            oddities.append(Oddity(identity or f"{item!r:.80}", f"message {why}"))
            continue
        marked += marks > 0
        ids.add(identity)
        oddities += _odd_text(identity, text, first_of.setdefault(text, identity))
        index = item.get("index") if isinstance(item, dict) else None
        messages.append(
            Message(identity, _role(item), text, date, batch, len(messages), index if index is None else str(index))
        )  # fmt: skip
    if marked:
        oddities.append(Oddity("->->", f"the generator's marks in {marked} messages: taken out"))
    return Chat(tuple(messages), tuple(oddities))


def without_control_words(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages without the words "always" and "never", by which this data marks many sources: a control.

    A message of nothing else keeps its text.
    """
    return tuple(
        replace(message, text=_CONTROL.sub("", message.text).strip() or message.text) for message in messages
    )


def batches(messages: Sequence[Message]) -> Iterator[tuple[int, tuple[Message, ...]]]:
    """Number and messages of each batch that has any."""
    for number in dict.fromkeys(message.batch for message in messages):
        yield number, tuple(message for message in messages if message.batch == number)


def batch_id(conversation: str, batch: int) -> str:
    """Document id of a batch."""
    return f"{conversation}/batch_{batch}"


def parse_batch(conversation: str, messages: Sequence[Message], *, path: str) -> Document:
    """The document of one batch: the messages as they are, each a turn.

    Args:
        conversation: see ``name_of``.
        messages: of the batch; at least one.
        path: of the file.
    """
    batch = messages[0].batch
    shared: Json = {"conversation": conversation, "batch": batch}
    blocks: list[Block] = []
    position = 0
    for message in messages:
        end = position + len(message.text)
        blocks.append(
            Block("turn", position, end, key=message.id, date=message.date, metadata=_metadata(message))
        )
        position = end + 1
    date = messages[0].date
    day = "" if date is None else f", {day_text(date)}"
    return Document(
        id=batch_id(conversation, batch),
        path=path,
        title=f"{conversation}, batch {batch}{day}",
        text="\n".join(message.text for message in messages),
        kind="session",
        blocks=tuple(blocks),
        metadata=shared,
        date=date,
    )


def _metadata(message: Message) -> Json:
    found: Json = {"dia_id": message.id, "id": message.id, "role": message.role}
    if message.role:
        found["speaker"] = message.role
    if message.index is not None:
        found["index"] = message.index
    if message.date is not None:
        found["date"] = message.date.date().isoformat()
    return found


def _items(json_value: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Any]]:
    """Each message as it is written, with the number of its batch, from 1."""
    for number, batch in enumerate(json_value, start=1):
        for turn in batch["turns"]:
            for item in turn if isinstance(turn, list) else (turn,):
                yield number, item


def _unusable(identity: str, text: str, ids: set[str]) -> str:
    """Why a message is left out; "" if it is not."""
    if not identity:
        return "without an id: left out"
    if not text:
        return "without a text: left out"
    return "id that comes a second time: the first counts" if identity in ids else ""


def _odd_text(identity: str, text: str, first: str) -> Iterator[Oddity]:
    if first != identity:
        yield Oddity(identity, f"message that says the text of {first} again: each is a message of its own")
    words = len(text.split())
    if words >= LONG_WORDS:
        yield Oddity(identity, f"message of {words} words: taken whole")
    if "->->" in text:
        yield Oddity(identity, "message with a mark of the generator that is not known: left in")


def _id(item: Any) -> str:
    value = item.get("id") if isinstance(item, dict) else None
    return (
        ""
        if isinstance(value, bool) or not isinstance(value, str | int)
        else valid_unicode(str(value)).strip()
    )


def _text(item: Any) -> str:
    value = item.get("content") if isinstance(item, dict) else None
    return valid_unicode(value) if isinstance(value, str) else ""


def _role(item: Any) -> str:
    value = item.get("role")
    return valid_unicode(value).strip() if isinstance(value, str) else ""


def _anchor(item: Any) -> str | None:
    value = item.get("time_anchor") if isinstance(item, dict) else None
    return None if value is None else str(value)
