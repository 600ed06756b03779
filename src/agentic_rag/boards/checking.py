"""Check a verification board that a person filled in: mark and colour the answers, schedule the questions again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from agentic_rag.boards.canvas import GREEN, RED, YELLOW, Board, nodes_of, read_board
from agentic_rag.boards.drawing import Test
from agentic_rag.boards.files import Provenance, provenance, require_board_name, save
from agentic_rag.boards.marking import Judgement, Mark, Names, judge
from agentic_rag.boards.merging import WrittenParts
from agentic_rag.boards.mistakes import Mistake, mistakes_folder, source_of, write_mistake
from agentic_rag.boards.reviews import Review, Reviews
from agentic_rag.boards.vault import Vault
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.ports import Chat
from agentic_rag.errors import InputError, ModelError, RunError
from agentic_rag.fusion.hits import plain
from agentic_rag.text import main_script
from agentic_rag.text.prompts import MARK_SYSTEM, fence_passages

_COLORS: Mapping[Mark, str] = {"right": GREEN, "partly": YELLOW, "wrong": RED}
_LABELS: Mapping[str, Mapping[Mark, str]] = {
    "latin": {"right": "✓ right", "partly": "◐ partly, missing: ", "wrong": "✗ wrong"},
    "cjk": {"right": "✓ 对", "partly": "◐ 部分对,缺: ", "wrong": "✗ 错"},
}
_MARK_LINE = re.compile(
    r"\W*(?P<mark>right|partly|wrong)\b[^\w\n]*(?:\n(?P<missing>.*))?", re.IGNORECASE | re.DOTALL
)
_MAX_LABEL = 60


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """One question of the board."""

    asks: str
    given: str
    mark: Mark
    """``empty`` if the person has not answered yet."""
    expected: tuple[str, ...]
    missing: tuple[str, ...]
    source: str
    """Title of the note with the answer."""
    due: datetime | None
    """Date of the next repetition; None for a question without an answer."""
    note: str | None
    """Path of the mistake note that was written."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of checking a board."""

    board: str
    dataset: str
    answers: tuple[CheckedAnswer, ...]
    degraded: str | None
    """Why the chat model marked no answer or not all; the rules marked these by their words."""

    def count(self, mark: Mark) -> int:
        """Number of answers with this mark."""
        return Counter(one.mark for one in self.answers)[mark]

    def to_dict(self) -> Json:
        """As plain values."""
        values: Json = plain(asdict(self))
        return values


