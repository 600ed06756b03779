"""Obsidian canvases (JSON Canvas) to documents: cards as text, drawn edges and groups as relations.

The text is our own rendering, as a canvas has none: its properties, each group's label with its cards, then the cards
outside any group, then a list item for each edge (``- Tea —contains→ Caffeine``).
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from agentic_rag.domain import Block, Document, Link, Relation
from agentic_rag.domain.identity import is_board_id, unique_names
from agentic_rag.domain.json_values import Json
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag.notes.frontmatter import frontmatter_of
from agentic_rag.notes.markdown import parse_markdown, plain
from agentic_rag.notes.values import jsonable, valid_unicode

_NAME_LENGTH = 80
_ONLY_LINK = re.compile(r"!?\[\[([^\[\]|#\r\n]+)(?:#[^\[\]|\r\n]*)?(?:\|[^\[\]\r\n]*)?\]\]")
_LINE_MARKER = re.compile(r"^(?:[ \t]|>|#{1,6}[ \t]|[-*+][ \t](?:\[.\][ \t])?|\d{1,9}[.)][ \t])+")
_KNOWN_TYPES = ("text", "file", "link", "group")


@dataclass(frozen=True, slots=True)
class _Card:
    """A node of the canvas; ``box`` is (x, y, width, height) where all four are given."""

    key: str
    kind: str
    text: str
    name: str
    box: tuple[float, float, float, float] | None
    file: Link | None = None
    """The file a file card shows, without its place."""


@dataclass(slots=True)
class _Rendering:
    """The text under construction, with the spans of its parts."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    blocks: list[Block] = field(default_factory=list)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)

    def write(self, text: str, separator: str) -> tuple[int, int]:
        lead = separator if self.length else ""
        start = self.length + len(lead)
        self.parts += [lead, text]
        self.length = start + len(text)
        return start, self.length

    def card(self, card: _Card, path: tuple[str, ...]) -> None:
        if not card.text.strip():
            return
        start, end = self.write(card.text.strip(), "\n\n")
        self.spans[card.key] = (start, end)
        self.blocks.append(Block("card", start, end, path, key=card.key))


def is_own_board(source: str) -> bool:
    """Whether a canvas is an answer of ours, by the ids of its cards, whoever wrote on it since."""
    try:
        raw = json.loads(source)
    except (ValueError, RecursionError):
        return False
    nodes = raw.get("nodes") if isinstance(raw, dict) else None
    return isinstance(nodes, list) and any(isinstance(n, dict) and is_board_id(n.get("id")) for n in nodes)


def parse_canvas(document_id: str, path: str, source: str, *, url: str | None = None) -> Document:
    """Parse one canvas. What is odd in it (twin ids, edges to nowhere) is told in ``warnings``.

    Raises:
        SourceError: the source is not a JSON object.
    """
    raw = _load(source, path)
    warnings: list[str] = []
    cards = _cards(raw, warnings)
    parents = _parents(cards)
    rendering = _Rendering()
    head = parse_markdown("", path, _frontmatter(raw, warnings))
    if head.text:
        rendering.blocks.append(Block("properties", *rendering.write(head.text, "")))
    for card, trail in _in_order(cards, parents):
        rendering.card(card, trail)
    relations = _containment(cards, parents, rendering)
    relations += _edges(raw, {card.key: card for card in cards}, rendering, warnings)
    text = "".join(rendering.parts)
    links, tags = _references(cards, rendering, text)
    return Document(
        id=document_id,
        path=path,
        title=head.title,
        text=text,
        kind="canvas",
        blocks=tuple(rendering.blocks),
        metadata=head.metadata,
        warnings=(*warnings, *head.warnings),
        date=head.date,
        aliases=head.aliases,
        tags=unique_names([*head.tags, *tags]),
        links=head.links + links,
        relations=tuple(relations),
        url=url,
    )


def _frontmatter(raw: Json, warnings: list[str]) -> str:
    """The canvas's properties, which plugins keep as ``metadata.frontmatter``, as a note begins with them."""
    written = raw.get("metadata")
    values = written.get("frontmatter") if isinstance(written, dict) else None
    if not isinstance(values, dict) or not values:
        return ""
    try:
        return frontmatter_of(jsonable(values)).rstrip()
    except ValueError as error:
        warnings.append(f"its properties were left out: {error}")
        return ""


