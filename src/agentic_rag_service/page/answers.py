"""An answer's text as HTML: in the form of its operation, each citation mark a link to its passage."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from markupsafe import Markup

from agentic_rag.answer import Answer
from agentic_rag.boards.parts import AnswerSpan, clusters, passages, questions, relations
from agentic_rag.fusion import CanvasOperation

_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """One part of an answer: a question, a cluster, relations, or a passage."""

    head: str
    """A question or a theme; "" if there is none."""
    is_hidden: bool
    """Whether ``lines`` are folded at first: answers to questions."""
    lines: tuple[Markup, ...]
    """Safe HTML with links to the citations."""


def answer_parts(answer: Answer, citations: Mapping[int, Mapping[str, Any]]) -> list[AnswerPart]:
    """The answer split into its parts.

    Args:
        answer: of any operation.
        citations: the citations by number, each with the ``address`` of its page.
    """
    known, text = list(citations), _without_reading(answer)
    operation = CanvasOperation(answer.operation)
    found: list[AnswerPart] = []
    if answer.abstained:
        return [AnswerPart("", False, (line,)) for line in linked_lines(text, citations)]
    if operation is CanvasOperation.VERIFICATION_CANVAS:
        found = [
            AnswerPart(one.asks, True, tuple(_line(said, citations) for said in one.answers))
            for one in questions(text, known)
        ]
    elif operation is CanvasOperation.WEAK_POINT_CLUSTERING:
        found = [
            AnswerPart(one.theme, False, tuple(_line(said, citations) for said in one.members))
            for one in clusters(text, known)
        ]
    elif operation is CanvasOperation.CONCEPT_RELATION:
        found = [
            AnswerPart(
                "; ".join(f"{arrow.source} —{arrow.name}→ {arrow.target}" for arrow in one.arrows),
                False,
                (_line(one.sentence, citations),),
            )
            for one in relations(text, known)
        ]
    return found or [AnswerPart("", False, (line,)) for line in linked_lines(text, citations)]


def linked_lines(text: str, citations: Mapping[int, Mapping[str, Any]]) -> list[Markup]:
    """The lines of an answer's text as HTML, each mark a link to its passage."""
    return [_line(said, citations) for said in passages(text, list(citations))] or [Markup(escape(text))]


def _without_reading(answer: Answer) -> str:
    """The text without the line that says how the question was read, which the page shows apart."""
    head, _, rest = answer.text.partition("\n")
    reading = None if answer.selection is None else answer.selection["reading"]
    return rest if reading and rest and head.endswith(reading) else answer.text


def _line(part: AnswerSpan, citations: Mapping[int, Mapping[str, Any]]) -> Markup:
    text = _BOLD.sub(r"<strong>\1</strong>", escape(part.text)).replace("\n", "<br>")
    return Markup(
        " ".join([text, *(_mark(number, citations[number]) for number in part.citation_numbers)]).strip()
    )


def _mark(number: int, citation: Mapping[str, Any]) -> str:
    title = escape(str(citation["title"] or citation["path"] or ""), quote=True)
    if citation["address"] is None:
        return f'<span class="mark" title="{title}">[{number}]</span>'
    address = escape(str(citation["address"]), quote=True)
    return (
        f'<a class="mark" href="{address}#passage" hx-get="{address}" hx-target="#beside" hx-swap="innerHTML" '
        f'title="{title}">[{number}]</a>'
    )
