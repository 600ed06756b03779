"""A small BEAM conversation as it is published, with the traps of the real ones; written for the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).parents[2] / "shared" / "data" / "beam" / "chats"
"""The published conversations, where they are."""

MESSAGES: list[list[dict[str, Any]]] = [
    [
        {"role": "user", "id": 0, "time_anchor": "March-03-2024", "index": "1,1", "question_type": "main_question",
         "content": "I am building a budget tracker in Oslo. ->-> 1,1"},
        {"role": "assistant", "id": 1, "content": "Great, start with the database."},
        {"role": "user", "id": 2, "index": "1,2", "content": "Always answer with short sentences. ->-> 1,N/A"},
        {"role": "assistant", "id": 3, "content": "Will do. ->->  1,2"},
        {"role": "user", "id": 4, "index": "1,3", "content": "The first sprint ends on March 29. ->-> 1,3)"},
        {"role": "assistant", "id": 5, "content": "Noted, March 29."},
    ],
    [
        {"role": "user", "id": 6, "time_anchor": "April-25-2024", "index": "2,1",
         "content": "I have never written a test. ->-> 2,1"},
        {"role": "assistant", "id": 7, "content": "Testing is worth it."},
        {"role": "user", "id": 8, "index": "2,2", "content": "I wrote forty tests last week. ->-> 2,2"},
        {"role": "assistant", "id": 9, "content": "Great, start with the database."},
        {"role": "user", "id": 10, "index": "2,3", "content": "The first sprint ended on April 5 instead. ->-> 2,3"},
        {"role": "assistant", "id": 11, "content": "I will remember April 5."},
    ],
]  # fmt: skip
QUESTIONS: dict[str, list[dict[str, Any]]] = {
    "abstention": [
        {"question": "What did my sister say?", "ideal_response": "There is no information.", "rubric": ["no information"]},
    ],
    "contradiction_resolution": [
        {"question": "Have I written tests?", "ideal_answer": "You said both.",
         "source_chat_ids": {"first_statement": [8], "second_statement": [6]}, "rubric": ["never", "forty"]},
        {"question": "Is there one test?", "ideal_answer": "?",
         "source_chat_ids": {"first_statement": [6], "second_statement": [6]}},
    ],
    "event_ordering": [
        {"question": "In which order did I speak of it?", "answer": "1) tracker 2) sprint 3) tests",
         "source_chat_ids": [0, [8, 6], 4], "rubric": ["tracker", "sprint", "tests"]},
    ],
    "information_extraction": [
        {"question": "When does my first sprint end?", "answer": "April 5", "source_chat_ids": [4, 4, 99]},
        {"question": "Where am I?", "answer": 5, "source_chat_ids": []},
    ],
    "instruction_following": [
        {"question": "What is Flask?", "expected_compliance": "Short sentences.", "source_chat_ids": [2]},
    ],
    "knowledge_update": [
        {"question": "When did the sprint end?", "answer": "April 5",
         "source_chat_ids": {"original_info": [4, 5], "updated_info": [10]}},
    ],
    "multi_session_reasoning": [{"question": "How many tests?", "answer": "40", "source_chat_ids": [0, 8]}],
    "preference_following": [{"question": " ", "source_chat_ids": [0]}],
    "summarization": [{"question": "Sum up.", "ideal_summary": "A tracker.", "source_chat_ids": [0, 4, 8]}],
    "temporal_reasoning": [
        {"question": "How long between?", "answer": "7 days",
         "source_chat_ids": {"first_event": [], "second_event": [10]}},
    ],
}  # fmt: skip


def batches(messages: list[list[dict[str, Any]]] = MESSAGES) -> list[dict[str, Any]]:
    """As ``chat.json`` has them: each batch of turns of two messages."""
    return [
        {
            "batch_number": number,
            "time_anchor": None,
            "turns": [batch[start : start + 2] for start in range(0, len(batch), 2)],
        }
        for number, batch in enumerate(messages, start=1)
    ]


def write(folder: Path, chat: Any = None, questions: Any = None) -> Path:
    """The folder of a conversation with both files."""
    (folder / "probing_questions").mkdir(parents=True)
    loaded = batches() if chat is None else chat
    (folder / "chat.json").write_text(json.dumps(loaded), encoding="utf-8")
    (folder / "probing_questions" / "probing_questions.json").write_text(
        json.dumps(QUESTIONS if questions is None else questions), encoding="utf-8"
    )
    return folder


def shared() -> Path:
    """The published conversations; skips the test where they are not."""
    if not SHARED.is_dir():
        pytest.skip("needs ../shared/data/beam")
    return SHARED
