"""A board as one SVG, in the style of Obsidian.

Only ``render`` adds markup; everything else is escaped. Positions are attributes and colours are classes, so that the
page's content policy needs no inline styles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import PurePosixPath
from typing import Any

from agentic_rag.boards.canvas import Edge, Node, bounds, edges_of, nodes_of

MARGIN = 60
"""Pixels around the board."""
BEND = 0.5
"""Straight length of an edge before its bend, as a share of the distance."""
_STEPS = tuple(sign * step for step in range(1, 40) for sign in (1, -1))
"""Places above and below the middle of an edge, in heights of its label, where all along it are taken."""
_Point = tuple[float, float]
_Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""
_OUT = {"left": (-1, 0), "right": (1, 0), "top": (0, -1), "bottom": (0, 1)}
SCALE = 0.75
"""Screen pixels per pixel of the board: its smallest text, of 15 pixels, is still read."""
LABEL_WIDTH = 230
"""Maximum width in pixels of a line of an edge's label: less than the way between two columns of cards."""
_ALONG = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)
"""Places of a label along its edge, the first free one is taken."""


def board_svg(board: Mapping[str, Any], render: Callable[[str], str], *, title: str) -> str:
    """The board's SVG, SCALE times its size.

    Args:
        board: nodes without a position are not drawn.
        render: from the Markdown of a card to safe HTML.
        title: the picture's name for screen readers.
    """
    nodes = [node for node in nodes_of(board) if _is_placed(node)]
    left, top, right, bottom = bounds(nodes)
    by_id = {node.get("id"): node for node in nodes}
    joined = [one for one in edges_of(board) if one.get("fromNode") in by_id and one.get("toNode") in by_id]
    width, height = right - left + 2 * MARGIN, bottom - top + 2 * MARGIN
    curves = [_curve(one, by_id) for one in joined]
    cards = [node for node in nodes if node.get("type") != "group"]
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="board" '
            f'viewBox="{left - MARGIN} {top - MARGIN} {width} {height}" '
            f'width="{round(width * SCALE)}" height="{round(height * SCALE)}" role="group" aria-label="{escape(title)}">',
            *(_frame(node) for node in nodes if node.get("type") == "group"),
            *map(_line, joined, curves),
            *(_card(node, render) for node in cards),
            *_labels(joined, curves, [bounds([card]) for card in cards]),
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


def _curve(one: Edge, by_id: Mapping[Any, Node]) -> tuple[_Point, _Point, _Point, _Point]:
    """The four points of the edge's Bézier curve."""
    start_side, end_side = _sides(one)
    start, end = _port(by_id[one["fromNode"]], start_side), _port(by_id[one["toNode"]], end_side)
    far = max(60.0, BEND * ((end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2) ** 0.5)
    return start, _beyond(start, start_side, far), _beyond(end, end_side, far), end


def _sides(one: Edge) -> tuple[str, str]:
    return str(one.get("fromSide") or "right"), str(one.get("toSide") or "left")


def _line(one: Edge, curve: Sequence[_Point]) -> str:
    """The line with its arrowheads."""
    start, near, beyond, end = curve
    start_side, end_side = _sides(one)
    path = f"M {_at(start)} C {_at(near)} {_at(beyond)} {_at(end)}"
    tips = _tip(end, end_side) if one.get("toEnd", "arrow") != "none" else ""
    tips += _tip(start, start_side) if one.get("fromEnd") == "arrow" else ""
    return f'<path class="line{_color(one)}" d="{path}"/>{tips}'


def _labels(
    edges: Sequence[Edge], curves: Sequence[Sequence[_Point]], cards: Sequence[_Box]
) -> Iterator[str]:
    """The edges' labels, each at the first place along its edge that neither a label nor, if possible, a card takes."""
    placed: list[_Box] = []
    for one, curve in zip(edges, curves, strict=True):
        lines = _wrap_lines(str(one.get("label") or ""))
        if not lines:
            continue
        size = (10 + max(map(_wide, lines)), 4 + 20 * len(lines))
        places = [_around(_point(curve, share), size) for share in _ALONG]
        places += [_around((x, y + step * size[1]), size) for x, y in [_point(curve, 0.5)] for step in _STEPS]
        free = [box for box in places if not any(_share(box, other) for other in placed)]
        clear = [box for box in free if not any(_share(box, card) for card in cards)]
        box = next(iter(clear or free or places))
        placed.append(box)
        yield _label(box, lines)


def _wrap_lines(label: str) -> list[str]:
    """The label in lines of at most LABEL_WIDTH, broken at spaces; a longer word is a line."""
    lines: list[str] = []
    for word in label.split():
        if lines and _wide(f"{lines[-1]} {word}") <= LABEL_WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _wide(line: str) -> int:
    return sum(16 if ord(letter) > 0x2E80 else 9 for letter in line)


def _point(curve: Sequence[_Point], share: float) -> _Point:
    """The point of a Bézier curve at a share of the way, from 0 to 1."""
    rest = 1 - share
    weights = (rest**3, 3 * rest**2 * share, 3 * rest * share**2, share**3)
    x, y = (
        sum(weight * point[axis] for weight, point in zip(weights, curve, strict=True)) for axis in (0, 1)
    )
    return x, y


def _around(middle: _Point, size: tuple[float, float]) -> _Box:
    (x, y), (width, height) = middle, size
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _share(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _label(box: _Box, lines: Sequence[str]) -> str:
    left, top, right, bottom = box
    middle = (left + right) / 2
    spans = "".join(
        f'<tspan x="{middle:.0f}" y="{top + 17 + 20 * number:.0f}">{escape(line)}</tspan>'
        for number, line in enumerate(lines)
    )
    return (
        f'<rect class="edge-back" x="{left:.0f}" y="{top:.0f}" width="{right - left:.0f}" '
        f'height="{bottom - top:.0f}" rx="4"/><text class="edge-label">{spans}</text>'
    )


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
