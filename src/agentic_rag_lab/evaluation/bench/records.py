"""The memory benchmark, the records: one line of JSON per question, written at once.

``records.jsonl`` contains no times, so that equal runs write equal bytes; the milliseconds of each operator are in
``times.jsonl``, line by line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag_lab.designs.conversation import Conversation, Question
from agentic_rag_lab.evaluation.records import RecordFile

RECORDS, TIMES = "records.jsonl", "times.jsonl"
MAX_SHOWN = 10
"""Number of retrieved memories that count for evidence recall."""
DIGITS = 6
"""Decimals of scores in the records."""


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """The result of one question at one test."""

    task: str
    question_id: int
    tested_after: int
    """Index of the packet after which it was asked, from 0."""
    category: str
    question: str
    answer: str | None
    evidence: tuple[str, ...]
    """Turn ids."""
    status: str
    """``ok`` or ``failed``."""
    reason: str | None
    memories: tuple[Mapping[str, Any], ...]
    """The reader's memories, in order: ``entry_id``, ``text``, ``score``, ``turns`` (ids)."""
    recall: float | None
    """Share of the evidence turns in the first 10 memories (all memories, for a service that returns all); for BEAM,
    in the first 10 messages. None without evidence, and for misleading evidence."""
    history_tokens: int
    predicted_answer: str | None
    is_correct: bool
    f1: float
    exact_match: float
    judge: bool | None
    degraded: tuple[str, ...]
    """Steps after the retrieval that did less than configured, with the reason."""
    evidence_sets: tuple[tuple[str, ...], ...] = ()
    """For BEAM, see ``evaluation.beam.Question.source_sets``."""
    rubric_met: float | None = None
    """Share of BEAM's rubric that the answer meets; None if no model judged it."""


class RunRecords:
    """The two journals of one conversation.

    Args:
        folder: folder of the conversation.
        fingerprint: digest of everything that a record depends on.
        fresh: discard existing records.
    """

    def __init__(self, folder: Path, fingerprint: str, *, fresh: bool) -> None:
        self._records = RecordFile(folder / RECORDS, fingerprint, fresh=fresh)
        self._times = RecordFile(folder / TIMES, fingerprint, fresh=fresh)
        self._kept_records: dict[tuple[int, int], QuestionRecord] = {}
        for number, row in enumerate(self._records.rows, start=2):
            record = read_record(row, f"{self._records.path}:{number}")
            self._kept_records[record.question_id, record.tested_after] = record  # the last record counts
        self._milliseconds: dict[tuple[int, int], Mapping[str, float]] = {
            (row["question_id"], row["tested_after"]): row["milliseconds"] for row in self._times.rows
        }

    @property
    def path(self) -> Path:
        return self._records.path

    def get(self, question_id: int, packet: int) -> QuestionRecord | None:
        """The stored record of a question after a packet."""
        return self._kept_records.get((question_id, packet))

    def add(self, record: QuestionRecord, milliseconds: Mapping[str, float]) -> None:
        """Store a record, also on disk."""
        # Times first: a run killed in between asks the question again, and then has one time too many, which is
        # harmless; a missing time is not.
        key = {"question_id": record.question_id, "tested_after": record.tested_after}
        self._times.add({**key, "milliseconds": dict(milliseconds)})
        self._records.add(asdict(record))
        self._kept_records[record.question_id, record.tested_after] = record
        self._milliseconds[record.question_id, record.tested_after] = dict(milliseconds)

    def times(self) -> list[Mapping[str, float]]:
        """Milliseconds by operator for every stored question; the last of a repeated one counts."""
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
    """The record of a test result (see ``designs.runs``); a failed one scores 0.

    Args:
        conversation: the inserted conversation.
        question: the question.
        packet: index of the latest inserted packet.
        result: output of the test graph.
        returns_all: the service returns all its memories for any question.
        tokens: length of the reader's history.
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
    """Ids of the source turns of a memory, by the ``sources`` in its metadata; each once."""
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
    """Ids of the turns of a record's memories, each at its best rank."""
    return list(dict.fromkeys(turn for memory in memories for turn in memory["turns"]))


def folder_of(task_id: str) -> str:
    """Folder name of a conversation's records: ``100K-1``."""
    return task_id.replace("/", "-")


def _looked_at(
    conversation: Conversation, memories: Sequence[Mapping[str, Any]], returns_all: bool
) -> list[str]:
    """Ids of the turns that count for evidence recall."""
    if conversation.benchmark == "beam":
        return ranking_of(memories)[:MAX_SHOWN]
    return ranking_of(memories if returns_all else memories[:MAX_SHOWN])


def _recall(question: Question, turns: Sequence[str]) -> float | None:
    if not question.answerable or not question.evidence:
        return None
    found = set(turns)
    return round(len(found & set(question.evidence)) / len(set(question.evidence)), DIGITS)


def read_record(row: Mapping[str, Any], where: str) -> QuestionRecord:
    """A record from its row; ``InputError`` if the row is invalid."""
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