def _load(source: str, path: str) -> Json:
    if not source.strip():  # Obsidian writes a new canvas as an empty file
        return {}
    try:
        raw = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise SourceError(
            f"{path} is not a canvas: no valid JSON ({error}); open and save it in Obsidian"
        ) from error
    if not isinstance(raw, dict):
        raise SourceError(f"{path} is not a canvas: a JSON object with nodes and edges was expected")
    return raw


def _members(raw: Json, key: str, warnings: list[str]) -> Iterator[Json]:
    members = raw.get(key)
    if members is None:
        return
    if not isinstance(members, list):
        warnings.append(f"{key!r} is not a list and was left out")
        return
    for number, member in enumerate(members, 1):
        if isinstance(member, dict):
            yield member
        else:
            warnings.append(f"number {number} of {key!r} is not an object and was left out")


def _cards(raw: Json, warnings: list[str]) -> list[_Card]:
    cards: list[_Card] = []
    taken: set[str] = set()
    for number, node in enumerate(_members(raw, "nodes", warnings), 1):
        written = node.get("id")
        key = (
            valid_unicode(str(written))
            if isinstance(written, str | int) and written != ""
            else f"node {number}"
        )
        if written is None or written == "":
            warnings.append(f"node {number} has no id")
        if key in taken:
            free = next(f"{key}~{n}" for n in range(2, len(taken) + 3) if f"{key}~{n}" not in taken)
            warnings.append(f"two nodes have the id {key!r}; the second is kept as {free!r}")
            key = free
        card = _card(key, node, warnings)
        if card is not None:
            taken.add(key)
            cards.append(card)
    return cards


def _card(key: str, node: Json, warnings: list[str]) -> _Card | None:
    kind = node.get("type")
    if kind not in _KNOWN_TYPES:
        kind = next((known for known in _KNOWN_TYPES if isinstance(node.get(known), str)), None)
        warnings.append(
            f"node {key!r} is of unknown type {node.get('type')!r} and was "
            + ("left out" if kind is None else f"read as {kind!r}")
        )
        if kind is None:
            return None
    content = _string(node, {"text": "text", "file": "file", "link": "url", "group": "label"}[kind])
    box = _box(node)
    if box is None:
        warnings.append(f"node {key!r} has no place on the canvas")
    if kind != "file":
        return _Card(key, kind, content, _name(content), box)
    if not content.strip():
        return _Card(key, kind, "", "", box)
    subpath = _string(node, "subpath")
    place = subpath.lstrip("#")
    link = Link(
        content,
        0,
        0,
        heading=place if place and not place.startswith("^") else None,
        block=place[1:] or None if place.startswith("^") else None,
        embed=True,
    )
    return _Card(key, kind, f"![[{content}{subpath}]]", _note_name(content), box, link)


def _string(node: Json, key: str) -> str:
    value = node.get(key)
    return valid_unicode(value) if isinstance(value, str) else ""


