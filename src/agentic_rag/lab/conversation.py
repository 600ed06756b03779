"""What goes into a memory and what it is asked: packets of one or two turns, and questions on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from agentic_rag.dates.instants import moment_of
from agentic_rag.ingest.beam import ABSTENTION

PACKET_TURNS = 2
"""Of LoCoMo; BEAM's messages are long, and each is a packet."""


class Dialog(TypedDict):
    """One turn."""

    speaker: str
    text: str
    date_time: str
    """ISO date of its session; as written where it is no date, "" where there is none."""
    role: NotRequired[str]
    """Of a message of BEAM: ``user`` or ``assistant``; with ``dia_id``, its id."""
    dia_id: NotRequired[str]


class Packet(TypedDict):
    """What ``MemorySource`` gives: one or two turns of one session."""

    task_id: str
    """The conversation."""
    session_id: int
    dialog_id: int
    """Place of its first turn in the session, from 0."""
    dialogs: list[Dialog]
    dialog_len: int
    """1 or 2."""
    packet_idx: int
    """From 0."""
    total_packets: int


def is_last(packet: Packet) -> bool:
    """Whether nothing of its conversation comes after it."""
    return packet["packet_idx"] + 1 >= packet["total_packets"]


@dataclass(frozen=True, slots=True)
class Session:
    """Turns of one session, in the order they were said."""

    number: int
    dialogs: tuple[Dialog, ...]
    turn_ids: tuple[str, ...]
    """Of each turn, unique in the conversation: what evidence names."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question on a conversation."""

    question_id: int
    """From 1, in the file's order."""
    text: str
    answer: str | None
    """None where there is none to be found: the right answer is to say so."""
    category: str
    evidence: tuple[str, ...]
    """Turn ids."""
    evidence_sets: tuple[tuple[str, ...], ...] = ()
    """Of BEAM, see ``evaluation.beam.Question.source_sets``."""
    rubric: tuple[str, ...] = ()
    """What a good answer holds, for a judge."""

    @property
    def answerable(self) -> bool:
        return self.category not in UNANSWERABLE


ADVERSARIAL = "adversarial"
"""Questions whose evidence is a trap: nothing in the conversation answers them."""
UNANSWERABLE = frozenset({ADVERSARIAL, ABSTENTION})
"""Categories whose right answer is that the conversation does not say it."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with its questions."""

    task_id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    repairs: tuple[str, ...] = ()
    """What of the file could not be taken as it stood, a line each."""
    benchmark: Literal["locomo", "beam"] = "locomo"
    """Whose protocol holds: BEAM asks all questions after the last message, and counts messages."""

    def packets(self) -> list[Packet]:
        """The whole conversation in order."""
        size = 1 if self.benchmark == "beam" else PACKET_TURNS
        places = [
            (session, start) for session in self.sessions for start in range(0, len(session.dialogs), size)
        ]
        return [
            Packet(
                task_id=self.task_id,
                session_id=session.number,
                dialog_id=start,
                dialogs=list(session.dialogs[start : start + size]),
                dialog_len=len(session.dialogs[start : start + size]),
                packet_idx=index,
                total_packets=len(places),
            )
            for index, (session, start) in enumerate(places)
        ]

    def turns_of(self, session_id: int, dialog_id: int, dialog_len: int) -> tuple[str, ...]:
        """Ids of the turns that a packet, or a part of one, holds."""
        for session in self.sessions:
            if session.number == session_id:
                return session.turn_ids[dialog_id : dialog_id + dialog_len]
        return ()


@dataclass(frozen=True, slots=True)
class DueQuestions:
    """Questions that are asked right after a packet was inserted."""

    packet_idx: int
    questions: tuple[Question, ...]


def visible_from(conversation: Conversation) -> Mapping[int, int]:
    """By question id: the packet that holds its latest evidence turn; the last one where it has no evidence, and of all
    questions of BEAM."""
    packets = conversation.packets()
    last = len(packets) - 1
    if conversation.benchmark == "beam":
        return {question.question_id: last for question in conversation.questions}
    holding = {
        turn: packet["packet_idx"]
        for packet in packets
        for turn in conversation.turns_of(packet["session_id"], packet["dialog_id"], packet["dialog_len"])
    }
    return {
        question.question_id: max(
            (holding[turn] for turn in question.evidence if turn in holding), default=last
        )
        for question in conversation.questions
    }


def schedule(conversation: Conversation, segments: int, *, retest: bool = False) -> list[DueQuestions]:
    """When which questions are asked; every question at least once, the last ones after the last packet.

    A question is visible when its latest evidence turn is in. Tests are due whenever the number of visible
    questions reaches a further 1/``segments`` of all.

    Args:
        segments: thresholds, at least 1.
        retest: ask all visible questions at each threshold, not only the newly visible ones.
    """
    since = visible_from(conversation)
    every = conversation.questions
    thresholds = [math.ceil(len(every) * part / segments) for part in range(1, segments + 1)]
    points: list[DueQuestions] = []
    asked = -1
    for packet in range(len(conversation.packets())):
        visible = [question for question in every if since[question.question_id] <= packet]
        due = sum(threshold <= len(visible) for threshold in thresholds)
        if visible and due:
            thresholds = thresholds[due:]
            fresh = [question for question in visible if since[question.question_id] > asked]
            points.append(DueQuestions(packet, tuple(visible if retest else fresh)))
            asked = packet
    return points


def last_date(dialogs: Sequence[Dialog]) -> str | None:
    """The date of the latest of some turns."""
    return next((dialog["date_time"] for dialog in reversed(dialogs) if dialog["date_time"]), None)


def latest_date(dialogs: Sequence[Mapping[str, Any]]) -> str | None:
    """The date of the latest of some turns that has one in ISO 8601; None where none has."""
    dates = (dialog.get("date_time") for dialog in reversed(dialogs))
    return next((date for date in dates if moment_of(date) is not None), None)
