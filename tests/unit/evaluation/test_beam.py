"""BEAM's questions: errors in their sources are reported one per line, and broken files are refused."""

from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import InputError
from agentic_rag_lab.evaluation.beam import Conversation, find_conversations, is_beam, load_conversation
from agentic_rag_lab.evaluation.locomo import repair_lines
from agentic_rag_lab.sources.beam import KINDS
from beam_files import QUESTIONS, shared, write


@pytest.fixture
def conversation(tmp_path: Path) -> Conversation:
    return load_conversation(write(tmp_path / "100K" / "1"))


def test_every_repair_is_told(conversation: Conversation):
    assert repair_lines(conversation.repairs) == [
        "100K/1: '9' → - (message that says the text of 1 again: each is a message of its own)",
        "100K/1: '->->' → - (the generator's marks in 7 messages: taken out)",
        "100K/1/contradiction_resolution-2: 'first_statement, second_statement' → 6 (share 6: found by one message)",
        "100K/1/temporal_reasoning-1: 'first_event' → - (an empty set: left out)",
        "100K/1/information_extraction-1: '4' → 4 (comes a second time: counted once)",
        "100K/1/information_extraction-1: '99' → - (names no message: dropped)",
        "100K/1/information_extraction-2: no sources: left out of ranking measures",
        "100K/1/preference_following-1: no text: left out",
        "100K/1/event_ordering-1: '[8, 6]' → 8, 6 (a list in the list: taken apart)",
        "100K/1/event_ordering-1: '0, 8, 6, 4' → 0, 4, 6, 8 (not in the conversation's order, which is the one that "
        "counts)",
    ]


def test_sources_are_in_the_order_of_the_conversation_and_sets_from_old_to_new(conversation: Conversation):
    of = {question.id.removeprefix("100K/1/"): question for question in conversation.questions}
    assert of["contradiction_resolution-1"].source_sets == (("6",), ("8",))
    assert of["knowledge_update-1"].source_sets == (("4", "5"), ("10",))
    assert of["temporal_reasoning-1"].source_sets == ()
    assert of["temporal_reasoning-1"].sources == ("10",)
    assert of["event_ordering-1"].sources == ("0", "4", "6", "8")
    assert of["information_extraction-2"].answer == "5"
    assert not of["abstention-1"].answerable
    assert of["contradiction_resolution-1"].rubric == ("never", "forty")


def test_sources_of_a_question_without_answer_are_left_out(tmp_path: Path):
    asked = {"abstention": [{"question": "Who?", "source_chat_ids": [1]}], "riddles": [{}, {}]}
    loaded = load_conversation(write(tmp_path / "1M" / "2", questions=asked))
    assert loaded.questions[0].sources == ()
    assert repair_lines(loaded.repairs)[2:] == [
        "1M/2: 'riddles' → - (no kind of question of BEAM: its 2 questions left out)",
        "1M/2/abstention-1: '[1]' → - (sources of a question without answer)",
    ]


def test_the_control_changes_texts_and_no_question(tmp_path: Path, conversation: Conversation):
    control = load_conversation(tmp_path / "100K" / "1" / "chat.json", control=True)
    assert control.messages[6].text == "I have written a test."
    assert control.questions == conversation.questions


@pytest.mark.parametrize(
    ("chat", "questions", "told"),
    [
        ([], None, "is no BEAM conversation: expected a list of batches"),
        ([{"turns": []}], None, "no message with an id and a text"),
        (None, [], "expected an object of kinds of question to lists"),
        (None, {"abstention": 3}, "expected an object of kinds of question to lists"),
    ],
)
def test_other_json_is_refused(tmp_path: Path, chat: Any, questions: Any, told: str):
    with pytest.raises(InputError, match=told):
        load_conversation(write(tmp_path / "1", chat, questions))


def test_missing_and_broken_files_are_refused(tmp_path: Path):
    folder = write(tmp_path / "100K" / "1")
    with pytest.raises(InputError, match=r"there is no file .*100K/2/chat\.json"):
        load_conversation(tmp_path / "100K" / "2")
    (folder / "probing_questions" / "probing_questions.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"probing_questions.json cannot be read"):
        load_conversation(folder)
    (folder / "probing_questions" / "probing_questions.json").unlink()
    with pytest.raises(InputError, match=r"there is no file .*probing_questions.json"):
        load_conversation(folder)


def test_conversations_are_found_at_every_level_in_the_order_of_their_numbers(tmp_path: Path):
    for name in ("1M/1", "500K/1", "100K/10", "100K/2"):
        write(tmp_path / name, questions=QUESTIONS)
    assert list(find_conversations(tmp_path)) == ["100K/2", "100K/10", "500K/1", "1M/1"]
    assert list(find_conversations(tmp_path / "100K")) == ["100K/2", "100K/10"]
    for one in ("100K/2", "100K/2/chat.json"):
        assert find_conversations(tmp_path / one) == {"100K/2": tmp_path / "100K" / "2"}
        assert is_beam(tmp_path / one)
    assert not is_beam(tmp_path / "100K" / "2" / "probing_questions")
    with pytest.raises(InputError, match="holds no BEAM conversation"):
        find_conversations(tmp_path / "nowhere")


def test_the_published_conversations():
    for folder in find_conversations(shared()).values():
        conversation = load_conversation(folder)
        known = {message.id for message in conversation.messages}
        assert [question.kind for question in conversation.questions] == [k for k in KINDS for _ in range(2)]
        assert all(
            message.role in ("user", "assistant") and message.date for message in conversation.messages
        )
        assert not any("->->" in message.text for message in conversation.messages)
        assert all(set(question.sources) <= known for question in conversation.questions)
