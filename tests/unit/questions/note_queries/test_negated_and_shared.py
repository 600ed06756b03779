"""Negated numbers, shares in words, due dates and names that are values too, read as queries."""

from __future__ import annotations

import pytest

from agentic_rag.notes.catalogue import Snapshot
from agentic_rag.questions.note_queries.choosing import choose
from agentic_rag.questions.note_queries.reading import read_query
from agentic_rag.questions.note_queries.vocabulary import Vocabulary
from agentic_rag.questions.times import named_time
from note_rows import nearest, snapshot_of

LONG = ", ".join(f"Language{n}" for n in range(40))
SHOWS = snapshot_of(
    {
        "shows/Ash.md": f"---\nscore: 5/5\nseasons: 2\nruntime: 900\nspoken: {LONG}, Turkish\n---\nText.\n",
        "shows/Bay.md": "---\ntags: [liked]\nscore: 4/5\nseasons: 3\nruntime: 400\nspoken: Turkish\n---\nText.\n",
        "shows/Elm.md": f"---\ntags: []\nscore: 2/5\nseasons: 2\nruntime: 100\nspoken: {LONG}\n---\nText.\n",
        "projects/Boat.md": "# Boat\n\n- [ ] Order rope [due:: 2024-05-01]\n- [ ] Sew the sail [due:: 2025-02-01]\n",
        "projects/Shed.md": '---\nneeds: "[[Boat]]"\n---\n\n- [ ] Paint the door\n',
        "What is.md": "---\ntags: [odd]\nneeds: nothing\n---\nText.\n",
        "people/Ann.md": "---\ntags: person\nborn: 1986\n---\nA sailor.\n",
        "charts/2023.md": '---\ntags: [chart]\nauthor: "[[Ann]]"\ndate: 2023-04-01\n---\nText.\n',
    }
)


async def selected(question: str, vault: Snapshot = SHOWS) -> list[str] | None:
    from datetime import date

    time = named_time(question, date(2024, 6, 1), vault.days)
    query = await read_query(question, Vocabulary.of(vault), nearest, time)
    if query is None:
        return None
    return [
        entry.text.split(" — ")[0].split(" (")[0] for entry in choose(query, vault.notes, vault.facts).entries
    ]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Which shows do not have 2 seasons?", ["Bay"]),
        ("Which shows don't have 2 seasons?", ["Bay"]),
        ("Which notes have no score?", ["What is", "2023", "Ann", "Boat", "Shed"]),
        ("Which notes don't have an author?", ["What is", "Ann", "Boat", "Shed", "Ash", "Bay", "Elm"]),
        ("Which projects are missing a needs?", ["Boat"]),
        ("Which notes have no tags?", ["Boat", "Shed", "Ash", "Elm"]),
        ("How many shows lack a runtime?", []),
        ("哪些笔记没有 born？", ["What is", "2023", "Boat", "Shed", "Ash", "Bay", "Elm"]),
        ("Which shows do not have a score of 4/5?", ["Ash", "Elm"]),
        ("Which shows have a score of at least 4/5?", ["Ash", "Bay"]),
        ("Which shows have a score below 4/5?", ["Elm"]),
        ("Which shows are spoken in Turkish?", ["Ash", "Bay"]),
        ("Which show has the most seasons?", ["Bay"]),
        ("Which open tasks does Boat have?", ["☐ Order rope", "☐ Sew the sail"]),
        ("Which tasks are due before 2025?", ["☐ Order rope"]),
        ("Which tasks are due in 2025?", ["☐ Sew the sail"]),
    ],
)
async def test_what_is_selected(question: str, texts: list[str]):
    found = await selected(question)
    assert found is not None
    assert [text.strip() for text in found][: len(texts)] == texts


@pytest.mark.parametrize("question", ["When was Ann born?", "Ann什么时候出生？", "When was Boat built?"])
async def test_when_something_was_is_no_question_for_notes_that_name_it(question: str):
    assert await selected(question) is None
