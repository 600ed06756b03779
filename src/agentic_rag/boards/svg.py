"""A board as one SVG in the style of Obsidian: for the page, and as a picture file.

Only ``render`` adds markup; everything else is escaped. Positions are attributes and colours are classes, so that the
page's content policy needs no inline styles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from pathlib import PurePosixPath
from typing import Any

from agentic_rag.boards.canvas import Edge, Node, bounds, edges_of, nodes_of

MARGIN = 60
"""Pixels around the board."""
BEND = 0.5
"""Straight length of an edge before its bend, as a share of the distance."""
_OUT = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}
STYLE = """
.board { background: #fff; font: 16px/24px system-ui, "Noto Sans CJK SC", sans-serif; color: #222; }
.board .card { fill: #fff; stroke: #c9c9c9; stroke-width: 2; }
.board .frame { fill: #8882; stroke: #aaa; stroke-width: 2; }
.board .line { fill: none; stroke: #aaa; stroke-width: 3; }
.board .tip { fill: #aaa; }
.board .inside { padding: 8px 18px; overflow: hidden; height: 100%; box-sizing: border-box; }
.board .label { font-size: 20px; fill: #555; } .board .edge-label { font-size: 15px; text-anchor: middle; fill: #333; }
.board .edge-back { fill: #fff; } .board h1 { font-size: 26px; line-height: 34px; margin: 4px 0; }
.board p, .board blockquote { margin: 0 0 16px; } .board blockquote { border-left: 3px solid #bbb; padding-left: 10px; }
.board .c1 { stroke: #fb464c; } .board .c2 { stroke: #e9973f; } .board .c3 { stroke: #d0b400; }
.board .c4 { stroke: #2fb457; } .board .c5 { stroke: #1fb5b3; } .board .c6 { stroke: #a882ff; }
.board .frame.c1 { fill: #fb464c1a; } .board .frame.c2 { fill: #e9973f1a; } .board .frame.c3 { fill: #d0b4001a; }
.board .frame.c4 { fill: #2fb4571a; } .board .frame.c5 { fill: #1fb5b31a; } .board .frame.c6 { fill: #a882ff1a; }
"""
"""Style sheet of a standalone picture; the page has its own sheet, light and dark."""


def board_svg(
    board: Mapping[str, Any], render: Callable[[str], str], *, style: str = "", title: str = "board"
) -> str:
    """The board's SVG.

    Args:
        board: nodes without a position are not drawn.
        render: from the Markdown of a card to safe HTML.
        style: a style sheet to embed.
        title: the picture's name for screen readers.
    """
    nodes = [node for node in nodes_of(board) if _is_placed(node)]
    left, top, right, bottom = bounds(nodes)
    by_id = {node.get("id"): node for node in nodes}
    joined = [one for one in edges_of(board) if one.get("fromNode") in by_id and one.get("toNode") in by_id]
    view = f"{left - MARGIN} {top - MARGIN} {right - left + 2 * MARGIN} {bottom - top + 2 * MARGIN}"
    sheet = f"<style>{style}</style>" if style else ""
    lines, labels = zip(*(_edge(one, by_id) for one in joined), strict=True) if joined else ((), ())
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="board" viewBox="{view}" role="group" '
            f'aria-label="{escape(title)}">{sheet}',
            *(_frame(node) for node in nodes if node.get("type") == "group"),
            *lines,
            *(_card(node, render) for node in nodes if node.get("type") != "group"),
            *labels,
            "</svg>",
        ]
    )


def _is_placed(node: Mapping[str, Any]) -> bool:
    return all(isinstance(node.get(key), int | float) for key in ("x", "y", "width", "height"))


def _box(node: Node) -> str:
    return " ".join(f'{key}="{node[key]}"' for key in ("x", "y", "width", "height"))


def _color(node: Mapping[str, Any]) -> str:
    color = str(node.get("color") or "")
    return f" c{color}" if color in "123456" and color else ""


def _frame(node: Node) -> str:
    label = escape(str(node.get("label") or ""))
    return (
        f'<rect class="frame{_color(node)}" {_box(node)} rx="12"/>'
        f'<text class="label" x="{node["x"] + 4}" y="{node["y"] - 10}">{label}</text>'
    )


def _card(node: Node, render: Callable[[str], str]) -> str:
    if node.get("type") == "file":
        name = PurePosixPath(str(node.get("file"))).name.removesuffix(".md")
        inside = f"<h1>{escape(name + str(node.get('subpath') or '').replace('#', ' › '))}</h1>"
    elif node.get("type") == "link":
        inside = f"<p>{escape(str(node.get('url') or ''))}</p>"
    else:
        inside = render(str(node.get("text") or ""))
    return (
        f'<rect class="card{_color(node)}" {_box(node)} rx="10"/>'
        f'<foreignObject {_box(node)}><div xmlns="http://www.w3.org/1999/xhtml" class="inside">{inside}</div>'
        "</foreignObject>"
    )


def _edge(one: Edge, by_id: Mapping[Any, Node]) -> tuple[str, str]:
    """The line with its arrowheads, and the label, which is drawn on top of everything."""
    start_side, end_side = str(one.get("fromSide") or "right"), str(one.get("toSide") or "left")
    start, end = (
        _port(by_id[one["fromNode"]], start_side),
        _port(by_id[one["toNode"]], end_side),
    )
    far = max(60.0, BEND * ((end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2) ** 0.5)
    near, beyond = _beyond(start, start_side, far), _beyond(end, end_side, far)
    path = f"M {_at(start)} C {_at(near)} {_at(beyond)} {_at(end)}"
    color = _color(one)
    tips = _tip(end, end_side) if one.get("toEnd", "arrow") != "none" else ""
    tips += _tip(start, start_side) if one.get("fromEnd") == "arrow" else ""
    line = f'<path class="line{color}" d="{path}"/>{tips}'
    label = str(one.get("label") or "")
    x = (start[0] + 3 * near[0] + 3 * beyond[0] + end[0]) / 8
    y = (start[1] + 3 * near[1] + 3 * beyond[1] + end[1]) / 8
    wide = 10 + sum(15 if ord(letter) > 0x2E80 else 8 for letter in label)
    back = (
        f'<rect class="edge-back" x="{x - wide / 2:.0f}" y="{y - 12:.0f}" width="{wide}" height="24" rx="4"/>'
    )
    text = f'<text class="edge-label" x="{x:.0f}" y="{y + 5:.0f}">{escape(label)}</text>'
    return line, back + text if label else ""


def _port(node: Node, side: str) -> tuple[float, float]:
    across, down = _OUT.get(side, (1, 0))
    return (
        node["x"] + node["width"] * (1 + across) / 2,
        node["y"] + node["height"] * (1 + down) / 2,
    )


def _beyond(point: tuple[float, float], side: str, far: float) -> tuple[float, float]:
    across, down = _OUT.get(side, (1, 0))
    return point[0] + across * far, point[1] + down * far


def _at(point: tuple[float, float]) -> str:
    return f"{point[0]:.0f},{point[1]:.0f}"


def _tip(point: tuple[float, float], side: str) -> str:
    """A triangle that points at the card."""
    across, down = _OUT.get(side, (1, 0))
    x, y = point
    base = (x + across * 14, y + down * 14)
    wide = (down * 8, across * 8)
    corners = (point, (base[0] + wide[0], base[1] + wide[1]), (base[0] - wide[0], base[1] - wide[1]))
    return f'<polygon class="tip" points="{" ".join(_at(corner) for corner in corners)}"/>'
