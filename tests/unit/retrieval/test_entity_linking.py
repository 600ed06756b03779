"""Names in questions: the longest wins, ordinary words are no names, any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain import Entity
from agentic_rag.domain.identity import entity_key
from agentic_rag.retrieval.entity_linking import EntityNames

NAMES = (
    ("Da Hong Pao", "Note"),
    ("Hong", "Thing"),
    ("Oolong", "Note"),
    ("Green", "Thing"),
    ("乌龙茶", "Note"),
    ("茶", "Note"),
    ("Mercury (planet)", "Note"),
    ("Mercury (element)", "Note"),
    ("The", "Note"),
    ("1984", "Note"),
    ("Tea", "Note"),
    ("Anna Lee", "Person"),
)
ENTITIES = [Entity(entity_key(name), name, ("Entity", label)) for name, label in NAMES]
FOUND = EntityNames(ENTITIES)


def named(question: str) -> list[str]:
    return [ENTITIES[place].name for place in FOUND.named_in(question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where does Da Hong Pao grow?", ["Da Hong Pao"]),
        ("where does da hong pao grow?", ["Da Hong Pao"]),
        ("is oolong roasted?", ["Oolong"]),
        ("which green leaves?", []),
        ("Who is Mr Green?", ["Green"]),
        ("乌龙茶怎么泡", ["乌龙茶"]),
        ("茶怎么泡", []),
        ("How far is Mercury?", ["Mercury (planet)", "Mercury (element)"]),
        ("the tea", []),
        ("Anna Lee's garden", ["Anna Lee"]),
        ("Anna Lee’s garden", ["Anna Lee"]),
        ("What is said in 1984?", ["1984"]),
        ("ＯＯＬＯＮＧ?", ["Oolong"]),
        ("", []),
        ("?!", []),
    ],
)
def test_names_in_questions(question: str, expected: list[str]):
    assert named(question) == expected


def test_only_what_has_a_place_of_its_own_is_placed():
    placed = {entity.name for place, entity in enumerate(ENTITIES) if FOUND.is_placed(place)}
    assert placed == {name for name, label in NAMES if label != "Thing"}


@given(st.text(max_size=80))
def test_any_question_is_accepted(question: str):
    places = FOUND.named_in(question)
    assert places == sorted(set(places))


def test_a_note_is_named_by_its_aliases_in_any_script():
    found = EntityNames(ENTITIES, {"oolong": ["青茶", "Wu Long"], "da hong pao": ["青茶"], "gone": ["Gone"]})

    def named(question: str) -> list[str]:
        return [ENTITIES[place].name for place in found.named_in(question)]

    assert named("is wu long roasted?") == ["Oolong"]
    assert named("青茶和绿茶") == ["Da Hong Pao", "Oolong"]
    assert named("is oolong roasted?") == ["Oolong"]
    assert named("Gone?") == []
