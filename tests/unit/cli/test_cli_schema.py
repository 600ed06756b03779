"""``stats``: what the notes state, in the terminal."""

from __future__ import annotations

import pytest

from agentic_rag.cli.datasets import MAX_PROPERTIES, print_schema
from agentic_rag.domain.notes import Field, Note, Row
from agentic_rag.notes.catalogue import Schema


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def test_properties_tags_folders_and_tasks_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    task = Row("task", "call", 0, 0, state="x", fields=(Field("due", "2024-05-01", 0, 0),))
    fields = (Field("price", 20, 0, 0), Field("author", "[[Ann]]", 0, 0))
    notes = [Note("a", "games/a.md", "a", tags=("game",), fields=fields, rows=(task,))]
    print_schema(Schema.of(notes).to_dict())
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "what the notes state" in lines
    assert "author link 1 [[Ann]]" in lines
    assert "price number 1 20" in lines
    assert "due date 1 2024-05-01" in lines
    assert lines[-3:] == ["tags: game (1)", "folders: games (1)", "tasks: [x] (1)"]


def test_many_properties_are_cut(capsys: pytest.CaptureFixture[str]) -> None:
    fields = tuple(Field(f"key {number}", number, 0, 0) for number in range(MAX_PROPERTIES + 5))
    print_schema(Schema.of([Note("a", "a.md", "a", fields=fields)]).to_dict())
    assert "and 5 more; all of them with --json" in capsys.readouterr().out


def test_nothing_is_shown_of_notes_that_state_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_schema(Schema.of([]).to_dict())
    assert capsys.readouterr().out == ""
