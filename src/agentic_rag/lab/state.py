"""The state of the three memory graphs: plain values, each key written by one operator."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from agentic_rag.domain.memory import Memory
from agentic_rag.lab.conversation import Packet


class InsertState(Packet, total=False):
    """A packet, and the results of its insertion."""

    entries: list[dict[str, Any]] | None
    """By PreInsert: the entries to insert; None if there are none."""
    skipped_turns: int
    """By PreInsert: number of turns without an entry."""
    malformed_lines: int
    """By PreInsert: number of unreadable lines in a chat model's reply."""
    inserted: list[str | None]
    """By MemoryInsert: the id of each entry, None for one that the memory did not keep."""
    insert_stats: dict[str, int]
    post_insert: dict[str, Any]


class TestState(TypedDict, total=False):
    """A question, and its answer with scores."""

    __test__ = False  # type: ignore[misc]

    question: str
    answer: str | None
    """The right answer; None if the question is unanswerable; absent if it is not scored."""
    category: str
    rubric: list[str]
    """Requirements for a good answer; absent if it is judged by the right answer."""
    task_id: str
    session_id: int
    question_id: int
    reference_time: str | None
    """ISO date of the latest inserted session; the question's time."""
    query_embedding: list[float]
    memory_data: list[Memory]
    history_text: str
    post_retrieval: list[dict[str, Any]]
    predicted_answer: str
    ground_truth: str | None
    """This and the scores below: None if no ``answer`` was given."""
    is_correct: bool | None
    f1: float | None
    exact_match: float | None
    judge: bool | None
    rubric_met: float


class MainState(TypedDict, total=False):
    """One run over one conversation."""

    task_id: str
    """By the caller: id of the conversation."""
    data: str | None
    """By the caller: its file; None for the configured one."""
    run: str
    """By MemorySource: unique key of the run's memory."""
    packet: Packet
    """By MemorySource."""
    insert_result: dict[str, Any]
    """By PipelineCaller: status, reason and counts of the packet's insertion."""
    test_results: list[dict[str, Any]]
    """By PipelineCaller: results of the questions that were due after this packet."""
    results: list[dict[str, Any]]
    """By MemorySink: all test results so far; MemorySource starts with an empty list."""
    inserts: dict[str, Any]
    """By MemorySink: counts of all insertions so far, among them ``packets``, the progress of the run; MemorySource
    starts at 0."""
