"""Updates a board: a person's additions, moves, edits and deletions are kept.

The id of a card marks it as ours and is a digest of its content. A card in the file with the id of a new card is
that card, even if moved or edited, and stays unchanged. A card that we wrote before and that is missing in the file
was deleted, and is not written again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentic_rag.boards.canvas import Board, Edge, Node, bounds, edges_of, move_node, nodes_of

ROOM = 120
"""Pixels between the existing and the new cards."""
MAX_PIXELS = 2**31


@dataclass(frozen=True, slots=True)
class WrittenParts:
    """The nodes and edges that we wrote into a board, by id, including those deleted since."""

    nodes: Mapping[str, Node]
    edges: Mapping[str, Edge]


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The merged board, and the changes."""

    board: Board
    written_parts: WrittenParts
    added_count: int
    removed_count: int
    """Number of our unchanged cards that are no longer part of the answer."""


def merge_boards(board_on_file: Board, before: WrittenParts, new: Board) -> MergeResult:
    """The board in the file, updated.

    Args:
        board_on_file: the board in the file.
        before: what we wrote into it.
        new: the board as written into an empty file.
    """
    wanted = {node["id"]: node for node in nodes_of(new)}
    drawn = {one["id"]: one for one in edges_of(new)}
    on_file, edges_on_file = nodes_of(board_on_file), edges_of(board_on_file)
    if on_file == list(before.nodes.values()) and edges_on_file == list(before.edges.values()):
        # Nobody changed the file: write it as if for the first time.
        written = WrittenParts(wanted, drawn)
        kept = {key: value for key, value in board_on_file.items() if key not in ("nodes", "edges")}
        gone = len([one for one in before.nodes if one not in wanted])
        return MergeResult(
            {**new, **kept}, written, len([one for one in wanted if one not in before.nodes]), gone
        )
    stale = _stale(on_file, edges_on_file, before, wanted)
    nodes = [node for node in board_on_file.get("nodes") or () if _id(node) not in stale]
    ids = {_id(node) for node in nodes}
    edges = [
        one
        for one in board_on_file.get("edges") or ()
        if not (isinstance(one, dict) and stale & {one.get("fromNode"), one.get("toNode")})
    ]
    edge_ids = {_id(one) for one in edges}
    fresh = [node for node_id, node in wanted.items() if node_id not in ids and node_id not in before.nodes]
    placed = _below(fresh, [node for node in nodes if isinstance(node, dict)])
    ids |= {node["id"] for node in placed}
    joined = [
        one
        for edge_id, one in drawn.items()
        if edge_id not in edge_ids and edge_id not in before.edges and {one["fromNode"], one["toNode"]} <= ids
    ]
    frames = [node for node in placed if node["type"] == "group"]
    cards = [node for node in placed if node["type"] != "group"]
    board = {**board_on_file, "nodes": [*frames, *nodes, *cards], "edges": [*edges, *joined]}
    # Deleted nodes stay known; stale nodes do not, because they may become part of an answer again.
    known = {key: node for key, node in before.nodes.items() if key not in stale}
    known_edges = {
        key: one for key, one in before.edges.items() if not stale & {one["fromNode"], one["toNode"]}
    }
    written = WrittenParts(
        known | {node["id"]: node for node in placed},
        known_edges | {one["id"]: one for one in joined},
    )
    return MergeResult(board, written, len(placed), len(stale))


def _stale(
    on_file: list[Node], edges: list[Edge], before: WrittenParts, wanted_nodes: Mapping[str, Node]
) -> set[str]:
    """Ids of our unchanged nodes that are no longer wanted and that no edge of a person joins.

    A question is removed only together with its empty answer: if one of the nodes joined by our edges was changed, all
    of them stay.
    """
    by_id = {_id(node): node for node in on_file}
    untouched = {
        node_id
        for node_id, node in by_id.items()
        if node_id not in wanted_nodes and node_id in before.nodes and node == before.nodes[node_id]
    }
    theirs = [one for one in edges if before.edges.get(_id(one)) != one]
    held = {one.get(end) for one in theirs for end in ("fromNode", "toNode")}
    stale = untouched - held
    while True:
        # A node that stays also keeps the nodes that our edges join to it.
        keeps = {
            node_id
            for one in before.edges.values()
            for node_id, other in ((one["fromNode"], one["toNode"]), (one["toNode"], one["fromNode"]))
            if node_id in stale and other in by_id and other not in stale and other not in wanted_nodes
        }
        if not keeps:
            return stale - _holding(by_id, stale)
        stale -= keeps


def _holding(by_id: Mapping[str, Node], stale: set[str]) -> set[str]:
    """Groups that contain a remaining card."""
    staying = [node for node_id, node in by_id.items() if node_id not in stale and _is_placed(node)]
    groups = [by_id[node_id] for node_id in stale if by_id[node_id].get("type") == "group"]
    return {frame["id"] for frame in groups if any(_is_centre_inside(card, frame) for card in staying)}


def _is_centre_inside(card: Node, frame: Node) -> bool:
    left, top, right, bottom = bounds([frame])
    x, y = card["x"] + card["width"] / 2, card["y"] + card["height"] / 2
    return bool(left <= x <= right and top <= y <= bottom)


def _is_placed(node: Mapping[str, Any]) -> bool:
    sides = [node.get(key) for key in ("x", "y", "width", "height")]
    # Beyond these bounds nothing is drawn, and nothing can be placed beside it.
    return all(isinstance(side, int | float) and -MAX_PIXELS <= side <= MAX_PIXELS for side in sides)


def _below(fresh: list[Node], nodes_on_file: list[Node]) -> list[Node]:
    """New nodes as one block below all others, so that nothing overlaps."""
    placed = [node for node in nodes_on_file if _is_placed(node)]
    if not placed or not fresh:
        return fresh
    left, _, _, bottom = bounds(placed)
    new_left, new_top, _, _ = bounds(fresh)
    across, down = int(left) - new_left, int(bottom) + ROOM - new_top
    return [move_node(node, node["x"] + across, node["y"] + down) for node in fresh]


def _id(member: Any) -> str:
    return str(member.get("id")) if isinstance(member, dict) else ""
