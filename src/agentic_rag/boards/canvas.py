"""JSON Canvas 1.0: the cards, groups and edges of a board in the keys of the format.

A board consists of plain JSON values, as editors write them; unknown keys are kept. Coordinates are whole pixels;
x grows to the right, y downwards.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Mapping
from typing import Any

from agentic_rag.errors import InputError

Node = dict[str, Any]
Edge = dict[str, Any]
Board = dict[str, Any]
RED, YELLOW, GREEN, CYAN, PURPLE = "1", "3", "4", "5", "6"
WIDTH = 420
"""Width in pixels of a card with text."""
_LINE, _PADDING, _LETTER, _HEADING = 24, 40, 8.2, 1.75
"""Sizes of Obsidian's default theme in pixels: line height, padding around a text, width of a Latin letter; and the
factor by which a heading is larger."""
_WIDE = ("W", "F")


def text_card(node_id: str, text: str, *, width: int = WIDTH, color: str | None = None) -> Node:
    """A card with Markdown text, as high as its text needs; its position is set later."""
    return _with_color(
        {"id": node_id, "type": "text", "text": text, **_size(width, text_height(text, width))}, color
    )


def file_card(node_id: str, file: str, heading: str | None, *, width: int, height: int) -> Node:
    """A card that shows a note of the vault from a heading on."""
    node = {"id": node_id, "type": "file", "file": file, **_size(width, height)}
    if heading:
        node["subpath"] = "#" + heading
    return node


def group(node_id: str, label: str, members: list[Node], *, color: str | None = None) -> Node:
    """A frame around placed nodes, with room for its label."""
    left, top, right, bottom = bounds(members)
    pad = 20
    frame = {"id": node_id, "type": "group", "label": label, "x": left - pad, "y": top - pad}
    return _with_color(
        {**frame, "width": right - left + 2 * pad, "height": bottom - top + 2 * pad},
        color,
    )


def edge(edge_id: str, start: Node, end: Node, label: str = "", *, both: bool = False) -> Edge:
    """An arrow between two placed nodes; it joins the sides that face each other. ``both``: arrowheads at both
    ends."""
    sides = _facing(start, end)
    drawn = {"id": edge_id, "fromNode": start["id"], "fromSide": sides[0], "toNode": end["id"]}
    drawn |= {"toSide": sides[1], "toEnd": "arrow"} | ({"fromEnd": "arrow"} if both else {})
    return {**drawn, "label": label} if label else drawn


def _size(width: int, height: int) -> dict[str, int]:
    return {"x": 0, "y": 0, "width": width, "height": height}


def _with_color(node: Node, color: str | None) -> Node:
    return node if color is None else {**node, "color": color}


def _facing(start: Node, end: Node) -> tuple[str, str]:
    across = end["x"] + end["width"] / 2 - start["x"] - start["width"] / 2
    down = end["y"] + end["height"] / 2 - start["y"] - start["height"] / 2
    if start["x"] + start["width"] <= end["x"] or end["x"] + end["width"] <= start["x"]:
        return ("right", "left") if across > 0 else ("left", "right")
    return ("bottom", "top") if down > 0 else ("top", "bottom")


def text_height(text: str, width: int) -> int:
    """Height in pixels of a Markdown text in a card of this width."""
    room = (width - _PADDING) / _LETTER
    return _PADDING + sum(_line_height(line, room) for line in text.split("\n"))


def _line_height(line: str, room: float) -> int:
    larger = _HEADING if line.startswith("# ") else 1.0
    return round(_LINE * larger) * max(1, math.ceil(_letters(line) * larger / room))


def _letters(line: str) -> int:
    """Width of a line in Latin letters; Han and kana count as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in _WIDE else 1 for letter in line)


def bounds(nodes: list[Node]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of all nodes together; zeros without nodes."""
    if not nodes:
        return 0, 0, 0, 0
    return (
        min(node["x"] for node in nodes),
        min(node["y"] for node in nodes),
        max(node["x"] + node["width"] for node in nodes),
        max(node["y"] + node["height"] for node in nodes),
    )


def move_node(node: Node, x: int, y: int) -> Node:
    """The node at another position."""
    return {**node, "x": x, "y": y}


def nodes_of(board: Mapping[str, Any]) -> list[Node]:
    """The board's nodes."""
    return [node for node in board.get("nodes") or () if isinstance(node, dict)]


def edges_of(board: Mapping[str, Any]) -> list[Edge]:
    """The board's edges."""
    return [one for one in board.get("edges") or () if isinstance(one, dict)]


def read_board(text: str, name: str) -> Board:
    """Parse the text of a board file; an empty file is an empty board, as Obsidian creates it.

    Raises:
        InputError: the text is no board.
    """
    try:
        board = json.loads(text, parse_float=_finite, parse_constant=_finite) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not a board: no valid JSON ({error})") from error
    if not isinstance(board, dict) or not all(
        isinstance(board.get(key, []), list) for key in ("nodes", "edges")
    ):
        raise InputError(f"{name} is not a board: an object with lists of nodes and edges was expected")
    return board


def _finite(number: str) -> float:
    """A number that can be written again; raises ``ValueError`` if it is none."""
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is no number of a canvas")
    return value


def board_text(board: Mapping[str, Any]) -> str:
    """The board as Obsidian writes it: one node or edge per line, indented by tabs."""
    rest = {key: value for key, value in board.items() if key not in ("nodes", "edges")}
    parts = [
        f'\t"{key}":[\n' + ",\n".join(f"\t\t{_json(one)}" for one in board.get(key) or ()) + "\n\t]"
        for key in ("nodes", "edges")
    ]
    parts += [f"\t{_json(key)}:{_json(value)}" for key, value in rest.items()]
    return "{\n" + ",\n".join(parts) + "\n}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