def _box(node: Json) -> tuple[float, float, float, float] | None:
    sides = (node.get(side) for side in ("x", "y", "width", "height"))
    values = [one for one in sides if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(values) < 4:
        return None
    try:
        x, y, width, height = map(float, values)
    except OverflowError:
        return None
    return (x, y, width, height) if math.isfinite(x + y + width + height) else None


def _name(content: str) -> str:
    """What a card is called: the note it links to, else its first line without markup, cut near 80 characters."""
    linked = _ONLY_LINK.fullmatch(content.strip())
    if linked is not None:
        return _note_name(linked.group(1).strip())
    lines = (plain(_LINE_MARKER.sub("", line)) for line in content.splitlines())
    first = next((line for line in lines if any(map(str.isalnum, line))), "")
    if len(first) <= _NAME_LENGTH:
        return first
    head = first[:_NAME_LENGTH]
    return (head.rpartition(" ")[0] or head).rstrip(" ,;:，、；：") + "…"


def _note_name(path: str) -> str:
    """A note by its name alone, another file with its suffix, as a wikilink shows them."""
    pure = PurePosixPath(path)
    name = pure.stem if pure.suffix.lower() in (".md", ".canvas") else pure.name
    return unicodedata.normalize("NFC", name).strip()


def _parents(cards: list[_Card]) -> dict[str, _Card]:
    """The smallest group around each card; a card belongs where its centre is, a group where all of it is."""
    groups = [card for card in cards if card.kind == "group" and card.box is not None]
    groups.sort(key=lambda group: (_area(group), group.key))
    order = {group.key: number for number, group in enumerate(groups)}
    parents: dict[str, _Card] = {}
    for card in cards:
        if card.box is None:
            continue
        larger = groups[order[card.key] + 1 :] if card.kind == "group" else groups
        around = next((group for group in larger if _holds(group, card)), None)
        if around is not None:
            parents[card.key] = around
    return parents


def _area(card: _Card) -> float:
    return card.box[2] * card.box[3] if card.box is not None else 0.0


def _holds(group: _Card, card: _Card) -> bool:
    if group.box is None or card.box is None:
        return False
    left, top, width, height = group.box
    x, y, w, h = card.box
    if card.kind == "group":
        return left <= x and top <= y and x + w <= left + width and y + h <= top + height
    return left <= x + w / 2 <= left + width and top <= y + h / 2 <= top + height


def _in_order(cards: list[_Card], parents: dict[str, _Card]) -> Iterator[tuple[_Card, tuple[str, ...]]]:
    """Each group before its cards, groups inside groups; then the cards outside; each with its heading path."""
    children: dict[str | None, list[_Card]] = {}
    for card in cards:
        parent = parents.get(card.key)
        children.setdefault(None if parent is None else parent.key, []).append(card)
    outside = sorted(children.get(None, []), key=lambda card: card.kind != "group")
    todo: list[tuple[_Card, tuple[str, ...]]] = [(card, ()) for card in reversed(outside)]
    while todo:
        card, trail = todo.pop()
        inner = (*trail, card.name) if card.kind == "group" and card.name else trail
        yield card, inner
        todo += [(child, inner) for child in reversed(children.get(card.key, []))]


def _containment(cards: list[_Card], parents: dict[str, _Card], rendering: _Rendering) -> list[Relation]:
    return [
        Relation(parents[card.key].name, card.name, "CONTAINS", *rendering.spans[card.key])
        for card in cards
        if card.key in parents and parents[card.key].name and card.name and card.key in rendering.spans
    ]


def _edges(raw: Json, cards: dict[str, _Card], rendering: _Rendering, warnings: list[str]) -> list[Relation]:
    relations: list[Relation] = []
    first: int | None = None
    for number, edge in enumerate(_members(raw, "edges", warnings), 1):
        ends = [cards.get(str(edge.get(side))) for side in ("fromNode", "toNode")]
        if ends[0] is None or ends[1] is None:
            warnings.append(
                f"edge {edge.get('id', number)!r} leads from or to a card that is not there; left out"
            )
            continue
        source, target = ends[0].name, ends[1].name
        if not source or not target:
            warnings.append(f"edge {edge.get('id', number)!r} joins a card without text; left out")
            continue
        label = " ".join(_string(edge, "label").split())
        back, forth = edge.get("fromEnd", "none") == "arrow", edge.get("toEnd", "arrow") != "none"
        start, end = rendering.write(
            "- " + _edge_line(source, label, target, back, forth), "\n\n" if first is None else "\n"
        )
        first = start if first is None else first
        if forth or not back:
            relations.append(Relation(source, target, label or "LINKS_TO", start, end))
        if back:
            relations.append(Relation(target, source, label or "LINKS_TO", start, end))
    if first is not None:
        rendering.blocks.append(Block("list", first, rendering.length))
    return relations


def _edge_line(source: str, label: str, target: str, back: bool, forth: bool) -> str:
    if label:
        return f"{source} {'←' if back else '—'}{label}{'→' if forth else '—'} {target}"
    arrow = {(True, True): "↔", (True, False): "←", (False, True): "→", (False, False): "—"}[back, forth]
    return f"{source} {arrow} {target}"


def _references(
    cards: list[_Card], rendering: _Rendering, text: str
) -> tuple[tuple[Link, ...], tuple[str, ...]]:
    """Links and tags written inside the cards, at their places in the rendering; a file card is an embed."""
    links: list[Link] = []
    tags: dict[str, str] = {}
    for card in cards:
        if card.key not in rendering.spans:
            continue
        start, end = rendering.spans[card.key]
        if card.file is not None:
            links.append(replace(card.file, start=start, end=end))
        elif card.kind == "text":
            # A blank line in front keeps a card that opens with --- from being read as frontmatter.
            inner = parse_markdown("", "", "\n" + text[start:end])
            links += [
                replace(link, start=link.start + start - 1, end=link.end + start - 1) for link in inner.links
            ]
            for tag in inner.tags:
                tags.setdefault(tag.casefold(), tag)
    links.sort(key=lambda link: (link.start, link.end))
    return tuple(links), tuple(tags.values())
