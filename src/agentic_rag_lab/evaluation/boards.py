"""Whether boards are as JSON Canvas 1.0 and Obsidian want them, and nothing lies on something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentic_rag.boards.canvas import Node, bounds, edges_of, nodes_of

SIDES = ("top", "right", "bottom", "left")
_KINDS = {"text": "text", "file": "file", "link": "url", "group": None}
"""Required key by node type."""


def violations(board: Mapping[str, Any]) -> list[str]:
    """Violations of the specification, or of what Obsidian accepts; empty for a valid board."""
    found = list(_node_violations(board))
    ids = [node.get("id") for node in nodes_of(board)] + [one.get("id") for one in edges_of(board)]
    found += [f"the id {one!r} is given twice" for one in sorted({str(i) for i in ids if ids.count(i) > 1})]
    known = {node.get("id") for node in nodes_of(board)}
    for one in edges_of(board):
        found += [f"edge {one.get('id')!r} has no {key}" for key in ("id",) if not one.get(key)]
        found += [
            f"edge {one.get('id')!r} leads to {one.get(end)!r}, which is not there"
            for end in ("fromNode", "toNode")
            if one.get(end) not in known
        ]
        found += [
            f"edge {one.get('id')!r} has the {side} {one.get(side)!r}"
            for side in ("fromSide", "toSide")
            if one.get(side) not in SIDES
        ]
    return found


def _node_violations(board: Mapping[str, Any]) -> Iterator[str]:
    ungrouped = False
    for node in nodes_of(board):
        name, kind = node.get("id"), str(node.get("type"))
        if not isinstance(name, str) or not name:
            yield f"a node has the id {name!r}"
        if kind not in _KINDS:
            yield f"node {name!r} is of type {kind!r}"
            continue
        if _KINDS[kind] is not None and not isinstance(node.get(str(_KINDS[kind])), str):
            yield f"node {name!r} has no {_KINDS[kind]}"
        if any(type(node.get(key)) is not int for key in ("x", "y", "width", "height")):
            yield f"node {name!r} has no whole numbers for x, y, width and height"
        if not str(node.get("subpath", "#")).startswith("#"):
            yield f"node {name!r} has the subpath {node['subpath']!r}"
        if kind == "group" and ungrouped:
            yield f"group {name!r} stands after a card, which it would hide"
        ungrouped = ungrouped or kind != "group"


def overlaps(board: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Pairs of ids whose boxes overlap: of cards, of groups, and of a group that holds a card only partly."""
    placed = nodes_of(board)
    return [
        (one["id"], other["id"])
        for number, one in enumerate(placed)
        for other in placed[number + 1 :]
        if _share(one, other) and not _is_held(other, one) and not _is_held(one, other)
    ]


def _share(one: Node, other: Node) -> bool:
    return bool(
        one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    )


def _is_held(card: Node, frame: Node) -> bool:
    left, top, right, bottom = bounds([card])
    outer = bounds([frame])
    inside = outer[0] <= left and outer[1] <= top and right <= outer[2] and bottom <= outer[3]
    return frame["type"] == "group" and inside
