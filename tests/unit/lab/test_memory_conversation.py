from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag_lab.designs.conversation import (
    Conversation,
    Dialog,
    Question,
    Session,
    last_date,
    schedule,
    visible_from,
)


def turn(speaker: str, text: str, date: str = "2023-08-01") -> Dialog:
    return Dialog(speaker=speaker, text=text, date_time=date)


def session(number: int, turns: int) -> Session:
    dialogs = tuple(turn("Alice" if n % 2 == 0 else "Bob", f"turn {n}") for n in range(turns))
    return Session(number, dialogs, tuple(f"D{number}:{n + 1}" for n in range(turns)))


def question(number: int, *evidence: str, category: str = "single-hop") -> Question:
    return Question(number, f"question {number}", "answer", category, evidence)


def test_packets_are_as_documented():
    hello = (turn("Alice", "Hello, how are you?"), turn("Bob", "I'm fine, thanks!"), turn("Alice", "Good."))
    conversation = Conversation("conv-26", (Session(12, hello, ("D12:1", "D12:2", "D12:3")),), ())
    assert conversation.packets() == [
        {
            "task_id": "conv-26",
            "session_id": 12,
            "dialog_id": 0,
            "dialogs": [
                {"speaker": "Alice", "text": "Hello, how are you?", "date_time": "2023-08-01"},
                {"speaker": "Bob", "text": "I'm fine, thanks!", "date_time": "2023-08-01"},
            ],
            "dialog_len": 2,
            "packet_idx": 0,
            "total_packets": 2,
        },
        {
            "task_id": "conv-26",
            "session_id": 12,
            "dialog_id": 2,
            "dialogs": [{"speaker": "Alice", "text": "Good.", "date_time": "2023-08-01"}],
            "dialog_len": 1,
            "packet_idx": 1,
            "total_packets": 2,
        },
    ]


def test_beam_gives_message_by_message_and_asks_at_the_end():
    asked = (question(1, "D1:1"), question(2))
    conversation = Conversation("100K/1", (session(1, 3), session(2, 1)), asked, benchmark="beam")
    packets = conversation.packets()
    assert [(packet["session_id"], packet["dialog_id"], packet["dialog_len"]) for packet in packets] == [
        (1, 0, 1), (1, 1, 1), (1, 2, 1), (2, 0, 1),
    ]  # fmt: skip
    assert conversation.turns_of(1, 2, 1) == ("D1:3",)
    (due,) = schedule(conversation, 10)
    assert (due.packet_idx, due.questions) == (3, asked)


def test_a_packet_holds_no_turns_of_two_sessions():
    packets = Conversation("c", (session(1, 3), session(2, 2)), ()).packets()
    assert [(p["session_id"], p["dialog_id"], p["dialog_len"]) for p in packets] == [
        (1, 0, 2), (1, 2, 1), (2, 0, 2),
    ]  # fmt: skip


def test_a_question_is_visible_with_its_latest_evidence():
    questions = (question(1, "D1:1"), question(2, "D2:2", "D1:1"), question(3), question(4, "D9:9"))
    conversation = Conversation("c", (session(1, 3), session(2, 2), session(3, 1)), questions)
    assert visible_from(conversation) == {1: 0, 2: 2, 3: 3, 4: 3}


def test_newly_visible_questions_are_tested_at_each_threshold():
    questions = (question(1, "D1:1"), question(2, "D1:3"), question(3, "D2:1"), question(4))
    conversation = Conversation("c", (session(1, 4), session(2, 2)), questions)
    due = schedule(conversation, 2)
    assert [(d.packet_idx, [q.question_id for q in d.questions]) for d in due] == [(1, [1, 2]), (2, [3, 4])]
    again = schedule(conversation, 2, retest=True)
    assert [(d.packet_idx, [q.question_id for q in d.questions]) for d in again] == [
        (1, [1, 2]), (2, [1, 2, 3, 4]),
    ]  # fmt: skip


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.lists(st.integers(0, 60), max_size=30),
    st.integers(1, 12),
)
def test_every_question_is_tested_exactly_once(sessions: list[int], evidence: list[int], segments: int):
    held = tuple(session(number, turns) for number, turns in enumerate(sessions, start=1))
    every = [turn_id for one in held for turn_id in one.turn_ids]
    questions = tuple(
        question(number, every[place % len(every)]) for number, place in enumerate(evidence, start=1)
    )
    conversation = Conversation("c", held, questions)
    due = schedule(conversation, segments)
    tested = [q.question_id for d in due for q in d.questions]
    assert sorted(tested) == [q.question_id for q in questions]
    since = visible_from(conversation)
    assert all(since[q.question_id] <= d.packet_idx for d in due for q in d.questions)
    assert len(due) <= segments
    assert [d.packet_idx for d in due] == sorted({d.packet_idx for d in due})


@pytest.mark.parametrize(
    ("dates", "expected"), [(["2023-01-01", ""], "2023-01-01"), (["", ""], None), ([], None)]
)
def test_last_date(dates: list[str], expected: str | None):
    assert last_date([turn("Alice", "x", date) for date in dates]) == expected
