from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import InputError
from agentic_rag_lab.evaluation.bench.conversations import (
    chosen_tasks,
    data_files,
    read_conversations,
    read_tasks,
)
from beam_files import write as write_beam


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
    ("asked", "chosen"), [("all", ["a", "b", "c"]), ("b", ["b"]), ("c, a", ["c", "a"]), ("a,a", ["a"])]
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


def test_beam_conversations_are_read_message_by_message(tmp_path: Path):
    for name in ("100K/2", "100K/1", "500K/1"):
        write_beam(tmp_path / name)
    (task,) = read_tasks(tmp_path, "100K/1")
    first = task.sessions[0]
    assert (task.task_id, task.benchmark, [session.number for session in task.sessions]) == (
        "100K/1",
        "beam",
        [1, 2],
    )
    assert first.turn_ids == ("0", "1", "2", "3", "4", "5")
    assert first.dialogs[2] == {
        "speaker": "user", "text": "Always answer with short sentences.", "date_time": "2024-03-03",
        "role": "user", "dia_id": "2",
    }  # fmt: skip
    asked = {question.category: question for question in task.questions}
    assert asked["abstention"].answer is None
    assert not asked["abstention"].answerable
    assert asked["knowledge_update"].evidence_sets == (("4", "5"), ("10",))
    assert asked["event_ordering"].rubric == ("tracker", "sprint", "tests")
    assert [question.question_id for question in task.questions] == list(range(1, len(task.questions) + 1))
    assert len(task.repairs) == 10
    assert [one.task_id for one in read_tasks(tmp_path, "all")] == ["100K/1", "100K/2", "500K/1"]
    assert [file.name for file in data_files(tmp_path, [task])] == ["chat.json", "probing_questions.json"]


def test_the_only_beam_conversation_need_not_be_named(tmp_path: Path):
    folder = write_beam(tmp_path / "100K" / "1")
    (task,) = read_tasks(folder, None, control=True)
    assert task.sessions[0].dialogs[2]["text"] == "answer with short sentences."
    write_beam(tmp_path / "100K" / "2")
    with pytest.raises(InputError, match="give --task-id 100K/1"):
        read_tasks(tmp_path, None)
    with pytest.raises(InputError, match="use one of: 100K/1, 100K/2, or all"):
        read_tasks(tmp_path, "100K/3")


def test_a_control_of_other_data_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="the control is for BEAM conversations"):
        read_tasks(locomo(tmp_path / "locomo.json"), None, control=True)
