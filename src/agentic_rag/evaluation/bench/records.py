"""The memory benchmark, the records: what became of each question, one line of JSON, kept as soon as it is there.

``records.jsonl`` holds no clock's value, so that the same run writes the same bytes; the milliseconds of each
operator stand beside it in ``times.jsonl``, a line for each of its lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag.evaluation.records import RecordFile
from agentic_rag.lab.conversation import Conversation, Question

RECORDS, TIMES = "records.jsonl", "times.jsonl"
SHOWN = 10
"""Of the retrieved memories, how many count for evidence recall."""
DIGITS = 6
"""Of scores in the records."""


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """What became of one question at one test."""

    task: str
    question_id: int
    tested_after: int
    """Packet after which it was asked, from 0."""
    category: str
    question: str
    answer: str | None
    evidence: tuple[str, ...]
    """Turn ids."""
    status: str
    """``ok`` or ``failed``."""
    reason: str | None
    memories: tuple[Mapping[str, Any], ...]
    """What the reader was given, in order: ``entry_id``, ``text``, ``score``, ``turns`` (ids)."""
    recall: float | None
    """Share of the evidence turns in the first 10 memories (all of them, of a service that returns all), of BEAM in
    the first 10 messages; None for a question without evidence, or whose evidence is a trap."""
    history_tokens: int
    predicted_answer: str | None
    is_correct: bool
    f1: float
    exact_match: float
    judge: bool | None
    degraded: tuple[str, ...]
    """Steps behind the retrieval that could not do all of what they are for, with the reason."""
    evidence_sets: tuple[tuple[str, ...], ...] = ()
    """Of BEAM, see ``evaluation.beam.Question.source_sets``."""
    rubric_met: float | None = None
    """Share of BEAM's rubric that the answer meets; None where no model judged it."""


class RunRecords:
    """The two journals of one conversation.

    Args:
        folder: of the conversation.
        fingerprint: of all that a record depends on.
        fresh: start anew.
    """

    def __init__(self, folder: Path, fingerprint: str, *, fresh: bool) -> None:
        self._records = RecordFile(folder / RECORDS, fingerprint, fresh=fresh)
        self._times = RecordFile(folder / TIMES, fingerprint, fresh=fresh)
        self._kept: dict[tuple[int, int], QuestionRecord] = {}
        for number, row in enumerate(self._records.rows, start=2):
            record = read_record(row, f"{self._records.path}:{number}")
            self._kept[record.question_id, record.tested_after] = record  # asked again, the last counts
        self._milliseconds: dict[tuple[int, int], Mapping[str, float]] = {
            (row["question_id"], row["tested_after"]): row["milliseconds"] for row in self._times.rows
        }

    @property
    def path(self) -> Path:
        return self._records.path

    def get(self, question_id: int, packet: int) -> QuestionRecord | None:
        """What is kept of a question asked after a packet."""
        return self._kept.get((question_id, packet))

    def add(self, record: QuestionRecord, milliseconds: Mapping[str, float]) -> None:
        """Keep a record, on the disk too."""
        # Times first: a run killed in between asks the question again, and has then one time too many, not a
        # record too few.
        key = {"question_id": record.question_id, "tested_after": record.tested_after}
        self._times.add({**key, "milliseconds": dict(milliseconds)})
        self._records.add(asdict(record))
        self._kept[record.question_id, record.tested_after] = record
        self._milliseconds[record.question_id, record.tested_after] = dict(milliseconds)

    def times(self) -> list[Mapping[str, float]]:
        """Milliseconds by operator of every question on the disk; a repeated one counts once, the last."""
        return list(self._milliseconds.values())


def record_of(
    conversation: Conversation,
    question: Question,
    packet: int,
    result: Mapping[str, Any],
    *,
    returns_all: bool,
    tokens: int,
) -> QuestionRecord:
    """The record of a test result (see ``memory.runs``); a failed one scores 0.

    Args:
        conversation: that was remembered.
        question: that was asked.
        packet: the latest that was in.
        result: what the test graph wrote.
        returns_all: the service gives back all it holds whatever it is asked for.
        tokens: of the history that the reader was given.
    """
    memories = tuple(_memory(conversation, memory) for memory in result.get("memory_data") or ())
    failed = result["status"] == "failed"
    return QuestionRecord(
        task=conversation.task_id,
        question_id=question.question_id,
        tested_after=packet,
        category=question.category,
        question=question.text,
        answer=question.answer,
        evidence=question.evidence,
        status=result["status"],
        reason=result["reason"],
        memories=memories,
        recall=_recall(question, _looked_at(conversation, memories, returns_all)),
        history_tokens=tokens,
        predicted_answer=result.get("predicted_answer"),
        is_correct=not failed and bool(result["is_correct"]),
        f1=0.0 if failed else round(float(result["f1"]), DIGITS),
        exact_match=0.0 if failed else float(result["exact_match"]),
        judge=result.get("judge"),
        rubric_met=result.get("rubric_met"),
        evidence_sets=question.evidence_sets,
        degraded=tuple(
            f"{step['action']}: {step['reason']}"
            for step in result.get("post_retrieval") or ()
            if step["status"] == "degraded"
        ),
    )


def turns_of(conversation: Conversation, memory: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of the turns a memory comes from, by the ``sources`` in its metadata; each once."""
    sources = (memory.get("metadata") or {}).get("sources") or ()
    turns = [turn for source in sources for turn in conversation.turns_of(*map(int, source))]
    return tuple(dict.fromkeys(turns))


def _memory(conversation: Conversation, memory: Mapping[str, Any]) -> dict[str, Any]:
    score = memory.get("score")
    return {
        "entry_id": memory.get("entry_id"),
        "text": memory["text"],
        "score": None if score is None else round(float(score), DIGITS),
        "turns": list(turns_of(conversation, memory)),
    }


def ranking_of(memories: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ids of the turns of the memories of a record, each at its best place."""
    return list(dict.fromkeys(turn for memory in memories for turn in memory["turns"]))


def folder_of(task_id: str) -> str:
    """What the folder of a conversation's records is called: ``100K-1``."""
    return task_id.replace("/", "-")


def _looked_at(
    conversation: Conversation, memories: Sequence[Mapping[str, Any]], returns_all: bool
) -> list[str]:
    """Ids of the turns that evidence recall looks at."""
    if conversation.benchmark == "beam":
        return ranking_of(memories)[:SHOWN]
    return ranking_of(memories if returns_all else memories[:SHOWN])


def _recall(question: Question, turns: Sequence[str]) -> float | None:
    if not question.answerable or not question.evidence:
        return None
    found = set(turns)
    return round(len(found & set(question.evidence)) / len(set(question.evidence)), DIGITS)


def read_record(row: Mapping[str, Any], where: str) -> QuestionRecord:
    """A record from its row; ``InputError`` where it is none."""
    try:
        return QuestionRecord(
            **{
                **row,
                "evidence": tuple(row["evidence"]),
                "evidence_sets": tuple(map(tuple, row.get("evidence_sets", ()))),
                "memories": tuple(row["memories"]),
                "degraded": tuple(row["degraded"]),
            }
        )
    except (TypeError, KeyError) as error:
        raise InputError(f"{where} is no record of the memory benchmark; start anew with --fresh") from error