def filled_board(path: Path) -> tuple[Board, Provenance]:
    """A verification board and its provenance.

    Raises:
        InputError: the file is no board, not written by this program, or has no questions.
    """
    require_board_name(path)
    try:
        board = read_board(path.read_text("utf-8-sig"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "it is no UTF-8"
        raise InputError(f"the board {path.name} cannot be read: {why}") from error
    known = provenance(path, board)
    if known is None:
        raise InputError(
            f"{path.name} cannot be checked: agentic-rag did not write it, or its hidden file (.….board.json) is missing; "
            "write the board again with ask --canvas"
        )
    if not known.tests:
        raise InputError(
            f"{path.name} holds no questions; only a board of verification_canvas can be checked"
        )
    return board, known


async def check_board(
    path: Path,
    names: Names,
    reviews: Reviews,
    at: datetime,
    *,
    chat: Chat | None = None,
    within: Path | None = None,
) -> CheckReport:
    """Mark each answer of a board against its cited passage, colour it, write mistake notes, schedule the questions.

    Args:
        path: a board of ``verification_canvas``.
        names: synonyms from the notes of the board's dataset.
        reviews: the user's questions.
        at: the time now.
        chat: marks the answers if given; if it fails, the rules mark them by their words, and the report says so.
        within: see ``Vault.around``.

    Raises:
        InputError: see ``filled_board``.
        RunError: a file cannot be written.
    """
    board, known = filled_board(path)
    texts = {str(node.get("id")): str(node.get("text") or "") for node in nodes_of(board)}
    there = [test for test in known.tests if test.response in texts]
    replies: list[_MarkedAnswer] = []
    degraded = None
    for test in there:
        given = texts[test.response]
        try:
            judgement = await _judge(test, given, names, chat)
        except ModelError as error:
            degraded = degraded or str(error)
            judgement = judge(test.asks, test.expected, given, names)
        replies.append(_MarkedAnswer(test, given.strip(), judgement))
    try:
        vault = Vault.around(path, [one for test in there for one in test.citations], within)
        answers = await _record(path, replies, known, reviews, at, vault)
        drawn = _mark_board(board, known, replies)
        if drawn != (board, known):
            save(path, *drawn)
    except OSError as error:
        raise RunError(f"the marks of {path} cannot be written: {error}") from error
    return CheckReport(str(path), known.dataset, tuple(answers), degraded)


async def _judge(test: Test, given_answer: str, names: Names, chat: Chat | None) -> Judgement:
    if chat is None or not given_answer.strip():
        return judge(test.asks, test.expected, given_answer, names)
    quotes = [str(one["quote"]) for one in test.citations]
    reply = await chat.complete(
        MARK_SYSTEM, fence_passages([test.asks, "\n".join([*test.expected, *quotes]), given_answer])
    )
    found = _MARK_LINE.match(reply.strip())
    if found is None:
        raise ModelError(f"the chat model must reply right, partly or wrong, not {reply[:80]!r}")
    mark: Mark = found["mark"].lower()  # type: ignore[assignment]
    missing = (found["missing"] or "").strip()
    return Judgement(mark, (missing,) if missing and mark != "right" else ())


@dataclass(frozen=True, slots=True)
class _MarkedAnswer:
    """A question of a board, and how its answer was judged."""

    test: Test
    text: str
    judgement: Judgement


async def _record(
    path: Path,
    replies: list[_MarkedAnswer],
    provenance: Provenance,
    reviews: Reviews,
    at: datetime,
    vault: Vault,
) -> list[CheckedAnswer]:
    """Write the mistake notes and schedule the questions."""
    root = vault.root or path.parent
    answers = []
    async with reviews.changing() as kept:
        for one in replies:
            test, given, judgement = one.test, one.text, one.judgement
            source = source_of(test.citations)
            if judgement.mark == "empty":
                answers.append(CheckedAnswer(test.asks, "", "empty", test.expected, (), source, None, None))
                continue
            before = kept.get(test.response)
            note = _note(root, vault, one, before, at)
            now = Review(
                test.response,
                test.asks,
                test.expected,
                provenance.dataset,
                str(path),
                source,
                given,
                judgement.mark,
                at,
                note,
                {},
            )
            review = kept[test.response] = reviews.schedule(before, now, at)
            answers.append(
                CheckedAnswer(
                    test.asks,
                    given,
                    judgement.mark,
                    test.expected,
                    judgement.missing,
                    source,
                    review.due,
                    note,
                )
            )
    return answers


def _note(root: Path, vault: Vault, reply: _MarkedAnswer, before: Review | None, at: datetime) -> str | None:
    """The mistake note of a question: a wrong answer writes it, a right answer marks it as redone."""
    test, mark = reply.test, reply.judgement.mark
    written = Path(before.note) if before is not None and before.note else None
    known = written if written is not None and written.is_file() else None
    if mark == "right" and known is None:
        return None
    if mark != "right" and known is not None and before is not None and before.given == reply.text:
        return str(known)
    links = [link for one in test.citations if (link := vault.link(one))]
    source = ", ".join(dict.fromkeys(links)) or source_of(test.citations)
    mistake = Mistake(test, reply.text, source, at.date())
    return str(write_mistake(mistakes_folder(root), mistake, existing=known, is_redone=mark == "right"))


def _mark_board(
    board: Board, provenance: Provenance, replies: list[_MarkedAnswer]
) -> tuple[Board, Provenance]:
    """The board with coloured answers and labelled edges; colours and labels set by a person stay."""
    judgements = {one.test.response: one.judgement for one in replies}
    responses = {one.test.response: one.test for one in replies if one.judgement.mark != "empty"}
    to_answers = {(test.response, answer): test for test in responses.values() for answer in test.answers}
    nodes, written_nodes = [], dict(provenance.written.nodes)
    for node in board.get("nodes") or ():
        node_id = node.get("id") if isinstance(node, dict) else None
        if node_id in responses and node.get("color") == written_nodes[node_id].get("color"):
            color = _COLORS[judgements[node_id].mark]
            node = {**node, "color": color}
            written_nodes[node_id] = {**written_nodes[node_id], "color": color}
        nodes.append(node)
    edges, written_edges = [], dict(provenance.written.edges)
    for one in board.get("edges") or ():
        ours = written_edges.get(str(one.get("id"))) if isinstance(one, dict) else None
        test = to_answers.get((one.get("fromNode"), one.get("toNode"))) if ours else None
        if ours is not None and test is not None and one.get("label") == ours.get("label"):
            label = _label(test, judgements[test.response])
            one = {**one, "label": label}
            written_edges[one["id"]] = {**ours, "label": label}
        edges.append(one)
    changed = {**board, "nodes": nodes, "edges": edges}
    return changed, replace(provenance, written=WrittenParts(written_nodes, written_edges))


def _label(test: Test, judgement: Judgement) -> str:
    labels = _LABELS[main_script(test.asks)]
    missing = ", ".join(judgement.missing) if judgement.mark == "partly" else ""
    return (labels[judgement.mark] + missing)[:_MAX_LABEL].rstrip(" :,")
