"""The state of the three memory graphs: plain values, each key written by one operator."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from agentic_rag_lab.designs.conversation import Packet
from agentic_rag_lab.designs.memory import Memory


class Design(TypedDict, total=False):
    """The ``context`` of a run on LangGraph's server: which memory design it uses."""

    pipeline: Annotated[
        str,
        Field(
            description="Path of the design's YAML file. Unset: configs/locomo_agentic_memory_pipeline.yaml."
        ),
    ]


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


class TestKeys(TypedDict, total=False):
    """A question to a memory."""

    __test__ = False  # type: ignore[misc]

    question: Annotated[str, Field(description="What is asked of the memory.")]
    answer: Annotated[
        str | None,
        Field(description="The right answer; null where there is none. Left out: the answer is not scored."),
    ]
    category: Annotated[str, Field(description="Kind of the question, by which scores are grouped.")]
    rubric: Annotated[
        list[str],
        Field(description="Requirements for a good answer. Left out: it is judged by the right answer."),
    ]
    task_id: Annotated[str, Field(description="Id of the conversation; the result repeats it.")]
    session_id: Annotated[int, Field(description="Number of the session; the result repeats it.")]
    question_id: Annotated[int, Field(description="Number of the question; the result repeats it.")]
    reference_time: Annotated[str | None, Field(description="ISO date of the latest inserted session.")]


class TestState(TestKeys, total=False):
    """A question, and its answer with scores."""

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


class MainKeys(TypedDict, total=False):
    """Which conversation is run."""

    task_id: Annotated[str, Field(description="Id of the conversation. Unset: the only one of the file.")]
    data: Annotated[
        str | None,
        Field(description="Path of a LoCoMo file or BEAM folder. Unset: runtime.data of the design."),
    ]


class MainState(MainKeys, total=False):
    """One run over one conversation."""

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
