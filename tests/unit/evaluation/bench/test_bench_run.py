from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import InputError
from agentic_rag.evaluation.bench.run import chosen_tasks, read_conversations


def locomo(path: Path, **changes: Any) -> Path:
    sample = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Alice",
            "speaker_b": "Bob",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Alice", "dia_id": "D1:1", "text": "I work at Google"},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "Look", "blip_caption": "a red boat"},
                {"speaker": "Alice", "dia_id": "D1:3", "text": "Nice"},
            ],
            "session_2": [{"speaker": "Bob", "dia_id": "D2:1", "text": "Bye"}],
            "session_3_date_time": "9 June, 2023",
        },
        "qa": [
            {"question": "Where does Alice work?", "answer": "Google", "evidence": ["D1:1"], "category": 4},
            {"question": "How many boats?", "answer": 1, "evidence": ["D1:02; D2:1"], "category": 1},
            {"question": "Where does Bob work?", "evidence": ["D1:1"], "category": 5, "adversarial_answer": "Google"},
        ],
        **changes,
    }  # fmt: skip
    path.write_text(json.dumps([sample]), encoding="utf-8")
    return path


def test_a_conversation_is_read_with_its_questions(tmp_path: Path):
    (conversation,) = read_conversations(locomo(tmp_path / "locomo.json")).values()
    first, second = conversation.packets()[0], conversation.packets()[2]
    assert first["dialogs"] == [
        {"speaker": "Alice", "text": "I work at Google", "date_time": "2023-05-08"},
        {"speaker": "Bob", "text": "Look [shares a photo: a red boat]", "date_time": "2023-05-08"},
    ]
    assert (second["session_id"], second["dialogs"][0]["date_time"]) == (2, "")
    assert [q.question_id for q in conversation.questions] == [1, 2, 3]
    assert [q.evidence for q in conversation.questions] == [("D1:1",), ("D1:2", "D2:1"), ("D1:1",)]
    assert [q.answer for q in conversation.questions] == ["Google", "1", None]
    assert [q.category for q in conversation.questions] == ["single-hop", "multi-hop", "adversarial"]
    assert [q.answerable for q in conversation.questions] == [True, True, False]


def test_what_was_repaired_is_told(tmp_path: Path):
    (conversation,) = read_conversations(locomo(tmp_path / "locomo.json")).values()
    told = "\n".join(conversation.repairs)
    assert "D1:02; D2:1" in told
    assert "session_3_date_time" in told
    assert "no text" in told


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [("all", ["a", "b", "c"]), ("b", ["b"]), ("c, a", ["c", "a"]), ("a,a", ["a"])],
)
def test_tasks_are_chosen_by_name(asked: str, chosen: list[str]):
    assert chosen_tasks(dict.fromkeys("abc"), asked) == chosen  # type: ignore[arg-type]


@pytest.mark.parametrize("asked", ["d", "a,d", "", " , "])
def test_an_unknown_task_lists_the_known(asked: str):
    with pytest.raises(InputError, match="use one of: a, b, c, or all"):
        chosen_tasks(dict.fromkeys("abc"), asked)  # type: ignore[arg-type]


def test_a_missing_file_names_the_option(tmp_path: Path):
    with pytest.raises(InputError, match="--data"):
        read_conversations(tmp_path / "none.json")


def test_other_json_is_refused(tmp_path: Path):
    file = tmp_path / "other.json"
    file.write_text('[{"name": "no conversation"}]', encoding="utf-8")
    with pytest.raises(InputError, match="sample_id"):
        read_conversations(file)
