"""LoCoMo conversations to documents: one a session, one block a turn.

The public file has session dates without a session, sessions of an odd number of turns, and turns whose
meaning is in an image's caption; all of that is read as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agentic_rag.dates.months import day_text
from agentic_rag.domain import Block, Document
from agentic_rag.domain.json_values import Json
from agentic_rag.notes.values import jsonable, read_date, valid_unicode

_SESSION = re.compile(r"session_(\d{1,6})")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?\s{0,3}([ap])\.?m\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RawSession:
    """One session of a conversation, not parsed yet."""

    conversation: str
    number: int
    speakers: tuple[str, ...]
    date_text: str | None
    turns: tuple[Mapping[str, Any], ...]

    @property
    def document_id(self) -> str:
        return f"{self.conversation}/session_{self.number}"


def looks_like_locomo(json_value: object) -> bool:
    """Whether a JSON value is a list of LoCoMo samples, or a single one."""
    if isinstance(json_value, list):
        return bool(json_value) and all(
            isinstance(sample, dict) and "qa" in sample and isinstance(sample.get("conversation"), dict)
            for sample in json_value
        )
    return isinstance(json_value, dict) and any(_SESSION.fullmatch(key) for key in _conversation(json_value))


def sessions(json_value: object, *, name: str) -> Iterator[RawSession]:
    """The sessions that have turns, conversation by conversation, by number.

    Args:
        json_value: The JSON value: a list of samples, one sample, or the inside of its ``conversation``.
        name: What a conversation without ``sample_id`` is called.
    """
    samples = json_value if isinstance(json_value, list) else [json_value]
    for number, sample in enumerate(samples, 1):
        if not isinstance(sample, dict):
            continue
        inner = _conversation(sample)
        given = sample.get("sample_id")
        fallback = name if len(samples) == 1 else f"{name}-{number}"
        conversation = valid_unicode(str(given)) if given not in (None, "") else fallback
        speakers = tuple(
            valid_unicode(value)
            for key in ("speaker_a", "speaker_b")
            if isinstance(value := inner.get(key), str)
        )
        numbered = {
            int(match.group(1)): key for key in inner if (match := _SESSION.fullmatch(key)) is not None
        }
        for session in sorted(numbered):
            turns = inner[numbered[session]]
            kept = tuple(turn for turn in turns if isinstance(turn, dict)) if isinstance(turns, list) else ()
            if kept:
                date_text = inner.get(f"{numbered[session]}_date_time")
                yield RawSession(
                    conversation, session, speakers, date_text if isinstance(date_text, str) else None, kept
                )


def _conversation(sample: Json) -> Json:
    inner = sample.get("conversation")
    return inner if isinstance(inner, dict) else sample


def parse_session(session: RawSession, *, path: str) -> Document:
    """The document of one session: ``Speaker: text [shares a photo: caption]``, a line a turn."""
    date = parse_session_date(session.date_text)
    shared: Json = {"conversation": session.conversation, "session": session.number}
    if date is not None:
        shared["date"] = date.date().isoformat()
    lines: list[str] = []
    blocks: list[Block] = []
    position = 0
    for number, turn in enumerate(session.turns, 1):
        line = _turn_line(turn)
        if not line:
            continue
        key = _text(turn, "dia_id") or f"D{session.number}:{number}"
        metadata = {**shared, **_turn_metadata(turn, key)}
        blocks.append(Block("turn", position, position + len(line), key=key, date=date, metadata=metadata))
        lines.append(line)
        position += len(line) + 1
    undated = f"the session has no date that can be read: {session.date_text!r}"
    return Document(
        id=session.document_id,
        path=path,
        title=_title(session, date),
        text="\n".join(lines),
        kind="session",
        blocks=tuple(blocks),
        metadata=dict(shared),
        date=date,
        warnings=(undated,) if date is None else (),
    )


def parse_session_date(text: str | None) -> datetime | None:
    """``1:56 pm on 8 May, 2023`` (or an ISO date) in UTC; None where there is no date in it."""
    date, clock = read_date(text), _CLOCK.search(text or "")
    if date is None or clock is None:
        return date
    hour = int(clock[1]) % 12 + (12 if clock[3].lower() == "p" else 0)
    try:
        return date.replace(hour=hour, minute=int(clock[2] or 0))
    except ValueError:
        return None


def speaker_and_text(turn: Mapping[str, Any]) -> tuple[str, str]:
    """Who speaks ("" where nobody is named) and what, the caption of a shared photo included."""
    said = _text(turn, "text")
    caption = _text(turn, "blip_caption")
    if caption:
        said = f"{said} [shares a photo: {caption}]".strip()
    return _text(turn, "speaker"), said


def _turn_line(turn: Mapping[str, Any]) -> str:
    speaker, said = speaker_and_text(turn)
    return f"{speaker}: {said}" if speaker and said else said


def _turn_metadata(turn: Mapping[str, Any], key: str) -> Json:
    metadata: Json = {"dia_id": key}
    for name, field in (("speaker", "speaker"), ("image_caption", "blip_caption"), ("image_query", "query")):
        if _text(turn, field):
            metadata[name] = _text(turn, field)
    if turn.get("img_url"):
        metadata["image_url"] = jsonable(turn["img_url"])
    return metadata


def _text(turn: Mapping[str, Any], key: str) -> str:
    value = turn.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return valid_unicode(str(value)).strip()


def _title(session: RawSession, date: datetime | None) -> str:
    who = " and ".join(session.speakers) or session.conversation
    if date is None:
        return f"{who}, session {session.number}"
    return f"{who}, {day_text(date)}"
