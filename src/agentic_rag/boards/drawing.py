"""Draws an answer as a board: one layout for each operation.

The same answer gives the same board, with the same ids and pixels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from agentic_rag.boards import canvas
from agentic_rag.boards.canvas import CYAN, PURPLE, Board, Edge, Node
from agentic_rag.boards.parts import AnswerSpan, clusters, passages, questions, relations
from agentic_rag.boards.vault import Vault, heading_of
from agentic_rag.domain.identity import board_id, entity_key
from agentic_rag.errors import InputError
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.text import main_script
from agentic_rag.text.sentences import split_sentences

GAP = 60
"""Pixels between cards."""
APART = 420
"""Pixels between the cards to fill in and the answers, which should not be in view."""
NOTE = (480, 320)
"""Width and height in pixels of a card that shows a note."""
MAX_SENTENCE = 240
"""Maximum number of letters of a note's sentence on its card among relations."""
_SENTENCE = re.compile(r"[.!?。！？][\"'”’」』)）*_]*\s*\Z")
COLUMNS = 3
"""Columns of clusters, and of sentences."""
_WORDS = {
    "cjk": {"answer": "你的答案", "answers": "答案:先写完再看", "from": "出自"},
    "latin": {"answer": "your answer", "answers": "Answers: write yours first", "from": "from"},
}


@dataclass(frozen=True, slots=True)
class Test:
    """One question of a verification board: the ids of its cards, and the expected answer."""

    question: str
    response: str
    answers: tuple[str, ...]
    asks: str
    expected: tuple[str, ...]
    citations: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A board, and the questions on its cards."""

    key: str
    """Digest of question, operation and dataset; identifies the board."""
    board: Board
    tests: tuple[Test, ...] = ()


@dataclass(slots=True)
class _Sheet:
    """The board under construction, from top to bottom."""

    answer: Mapping[str, Any]
    vault: Vault
    cards: list[Node] = field(default_factory=list)
    frames: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    top: int = 0
    _counts: dict[str, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return board_id(*(str(self.answer[name]) for name in ("query", "operation", "dataset")))

    @property
    def words(self) -> Mapping[str, str]:
        """The board's fixed texts in the language of the question."""
        return _WORDS[main_script(str(self.answer["query"]))]

    @property
    def known_numbers(self) -> Sequence[int]:
        return [int(one["n"]) for one in self.answer["citations"]]

    def id(self, *parts: str) -> str:
        """An id from the content; a second card with the same content gets another id."""
        said = "\n".join(parts)
        self._counts[said] = count = self._counts.get(said, 0) + 1
        return board_id(self.key, *parts, *([str(count)] if count > 1 else []))

    def put(self, card: Node, x: int, y: int) -> Node:
        placed = canvas.move_node(card, x, y)
        self.cards.append(placed)
        return placed

    def join(self, start: Node, end: Node, label: str = "", *, both: bool = False) -> None:
        edge_id = self.id("edge", start["id"], end["id"], label)
        self.edges.append(canvas.edge(edge_id, start, end, label, both=both))

    def citations(self, part: AnswerSpan) -> list[Mapping[str, Any]]:
        """The citations of a piece, in its order."""
        by_number = {int(one["n"]): one for one in self.answer["citations"]}
        return [by_number[number] for number in dict.fromkeys(part.citation_numbers)]

    def source(self, citation: Mapping[str, Any]) -> str:
        """A link to the citation's place in its note; the title only if there is no file in the vault."""
        return self.vault.link(citation) or str(citation["title"] or citation["document_id"] or "")


def draw_board(answer: Mapping[str, Any], vault: Vault) -> Drawing:
    """The board of an answer.

    Args:
        answer: as ``Answer.to_dict`` and ``ask --json`` give it.
        vault: the vault of the board.

    Raises:
        InputError: the answer cites nothing.
    """
    if answer["abstained"] or not answer["citations"]:
        raise InputError(
            f"the answer {answer['answer']!r} cites no note, so no board can be drawn; ask another question"
        )
    sheet = _Sheet(answer, vault)
    title = canvas.text_card(sheet.key, f"# {_one_line(answer['query'])}", width=2 * canvas.WIDTH)
    sheet.put(title, 0, -title["height"] - 2 * GAP)
    _FORMS[CanvasOperation(answer["operation"])](sheet)
    board = {"nodes": [*sheet.frames, *sheet.cards], "edges": sheet.edges}
    return Drawing(sheet.key, board, tuple(sheet.tests))


