"""Each operation's board: contents, validity, no overlaps."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agentic_rag.boards.canvas import board_text, nodes_of, read_board
from agentic_rag.boards.drawing import draw_board
from agentic_rag.boards.vault import Vault
from agentic_rag.domain.identity import is_board_id
from agentic_rag.errors import InputError
from agentic_rag_lab.evaluation.boards import overlaps, violations
from board_answers import OPERATIONS, board_answer

NOWHERE = Vault(None)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("seed", range(25))
def test_boards_are_valid_and_nothing_overlaps(operation: str, seed: int) -> None:
    answer = board_answer(random.Random(seed), operation)
    board = draw_board(answer, NOWHERE).board
    assert violations(board) == []
    assert overlaps(board) == []
    assert all(is_board_id(node["id"]) for node in nodes_of(board))
    assert board_text(board) == board_text(draw_board(answer, NOWHERE).board)
    assert read_board(board_text(board), "b") == board


def test_a_verification_board_keeps_answers_apart() -> None:
    answer = board_answer(random.Random(3), "verification_canvas")
    drawing = draw_board(answer, NOWHERE)
    by_id = {node["id"]: node for node in nodes_of(drawing.board)}
    frame = next(node for node in nodes_of(drawing.board) if node["type"] == "group")
    for test in drawing.tests:
        assert by_id[test.response]["text"] == ""
        assert test.asks in by_id[test.question]["text"]
        for card in test.answers:
            assert by_id[card]["x"] >= by_id[test.response]["x"] + by_id[test.response]["width"] + 300
            assert frame["x"] < by_id[card]["x"]


def test_clusters_are_groups_with_their_notes() -> None:
    citation = board_answer(random.Random(1), "weak_point_clustering")["citations"][0]
    answer = {
        **board_answer(random.Random(1), "weak_point_clustering"),
        "citations": [citation],
        "answer": f"#cultivar (1)\n  - {citation['title']}: ✗ in Uji [1]",
    }
    frame, _, member = nodes_of(draw_board(answer, NOWHERE).board)
    assert (frame["label"], frame["color"]) == ("#cultivar", "1")
    assert member["text"].startswith("✗ in Uji\n\n[[notes/")


def test_relations_are_notes_joined_by_labelled_arrows(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "Enzyme.md").write_text("x")
    base = board_answer(random.Random(1), "concept_relation")
    line = "Enzyme —acts on→ Catechins; Enzyme —drives→ Oxidation: It does. [1]"
    answer = {**base, "results": [], "citations": base["citations"][:1], "answer": line}
    board = draw_board(answer, Vault.around(tmp_path / "boards" / "b.canvas", answer["citations"])).board
    by_id = {node["id"]: node for node in nodes_of(board)}
    told = [
        (by_id[one["fromNode"]]["text"], one["label"], by_id[one["toNode"]]["text"]) for one in board["edges"]
    ]
    assert told == [
        ("**[[deep/Enzyme|Enzyme]]**", "acts on [1]", "**Catechins**"),
        ("**[[deep/Enzyme|Enzyme]]**", "drives [1]", "**Oxidation**"),
    ]
    assert {(one["fromSide"], one["toSide"]) for one in board["edges"]} == {("right", "left")}
    assert any("It does." in node.get("text", "") for node in nodes_of(board))


def test_the_cards_of_notes_among_relations_say_what_the_notes_say() -> None:
    base = board_answer(random.Random(1), "concept_relation")
    citation = {**base["citations"][0], "title": "Enzyme", "path": "deep/Enzyme.md"}
    contents = ("---\nlang: en\n---", "# Enzyme\n\n- An enzyme speeds a reaction. It is not used up.")
    answer = {
        **base,
        "citations": [citation],
        "results": [{"content": content, "metadata": citation} for content in contents],
        "answer": "Enzyme —acts on→ Catechins: It does. [1]",
    }
    nodes = nodes_of(draw_board(answer, NOWHERE).board)
    assert "**[[deep/Enzyme|Enzyme]]**\n\nAn enzyme speeds a reaction." in [node["text"] for node in nodes]


@pytest.mark.parametrize("seed", range(10))
def test_cards_among_relations_are_none_of_them_empty(seed: int) -> None:
    board = draw_board(board_answer(random.Random(seed), "concept_relation"), NOWHERE).board
    assert {node["type"] for node in nodes_of(board)} == {"text"}
    assert all(node["text"].strip("* ") for node in nodes_of(board))


def test_an_arrow_and_its_opposite_are_one_with_two_heads() -> None:
    base = board_answer(random.Random(1), "concept_relation")
    answer = {
        **base,
        "results": [],
        "citations": base["citations"][:1],
        "answer": "A —feeds→ B: It does. [1]\nB —needs→ A [1]",
    }
    (one,) = draw_board(answer, NOWHERE).board["edges"]
    assert (one["label"], one["fromEnd"], one["toEnd"]) == ("→ feeds [1] ← needs [1]", "arrow", "arrow")


def test_a_passage_stands_beside_its_note_at_its_heading() -> None:
    base = board_answer(random.Random(1), "document_retrieval")
    citation = {**base["citations"][0], "heading_path": ["T", "Second: fire #2"]}
    answer = {**base, "citations": [citation], "answer": "Seven hours. [1]"}
    note = next(node for node in nodes_of(draw_board(answer, NOWHERE).board) if node["type"] == "file")
    assert note["file"] == citation["path"]
    assert note["subpath"] == "#Second fire 2"


def test_what_a_model_wrote_in_no_form_is_drawn_as_passages() -> None:
    base = board_answer(random.Random(2), "verification_canvas")
    answer = {**base, "answer": "It is the first heat [1]."}
    texts = [node.get("text", "") for node in nodes_of(draw_board(answer, NOWHERE).board)]
    assert any(text.startswith("It is the first heat") for text in texts)


def test_nothing_is_drawn_of_an_answer_without_citations() -> None:
    answer = {
        **board_answer(random.Random(2), "document_retrieval"),
        "abstained": True,
        "answer": "Not found.",
    }
    with pytest.raises(InputError, match=r"the answer 'Not found\.' cites no note"):
        draw_board(answer, NOWHERE)
