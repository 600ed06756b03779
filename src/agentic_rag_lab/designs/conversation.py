"""The input of a memory: packets of one or two turns, and questions about them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from agentic_rag.dates.instants import moment_of
from agentic_rag_lab.sources.beam import ABSTENTION

PACKET_TURNS = 2
"""Turns per packet of LoCoMo; a message of BEAM is long and a packet by itself."""


class Dialog(TypedDict):
    """One turn."""

    speaker: str
    text: str
    date_time: str
    """ISO date of its session; as written if it is no date, "" without one."""
    role: NotRequired[str]
    """For a message of BEAM: ``user`` or ``assistant``, together with its id in ``dia_id``."""
    dia_id: NotRequired[str]


class Packet(TypedDict):
    """Output of ``MemorySource``: one or two turns of one session."""

    task_id: Annotated[str, Field(description="Id of the conversation.")]
    session_id: Annotated[int, Field(description="Number of the session, from 1.")]
    dialog_id: Annotated[int, Field(description="Index of its first turn in the session, from 0.")]
    dialogs: Annotated[list[Dialog], Field(description="One or two turns, with speaker, text and date_time.")]
    dialog_len: Annotated[int, Field(description="Number of turns, 1 or 2.")]
    packet_idx: Annotated[int, Field(description="Index of the packet, from 0.")]
    total_packets: Annotated[
        int, Field(description="Packets of the conversation; the last one ends the run.")
    ]


def is_last(packet: Packet) -> bool:
    """Whether the packet is the last one of its conversation."""
    return packet["packet_idx"] + 1 >= packet["total_packets"]


@dataclass(frozen=True, slots=True)
class Session:
    """The turns of one session, in order."""

    number: int
    dialogs: tuple[Dialog, ...]
    turn_ids: tuple[str, ...]
    """Id of each turn, unique in the conversation; evidence refers to these ids."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation."""

    question_id: int
    """From 1, in the file's order."""
    text: str
    answer: str | None
    """None if it is unanswerable: the right answer is to say so."""
    category: str
    evidence: tuple[str, ...]
    """Turn ids."""
    evidence_sets: tuple[tuple[str, ...], ...] = ()
    """For BEAM, see ``evaluation.beam.Question.source_sets``."""
    rubric: tuple[str, ...] = ()
    """Requirements for a good answer, for a judge."""

    @property
    def answerable(self) -> bool:
        return self.category not in UNANSWERABLE


ADVERSARIAL = "adversarial"
"""Category of questions with misleading evidence, which the conversation does not answer."""
UNANSWERABLE = frozenset({ADVERSARIAL, ABSTENTION})
"""Categories whose right answer is that the conversation does not contain it."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with its questions."""

    task_id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]
    repairs: tuple[str, ...] = ()
    """Changes to invalid data of the file, one line each."""
    benchmark: Literal["locomo", "beam"] = "locomo"
    """The protocol: BEAM asks all questions after the last message, and counts messages."""

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
        """Ids of the turns in a packet or a part of one."""
        for session in self.sessions:
            if session.number == session_id:
                return session.turn_ids[dialog_id : dialog_id + dialog_len]
        return ()


@dataclass(frozen=True, slots=True)
class DueQuestions:
    """Questions that are asked after a packet was inserted."""

    packet_idx: int
    questions: tuple[Question, ...]


def visible_from(conversation: Conversation) -> Mapping[int, int]:
    """For each question id the packet with its latest evidence turn; the last packet without evidence, and for all
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
    """When each question is asked; every question at least once, the last ones after the last packet.

    A question becomes visible with its latest evidence turn. Tests are due when the number of visible questions
    reaches the next 1/``segments`` of all.

    Args:
        segments: number of thresholds, at least 1.
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
    """The date of the last turn."""
    return next((dialog["date_time"] for dialog in reversed(dialogs) if dialog["date_time"]), None)


def latest_date(dialogs: Sequence[Mapping[str, Any]]) -> str | None:
    """The ISO 8601 date of the last turn that has one; None if none has."""
    dates = (dialog.get("date_time") for dialog in reversed(dialogs))
    return next((date for date in dates if moment_of(date) is not None), None)
