"""Board files: written atomically and updated; a hidden file beside a board holds its provenance.

The hidden file is named by the board's key, not by the board's file name: a board that is renamed or moved within
its vault keeps it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agentic_rag.boards.canvas import Board, board_text, nodes_of, read_board
from agentic_rag.boards.drawing import Drawing, Test, draw_board
from agentic_rag.boards.merging import MergeResult, WrittenParts, merge_boards
from agentic_rag.boards.vault import Vault, root_above
from agentic_rag.domain.identity import is_board_id
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError, RunError
from agentic_rag.stores.whole_file import write_whole

SUFFIX = ".canvas"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class BoardReport:
    """What writing a board changed in its file."""

    path: str
    added: int
    """Number of new cards and groups."""
    removed: int
    """Number of our cards that nobody had changed and that are no longer part of the answer."""
    kept: int
    """Number of cards and groups that stay as they were."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a board: its question and answer, and the nodes written."""

    key: str
    query: str
    operation: str
    dataset: str
    written: WrittenParts
    tests: tuple[Test, ...]


def write_board(answer: Mapping[str, Any], path: Path, within: Path | None = None) -> BoardReport:
    """Write an answer as a board, or update the existing board at the path.

    Args:
        answer: as ``Answer.to_dict`` gives it.
        path: a ``.canvas`` file; a missing folder is created.
        within: see ``Vault.around``.

    Raises:
        InputError: another suffix, an answer without citations, or the existing file is no board or of another
            question.
        RunError: the file cannot be written.
    """
    require_board_name(path)
    drawing = draw_board(answer, Vault.around(path, answer["citations"], within))
    try:
        there = read_board(path.read_text("utf-8-sig"), path.name) if path.exists() else {}
        known = provenance(path, there)
        _require_own(path, there, known, drawing, answer)
        before = known.written if known else WrittenParts({}, {})
        result = merge_boards(there, before, drawing.board) if there else _first(drawing)
        _write(path, there, result, _record(answer, drawing, result, known))
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"the board {path} cannot be written: {error}") from error
    kept = len(nodes_of(result.board)) - result.added_count
    return BoardReport(str(path), result.added_count, result.removed_count, kept)


def require_board_name(path: Path) -> None:
    """Raises ``InputError`` for a file name that editors would not open as a board."""
    if path.suffix.lower() != SUFFIX:
        raise InputError(f"a board is a file with the suffix {SUFFIX}, not {path.name!r}")


def provenance(path: Path, board: Board) -> Provenance | None:
    """The provenance of the board; None if unknown."""
    ids = {str(node["id"]) for node in nodes_of(board) if is_board_id(node.get("id"))}
    # By the key, which is the title card's id; if that card was deleted, by the other cards of the board.
    places = [*_named_records(path, ids), *sorted(path.absolute().parent.glob(_name("*")))] if ids else []
    records = (_read(place) for place in places)
    return next((record for record in records if record and ids & record.written.nodes.keys()), None)


def save(path: Path, board: Board, provenance: Provenance) -> None:
    """Write a board whose cards we changed, and its provenance.

    Raises ``OSError``.
    """
    write_whole(_record_path(path, provenance.key), json.dumps(_plain(provenance), ensure_ascii=False))
    write_whole(path, board_text(board))


def _first(drawing: Drawing) -> MergeResult:
    nodes = {node["id"]: node for node in nodes_of(drawing.board)}
    edges = {one["id"]: one for one in drawing.board["edges"]}
    return MergeResult(drawing.board, WrittenParts(nodes, edges), len(nodes), 0)


def _require_own(
    path: Path,
    board_on_file: Board,
    provenance: Provenance | None,
    drawing: Drawing,
    answer: Mapping[str, Any],
) -> None:
    """Raises ``InputError`` for a board of a person's own, or of another question."""
    if not nodes_of(board_on_file):
        return
    if not any(is_board_id(node.get("id")) for node in nodes_of(board_on_file)):
        raise InputError(
            f"{path} is a board that agentic-rag did not write; it was not changed; give another file name"
        )
    if provenance is not None and provenance.key != drawing.key:
        # Who may use the one dataset need not know what was asked of the other.
        which = (
            f" ({provenance.query!r}, {provenance.operation})"
            if provenance.dataset == answer["dataset"]
            else ""
        )
        raise InputError(f"{path} is the board of another question{which}; give another name")


def _record(
    answer: Mapping[str, Any], drawing: Drawing, result: MergeResult, provenance: Provenance | None
) -> Provenance:
    """The provenance after an update. Tests whose cards are still on the board stay, even if the answer has no such
    question any more."""
    now = {test.response for test in drawing.tests}
    there = {node.get("id") for node in nodes_of(result.board)}
    kept = [test for test in (provenance.tests if provenance else ()) if test.response in there - now]
    return Provenance(
        drawing.key,
        str(answer["query"]),
        str(answer["operation"]),
        str(answer["dataset"]),
        result.written_parts,
        (*drawing.tests, *kept),
    )


def _write(path: Path, board_on_file: Board, result: MergeResult, record: Provenance) -> None:
    if result.board != board_on_file or not path.exists():
        save(path, result.board, record)
    else:
        write_whole(_record_path(path, record.key), json.dumps(_plain(record), ensure_ascii=False))


def _plain(record: Provenance) -> Json:
    return {"version": _VERSION, **asdict(record)}


def _read(path: Path) -> Provenance | None:
    """The provenance in a file; None if the file is not in our format, which makes the board's provenance unknown."""
    try:
        raw = json.loads(path.read_text("utf-8"))
        tests = tuple(
            Test(
                one["question"],
                one["response"],
                tuple(one["answers"]),
                one["asks"],
                tuple(one["expected"]),
                tuple(one["citations"]),
            )
            for one in raw["tests"]
        )
        written = WrittenParts(raw["written"]["nodes"], raw["written"]["edges"])
        return Provenance(raw["key"], raw["query"], raw["operation"], raw["dataset"], written, tests)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _record_path(board: Path, key: str) -> Path:
    """The existing file, else the path beside the board."""
    return next(_named_records(board, {key}), board.with_name(_name(key)))


def _name(key: str) -> str:
    return f".{key}.board.json"


def _named_records(board: Path, keys: Set[str]) -> Iterator[Path]:
    """Provenance files with one of the keys: first beside the board, then elsewhere in its vault."""
    names = {_name(key) for key in keys}
    yield from (path for name in sorted(names) if (path := board.with_name(name)).is_file())
    vault = root_above(board)
    for folder, inner, files in os.walk(vault) if vault else ():
        inner[:] = [name for name in inner if not name.startswith(".")]
        yield from (Path(folder) / name for name in files if name in names)