def _verification(sheet: _Sheet) -> None:
    """Each question and an empty card in one row, and far to the right the answers of the notes."""
    asked = questions(sheet.answer["answer"], sheet.known_numbers)
    if not asked:
        _passages(sheet)
        return
    second, third = canvas.WIDTH + GAP * 2, 2 * canvas.WIDTH + GAP * 2 + APART
    answer_cards: list[Node] = []
    for number, one in enumerate(asked, 1):
        asks = canvas.text_card(sheet.id("asks", one.asks), f"**{number}.** {one.asks}", color=CYAN)
        texts = [_answer_text(sheet, said) for said in one.answers]
        given = [canvas.text_card(sheet.id("answer", one.asks, text), text) for text in texts]
        height = max(asks["height"], 120, sum(card["height"] for card in given) + 20 * (len(given) - 1))
        question = sheet.put(asks, 0, sheet.top)
        blank = {**canvas.text_card(sheet.id("response", one.asks), ""), "height": max(120, asks["height"])}
        response = sheet.put(blank, second, sheet.top)
        sheet.join(question, response, sheet.words["answer"])
        y = sheet.top
        placed = []
        for card in given:
            placed.append(sheet.put(card, third, y))
            sheet.join(response, placed[-1])
            y += card["height"] + 20
        answer_cards += placed
        cited = [citation for said in one.answers for citation in sheet.citations(said)]
        expected = tuple(said.text for said in one.answers)
        ids = tuple(card["id"] for card in placed)
        sheet.tests.append(Test(question["id"], response["id"], ids, one.asks, expected, tuple(cited)))
        sheet.top += height + GAP
    label = sheet.words["answers"]
    sheet.frames.append(canvas.group(sheet.id("group", label), label, answer_cards, color=PURPLE))


def _answer_text(sheet: _Sheet, part: AnswerSpan) -> str:
    """The answer, its sentence if that says more, and its source."""
    lines = [f"**{_one_line(part.text)}**"]
    for citation in sheet.citations(part):
        if len(part.text) * 2 < len(str(citation["quote"])):
            lines.append(_quote(citation))
        lines.append(sheet.source(citation))
    return "\n\n".join(lines)


def _clusters(sheet: _Sheet) -> None:
    """A coloured group for each theme, COLUMNS in a row."""
    found = clusters(sheet.answer["answer"], sheet.known_numbers)
    if not found:
        _passages(sheet)
        return
    tops = [sheet.top] * COLUMNS
    for one, color in zip(found, cycle("123456"), strict=False):
        column = tops.index(min(tops))
        x, y = column * (canvas.WIDTH + 2 * GAP), tops[column]
        members = []
        for said in one.members:
            cited = sheet.citations(said)
            text = "\n\n".join([_member_text(said, cited), *(sheet.source(citation) for citation in cited)])
            members.append(sheet.put(canvas.text_card(sheet.id("member", one.theme, text), text), x, y))
            y += members[-1]["height"] + 20
        sheet.frames.append(canvas.group(sheet.id("group", one.theme), one.theme, members, color=color))
        tops[column] = y + 2 * GAP


def _member_text(part: AnswerSpan, citations: Sequence[Mapping[str, Any]]) -> str:
    """The text of a member without the title before it, because the link names the note."""
    titles = [f"{citation['title']}: " for citation in citations if citation["title"]]
    return next((part.text.removeprefix(title) for title in titles if part.text.startswith(title)), part.text)


def _relations(sheet: _Sheet) -> None:
    """Things as cards joined by their relations, in columns from cause to effect; sentences below."""
    found = relations(sheet.answer["answer"], sheet.known_numbers)
    labels: dict[tuple[str, str], list[str]] = {}
    back: dict[tuple[str, str], list[str]] = {}
    for one in found:
        marks = "".join(f" [{number}]" for number in one.sentence.citation_numbers)
        for arrow in one.arrows:
            # Two arrows between the same cards would overlap: one arrow with two heads replaces them.
            pair = (arrow.source, arrow.target)
            of = back.setdefault(pair[::-1], []) if pair[::-1] in labels else labels.setdefault(pair, [])
            of.append(f"{arrow.name}{marks}".strip())
    names = list(dict.fromkeys(name for pair in labels for name in pair))
    things = _place_cards(sheet, {name: _thing(sheet, name) for name in names}, _levels(names, list(labels)))
    for pair, said in labels.items():
        start, end = (things[name] for name in pair)
        if pair in back:
            sheet.join(start, end, f"→ {' · '.join(said)} ← {' · '.join(back[pair])}", both=True)
        else:
            sheet.join(start, end, " · ".join(said))
    if things:
        sheet.top = canvas.bounds(list(things.values()))[3] + 2 * GAP
    _sentences(sheet, [one.sentence for one in found if one.sentence.citation_numbers])


def _place_cards(sheet: _Sheet, cards: Mapping[str, Node], levels: Mapping[str, int]) -> dict[str, Node]:
    """The cards in the columns of their levels; every second column is shifted by half a step, so that an arrow across
    it passes between two of its cards."""
    tallest = max((card["height"] for card in cards.values()), default=0)
    step = tallest + 2 * GAP
    rows: Counter[int] = Counter()
    placed = {}
    for name, card in cards.items():
        level = levels[name]
        y = sheet.top + rows[level] * step + (level % 2) * step // 2 + (tallest - card["height"]) // 2
        placed[name] = sheet.put(card, level * (NOTE[0] + 5 * GAP), y)
        rows[level] += 1
    return placed


