"""Answers to "what is X?": the unit that defines it, or how the note of that name begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from agentic_rag.answering.evidence import Candidate
from agentic_rag.answering.forms.lines import (
    TAGS,
    WHO,
    ComposedAnswer,
    Line,
    clear_terms,
    is_named,
    is_title,
    line_of,
    statements,
)
from agentic_rag.answering.source_notes import SourceNote
from agentic_rag.notes.units import RECORD_KEYS, Unit
from agentic_rag.questions.question import Question
from agentic_rag.questions.terms import has_terms
from agentic_rag.questions.words import parts
from agentic_rag.text import fold, starts_cjk, tokens

MAX_CARD = 4
"""Properties of one thing that are shown."""
_IS = re.compile(
    r"\b(?:is|are|was|were|means?|refers?|describes?|stands for)\b|是|指|叫|为|表示|即", re.IGNORECASE
)


def definition(question: Question, candidates: Sequence[Candidate]) -> ComposedAnswer | None:
    """The unit that says what the thing is: its definition, the first sentence of its section, of its own note."""
    if (
        question.form != "definition"
        or not question.terms
        or _is_named_property(question, candidates[0].unit)
    ):
        return None
    terms = {term.token for term in question.terms}
    notes = {id(one.note): one.note for one in candidates}
    named = {name for name, note in notes.items() if is_named(question, note)}
    own = [one for one in candidates if id(one.note) in named]
    begun, within = _defining(question, own or candidates[:40], terms)
    for one in (*begun, *within, *([] if own else _below_heading(candidates[:40], terms))):
        return ComposedAnswer((line_of(one.unit, one.note),), (one,), is_definition=True)
    return _opening(question, own)


def _defining(
    question: Question, candidates: Sequence[Candidate], terms: Set[str]
) -> tuple[list[Candidate], list[Candidate]]:
    """Units that say what the terms are: those that begin with them, "A ketch is …", and others, "… is called a ketch"."""
    begun: list[Candidate] = []
    within: list[Candidate] = []
    for one in candidates:
        unit = one.unit
        if unit.kind not in ("sentence", "item", "step") or clear_terms(one.own) < terms:
            continue
        if _REFERS.match(unit.text):
            continue
        is_keyed = unit.key is not None and has_terms(unit.key, terms)
        verb = _IS.search(unit.text[: 40 + sum(map(len, terms))])
        head = str(unit.key) if is_keyed else unit.text[: verb.start()] if verb is not None else None
        if head is not None and len(head) <= 30 + sum(map(len, terms)):
            if _begins_with_all(head, terms):
                begun.append(one)
            elif verb is not None and _gives_name(question, unit.text[verb.end() :]):
                within.append(one)
    return begun, within


_REFERS = re.compile(
    r"(?:see|cf\.|siehe|s\.|vgl\.)\s[^.。]{1,60}[.。]?$|(?:参?见|参看)[^.。]{1,30}[.。]?$", re.IGNORECASE
)
"""What only says where the definition stands."""
NAMING = 15
"""Characters between the verb of a definition and the name that it gives."""


def _gives_name(question: Question, text: str) -> bool:
    """Whether the text behind a verb soon has all terms as the question writes them: "called a ketch", and not "covered"."""
    begin = fold(text)[: NAMING + sum(term.end - term.start + 1 for term in question.terms)].casefold()
    words = (fold(question.text[term.start : term.end]).casefold() for term in question.terms)
    return all(
        (word in begin)
        if starts_cjk(word)
        else re.search(rf"\b{re.escape(word)}(?:e?s)?\b", begin) is not None
        for word in words
    )


def _below_heading(candidates: Sequence[Candidate], terms: Set[str]) -> Iterator[Candidate]:
    """The first sentence below each heading that is called by the terms."""
    for one in candidates:
        unit = one.unit
        if unit.headings and {*tokens(unit.headings[-1])} == terms:
            beside = (other for other in one.note.reading.units if other.headings == unit.headings)
            first = next((other for other in beside if other.kind == "sentence"), None)
            if first is not None:
                yield replace(one, unit=first)


def _begins_with_all(head: str, terms: Set[str]) -> bool:
    """Whether a subject is the terms, "a ketch", "a ketch with two masts", and nothing of theirs, "one flaw of a ketch"."""
    begin = _BEFORE_NAME.match(head)
    opening = head if begin is None else head[begin.end() :]
    return has_terms(opening, terms) and any(
        has_terms(opening.split(maxsplit=1)[0], {term}) for term in terms
    )


_BEFORE_NAME = re.compile(
    r"\W*(?:(?:in|on|at|for|when|if)\b[^,，]*[,，]\s*)?(?:(?:an?|the|term|word)\s+)*", re.IGNORECASE
)


def _is_named_property(question: Question, unit: Unit) -> bool:
    """Whether a unit is a property of several words that stand in the question one after the other: ``on_call``."""
    words = () if unit.key is None else parts(unit.key)
    return len(words) > 1 and f" {' '.join(words)} " in f" {' '.join(parts(question.text))} "


def _opening(question: Question, own: Sequence[Candidate]) -> ComposedAnswer | None:
    """The first sentence of the note of what is asked about, and the first of its properties; of a person these first."""
    if not own:
        return None
    note = own[0].note
    first = next((unit for unit in statements(note) if unit.kind == "sentence"), None)
    lines = [] if first is None else [line_of(unit, note) for unit in _with_next(first, note)]
    card = [unit for unit in note.reading.units if unit.kind == "property" and not unit.headings]
    filing = TAGS | RECORD_KEYS
    card = [unit for unit in card if str(unit.key).casefold() not in filing and not is_title(unit, note)]
    card = card[:MAX_CARD]
    if len(card) > 1:
        text = "; ".join(unit.display_text() for unit in card)
        place = 0 if WHO.search(question.text) else len(lines)
        lines.insert(place, Line(f"{note.title}: {text}", note, card[0].start, card[-1].end, ()))
    return ComposedAnswer(tuple(lines), (own[0],)) if lines else None


def _with_next(unit: Unit, note: SourceNote) -> list[Unit]:
    """A sentence, and where it is a mere line without a full stop, "Wondrous item, uncommon", the one behind it."""
    if not unit.text[-1:].isalnum():
        return [unit]
    behind = [
        one for one in statements(note) if one.kind == "sentence" and one.key is None and one.start > unit.end
    ]
    return [unit, *behind[:1]]
