"""Boards on disk: updates keep a person's changes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.boards.canvas import nodes_of, read_board
from agentic_rag.boards.files import provenance, write_board
from agentic_rag.errors import InputError
from agentic_rag.ingest.files.discovery import OWN_BOARD, discover
from agentic_rag_lab.evaluation.boards import overlaps, violations
from board_answers import OPERATIONS, board_answer


def _read(path: Path) -> dict[str, Any]:
    return read_board(path.read_text("utf-8"), path.name)


def _save(path: Path, board: dict[str, Any]) -> None:
    """As another editor does: in its own form."""
    path.write_text(json.dumps(board, ensure_ascii=False, indent=1), "utf-8")


def test_a_second_run_changes_no_byte(tmp_path: Path) -> None:
    answer = board_answer(random.Random(5), "verification_canvas")
    path = tmp_path / "b.canvas"
    first = write_board(answer, path)
    before = path.read_bytes()
    again = write_board(answer, path)
    assert path.read_bytes() == before
    assert (again.added, again.removed, again.kept) == (0, 0, first.added)


def _edit(rng: random.Random, board: dict[str, Any]) -> dict[str, Any]:
    """What a person does to a board: add, move, write, colour, delete, draw an edge."""
    nodes, edges = [dict(one) for one in board["nodes"]], [dict(one) for one in board["edges"]]
    for _ in range(rng.randint(1, 6)):
        kind = rng.choice(["add", "move", "write", "colour", "delete", "edge", "foreign"])
        cards = [one for one in nodes if one["type"] != "group"]
        one = rng.choice(cards) if cards else None
        if kind == "add" or one is None:
            place = {"x": rng.randint(-9000, -5000), "y": rng.randint(-900, 900), "width": 200, "height": 60}
            nodes.append({"id": f"{rng.getrandbits(64):016x}", "type": "text", "text": "mine", **place})
        elif kind == "move":
            one["x"] -= 20_000 + rng.randint(0, 5000)
        elif kind == "write" and one["type"] == "text":
            one["text"] += " my words"
        elif kind == "colour":
            one["color"] = "#123456"
        elif kind == "foreign":
            one["styleAttributes"] = {"border": "dashed"}
        elif kind == "delete":
            nodes = [other for other in nodes if other is not one]
            edges = [e for e in edges if one["id"] not in (e["fromNode"], e["toNode"])]
        elif kind == "edge":
            other = rng.choice(cards)
            ends = {"fromNode": one["id"], "fromSide": "top", "toNode": other["id"], "toSide": "top"}
            edges.append({"id": f"{rng.getrandbits(64):016x}", **ends, "label": "see"})
    return {**board, "nodes": nodes, "edges": edges, "metadata": {"version": "1.0-1.0"}}


@pytest.mark.parametrize("seed", range(100))
def test_what_a_person_did_stays(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    operation = rng.choice(OPERATIONS)
    path = tmp_path / "b.canvas"
    ever: dict[str, Any] = {}
    write_board(board_answer(random.Random(seed), operation), path)
    for turn in range(3):
        written = _read(path)
        ever |= {one["id"]: one for one in written["nodes"]}
        edited = _edit(rng, written)
        _save(path, edited)
        write_board(board_answer(random.Random(seed + turn % 2), operation), path)
        now = {one["id"]: one for one in nodes_of(_read(path))}
        before = {one["id"]: one for one in written["nodes"]}
        for node in edited["nodes"]:
            if before.get(node["id"]) != node:
                assert now.get(node["id"]) == node
        deleted = before.keys() - {node["id"] for node in edited["nodes"]}
        assert not deleted & now.keys()
        theirs = [one for one in edited["edges"] if one not in written["edges"]]
        assert all(one in _read(path)["edges"] for one in theirs)
        assert _read(path)["metadata"] == {"version": "1.0-1.0"}
        stable = path.read_bytes()
        write_board(board_answer(random.Random(seed + turn % 2), operation), path)
        assert path.read_bytes() == stable


@pytest.mark.parametrize("seed", range(20))
def test_what_comes_new_overlaps_nothing(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "b.canvas"
    write_board(board_answer(random.Random(seed), "document_retrieval"), path)
    board = _read(path)
    board["nodes"][0]["color"] = "2"
    _save(path, board)
    report = write_board(board_answer(random.Random(seed + 500), "document_retrieval"), path)
    assert report.added > 0
    assert overlaps(_read(path)) == []
    assert violations(_read(path)) == []


def test_an_answered_question_stays_though_it_is_not_asked_any_more(tmp_path: Path) -> None:
    path = tmp_path / "b.canvas"
    write_board(board_answer(random.Random(1), "verification_canvas"), path)
    board = _read(path)
    known = provenance(path, board)
    assert known is not None
    test = known.tests[0]
    next(node for node in board["nodes"] if node["id"] == test.response)["text"] = "my answer"
    _save(path, board)
    write_board(board_answer(random.Random(2), "verification_canvas"), path)
    left = {node["id"] for node in nodes_of(_read(path))}
    assert {test.question, test.response, *test.answers} <= left
    later = provenance(path, _read(path))
    assert later is not None
    assert test in later.tests


def test_boards_beside_each_other_keep_apart(tmp_path: Path) -> None:
    answers = [board_answer(random.Random(n), "verification_canvas", query=f"q{n}?") for n in range(3)]
    for number, answer in enumerate(answers):
        write_board(answer, tmp_path / f"{number}.canvas")
    for number, answer in enumerate(answers):
        path = tmp_path / f"{number}.canvas"
        known = provenance(path, _read(path))
        assert known is not None
        assert known.query == answer["query"]
        assert write_board(answer, path).added == 0


def test_a_board_without_its_title_card_is_still_known(tmp_path: Path) -> None:
    answer = board_answer(random.Random(1), "verification_canvas")
    path = tmp_path / "b.canvas"
    write_board({**answer, "query": "another?"}, tmp_path / "a.canvas")
    write_board(answer, path)
    board = _read(path)
    board["nodes"] = [node for node in board["nodes"] if not str(node.get("text")).startswith("# ")]
    _save(path, board)
    known = provenance(path, board)
    assert known is not None
    assert known.query == answer["query"]


def test_a_board_that_was_renamed_or_moved_keeps_what_is_known_of_it(tmp_path: Path) -> None:
    (tmp_path / ".obsidian").mkdir()
    path = tmp_path / "a" / "b.canvas"
    answer = board_answer(random.Random(1), "document_retrieval")
    write_board(answer, path)
    board = _read(path)
    gone = board["nodes"].pop()
    board["edges"] = [one for one in board["edges"] if gone["id"] not in (one["fromNode"], one["toNode"])]
    moved = tmp_path / "c" / "d.canvas"
    moved.parent.mkdir()
    _save(moved, board)
    path.unlink()
    write_board(answer, moved)
    assert gone["id"] not in {node["id"] for node in nodes_of(_read(moved))}


def test_what_is_not_ours_is_not_written_into(tmp_path: Path) -> None:
    answer = board_answer(random.Random(1), "document_retrieval")
    with pytest.raises(InputError, match=r"suffix \.canvas, not 'note\.md'"):
        write_board(answer, Path("note.md"))
    own = tmp_path / "own.canvas"
    card = {"id": "a", "type": "text", "text": "mine", "x": 0, "y": 0, "width": 9, "height": 9}
    _save(own, {"nodes": [card], "edges": []})
    with pytest.raises(InputError, match="a board that agentic-rag did not write"):
        write_board(answer, own)
    other = tmp_path / "other.canvas"
    write_board({**answer, "query": "another?"}, other)
    with pytest.raises(InputError, match="board of another question"):
        write_board(answer, other)
    broken = tmp_path / "broken.canvas"
    broken.write_text("{")
    with pytest.raises(InputError, match="not a board"):
        write_board(answer, broken)
    assert broken.read_text() == "{"


def test_an_empty_board_is_filled(tmp_path: Path) -> None:
    path = tmp_path / "new.canvas"
    path.write_text("")
    assert write_board(board_answer(random.Random(1), "document_retrieval"), path).added > 0


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_board_of_ours_is_never_read_as_notes(tmp_path: Path, operation: str) -> None:
    write_board(board_answer(random.Random(1), operation), tmp_path / "b.canvas")
    board = _read(tmp_path / "b.canvas")
    board["nodes"] = [{**node, "x": node["x"] + 7, "text": "changed"} for node in board["nodes"][1:]]
    _save(tmp_path / "renamed.canvas", board)
    (tmp_path / "b.canvas").unlink()
    scan = discover([tmp_path])
    assert scan.items == ()
    assert [one.reason for one in scan.skipped_files] == [OWN_BOARD]


def _with_a_card_at(path: Path, place: str) -> dict[str, Any]:
    """Write a board, and add a person's card at y = ``place``; returns the answer to write next."""
    first, second = (board_answer(random.Random(seed), "verification_canvas") for seed in (5, 6))
    write_board(first, path)
    mine = f'{{"id":"mine","type":"text","text":"mine","x":0,"y":{place},"width":9,"height":9}}'
    path.write_text(path.read_text("utf-8").replace('"nodes":[', f'"nodes":[{mine},', 1), "utf-8")
    return {**second, "query": first["query"]}


@pytest.mark.parametrize("place", [str(2**70), "1e308", "-1e308"])
def test_new_cards_are_placed_beside_a_card_out_of_all_bounds(tmp_path: Path, place: str) -> None:
    path = tmp_path / "b.canvas"
    assert write_board(_with_a_card_at(path, place), path).added
    for node in nodes_of(_read(path)):
        assert (abs(node["y"]) < 10**6) == (node["id"] != "mine")


@pytest.mark.parametrize("place", ["1e400", "-1e400", "NaN", "1" + "0" * 5000])
def test_a_board_with_a_number_that_no_canvas_has_is_refused(tmp_path: Path, place: str) -> None:
    path = tmp_path / "b.canvas"
    answer = _with_a_card_at(path, place)
    before = path.read_bytes()
    with pytest.raises(InputError, match="is not a board: no valid JSON"):
        write_board(answer, path)
    assert path.read_bytes() == before