def _thing(sheet: _Sheet, name: str) -> Node:
    """A thing's name; of a note a link to it, and what it says, because only an editor that has the vault can show the
    note itself."""
    called = _one_line(name)
    file = sheet.vault.note(name, sheet.answer["results"])
    if file is None:
        return canvas.text_card(sheet.id("thing", name), f"**{called}**", width=NOTE[0], color=CYAN)
    link = f"**[[{file.removesuffix('.md')}|{re.sub(r'[][|]+', ' ', called)}]]**"
    text = f"{link}\n\n{_sentence_of(name, sheet.answer['results'])}".strip()
    return canvas.text_card(sheet.id("thing", name), text, width=NOTE[0])


def _sentence_of(name: str, results: Sequence[Mapping[str, Any]]) -> str:
    """The first whole sentence of the most relevant passage of the note with this name; "" without one."""
    key = entity_key(name)
    for result in results:
        if entity_key(str(result["metadata"].get("title") or "")) == key:
            text = str(result.get("content", ""))
            for start, end in split_sentences(text):
                sentence = _one_line(text[start:end]).removeprefix("- ")
                if _SENTENCE.search(sentence) and sentence[0] != "#" and len(sentence) <= MAX_SENTENCE:
                    return sentence
    return ""


def _levels(names: Sequence[str], arrows: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Column of each name: to the right of all names with an arrow to it; arrows that would close a cycle are
    ignored."""
    counted: list[tuple[str, str]] = []
    for source, target in arrows:
        if not _leads(target, source, counted):
            counted.append((source, target))
    levels = dict.fromkeys(names, 0)
    for _ in names:
        for source, target in counted:
            levels[target] = max(levels[target], levels[source] + 1)
    return levels


def _leads(start: str, end: str, arrows: Sequence[tuple[str, str]]) -> bool:
    seen, todo = {start}, [start]
    while todo:
        one = todo.pop()
        if one == end:
            return True
        further = [target for source, target in arrows if source == one and target not in seen]
        seen.update(further)
        todo += further
    return False


def _sentences(sheet: _Sheet, part: Sequence[AnswerSpan]) -> None:
    """Numbered sentences with their sources, COLUMNS in a row."""
    row: list[Node] = []
    for one in part:
        cited = sheet.citations(one)
        marks = "".join(f"[{citation['n']}]" for citation in cited)
        text = one.text or _one_line(str(cited[0]["quote"])).removeprefix("- ")
        shown = "\n\n".join([f"**{marks}** {text}", *(sheet.source(citation) for citation in cited)])
        card = canvas.text_card(sheet.id("sentence", shown), shown)
        row.append(sheet.put(card, len(row) * (canvas.WIDTH + GAP), sheet.top))
        if len(row) == COLUMNS:
            sheet.top += max(card["height"] for card in row) + GAP
            row = []
    sheet.top += max((card["height"] for card in row), default=0) + GAP


def _passages(sheet: _Sheet) -> None:
    """Each quote, and beside it its note at the quote's heading."""
    for said in passages(sheet.answer["answer"], sheet.known_numbers):
        cited = sheet.citations(said)
        text = "\n\n".join([said.text, *(sheet.source(citation) for citation in cited)])
        quote = canvas.text_card(sheet.id("passage", text), text, width=NOTE[0])
        first = sheet.put(quote, 0, sheet.top)
        y = sheet.top
        for citation in cited:
            file = sheet.vault.file_of(citation)
            if file is None:
                continue
            card_id = sheet.id("note", first["id"], file, heading_of(citation))
            card = canvas.file_card(card_id, file, heading_of(citation), width=NOTE[0], height=NOTE[1])
            placed = sheet.put(card, NOTE[0] + 3 * GAP, y)
            sheet.join(first, placed, f"[{citation['n']}]")
            y += NOTE[1] + 20
        sheet.top = max(sheet.top + first["height"], y - 20) + GAP


_FORMS: Mapping[CanvasOperation, Callable[[_Sheet], None]] = {
    CanvasOperation.VERIFICATION_CANVAS: _verification,
    CanvasOperation.WEAK_POINT_CLUSTERING: _clusters,
    CanvasOperation.CONCEPT_RELATION: _relations,
    CanvasOperation.DOCUMENT_RETRIEVAL: _passages,
}


def _quote(citation: Mapping[str, Any]) -> str:
    lines = str(citation["quote"]).strip().splitlines()
    return "\n".join(f"> {line.lstrip('> ')}" for line in lines)


def _one_line(text: str) -> str:
    return " ".join(str(text).split())
