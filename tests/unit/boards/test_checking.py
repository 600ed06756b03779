"""Checking a filled-in board: colours, mistake notes, schedule, and no change without an answer."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.boards.anki import anki_text
from agentic_rag.boards.canvas import read_board
from agentic_rag.boards.checking import CheckReport, check_board
from agentic_rag.boards.files import provenance, write_board
from agentic_rag.boards.marking import Names
from agentic_rag.boards.reviews import Reviews
from agentic_rag.errors import InputError, ModelError, RunError
from agentic_rag.notes.markdown import parse_markdown
from agentic_rag.notes.units import read_units
from agentic_rag.rerank.features import records_mistake
from board_answers import board_answer

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = Names({})


class Marker:
    """A chat model that says one thing, or fails."""

    def __init__(self, reply: str | None) -> None:
        self.reply, self.prompts = reply, [""]

    async def complete(self, system: str, prompt: str) -> str:
        self.prompts.append(prompt)
        if self.reply is None:
            raise ModelError("no connection")
        return self.reply


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault" / ".obsidian").mkdir(parents=True)
    return tmp_path / "vault"


@pytest.fixture
def board(vault: Path) -> Path:
    path = vault / "boards" / "b.canvas"
    write_board(board_answer(random.Random(7), "verification_canvas"), path)
    return path


def _fill(board: Path, *answers: str | None) -> None:
    """Answers by the order of the questions; None: what the notes say."""
    raw = read_board(board.read_text("utf-8"), "b")
    known = provenance(board, raw)
    assert known is not None
    for test, given in zip(known.tests, answers, strict=False):
        node = next(one for one in raw["nodes"] if one["id"] == test.response)
        node["text"] = test.expected[0] if given is None else given
    board.write_text(json.dumps(raw, ensure_ascii=False), "utf-8")


async def _check(board: Path, at: datetime = NOON, chat: Any = None, user: str = "ann") -> CheckReport:
    reviews = Reviews(board.parents[2] / "reviews", user)
    return await check_board(board, NAMES, reviews, at, chat=chat)


async def test_answers_are_coloured_and_the_board_stays_ours(board: Path) -> None:
    _fill(board, None, "never heard of it")
    report = await _check(board)
    raw = read_board(board.read_text("utf-8"), "b")
    known = provenance(board, raw)
    assert known is not None
    colors = {node["id"]: node.get("color") for node in raw["nodes"]}
    assert [colors[test.response] for test in known.tests[:3]] == ["4", "1", None]
    labels = {one["fromNode"]: one.get("label") for one in raw["edges"]}
    assert labels[known.tests[0].response] == "✓ right"
    assert labels[known.tests[1].response] == "✗ wrong"
    assert (report.count("right"), report.count("wrong")) == (1, 1)
    assert write_board(board_answer(random.Random(7), "verification_canvas"), board).added == 0
    assert read_board(board.read_text("utf-8"), "b") == raw


async def test_what_a_person_coloured_stays(board: Path) -> None:
    _fill(board, None)
    raw = read_board(board.read_text("utf-8"), "b")
    known = provenance(board, raw)
    assert known is not None
    node = next(one for one in raw["nodes"] if one["id"] == known.tests[0].response)
    node["color"] = "#ff00ff"
    board.write_text(json.dumps(raw), "utf-8")
    await _check(board)
    later = read_board(board.read_text("utf-8"), "b")["nodes"]
    assert next(one for one in later if one["id"] == node["id"])["color"] == "#ff00ff"


async def test_a_wrong_answer_becomes_a_note_that_is_marked_as_ours(board: Path, vault: Path) -> None:
    (vault / "错题本").mkdir()
    _fill(board, "never heard of it")
    report = await _check(board)
    note = Path(report.answers[0].note or "")
    assert note.parent == vault / "错题本"
    text = note.read_text("utf-8")
    document = parse_markdown("x", f"错题本/{note.name}", text)
    assert document.metadata["agentic-rag"] == "mistake"
    assert [unit.text for unit in read_units(text).units if unit.failure] == ["never heard of it"]
    assert records_mistake({"content": text, "metadata": {"path": document.path, **document.metadata}})

    _fill(board, None)
    await _check(board, NOON + timedelta(days=2))
    assert "redone: true" in note.read_text("utf-8")
    assert "never heard of it" in note.read_text("utf-8")


async def test_a_vault_without_a_place_for_mistakes_gets_one(board: Path, vault: Path) -> None:
    _fill(board, "never heard of it")
    report = await _check(board)
    assert Path(report.answers[0].note or "").parent == vault / "mistakes"


async def test_checking_twice_changes_nothing(board: Path, tmp_path: Path) -> None:
    _fill(board, None, "never heard of it")
    first = await _check(board)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert await _check(board, NOON + timedelta(hours=1)) == first
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files


async def test_what_is_right_comes_back_later_than_what_is_wrong(board: Path, tmp_path: Path) -> None:
    _fill(board, None, "never heard of it")
    right, wrong = (await _check(board)).answers[:2]
    assert right.due is not None
    assert wrong.due is not None
    assert NOON < wrong.due < right.due
    reviews = Reviews(tmp_path / "reviews", "ann")
    assert reviews.due(NOON) == []
    assert [one.asks for one in reviews.due(wrong.due)] == [wrong.asks]
    assert Reviews(tmp_path / "reviews", "bob").due(right.due) == []

    _fill(board, None, None)
    again = await _check(board, right.due)
    later = again.answers[0].due
    assert later is not None
    assert later - right.due > right.due - NOON


async def test_a_chat_model_marks(board: Path) -> None:
    _fill(board, "in other words")
    marker = Marker("Partly\nthe heat")
    report = await _check(board, chat=marker)
    assert (report.answers[0].mark, report.answers[0].missing) == ("partly", ("the heat",))
    assert "in other words" in marker.prompts[1]
    assert len(marker.prompts) == 2, "a question without an answer is not sent"


@pytest.mark.parametrize("reply", [None, "I cannot say"])
async def test_words_mark_where_the_chat_model_fails(board: Path, reply: str | None) -> None:
    _fill(board, None)
    report = await _check(board, chat=Marker(reply))
    assert report.answers[0].mark == "right"
    assert report.degraded is not None


async def test_only_boards_of_questions_are_checked(vault: Path) -> None:
    with pytest.raises(InputError, match="suffix"):
        await _check(vault / "boards" / "note.md")
    with pytest.raises(InputError, match="cannot be read"):
        await _check(vault / "boards" / "none.canvas")
    other = vault / "boards" / "other.canvas"
    write_board(board_answer(random.Random(1), "document_retrieval"), other)
    with pytest.raises(InputError, match="holds no questions"):
        await _check(other)
    for record in other.parent.glob(".*.board.json"):
        record.unlink()
    with pytest.raises(InputError, match="agentic-rag did not write it"):
        await _check(other)


async def test_damaged_reviews_are_told_and_kept(board: Path, tmp_path: Path) -> None:
    _fill(board, None)
    await _check(board)
    kept = next((tmp_path / "reviews").glob("*.json"))
    kept.write_text("{")
    with pytest.raises(RunError, match="move that file away"):
        await _check(board)
    assert kept.read_text() == "{"


async def test_questions_go_to_anki(board: Path, tmp_path: Path) -> None:
    _fill(board, "a\tb")
    report = await _check(board)
    text = anki_text(list(Reviews(tmp_path / "reviews", "ann").all().values()))
    assert text.startswith("#separator:tab\n")
    assert report.answers[0].asks in text.replace('""', '"')
