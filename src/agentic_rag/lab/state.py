"""The data of the three memory graphs: plain values, each key written by one operator."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from agentic_rag.domain.memory import Memory
from agentic_rag.lab.conversation import Packet


class InsertState(Packet, total=False):
    """A packet, and what becomes of it."""

    entries: list[dict[str, Any]] | None
    """By PreInsert: what to remember; None where there is nothing."""
    skipped_turns: int
    """By PreInsert: turns it found nothing in."""
    malformed_lines: int
    """By PreInsert: lines of a chat model's reply that could not be read."""
    inserted: list[str | None]
    """By MemoryInsert: an id for each entry, None for one that the memory does not keep."""
    insert_stats: dict[str, int]
    post_insert: dict[str, Any]


class TestState(TypedDict, total=False):
    """A question, and how it is answered."""

    __test__ = False  # type: ignore[misc]

    question: str
    answer: str | None
    """The right answer; None if the question is unanswerable; absent if it is not scored."""
    category: str
    rubric: list[str]
    """What a good answer holds; absent if it is judged by the right answer."""
    task_id: str
    session_id: int
    question_id: int
    reference_time: str | None
    """ISO date of the latest session that was inserted: the question's now."""
    query_embedding: list[float]
    memory_data: list[Memory]
    history_text: str
    post_retrieval: list[dict[str, Any]]
    predicted_answer: str
    ground_truth: str | None
    """This and the marks below: None where no ``answer`` was given."""
    is_correct: bool | None
    f1: float | None
    exact_match: float | None
    judge: bool | None
    rubric_met: float


class MainState(TypedDict, total=False):
    """One run over one conversation."""

    task_id: str
    """By the caller: which conversation."""
    data: str | None
    """By the caller: the file it is in; None for the configured one."""
    run: str
    """By MemorySource: what the memory of the run is kept under; no two runs have the same."""
    packet: Packet
    """By MemorySource."""
    insert_result: dict[str, Any]
    """By PipelineCaller: status, reason and counts of the packet's insertion."""
    test_results: list[dict[str, Any]]
    """By PipelineCaller: of the questions that were due after this packet."""
    results: list[dict[str, Any]]
    """By MemorySink: all test results so far; MemorySource begins with none."""
    inserts: dict[str, Any]
    """By MemorySink: counts of all insertions so far, ``packets`` among them: how far the run is; MemorySource begins
    at 0."""
